"""Tables in the shared memory of a GPU, where each lane reads an item of its own at once.

They lie in that part of it whose size is told at the launch: any function finds its beginning.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..exactness import is_exact
from ..tables import all_items, has_tables, places

NAME = "fairx_tables"


def size() -> int:
    """Return how many bytes all tables take."""
    return all_items().nbytes


def forms(cuda: Any) -> dict[Any, Any]:
    """Return how an item is read, by table, and where there are tables: the number of lanes is written into a kernel."""
    found = {item: _reading(place) for item, place in places().items()}
    return found | {has_tables: lambda: cuda.blockDim.x == 1 and not is_exact()}


def filling(cuda: Any) -> Any:
    """Return a function for kernels that writes all tables, which each thread does: none has to wait for another."""
    items, write = all_items(), _writing()
    count = items.size

    def fill() -> None:
        for i in range(count):
            write(i, items[i])

    return cuda.jit(device=True)(fill)


# An array of numba-cuda in that part of shared memory would do, but asks for its size at each index.


def _reading(place: int) -> Any:
    """Return a function that reads an item of the table that begins at `place`."""
    extending, types = _module("extending"), _module("types")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        index = context.cast(builder, arguments[0], signature.args[0], types.intp)
        return builder.load(builder.gep(_item(builder, index), [index.type(place)]))

    @extending.intrinsic
    def read(typing_context, index):  # type: ignore[no-untyped-def]
        return types.float64(index), generate

    return lambda index: read(index)


def _writing() -> Any:
    """Return a function that writes an item, counted over all tables."""
    extending, types = _module("extending"), _module("types")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _item(builder, arguments[0]))
        return context.get_dummy_value()

    @extending.intrinsic
    def write(typing_context, index, value):  # type: ignore[no-untyped-def]
        return types.void(types.intp, types.float64), generate

    return write


def _item(builder: Any, index: Any) -> Any:
    """Return where an item lies, counted over all tables: these begin at an array of no size."""
    code, module = importlib.import_module("llvmlite.ir"), builder.module
    room = module.globals.get(NAME)
    if room is None:
        kind, space = code.ArrayType(code.DoubleType(), 0), _module("cudadrv.nvvm").ADDRSPACE_SHARED
        room = code.GlobalVariable(module, kind, NAME, space)
        room.linkage, room.align = "external", 8
    return builder.gep(room, [index.type(0), index])


def _module(name: str) -> Any:
    return importlib.import_module(f"numba.cuda.{name}")
