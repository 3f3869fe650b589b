"""Runs on a GPU: those that are alike in one launch, each with settings of its own, and kinds side by side.

Rounds are launched in chunks. One thread looks after all fleets: a launch does not wait for its end.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fairx.compiled import code_of
from fairx.compiled.gpu import complaint_of, free_memory, halved, is_out_of_memory, many_blocks
from fairx.errors import FairxError
from fairx.texts import short

from .fleets import fleet_of
from .joining import Joining, Runs
from .one_run import OneRun
from .runs import Watch, cores, paced

RESULTS = ("exposure", "pulls", "curves", "exposures")
SIDE_BY_SIDE = 32  # fleets
PAUSE = 0.0005  # seconds between two looks at all fleets


def play_on_gpu(runs: Runs, progress: Callable[[int], None] | None) -> None:
    """Play all runs, of any kinds."""
    for _ in played_on_gpu(runs, progress):
        pass


def played_on_gpu(runs: Runs, progress: Callable[[int], None] | None) -> Iterator[Runs]:
    """Play all runs, of any kinds, side by side; yield those of a fleet when it is done.

    Runs that are added at the end meanwhile join them, and are sent before those that wait.
    """
    watch = Watch(sum(int(run.marks[-1]) for run in runs), progress)
    try:
        with ThreadPoolExecutor(cores()) as pool:
            try:
                yield from _played(Joining(runs, pool, watch.stopped.is_set), watch)
            finally:  # on Ctrl-C or an error: the pool waits for kernels that are being compiled
                watch.stopped.set()
    finally:
        watch.bar.close()


def _played(joining: Joining, watch: Watch) -> Iterator[Runs]:
    """Start whatever there is memory for, and go on with what is under way, until all is done."""
    waiting, under_way = deque[Runs](), list[Voyage]()
    tried = -1  # how many were under way when memory ended
    while waiting or under_way or not joining.is_over:
        if new := joining.ready(alone=not (waiting or under_way)):
            waiting.extendleft(reversed(new))
            tried = -1
        if tried != len(under_way):
            _start(waiting, under_way, watch)
            tried = len(under_way)
        still = [voyage for voyage in under_way if voyage.fleet.is_playing]
        if len(still) == len(under_way):
            time.sleep(PAUSE)
        for voyage in [voyage for voyage in under_way if voyage not in still]:
            watch.add(voyage.arrive())
            if voyage.is_done:
                under_way.remove(voyage)
                voyage.unload()
                yield voyage.runs
            else:
                _go_on(voyage, waiting, under_way, watch)


def _start(waiting: deque[Runs], under_way: list[Voyage], watch: Watch) -> None:
    """Send runs that wait, until the GPU is busy, or has no memory for more."""
    while waiting and _has_room(under_way):
        runs = waiting.popleft()
        try:
            voyage = Voyage(runs)
        except Exception as error:  # noqa: BLE001 - raised again, but for what memory is short of
            if _make_room(runs, error, waiting, alone=not under_way):
                continue
            return
        if len(voyage.runs) < len(runs):
            waiting.appendleft(runs[len(voyage.runs) :])
        under_way.append(voyage)
        if not _go_on(voyage, waiting, under_way, watch):
            return


def _has_room(under_way: list[Voyage]) -> bool:
    """Tell whether others may be sent: kernels that crowd a GPU keep one another's code out of its caches."""
    busy = sum(voyage.fleet.blocks for voyage in under_way)
    return len(under_way) < SIDE_BY_SIDE and busy < many_blocks()


def _go_on(voyage: Voyage, waiting: deque[Runs], under_way: list[Voyage], watch: Watch) -> bool:
    """Launch the next rounds; where memory ends, all of these runs are played again, later or in halves.

    Tell whether others can be sent.
    """
    try:
        voyage.go_on()
    except Exception as error:  # noqa: BLE001 - raised again, but for what memory is short of
        under_way.remove(voyage)
        watch.take_back(voyage.done * len(voyage.runs))
        return _make_room(voyage.runs, error, waiting, alone=not under_way)
    return True


def _make_room(runs: Runs, error: Exception, waiting: deque[Runs], *, alone: bool) -> bool:
    """Put runs back for which there was no memory, in halves if nothing else takes any; tell whether to go on."""
    if not is_out_of_memory(error):
        raise complaint_of(error, _blamed(runs[0])) from error
    size = halved(len(runs), error) if alone else len(runs)
    waiting.extendleft([runs[size:], runs[:size]] if size < len(runs) else [runs])
    return alone


def _blamed(run: OneRun) -> str:
    """Return what of a run's records is not ours, in words: it is this that cannot be compiled."""
    return ", ".join(short(part) for part in run.records if code_of(part)) or short(run.records[0])


class Voyage:
    """A fleet under way: how far it is, and how many rounds it plays at a time."""

    def __init__(self, runs: Runs) -> None:
        fleet = fleet_of(runs)
        fits = max(1, free_memory() // fleet.bytes_each)
        self.runs = runs[:fits]
        self.fleet = fleet if fits >= len(runs) else fleet_of(self.runs)
        self.fleet.send()
        self.end = int(runs[0].marks[-1])
        self.done, self.chunk, self.stop = 0, paced(0, 1.0), 0

    @property
    def is_done(self) -> bool:
        """Tell whether all rounds are played."""
        return self.done == self.end

    def go_on(self) -> None:
        """Launch the next rounds."""
        self.begun, self.stop = time.perf_counter(), min(self.done + self.chunk, self.end)
        self.fleet.launch(self.done, self.stop)

    def arrive(self) -> int:
        """Take note that the rounds that were launched are played; return how many, of all runs."""
        played, self.done = self.stop - self.done, self.stop
        self.chunk = paced(self.chunk, time.perf_counter() - self.begun)
        return played * len(self.runs)

    def unload(self) -> None:
        """Give each run its tally."""
        found = {name: self.fleet.result(name) for name in RESULTS}
        self._check_ends(found["pulls"])
        for i, run in enumerate(self.runs):
            run.tally = run.tally._replace(**{name: found[name][i] for name in RESULTS})

    def _check_ends(self, pulls: Any) -> None:
        """Refuse runs that lack rounds: code that raises on a GPU ends there, and nobody is told."""
        lacks = self.end - pulls[: len(self.runs)].sum(axis=1)
        if lacks.any():
            worst = int(lacks.argmax())
            run, name = self.runs[worst].run, short(self.runs[worst].records[0])
            raise FairxError(
                f"run {run} of {name} lacks {lacks[worst]} of {self.end} rounds: code of others raised an error "
                "on the GPU, which cannot tell it: leave out device to see which"
            )
