"""One run of a simulation: its state, its world and what it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairx.environments.base import world_of
from fairx.environments.late import delays_of
from fairx.numerics.streams import streams
from fairx.policies.base import started
from fairx.policies.clicks import FromRewards, learner_of
from fairx.policies.exposing import exposer_of
from fairx.policies.telling import teller_of
from fairx.types import Indices

from .arrivals import arrivals_by
from .careful import compiled_loop, loop_of_run, try_out
from .loop import play_rounds
from .places import Places
from .result import Result
from .runs import Watch, check_means_seen, generator_of
from .slate_loop import play_slates
from .slate_tally import SlateTally, new_slate_tally
from .tally import Tally, new_tally


class OneRun:
    """A run that can be played: once, and from the beginning."""

    tally: Tally
    slates: SlateTally  # where there are places

    def __init__(
        self, records: tuple[Any, ...], measures: int, marks: Indices, seed: int, run: int,
        places: Places | None = None,
    ) -> None:  # fmt: skip
        self.records, self.measures, self.places = records, measures, places
        self.marks, self.seed, self.run = marks, seed, run
        self.loop = play_rounds if places is None else play_slates

    def begin(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the records that the loop is compiled for, and its other arguments, all new."""
        kernel, environment, judge, measuring = self.records
        world = world_of(environment, generator_of(self.seed, self.run))
        arms, dimension = world.features.shape[1:]
        rng = generator_of(self.seed, self.run, own=True)
        kernel, state = started(kernel, arms, dimension, rng)
        normals, work = kernel.needs(arms, dimension)
        self.tally = new_tally(self.marks, arms, normals, work, self.measures)
        records, rest = (
            (kernel, state, world, judge, measuring),
            (streams(self.seed, self.run), self.tally),
        )
        if self.places is None:
            arrivals = arrivals_by(delays_of(environment), dimension)
            return (*records, teller_of(kernel), arrivals), rest
        self.slates = new_slate_tally(self.places, arms, dimension)
        ways = exposer_of(kernel), self._learner(kernel, state)
        return (*records, *ways), (*rest, self.slates)

    def _learner(self, kernel: Any, state: Any) -> Any:
        """Return how the policy learns from a place."""
        if self.places is None or self.places.feedback == "each":
            return FromRewards()
        # A world of others plays some rounds to see its range: not the one of this run.
        world = world_of(self.records[1], generator_of(self.seed, self.run))
        return learner_of(kernel, state, *world.reward_range())

    def compile(self) -> Any:
        """Return the loop in its fastest form for these records."""
        records, rest = self.begin()
        return compiled_loop(self.loop, records, rest, int(self.marks[-1]))

    def try_out(self) -> None:
        """Refuse code of others that is wrong in the first rounds already."""
        try_out(self.loop, *self.begin(), int(self.marks[-1]))

    def play(self, loop: Any, watch: Watch) -> None:
        """Play all rounds."""
        records, rest = self.begin()
        run = loop_of_run(self.loop, loop, records)

        def step(start: int, stop: int) -> bool:
            run(*rest, start, stop)
            watch.add(stop - start)
            return True

        watch.walk(int(self.marks[-1]), step)
        check_means_seen(self.run, *records[2:4])


def with_places(result: Result, runs: Sequence[OneRun]) -> Result:
    """Return a result with what is known of places, where there are any.

    How often each arm was at each; and, of a policy that is optimistic about all of them, which part of
    its steps was proved the best.
    """
    if runs[0].places is None:
        return result
    placements = np.array([run.slates.placements for run in runs]) / int(result.rounds[-1])
    steps, proved = np.array([run.slates.shown.steps for run in runs]).T
    shares = proved / steps if steps.all() else None
    return result._replace(placements=placements, proved=shares)
