"""Play a policy on a log, event by event, as if it had been there (Li et al., 2010 and 2011)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.merit import Merit
from fairx.numerics.streams import streams
from fairx.policies import Policy
from fairx.policies.base import inner_form, started
from fairx.policies.telling import teller_of
from fairx.simulation import Result
from fairx.simulation.careful import compiled_loop, loop_of_run
from fairx.simulation.measures import Round, measures_of
from fairx.simulation.provenance import provenance
from fairx.simulation.runs import (
    Watch,
    check_merits,
    checkpoint_rounds,
    generator_of,
    played,
    run_numbers,
)
from fairx.simulation.tally import Tally
from fairx.types import Indices, Vector

from .loop import replay_events
from .uniform_log import UniformLog, buffers


class Replayed(NamedTuple):
    """The result of a replay, and how much of the log it took."""

    result: Result  # its rounds are the accepted ones
    events: Indices  # (runs,), how many were read until the last round was accepted

    @property
    def accepted(self) -> int:
        """How many events were accepted, the same for all runs."""
        return int(self.result.rounds[-1])

    @property
    def acceptance(self) -> Vector:
        """The share of the events read that was accepted, by run."""
        return np.asarray(self.accepted / self.events)


def replay(
    policy: Policy[Any],
    log: UniformLog,
    judge: Merit,
    *,
    seed: int,
    rounds: int | None = None,
    runs: int | Sequence[int] = 1,
    checkpoints: int | Sequence[int] = 200,
    measures: Mapping[str, Callable[[Round], float]] = MappingProxyType({}),
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Replayed:
    """Replay a log: accept the events that displayed what the policy would have.

    For each event the policy proposes probabilities over the event's own pool, and an arm is drawn
    from them. If it is the one that was displayed, the event is a round: the policy learns from its
    reward, and its regret counts. All other events leave no trace. As the displayed arm was drawn
    uniformly, an event is accepted with probability 1 / (size of its pool) whatever the policy
    proposes, so that accepted rounds are distributed as those of a live experiment.

    Parameters
    ----------
    policy
        Ours, or a record of your own with the public methods.
    log
        Whose truth is the judge's.
    judge
        The merit that says what would have been fair.
    rounds
        How many to accept; by default `log.horizon()`, which practically every run reaches.
    runs, seed, checkpoints, measures, jobs, progress
        As in `simulate`: run i is a function of (seed, i) alone, and rounds are accepted rounds.

    Notes
    -----
    All runs stop after the same number of accepted rounds, wherever in the log that is, so that
    their curves have one axis. Events of large pools are rarer among them than in the log. The runs
    share the log and differ by what is drawn: a policy that puts all exposure on one arm, and draws
    nothing, has the same regret in each.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXTS
    >>> rng, means = np.random.default_rng(1), np.array([0.2, 0.5, 0.8])
    >>> displayed = rng.integers(3, size=5000)
    >>> log = UniformLog([[0, 1, 2]], displayed, rng.random(5000) < means[displayed])
    >>> found = replay(FairXTS(Exponential(4), 1, 0.5), log, Exponential(4), seed=1)
    >>> found.accepted, found.acceptance.round(2), found.result.exposure.round(2)
    (1462, array([0.34]), array([[0.11, 0.24, 0.65]]))
    """
    rounds = log.horizon() if rounds is None else rules.count("rounds", rounds)
    seed, marks = rules.count("seed", seed, low=0), checkpoint_rounds(checkpoints, rounds)
    check_merits(policy, judge, log)
    records = inner_form(policy), log, judge, measures_of(measures)
    numbers = run_numbers(runs)
    found = [_Run(records, len(measures), marks, seed, run) for run in numbers]
    origin = provenance(policy, log, judge, seed, rounds, measures)
    result = played(found, marks, jobs, progress, measures, origin)
    for run in found:
        run.check_rounds()
    return Replayed(result, np.array([run.event for run in found]))


class _Run:
    """One run: its state, and what it adds up."""

    tally: Tally

    def __init__(
        self, records: tuple[Any, ...], measures: int, marks: Indices, seed: int, run: int
    ) -> None:
        self.kernel, self.log, self.judge, self.measuring = records
        self.measures, self.marks, self.seed, self.run = measures, marks, seed, run
        self.event = self.accepted = 0

    def begin(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the records that the loop is compiled for, and its other arguments, all new."""
        log, kernel = self.log, self.kernel
        rng = generator_of(self.seed, self.run, own=True)
        kernel, state = started(kernel, log.arms, log.dimension, rng)
        normals, work = kernel.needs(np.asarray(log.pools).shape[1], log.dimension)
        self.tally, contexts = buffers(log, self.marks, normals, work, self.measures)
        # Not one that draws from a generator of its own, as a policy of others may.
        steady = normals == log.dimension == 0 and hasattr(kernel, "start")
        records = kernel, state, log.world(), self.judge, self.measuring, teller_of(kernel)
        return records, (streams(self.seed, self.run), self.tally, contexts, steady)

    def compile(self) -> Any:
        """Return the loop in its fastest form for these records."""
        records, rest = self.begin()
        rest = (*rest, 0, int(self.marks[-1]))
        return compiled_loop(replay_events, records, rest, np.size(self.log.displayed))

    def play(self, loop: Any, watch: Watch) -> None:
        """Read events until all rounds are accepted."""
        records, rest = self.begin()
        run = loop_of_run(replay_events, loop, records)
        rounds = int(self.marks[-1])

        def step(start: int, stop: int) -> bool:
            before = self.accepted
            self.event, self.accepted = run(*rest, before, rounds, start, stop)
            watch.add(self.accepted - before)
            return self.accepted < rounds

        watch.walk(np.size(self.log.displayed), step)

    def check_rounds(self) -> None:
        """Refuse a run that the log was too short for."""
        if self.accepted < self.marks[-1]:
            raise ValueError(
                f"rounds must be at most {self.accepted}, which run {self.run} accepted of "
                f"{self.event} events, not {self.marks[-1]}: the log is too short, or what it "
                "displayed was not drawn uniformly"
            )
