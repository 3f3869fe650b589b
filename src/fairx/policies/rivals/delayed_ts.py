"""FairX-TS where rewards are late or lost: OP-FCTS-D, with one place.

Code: github.com/MLCL-SYSU/FairCMAB-Delays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.exposure import share
from fairx.merit import Merit, merit_given
from fairx.numerics.gamma import draw_gammas, spread_of
from fairx.policies.base import deploy, observe
from fairx.policies.counts import count_reward
from fairx.policies.fair_beta_ts import check_chances, check_prior
from fairx.types import Indices, Matrix, Vector

from .delayed import Awaited


@record
class DelayedFairXTS(NamedTuple):
    """Be fair to the mean of two draws: rewards that have not come are all 1 in one, all 0 in the other.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    successes, failures
        The prior of each mean, Beta(successes, failures): uniform by default, as in the code of its authors.

    Notes
    -----
    With nothing missing it is no Thompson sampling: the mean of two draws is nearer to that of the posterior.
    Rewards are 0 or 1, as for `FairXBetaTS`, which is FCTS-D. Uses four normal numbers per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> from fairx.policies import DelayedFairXTS
    >>> policy = DelayedFairXTS(Exponential(4))
    >>> state = policy.start(arms=2, dimension=0)
    >>> for _ in range(100):
    ...     policy.played(state, np.arange(2), 0, np.array([0.5, 0.5]))
    >>> policy.learn(state, arm=1, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(2)
    array([0.27, 0.73])
    """

    merit: Merit
    successes: float = 1.0
    failures: float = 1.0

    def checked(self) -> DelayedFairXTS:
        """Refuse a prior that is none."""
        merit_given("merit", self.merit)
        check_prior(self.successes, self.failures)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards beyond 0 to 1."""
        check_chances(low, high)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for four normal numbers per arm, and room for four gamma numbers."""
        return 4 * arms, 4 * arms

    def start(self, arms: int, dimension: int = 0) -> Awaited:
        """Return no counts."""
        return Awaited(*np.zeros((3, rules.count("arms", arms))))

    def propose(
        self,
        state: Awaited,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of the mean of two draws."""
        draw_between(state, arms, self.successes, self.failures, normals, work, out)
        share(self.merit, out, out)

    def played(self, state: Awaited, arms: Indices, position: int, probabilities: Vector) -> None:
        """Count the play."""
        state.plays[arms[position]] += 1.0

    def absorb(
        self, state: Awaited, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Count the reward."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Awaited, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the mean of two draws."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Awaited, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)


@kernel
def draw_between(
    state: Awaited, arms: Indices, successes: float, failures: float, normals: Vector,
    work: Vector, out: Vector,
) -> None:  # fmt: skip
    """Write, for each arm on offer, the mean of a hopeful and of a fearful draw."""
    n = len(arms)
    positions: Any = range(n)
    shapes, spreads = work[:n], work[n : 2 * n]
    up, down = work[2 * n : 3 * n], work[3 * n : 4 * n]
    for position in range(n):
        out[position] = 0.0
    for draw in range(2):  # the hopeful one, then the fearful
        for won in range(2):
            for position in range(n):
                arm = arms[position]
                counted = min(max(state.reward_sums[arm], 0.0), state.pulls[arm])
                counted = failures + state.pulls[arm] - counted if won == 0 else successes + counted
                late = max(state.plays[arm] - state.pulls[arm], 0.0) if draw != won else 0.0
                shapes[position] = counted + late
                spreads[position] = spread_of(shapes[position])
            some = normals[(2 * draw + won) * n : (2 * draw + won + 1) * n]
            draw_gammas(shapes, spreads, positions, some, up if won == 1 else down)
        for position in range(n):
            both = up[position] + down[position]
            out[position] += 0.5 * up[position] / both if both > 0.0 else 0.25
