"""Plays many runs of a loop on a GPU: their records there, launches in chunks, and what comes back."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..entries import Entry
from ..lowering import is_ours, lowered
from . import tables
from .kernels import Wanted, dispatcher
from .leaves import Leaf, leaves, repeated
from .memory import THREADS, Paths
from .teaching import is_simulated, load_cuda
from .trouble import check_gpu
from .writing import write

MOST = 1 << 50  # bytes: the simulator has no end of them


class Fleet:
    """Runs of a loop that are on the GPU together, all of records of the same kinds.

    `records` are those of each run, of two at least: what these do not share is each run's own. Of `tally`,
    the last argument of the loop but start and stop, each has a copy. `scratch` names arrays of it that hold
    nothing between two launches, `far` those that are seldom used, and `busy` paths of what is read at any index.
    With `warps`, so many `lanes` of one play a run.
    """

    def __init__(
        self, entry: Entry, records: Sequence[tuple[Any, ...]], tally: Any,
        scratch: Sequence[str], far: Sequence[str], busy: Paths, *, warps: bool, lanes: int, runs: int,
    ) -> None:  # fmt: skip
        low = _lowered(records)
        self.runs, self.warps, self.entry, self.ours = runs, warps, entry, is_ours(records[0])
        self.lanes = lanes
        end = str(len(low[0]))
        found = [*leaves(low), *repeated(tally, len(low), (end,))]
        self.results = {leaf.path[1]: leaf for leaf in found if leaf.path[0] == end}
        self.written = write(
            (*low[0], tally), found, [(end, name) for name in scratch],
            [(end, name) for name in far], busy, warps=warps, lanes=lanes,
        )  # fmt: skip

    def __len__(self) -> int:
        return self.runs

    @property
    def bytes_of_arguments(self) -> int:
        """How much is handed to the kernel: seven words for an array of one axis, two more for each other."""
        found = self.written.leaves
        return 8 * sum(
            5 + 2 * (np.ndim(f.first) + f.is_own) if f.is_own or f.is_array else 1 for f in found
        )

    @property
    def bytes_each(self) -> int:
        """How much memory a run takes on the GPU, at least one."""
        own = [leaf for leaf in self.written.leaves if leaf.is_own]
        return max(1, sum(np.asarray(leaf.first).nbytes for leaf in own))

    def wanted(self, capability: tuple[int, int]) -> Wanted:
        """Return the kernel that plays these runs, for GPUs of this capability."""
        function, types = self.entry.function, ()
        if not is_simulated():
            typeof = importlib.import_module("numba.cuda.typing.typeof").typeof
            examples = [_example(leaf, self.warps) for leaf in self.written.leaves]
            types = tuple(map(typeof, (1, 1, 1, *examples)))
        loop, names = (function.__module__, function.__name__), tuple(self.written.names.items())
        kept = self.ours and not is_simulated()
        return Wanted(loop, self.written.source, names, types, capability, kept)

    def send(self) -> None:
        """Send all arrays; the kernel is compiled when it is launched first."""
        cuda = load_cuda()
        check_gpu(cuda)
        self.kernel = dispatcher(self.wanted(capability()))
        self.stream, self.event = cuda.stream(), cuda.event()
        self.sent = [self._sent(cuda, leaf) for leaf in self.written.leaves]

    def _sent(self, cuda: Any, leaf: Leaf) -> Any:
        if leaf.is_own:
            return cuda.to_device(leaf.stacked(by_run=self.warps), stream=self.stream)
        return cuda.to_device(leaf.shared, stream=self.stream) if leaf.is_array else leaf.first

    def launch(self, start: int, stop: int) -> None:
        """Begin to play these rounds of all runs, beside what other fleets play."""
        # In the simulator lanes would not keep step, and one does all turns.
        lanes = 1 if is_simulated() else self.lanes
        shape, room = (lanes, self.threads), tables.size() if self.lanes == 1 else 0
        self.kernel[self.blocks, shape, self.stream, room](self.runs, start, stop, *self.sent)
        self.event.record(self.stream)

    @property
    def threads(self) -> int:
        """How many runs share a block."""
        return 1 if self.warps else threads_for(self.runs, schedulers())

    @property
    def blocks(self) -> int:
        """How many blocks a launch has, each of a warp."""
        return -(-self.runs // self.threads)

    @property
    def is_playing(self) -> bool:
        """Tell whether what was launched is not done yet."""
        return not (is_simulated() or self.event.query())

    def play(self, start: int, stop: int) -> None:
        """Play these rounds of all runs, and wait for them."""
        self.launch(start, stop)
        self.stream.synchronize()

    def result(self, name: str) -> Any:
        """Return an array of the tally, with the runs along its first axis."""
        place = self.written.leaves.index(self.results[name])
        found = self.sent[place].copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found if self.warps else found.transpose(-1, *range(found.ndim - 1))


def _lowered(records: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return what is compiled of each run's records; of what they share, once."""
    known = {id(part): part for run in records for part in run}
    low = {address: lowered(part) for address, part in known.items()}
    return [tuple(low[id(part)] for part in run) for run in records]


def free_memory() -> int:
    """Return how many bytes the GPU has left for runs."""
    cuda = load_cuda()
    check_gpu(cuda)
    return int(min(0.8 * cuda.current_context().get_memory_info().free, MOST))


def capability() -> tuple[int, int]:
    """Return what the GPU of this machine can do, by the number of its generation."""
    if is_simulated():
        return 0, 0
    found: tuple[int, int] = _device().compute_capability
    return found


def schedulers() -> int:
    """Return how many warps the GPU of this machine works on at once: four on each multiprocessor."""
    return 1 if is_simulated() else 4 * int(_device().MULTIPROCESSOR_COUNT)


def _device() -> Any:
    """Return the GPU of this machine, or say that there is none."""
    cuda = load_cuda()
    check_gpu(cuda)
    return cuda.get_current_device()


def many_blocks() -> int:
    """Return how many blocks keep the GPU of this machine busy: six on each multiprocessor."""
    return MOST if is_simulated() else schedulers() // 4 * 6


def threads_for(runs: int, warps: int) -> int:
    """Return how many runs share a warp: as few as keep all warps busy, for it waits for its slowest run.

    Examples
    --------
    >>> [threads_for(runs, warps=528) for runs in (50, 650, 8192, 131072)]
    [1, 2, 16, 32]
    """
    return min(THREADS, -(-runs // warps))


def _example(leaf: Leaf, warps: bool) -> Any:
    """Return something of the type that is sent."""
    short = leaf._replace(values=leaf.values[:2], runs=min(leaf.runs, 2))
    return short.stacked(by_run=warps) if leaf.is_own else leaf.shared
