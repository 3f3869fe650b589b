"""What a problem is played on: examples with their judge, or the days of a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import entry
from fairx.environments.base import world_of
from fairx.exposure import fair_rows
from fairx.merit import Exponential, Merit
from fairx.replay import UniformLog, replay
from fairx.simulation import Provenance, Result
from fairx.simulation.notions import NOTIONS
from fairx.simulation.places import Places, check_places
from fairx.simulation.simulating import play_checked
from fairx.slates.places import new_page
from fairx.slates.target import share_places
from fairx.types import Indices, Matrix, Vector
from fairx.version import __version__


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
    places: Places | None = None  # of its pages, where these have several

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
               jobs: int, progress: Callable[[int], None], notions: bool = False) -> Result:  # fmt: skip
        """Simulate what `check` let pass."""
        origin = Provenance(
            str(policy), "a part of an experiment", str(merit), seed, rounds, __version__
        )
        return play_checked(
            policy, self.environment, merit, runs, marks(rounds), origin, NOTIONS if notions else {},
            jobs=jobs, progress=progress, places=self.places,
        )  # fmt: skip

    def check_policy(self, policy: Any) -> None:
        """Refuse a policy that cannot be played on these rewards, or these places."""
        if hasattr(policy, "check_reach"):
            policy.check_reach(*self.reward_range())
        check_places(self.places, policy, world_of(self.environment, np.random.default_rng(0)))

    def arm_means(self) -> Vector:
        """Return the true mean reward of each arm, averaged over examples."""
        return np.asarray(self.means.mean(axis=0))

    def fair(self, merit: Merit) -> Vector:
        """Return the fair share of each arm, averaged over examples; of places, its exposure."""
        if self.places is None:
            return np.asarray(fair_rows(merit, self.means).mean(axis=0))
        return np.asarray(exposure_rows(merit, self.means, self.places.weights).mean(axis=0))


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
        if options.pop("notions", False):
            raise rules.InvalidValue(
                "notions", "be left out for a log: they are measured in simulations"
            )
        rounds = min(rounds, self.log.horizon())
        options |= {"rounds": rounds, "checkpoints": marks(rounds).tolist()}
        return replay(policy, self.log, merit, **options).result

    def check_policy(self, policy: Any) -> None:
        """Refuse a policy that cannot be played on these rewards."""
        if hasattr(policy, "check_reach"):
            policy.check_reach(*self.reward_range())

    def arm_means(self) -> Vector:
        """Return the true mean reward of each arm, averaged over the events that had it on offer."""
        return self.log.judged(Exponential(1))[0]

    def fair(self, merit: Merit) -> Vector:
        """Return the fair share of each arm, averaged over events."""
        return self.log.judged(merit)[1]


def exposure_rows(merit: Merit, means: Matrix, weights: Vector) -> Matrix:
    """Return the fair exposures of each row of means.

    Examples
    --------
    >>> exposure_rows(Exponential(4), np.array([[0.1, 0.5, 0.5]]), np.array([1.0, 0.5])).round(3)
    array([[0.138, 0.681, 0.681]])
    """
    page, out = new_page(weights, means.shape[1]), np.empty(means.shape)
    run, low = share_rows.ready((merit,), lambda run, low: run(*low, means[:0], page, out[:0]))
    run(*low, np.ascontiguousarray(means), page, out)
    return out


@entry
def share_rows(merit, means, page, out):  # type: ignore[no-untyped-def]
    """Write the fair exposures of each row."""
    for row in range(len(means)):
        share_places(merit, means[row], page, out[row])
