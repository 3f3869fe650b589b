"""EXP3 (Auer, Cesa-Bianchi, Freund and Schapire 2002): an ordinary stochastic baseline."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import mix
from fairx.policies.base import deploy, observe
from fairx.policies.softmax import soften
from fairx.types import Indices, Matrix, Vector


class Scores(NamedTuple):
    """Sums of rewards over propensities, and the propensity of each arm when it was played last."""

    scores: Vector
    propensities: Vector


@record
class Exp3(NamedTuple):
    """Play in proportion to exp(gamma score / K), and uniformly a fraction `gamma` of the time.

    Notes
    -----
    The score of an arm is the sum of its rewards, each over the propensity of its decision; the paper
    has rewards from 0 to 1. Without a `played` before, a propensity is 1 / K. A reward counts with the
    propensity of the arm's last decision: exact where it comes before the next one. Draws no random
    numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import Exp3
    >>> policy = Exp3(gamma=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.played(state, arms, 0, np.array([0.1, 0.9]))
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> state.scores, policy.probabilities(state, arms, np.empty((2, 0)), rng).round(3)
    (array([10.,  0.]), array([0.61, 0.39]))
    """

    gamma: float

    def checked(self) -> Exp3:
        """Refuse a fraction outside 0 to 1."""
        rules.number("gamma", self.gamma, low=0, high=1)
        return self

    @property
    def any_order(self) -> bool:
        """Promise nothing: what a reward teaches depends on the decision before it."""
        return False

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Scores:
        """Return scores of 0."""
        arms = rules.count("arms", arms)
        return Scores(np.zeros(arms), np.full(arms, 1.0 / arms))

    def propose(
        self,
        state: Scores,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Mix the exponential weights with the uniform policy."""
        soften(state.scores, arms, self.gamma / len(state.scores), out)
        mix(out, 1.0 - self.gamma, self.gamma)

    def played(self, state: Scores, arms: Indices, position: int, probabilities: Vector) -> None:
        """Keep the propensity."""
        state.propensities[arms[position]] = probabilities[position]

    def absorb(self, state: Scores, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Add the reward over its propensity."""
        state.scores[arm] += reward / state.propensities[arm]

    def probabilities(
        self, state: Scores, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the exponential weights, mixed with the uniform policy."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Scores, arm: int, context: Vector, reward: float) -> None:
        """Add a reward of `arm` over its propensity."""
        observe(self, state, arm, context, reward)
