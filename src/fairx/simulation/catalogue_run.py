"""One run among many arms."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx.compiled import is_overridden
from fairx.environments import Bernoulli, Normal
from fairx.environments.base import DOORS, world_of
from fairx.exposure import fair_rows
from fairx.numerics.streams import streams
from fairx.policies.base import started
from fairx.policies.many_arms import MANY, weigher_of
from fairx.types import Indices

from .careful import loop_of_run
from .catalogue import new_catalogue, play_catalogue
from .runs import Watch, generator_of
from .tally import Tally, new_tally

STILL = (Bernoulli, Normal)  # one example, all arms on offer, the same in each run


class CatalogueRun:
    """A run that can be played: once, and from the beginning."""

    tally: Tally

    def __init__(self, records: tuple[Any, ...], marks: Indices, seed: int, run: int) -> None:
        self.kernel, self.environment, self.judge = records
        self.marks, self.seed, self.run = marks, seed, run

    def begin(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the records that the loop is compiled for, and its other arguments, all new."""
        world = world_of(self.environment, generator_of(self.seed, self.run))
        arms = world.features.shape[1]
        kernel, state = started(self.kernel, arms, 0, generator_of(self.seed, self.run, own=True))
        self.tally = new_tally(self.marks, arms, 0, kernel.needs(arms, 0)[1])
        catalogue = new_catalogue(arms)
        world.fill_means(0, catalogue.means)
        fair = fair_rows(self.judge, catalogue.means[None])[0]
        weigher = kernel.weigher(arms, *world.reward_range())
        learner = weigher if hasattr(weigher, "absorb") else kernel
        records = learner, state, world, weigher
        return records, (fair, streams(self.seed, self.run), self.tally, catalogue)

    def compile(self) -> Any:
        """Return the loop in its fastest form for these records."""
        records, rest = self.begin()
        return play_catalogue.ready(records, lambda run, low: run(*low, *rest, 0, 0))[0]

    def play(self, loop: Any, watch: Watch) -> None:
        """Play all rounds."""
        records, rest = self.begin()
        run = loop_of_run(play_catalogue, loop, records)

        def step(start: int, stop: int) -> bool:
            run(*rest, start, stop)
            watch.add(stop - start)
            return True

        watch.walk(int(self.marks[-1]), step)


def suits_catalogue(kernel: Any, environment: Any) -> bool:
    """Tell whether a run is one among many arms that are all on offer, of which few change their weight.

    Examples
    --------
    >>> from fairx import Exponential, FairXEG, FairXTS, environments
    >>> world, merit = environments.Bernoulli(np.full(1000, 0.5)), Exponential(4)
    >>> suits_catalogue(FairXEG(merit, 0.1), world), suits_catalogue(FairXTS(merit, 1, 1), world)
    (True, False)
    """
    if type(environment) not in STILL or is_overridden(environment, DOORS):
        return False
    arms, world = np.size(environment.means), environment.world(None)
    return arms >= MANY and weigher_of(kernel, arms, *world.reward_range()) is not None
