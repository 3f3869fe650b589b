"""Rewards that come late, or never."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Vector

from .base import world_of

KINDS = ("fixed", "geometric")
CUT = 20.0  # means: a geometric delay is longer with chance exp(-20), and then never comes


@record
class Late(NamedTuple):
    """Another environment, whose rewards are learned some rounds after their decision.

    Parameters
    ----------
    environment
        Any with one place.
    mean
        The mean delay in rounds: a number, or one for each arm. A reward with delay n is learned after
        the decision that comes n rounds later; with delay 0 before the next one, as ever.
    kind
        "fixed": each is as long; or "geometric": in each round the reward comes with the same chance.
    lost
        The chance that a reward never comes: a number, or one for each arm.

    Notes
    -----
    Meanwhile the policy decides by what it has learned so far: nothing is put in the place of a reward
    that is not there, and one that is lost teaches nothing. Policies that are told what was played are
    told at once. Regrets are of deployed probabilities, and what was earned counts when it is earned,
    also where it is lost. Rewards that come in the same round are learned in the order of
    their decisions. `Sleeping` and what moves go inside: `Late(Sleeping(...), ...)`.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS, environments, simulate
    >>> merit, world = Exponential(4), environments.Bernoulli([0.2, 0.5, 0.8])
    >>> policy, settings = FairXTS(merit, 1, 0.5), dict(rounds=1000, seed=1)
    >>> for place in (world, environments.Late(world, mean=200)):
    ...     print(simulate(policy, place, merit, **settings).fairness_regret[0, -1].round(1))
    192.0
    336.6
    """

    environment: Any
    mean: npt.ArrayLike
    kind: str = "fixed"
    lost: npt.ArrayLike = 0.0

    def checked(self) -> Late:
        """Refuse delays that are negative, and chances that are none."""
        if self.kind not in KINDS:
            raise rules.InvalidValue("kind", f"be 'fixed' or 'geometric', not {self.kind!r}")
        if isinstance(self.environment, Late):
            raise rules.InvalidValue("environment", "be one whose rewards are not late already")
        arms = world_of(self.environment, np.random.default_rng(0)).features.shape[1]
        found = [_by_arm(name, getattr(self, name), arms) for name in ("mean", "lost")]
        if found[1].max() > 1:
            raise rules.InvalidValue("lost", f"be at most 1, not {found[1].max():g}")
        if self.kind == "fixed" and (found[0] % 1).any():
            raise rules.InvalidValue("mean", "be whole rounds where kind is 'fixed'")
        return changed(self, mean=found[0], lost=found[1])

    def world(self, rng: np.random.Generator) -> Any:
        """Return that of the environment within: who waits is the loop."""
        return world_of(self.environment, rng)

    def delays(self) -> Delays:
        """Return how long the rewards of each arm take."""
        mean, lost = np.asarray(self.mean), np.asarray(self.lost)
        if self.kind == "fixed":
            return Delays(mean, lost, np.zeros(mean.size), int(mean.max()))
        rates = np.log1p(1.0 / np.maximum(mean, 1e-9))  # -log(1 - p) with p = 1 / (1 + mean)
        return Delays(np.zeros(mean.size), lost, 1.0 / rates, int(np.ceil(CUT * mean.max())) + 20)


class Delays(NamedTuple):
    """By arm: rounds for certain, the chance of no reward, and rounds to each factor e of chance."""

    certain: Vector
    lost: Vector
    scales: Vector
    longest: int


def delays_of(environment: Any) -> Delays | None:
    """Return the delays of an environment, if its rewards are late."""
    return environment.delays() if isinstance(environment, Late) else None


def _by_arm(name: str, given: Any, arms: int) -> Vector:
    found = np.full(arms, given, float) if np.ndim(given) == 0 else given
    found = rules.array(name, found, (arms,), "one for all, or one per arm")
    rules.number(f"the lowest {name}", float(found.min()), low=0)
    return np.asarray(found)
