"""Play a policy against an environment, many times and on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fairx import rules
from fairx.environments import Environment, MovingEnvironment, Prior
from fairx.environments.base import is_moving, world_of
from fairx.merit import Merit
from fairx.numerics.streams import streams
from fairx.policies import Policy
from fairx.policies.base import inner_form, started
from fairx.types import Indices

from .careful import compiled_loop, loop_of_run
from .loop import play_rounds
from .measures import Round, measures_of
from .provenance import Provenance, provenance
from .result import Result
from .runs import (
    Watch,
    check_means_seen,
    check_merits,
    checkpoint_rounds,
    generator_of,
    played,
    run_numbers,
)
from .tally import Tally, new_tally


def simulate(
    policy: Policy[Any],
    environment: Environment | MovingEnvironment | Prior,
    judge: Merit,
    *,
    rounds: int,
    seed: int,
    runs: int | Sequence[int] = 1,
    checkpoints: int | Sequence[int] = 200,
    measures: Mapping[str, Callable[[Round], float]] = MappingProxyType({}),
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play `runs` runs of `rounds` rounds and judge every deployed policy by `judge`.

    Parameters
    ----------
    policy, environment
        Ours, or records of your own with the public methods; those are compiled too.
    judge
        The merit that says what would have been fair.
    runs
        How many, numbered from 0, or the numbers of those to play.
    seed
        Run i is a function of (seed, i) alone: neither `runs` nor `jobs` changes it.
    checkpoints
        How many, evenly spaced, or which rounds to record the regrets at.
    measures
        Functions of a `Round`, by name: what they return is summed over the rounds, as the regrets
        are. They are compiled into the loop where that can be done.
    jobs
        How many runs at a time; all cores by default.
    progress
        Called from the playing threads with the number of rounds just played, every tenth of a
        second; what it raises ends the simulation. By default, a bar on a terminal.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS, environments, simulate
    >>> merit = Exponential(10)
    >>> world = environments.Bernoulli([0.3, 0.5, 0.6])
    >>> result = simulate(FairXTS(merit, 1, 0.5), world, merit, rounds=5000, runs=2, seed=1)
    >>> result.exposure.round(2)
    array([[0.01, 0.25, 0.74],
           [0.04, 0.2 , 0.76]])
    """
    marks = checkpoint_rounds(checkpoints, rules.count("rounds", rounds))
    seed, numbers = rules.count("seed", seed, low=0), run_numbers(runs)
    inner_form(policy), measures_of(measures)  # refused before anything is looked at
    # A prior has no `draw`, but other means in each run, as has what starts anew.
    anew = is_moving(environment) or not hasattr(environment, "draw")
    for run in numbers if anew else numbers[:1]:
        check_merits(policy, judge, world_of(environment, generator_of(seed, run)))
    origin = provenance(policy, environment, judge, seed, int(marks[-1]), measures)
    return play_checked(
        policy, environment, judge, numbers, marks, origin, measures, jobs, progress
    )


def play_checked(
    policy: Any, environment: Any, judge: Merit, numbers: Sequence[int], marks: Indices,
    origin: Provenance, measures: Mapping[str, Callable[[Round], float]] = MappingProxyType({}),
    jobs: int | None = None, progress: Callable[[int], None] | None = None,
) -> Result:  # fmt: skip
    """Play runs that were checked before, from a world whose provenance is known.

    Both read all data of a world: for mediamill, two seconds a run in an experiment of thousands.
    """
    records = inner_form(policy), environment, judge, measures_of(measures)
    found = [_Run(records, len(measures), marks, origin.seed, run) for run in numbers]
    return played(found, marks, jobs, progress, measures, origin)


class _Run:
    """One run: its state, its world and what it adds up."""

    tally: Tally

    def __init__(
        self, records: tuple[Any, ...], measures: int, marks: Indices, seed: int, run: int
    ) -> None:
        self.records, self.measures = records, measures
        self.marks, self.seed, self.run = marks, seed, run

    def begin(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the records that the loop is compiled for, and its other arguments, all new."""
        kernel, environment, judge, measuring = self.records
        world = world_of(environment, generator_of(self.seed, self.run))
        arms, dimension = world.features.shape[1:]
        rng = generator_of(self.seed, self.run, own=True)
        kernel, state = started(kernel, arms, dimension, rng)
        normals, work = kernel.needs(arms, dimension)
        self.tally = new_tally(self.marks, arms, normals, work, self.measures)
        records = kernel, state, world, judge, measuring
        return records, (streams(self.seed, self.run), self.tally)

    def compile(self) -> Any:
        """Return the loop in its fastest form for these records."""
        records, rest = self.begin()
        return compiled_loop(play_rounds, records, rest, int(self.marks[-1]))

    def play(self, loop: Any, watch: Watch) -> None:
        """Play all rounds."""
        records, rest = self.begin()
        run = loop_of_run(play_rounds, loop, records)

        def step(start: int, stop: int) -> bool:
            run(*rest, start, stop)
            watch.add(stop - start)
            return True

        watch.walk(int(self.marks[-1]), step)
        check_means_seen(self.run, *records[2:4])
