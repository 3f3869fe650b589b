"""Runs that join others on a GPU: looked through, and their kernels compiled, while the others play on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait

from fairx.compiled.gpu import capability, compile_together

from .fleets import check_device, fleet_of, kinds
from .one_run import OneRun
from .runs import cores

MOST = 1 << 17  # runs of a fleet: more do not play faster

Runs = Sequence[OneRun]


def in_order(groups: list[list[OneRun]]) -> list[list[OneRun]]:
    """Return groups of runs, those first that have most memory each: their rounds take longest."""
    return sorted(groups, key=lambda group: -fleet_of(group[:1]).bytes_each)


class Joining:
    """Takes runs from a sequence, to whose end others may be added; when it `is_stopped`, no more is compiled."""

    def __init__(self, runs: Runs, pool: Executor, is_stopped: Callable[[], bool]) -> None:
        self.runs, self.pool, self.taken, self.is_stopped = runs, pool, 0, is_stopped
        self.compiling: dict[Future[None], list[Runs]] = {}

    @property
    def is_over(self) -> bool:
        """Tell whether nobody is to join any more."""
        return self.taken == len(self.runs) and not self.compiling

    def ready(self, *, alone: bool) -> list[Runs]:
        """Return runs that can be sent, in parts for a fleet each; wait for some where nothing else plays."""
        if self.taken < len(self.runs):
            self._take(alone=alone)
        if alone and self.compiling:
            wait(self.compiling, return_when=FIRST_COMPLETED)
        found = list[Runs]()
        for future in [future for future in self.compiling if future.done()]:
            found += self.compiling.pop(future)
            future.result()
        return found

    def _take(self, *, alone: bool) -> None:
        """Look through the runs that are new, and let their kernels be compiled where these are not kept."""
        new, self.taken = self.runs[self.taken :], len(self.runs)
        for run in new:
            check_device(run)
        groups = kinds(new)
        for group in groups:
            group[0].try_out()
        groups = in_order(groups)
        least = 2 if alone else 1  # compiled here, a single one would keep the others waiting
        some = groups if len(groups) >= least else []
        wanted = [fleet_of(group[:2]).wanted(capability()) for group in some]
        future = self.pool.submit(compile_together, wanted, cores(), least, self.is_stopped)
        self.compiling[future] = [
            group[i : i + MOST] for group in groups for i in range(0, len(group), MOST)
        ]
