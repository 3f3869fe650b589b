"""Arrays whose shapes the compiler is told, so that loops over arms are of a known length."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from .indices import is_ours


@functools.cache
def shaping() -> Any:
    """Return a function of an array and its shape, for kernels: the same array, but for what is known of it."""
    extending = importlib.import_module("numba.cuda.extending")

    @extending.intrinsic
    def shaped(typing_context, array, shape):  # type: ignore[no-untyped-def]
        return array.copy(ndim=len(shape))(array, shape), generate

    return shaped


def install() -> None:
    """Have arrays in our code take another shape at no cost: it fits, and has no size of -1."""
    arrays: Any = importlib.import_module("numba.cuda.np.arrayobj")
    extending: Any = importlib.import_module("numba.cuda.extending")

    @extending.lower_builtin("array.reshape", arrays.types.Array, arrays.types.UniTuple)
    def reshape(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        way = generate if is_ours(builder) else arrays.array_reshape
        return way(context, builder, signature, arguments)


def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions: the same numbers, row after row."""
    arrays: Any = importlib.import_module("numba.cuda.np.arrayobj")
    kind = signature.return_type
    old = arrays.make_array(signature.args[0])(context, builder, arguments[0])
    sizes = arrays.cgutils.unpack_tuple(builder, arguments[1], kind.ndim)
    strides = [old.itemsize]
    for size in reversed(sizes[1:]):
        strides.insert(0, builder.mul(size, strides[0]))
    new = arrays.make_array(kind)(context, builder)
    arrays.populate_array(
        new, data=old.data, shape=sizes, strides=strides, itemsize=old.itemsize, meminfo=None
    )
    return new._getvalue()
