"""Indices of ours are not negative: a GPU need not ask.

Python counts a negative index from the end, and numba-cuda asks each index whether it is one, where its compiler
cannot tell. Our kernels have none but constants; in code of others it is asked as ever.
"""

from __future__ import annotations

import importlib
from typing import Any

OURS = "_ZN5fairx"  # how the names of our functions begin, as the compiler writes them


def install() -> None:
    """Have numba-cuda take indices in our code as they are."""
    arrays: Any = importlib.import_module("numba.cuda.np.arrayobj")
    constant = importlib.import_module("llvmlite.ir").Constant
    careful = arrays.fix_integer_index

    def fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(index, constant) or not is_ours(builder):
            return careful(context, builder, kind, index, size)
        return context.cast(builder, index, kind, arrays.types.intp)

    arrays.fix_integer_index = fix_integer_index


def is_ours(builder: Any) -> bool:
    """Tell whether the function that is being written is ours."""
    return bool(builder.function.name.startswith(OURS))
