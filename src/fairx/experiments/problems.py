"""Bandit problems from data sets, one for the validation and one for the test part."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairx import datasets
from fairx.datasets.features import fourier_features, linear_fit, median_distance
from fairx.environments import Bernoulli, Labelled, Linear
from fairx.environments.base import world_of
from fairx.exposure import fair_rows
from fairx.merit import Exponential, Merit
from fairx.replay import UniformLog, replay
from fairx.simulation import Provenance, Result
from fairx.simulation.simulating import play_checked
from fairx.theory import misspecification_regret
from fairx.types import Indices, Matrix, Vector
from fairx.version import __version__

from .specification import MadeUp, Problem

if TYPE_CHECKING:
    from fairx.replay import yahoo

# By name, the days that tune and the days that test.
YAHOO = {"yahoo": ((1,), (2,)), "yahoo-ten-days": ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10))}
_one_at_a_time = threading.Lock()


def marks(rounds: int) -> Indices:
    """Return the rounds to record at: 100 evenly spaced, and 25 to each factor of ten.

    Examples
    --------
    >>> marks(2_000_000).size
    239
    """
    even = [(i + 1) * rounds // 100 for i in range(100)]
    powers = np.unique(np.floor(10 ** (np.arange(1, 25 * np.log10(rounds) + 1) / 25)))
    both = np.append(even, powers)
    return np.unique(both[(both >= 1) & (both <= rounds)]).astype(np.int64)


class Part(NamedTuple):
    """A problem made of some of the examples."""

    environment: Any
    means: Matrix  # (examples, arms) by the judge; one row where there are no contexts
    dimension: int

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return int(self.means.shape[1])

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest true mean."""
        return float(self.means.min()), float(self.means.max())

    def reward_range(self) -> tuple[float, float]:
        """Return the lowest and the highest reward."""
        ends: tuple[float, float] = world_of(
            self.environment, np.random.default_rng(0)
        ).reward_range()
        return ends

    def result(self, policy: Any, merit: Merit, rounds: int, *, seed: int, runs: list[int],
               jobs: int, progress: Callable[[int], None]) -> Result:  # fmt: skip
        """Simulate what `check` let pass."""
        origin = Provenance(
            str(policy), "a part of an experiment", str(merit), seed, rounds, __version__
        )
        return play_checked(
            policy, self.environment, merit, runs, marks(rounds), origin,
            jobs=jobs, progress=progress,
        )  # fmt: skip

    def arm_means(self) -> Vector:
        """Return the true mean reward of each arm, averaged over examples."""
        return np.asarray(self.means.mean(axis=0))

    def fair(self, merit: Merit) -> Vector:
        """Return the fair share of each arm, averaged over examples."""
        return np.asarray(fair_rows(merit, self.means).mean(axis=0))


class LoggedPart(NamedTuple):
    """A problem made of some days of a log: played by replay."""

    log: UniformLog

    @property
    def arms(self) -> int:
        """How many arms there are."""
        return self.log.arms

    @property
    def dimension(self) -> int:
        """How many numbers a context has."""
        return self.log.dimension

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and the highest true mean."""
        return self.log.mean_range()

    def reward_range(self) -> tuple[float, float]:
        """Return the lowest and the highest reward."""
        return self.log.reward_range()

    def result(self, policy: Any, merit: Merit, rounds: int, **options: Any) -> Result:
        """Replay: as many rounds as the log has, at most `rounds`."""
        rounds = min(rounds, self.log.horizon())
        options |= {"rounds": rounds, "checkpoints": marks(rounds).tolist()}
        return replay(policy, self.log, merit, **options).result

    def arm_means(self) -> Vector:
        """Return the true mean reward of each arm, averaged over the events that had it on offer."""
        return self.log.judged(Exponential(1))[0]

    def fair(self, merit: Merit) -> Vector:
        """Return the fair share of each arm, averaged over events."""
        return self.log.judged(merit)[1]


def dataset(
    problem: Problem, directory: str | None = None
) -> datasets.Dataset | yahoo.About | MadeUp:
    """Return the data of a problem, or what is to be said of them."""
    if problem.means is not None:
        return MadeUp(problem.means)
    with _one_at_a_time:
        if problem.data in YAHOO:
            return _about(problem.data, directory)
        return _loaded(problem.data, directory, problem.labels)


def part(
    problem: Problem, which: str, seed: int, directory: str | None = None
) -> Part | LoggedPart:
    """Return the "validation" or the "test" part of a problem; split and features by `seed`."""
    found = dataset(problem, directory)
    if problem.means is not None:
        return _without_contexts(np.array(problem.means))
    with _one_at_a_time:  # not by two threads at once
        if problem.data in YAHOO:
            return _logged(problem.data, problem.setting, which, found.checksum, directory)
        return _made(problem, which, seed, found.checksum, directory)


def settles(problem: Problem, seed: int, merit: Merit, directory: str | None = None) -> float:
    """Return the fairness regret a round that misspecification leaves in the end.

    It is 0 where the model is true, and where no fixed point is found.
    """
    if problem.data in YAHOO or problem.setting != "linear":
        return 0.0
    found: Any = part(problem, "test", seed, directory)
    try:
        return misspecification_regret(merit, *map(np.asarray, found.environment))
    except ValueError:
        return 0.0


@functools.lru_cache(maxsize=4)
def _loaded(name: str, directory: str | None, labels: int | None) -> datasets.Dataset:
    return datasets.load(name, directory=directory, labels=labels)


@functools.lru_cache
def _about(name: str, directory: str | None) -> yahoo.About:
    from fairx.replay import yahoo  # DuckDB is another extra

    return yahoo.about([day for days in YAHOO[name] for day in days], directory)


@functools.lru_cache(maxsize=2)
def _logged(
    name: str, setting: str, which: str, checksum: str, directory: str | None
) -> LoggedPart:
    from fairx.replay import yahoo

    days = YAHOO[name][which == "test"]
    return LoggedPart(yahoo.load(days, directory).log(setting))


@functools.lru_cache(maxsize=2)  # mediamill's two parts are 1.8 GB
def _made(problem: Problem, which: str, seed: int, checksum: str, directory: str | None) -> Part:
    found = _loaded(problem.data, directory, problem.labels)
    validation, test = datasets.split(len(found.labels), problem.validation, seed)
    rows = {"validation": validation, "test": test}[which]
    labels = found.labels[rows]
    if problem.setting == "mab":
        # Each round shows one example and pays one of its labels: with the examples sorted by
        # that label, this is to compare a uniform number with the label's frequency.
        return _without_contexts(labels.mean(axis=0))
    arms, bandwidth = labels.shape[1], problem.bandwidth
    if bandwidth == "median":
        bandwidth = median_distance(found.features, arms, seed=seed)
    contexts = fourier_features(
        found.features[rows], arms, seed=seed, dimension=problem.dimension, bandwidth=bandwidth
    )
    parameter = linear_fit(contexts, labels)
    environment: Any = Labelled(contexts, labels, parameter)
    if problem.setting == "well-specified":
        environment = Linear(contexts, parameter, problem.noise_std)
    return Part(environment, contexts @ parameter, problem.dimension)


def _without_contexts(means: Vector) -> Part:
    return Part(Bernoulli(means), means[None], dimension=0)
