"""Fair-LEARN (Patil, Ghalme, Nair and Narahari, JMLR 22:174): a least rate for each arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, exactly, record
from fairx.exposure import put_all_on
from fairx.policies.base import deploy, observe
from fairx.policies.telling import is_told
from fairx.policies.wrapping import check_inner
from fairx.types import Indices, Matrix, Vector

from .per_arm import checked_shares, for_each


class Owed(NamedTuple):
    """How often each arm was played and is to be, and the state of the policy within."""

    plays: Vector
    rates: Vector
    inner: Any


@record
class FairLearn(NamedTuple):
    """Play the arm that is owed most, where that is more than `tolerance`, and else as `policy` does.

    Parameters
    ----------
    policy
        What is played where no arm is owed too much.
    rates
        For each arm, the share of the rounds that it is to have; at most 1 in all. One number is for all alike.
    tolerance
        Alpha in the paper: how many plays an arm may be behind.

    Notes
    -----
    After t - 1 rounds an arm is owed rate (t - 1) less its plays. Plays are counted when they are
    decided, by `played`. Where an arm is owed, it is played for certain; ties go to the lowest.

    Examples
    --------
    >>> from fairx import UCB, Exponential, environments, simulate
    >>> from fairx.policies import FairLearn
    >>> policy = FairLearn(UCB(width=0.5), rates=[0.3, 0.3, 0.1], tolerance=1)
    >>> world = environments.Bernoulli([0.2, 0.5, 0.8])
    >>> simulate(policy, world, Exponential(4), rounds=1000, seed=1).pulls
    array([[299, 299, 402]])
    """

    policy: Any
    rates: Any
    tolerance: float = 0.0

    def checked(self) -> FairLearn:
        """Refuse rates that cannot all be had, and a policy that counts plays itself."""
        check_inner(self.policy)
        if is_told(self.policy):
            raise rules.InvalidValue("policy", "learn from rewards alone within FairLearn")
        rules.number("tolerance", self.tolerance, low=0)
        return changed(self, rates=checked_shares("rates", self.rates))

    def check_reach(self, low: float, high: float) -> None:
        """Refuse what the policy within refuses."""
        if hasattr(self.policy, "check_reach"):
            self.policy.check_reach(low, high)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the policy within does."""
        needed: tuple[int, int] = self.policy.needs(arms, dimension)
        return needed

    def start(self, arms: int, dimension: int = 0) -> Owed:
        """Return no plays."""
        rates = for_each("rates", self.rates, rules.count("arms", arms))
        return Owed(np.zeros(arms), rates, self.policy.start(arms, dimension))

    def propose(
        self,
        state: Owed,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play who is owed most, or let the policy within decide."""
        exactly()  # what arms are owed is often the same, or the tolerance itself
        rounds, owed, most = 0.0, 0, 0.0
        for arm in range(len(state.plays)):
            rounds += state.plays[arm]
        for position in range(len(arms)):
            behind = state.rates[arms[position]] * rounds - state.plays[arms[position]]
            if position == 0 or behind > most:
                owed, most = position, behind
        if most > self.tolerance:
            put_all_on(owed, out)
        else:
            self.policy.propose(state.inner, arms, contexts, normals, work, out)

    def played(self, state: Owed, arms: Indices, position: int, probabilities: Vector) -> None:
        """Count the play."""
        state.plays[arms[position]] += 1.0

    def absorb(self, state: Owed, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Let the policy within learn."""
        self.policy.absorb(state.inner, arm, context, reward, work)

    def probabilities(
        self, state: Owed, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return all for who is owed most, or what the policy within does."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Owed, arm: int, context: Vector, reward: float) -> None:
        """Take in a reward of `arm`."""
        observe(self, state, arm, context, reward)
