"""FairX by gradient: logits that climb reward plus entropy, whose top is the fair policy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.merit import Exponential
from fairx.numerics.elementary import exp, log
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .softmax import soften


class Logits(NamedTuple):
    """What probabilities follow, and what the last decision had."""

    logits: Vector
    shares: Vector  # by arm, what the policy gave it in the last decision; 0 if it was not on offer
    weights: Vector  # by arm, when it was played last: its share over its propensity
    level: Vector  # one number: the mean of what rewards are above the logarithms of shares


@record
class FairXGradient(NamedTuple):
    """Let the logits of probabilities climb expected reward plus entropy / steepness.

    Parameters
    ----------
    steepness
        Of the merit exp(steepness * mean).
    rate
        The size of a step. Larger ones follow a world that moves sooner, and tremble more.

    Notes
    -----
    Of all policies, the fair one of that merit has the largest reward plus entropy / steepness. A step
    is rate (1{played} - share) (reward - level - log(share) / steepness), the pseudo-reward of an audit
    (docs/audit.md), whose mean is the slope and is 0 where all are fair. It is weighed by the share
    over the propensity, where those differ. No means are estimated, and nothing is remembered of old
    rewards but where the logits are. A reward counts with the shares of the last decision: exact where
    it comes before the next one.

    Examples
    --------
    >>> from fairx import FairXGradient, environments, simulate
    >>> policy, world = FairXGradient(steepness=4, rate=0.2), environments.Bernoulli([0.2, 0.8])
    >>> simulate(policy, world, policy.merit, rounds=20_000, seed=1).exposure.round(2)
    array([[0.09, 0.91]])
    """

    steepness: float
    rate: float

    def checked(self) -> FairXGradient:
        """Refuse what leads nowhere."""
        rules.positive("steepness", self.steepness)
        rules.number("rate", rules.positive("rate", self.rate), high=1)
        return self

    @property
    def merit(self) -> Exponential:
        """What exposure is in proportion to."""
        return Exponential(self.steepness)

    @property
    def any_order(self) -> bool:
        """Promise nothing: what a reward teaches depends on the decision before it."""
        return False

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Logits:
        """Return logits that are equal."""
        arms = rules.count("arms", arms)
        return Logits(np.zeros(arms), np.full(arms, 1.0 / arms), np.ones(arms), np.zeros(1))

    def propose(
        self,
        state: Logits,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the probabilities of the logits."""
        soften(state.logits, arms, 1.0, out)

    def played(self, state: Logits, arms: Indices, position: int, probabilities: Vector) -> None:
        """Keep the shares of all arms, and the weight of the one that was played."""
        total, own, top = 0.0, state.shares, state.logits[arms[0]]
        for i in range(1, len(arms)):
            top = max(top, state.logits[arms[i]])
        for arm in range(len(own)):
            own[arm] = 0.0
        for i in range(len(arms)):
            own[arms[i]] = exp(state.logits[arms[i]] - top)
            total += own[arms[i]]
        for i in range(len(arms)):
            own[arms[i]] /= total
        state.weights[arms[position]] = own[arms[position]] / probabilities[position]

    def absorb(self, state: Logits, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Make a step."""
        share = state.shares[arm]
        if share > 0.0:
            step = self.rate * state.weights[arm]
            gap = reward - state.level[0] - log(share) / self.steepness
            for other in range(len(state.logits)):
                state.logits[other] -= step * gap * state.shares[other]
            state.logits[arm] += step * gap
            state.level[0] += min(step, 1.0) * gap

    def probabilities(
        self, state: Logits, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the logits."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Logits, arm: int, context: Vector, reward: float) -> None:
        """Make a step from a reward of `arm`."""
        observe(self, state, arm, context, reward)
