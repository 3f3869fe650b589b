"""Which arrays of a run lie in which memory of a GPU.

What a run has of its own lies in fast memory while it is played, as far as there is room: in registers and
local memory of its thread, or in the shared memory of its warp. Local memory is fast while all of it fits
into a cache. Where normal numbers wait in it, what a thread reads at any index is better off in shared memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .leaves import Leaf

THREADS = 32  # of a block, where each plays a run
LOCAL, SHARED, PART = "local", "shared", "part of shared"
MOST_LOCAL = 2048  # numbers that an array in the local memory of a thread has at most
OF_WARP = 49_152  # bytes of shared memory of a warp, at most
OF_THREAD = 848  # bytes of it of a thread, so that eight blocks have room on a multiprocessor
FEW = 256  # numbers of an array that all runs share, to have a copy in fast memory

Path = tuple[str, ...]
Paths = Sequence[Path]


def of_warps(found: Sequence[Leaf], far: Paths) -> dict[Path, str]:
    """Return the arrays that lie in shared memory: the smallest ones that fit together."""
    arrays = [leaf for leaf in found if leaf.is_array and leaf.is_own and leaf.path not in far]
    arrays.reverse()  # of one size, the later ones first: a regression reads its factor most
    room, near = OF_WARP, dict[Path, str]()
    for leaf in sorted(arrays, key=lambda leaf: int(leaf.first.nbytes)):
        room -= leaf.first.nbytes
        if room >= 0:
            near[leaf.path] = SHARED
    return near


def of_threads(found: Sequence[Leaf], far: Paths, busy: Paths) -> dict[Path, str]:
    """Return where the arrays of a thread lie; those that all runs share have one copy for each block.

    `busy` names arrays, or records of them, that are read at any index: of them, the first that fit have a
    part of shared memory for each thread.
    """
    room, near = OF_THREAD, dict[Path, str]()
    for leaf in found:
        if not leaf.is_array or leaf.path in far or leaf.first.size > MOST_LOCAL:
            continue
        if not leaf.is_own:
            near |= {leaf.path: SHARED} if leaf.first.size <= FEW else {}
            continue
        fits = _is_among(leaf.path, busy) and leaf.first.size > 0 and spread(leaf) <= room
        room -= spread(leaf) if fits else 0
        near[leaf.path] = PART if fits else LOCAL
    return near


def spread(leaf: Leaf) -> int:
    """Return how many bytes a thread's part of shared memory takes: threads lie an odd number of items apart.

    They read the same item of theirs at once, each from another bank.
    """
    return (int(leaf.first.size) | 1) * int(leaf.first.itemsize)


def room_for(shape: tuple[int, ...], kind: str, where: str) -> str:
    """Return the expression of a new array in fast memory."""
    if where != PART:
        return f"cuda.{where}.array({shape}, '{kind}')"
    apart = (THREADS, math.prod(shape) | 1)
    return f"shaped(cuda.shared.array({apart}, '{kind}')[cuda.threadIdx.y], {shape})"


def _is_among(path: Path, named: Paths) -> bool:
    return any(path[: len(name)] == name for name in named)
