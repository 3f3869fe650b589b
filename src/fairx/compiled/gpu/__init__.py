"""Loops on a GPU: the same source, compiled by numba-cuda, with a thread or a warp for each run."""

from .kernels import compile_together
from .launching import Fleet, capability, free_memory, many_blocks
from .leaves import alike, kind_of, leaves
from .teaching import is_simulated
from .trouble import complaint_of, halved, is_out_of_memory
from .writing import LANES

__all__ = [
    "LANES",
    "Fleet",
    "alike",
    "capability",
    "compile_together",
    "complaint_of",
    "free_memory",
    "halved",
    "is_out_of_memory",
    "is_simulated",
    "kind_of",
    "leaves",
    "many_blocks",
]
