"""Loops on a GPU: the same source, compiled by numba-cuda, with a thread or a warp for each run."""

from .launching import Fleet, free_memory
from .leaves import alike, kind_of
from .trouble import complaint_of, halved, is_out_of_memory

__all__ = ["Fleet", "alike", "complaint_of", "free_memory", "halved", "is_out_of_memory", "kind_of"]
