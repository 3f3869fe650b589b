"""Plays many runs of a loop on a GPU: their records there, launches in chunks, and what comes back."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..entries import Entry
from ..lowering import lowered
from ..sharing import meet, turns
from .leaves import Leaf, leaves, repeated
from .shapes import shaping
from .teaching import is_simulated, load_cuda
from .trouble import check_gpu
from .writing import LANES, write

THREADS = 64  # of a block, where each plays a run
MOST = 1 << 50  # bytes: the simulator has no end of them


class Fleet:
    """Runs of a loop that are on the GPU together, all of records of the same kinds.

    `records` are those of each run, of two at least: what these do not share is each run's own. Of `tally`,
    the last argument of the loop but start and stop, each has a copy. `scratch` names arrays of it that hold
    nothing between two rounds, and `far` those that are seldom used.
    """

    def __init__(
        self, entry: Entry, records: Sequence[tuple[Any, ...]], tally: Any,
        scratch: Sequence[str], far: Sequence[str], *, warps: bool, runs: int,
    ) -> None:  # fmt: skip
        low = [tuple(map(lowered, run)) for run in records]
        self.runs, self.warps, self.entry = runs, warps, entry
        end = str(len(low[0]))
        found = [*leaves(low), *repeated(tally, len(low), (end,))]
        self.results = {leaf.path[1]: leaf for leaf in found if leaf.path[0] == end}
        self.written = write(
            (*low[0], tally), found, [(end, name) for name in scratch],
            [(end, name) for name in far], warps=warps,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.runs

    @property
    def bytes_each(self) -> int:
        """How much memory a run takes on the GPU, at least one."""
        own = [leaf for leaf in self.written.leaves if leaf.is_own]
        return max(1, sum(np.asarray(leaf.first).nbytes for leaf in own))

    def send(self) -> None:
        """Compile the kernel and send all arrays."""
        cuda = load_cuda()
        check_gpu(cuda)
        self.kernel = _jitted(self.entry, self.written.source, tuple(self.written.names.items()))
        self.sent = [self._sent(cuda, leaf) for leaf in self.written.leaves]

    def _sent(self, cuda: Any, leaf: Leaf) -> Any:
        if leaf.is_own:
            return cuda.to_device(leaf.stacked(by_run=self.warps))
        return cuda.to_device(leaf.first) if leaf.is_array else leaf.first

    def play(self, start: int, stop: int) -> None:
        """Play these rounds of all runs, and wait for them."""
        # In the simulator lanes would not keep step, and one does all turns.
        shape = (self.runs, (1 if is_simulated() else LANES, 1))
        if not self.warps:
            shape = ((self.runs + THREADS - 1) // THREADS, (1, THREADS))
        self.kernel[shape](self.runs, start, stop, *self.sent)
        load_cuda().synchronize()

    def result(self, name: str) -> Any:
        """Return an array of the tally, with the runs along its first axis."""
        place = self.written.leaves.index(self.results[name])
        found = self.sent[place].copy_to_host()
        return found if self.warps else found.transpose(-1, *range(found.ndim - 1))


def free_memory() -> int:
    """Return how many bytes the GPU has left for runs."""
    cuda = load_cuda()
    check_gpu(cuda)
    return int(min(0.8 * cuda.current_context().get_memory_info().free, MOST))


@functools.lru_cache(maxsize=64)
def _jitted(entry: Entry, source: str, names: tuple[tuple[str, Any], ...]) -> Any:
    """Return a kernel that is compiled once for all fleets of its kind."""
    cuda = load_cuda()
    return cuda.jit(kernel_of(cuda, entry, source, dict(names)))


def kernel_of(cuda: Any, entry: Entry, source: str, names: dict[str, Any]) -> Any:
    """Return the kernel as a Python function."""
    loop, shaped = entry.function, _as_it_is  # in the simulator
    if not is_simulated():
        loop, shaped = cuda.jit(device=True, forceinline=True)(loop), shaping()
    scope: dict[str, Any] = {"cuda": cuda, "loop": loop, "meet": meet, "turns": turns}
    scope["shaped"] = shaped
    scope |= names
    exec(compile(source, f"<kernel of {entry.function.__name__}>", "exec"), scope)  # noqa: S102
    return scope[source[len("def ") : source.index("(")]]


def _as_it_is(array: Any, shape: tuple[int, ...]) -> Any:
    return array
