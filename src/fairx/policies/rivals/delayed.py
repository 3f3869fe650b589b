"""FairX-UCB where rewards are late or lost: FCUCB-D and OP-FCUCB-D, with one place.

Code: github.com/MLCL-SYSU/FairCMAB-Delays.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.merit import Merit, check_conditions, merit_given
from fairx.numerics.elementary import log
from fairx.policies.base import deploy, observe
from fairx.policies.counts import count_reward
from fairx.policies.optimism import PASSES, Box, climb_ends, set_interval
from fairx.policies.peaks import climb_peaks
from fairx.types import Indices, Matrix, Vector


class Awaited(NamedTuple):
    """Rewards of each arm that came, and how often it was played."""

    pulls: Vector
    reward_sums: Vector
    plays: Vector


@record
class DelayedFairXUCB(NamedTuple):
    """Be fair to the most optimistic means within a box of rewards that may not have come yet.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    delta
        The chance that a box fails: 0.01 in the code of its authors.
    missing
        What is made of rewards that have not come. By default nothing (FCUCB-D): the box is
        mean ± sqrt(ln(4 K t / delta) / 2 received). With True (OP-FCUCB-D), which also holds where it is the
        reward that makes them late, they are anything from 0 to 1: [sum / plays, (sum + missing) / plays]
        ± sqrt(ln(6 K t / delta) / 2 plays).

    Notes
    -----
    Rewards and boxes are from 0 to 1. Round t is one more than the plays, or than the rewards where those
    are more. The optimum is exact, as that of `FairXUCB`. An arm without a reward, or a play, has
    the whole range; its authors begin with one play of each. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> from fairx.policies import DelayedFairXUCB
    >>> policy = DelayedFairXUCB(Exponential(4), delta=0.01)
    >>> state = policy.start(arms=2, dimension=0)
    >>> for _ in range(100):
    ...     policy.learn(state, arm=0, context=np.empty(0), reward=0.0)
    >>> policy.probabilities(
    ...     state, np.arange(2), np.empty((2, 0)), np.random.default_rng(0)
    ... ).round(3)
    array([0.018, 0.982])
    """

    merit: Merit
    delta: float
    missing: bool = False

    def checked(self) -> DelayedFairXUCB:
        """Refuse a merit that is none from 0 to 1."""
        merit_given("merit", self.merit)
        check_conditions(self.merit, 0.0, 1.0)
        rules.number("delta", rules.positive("delta", self.delta), high=1)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards beyond 0 to 1."""
        if low < 0.0 or high > 1.0:
            rule = f"be from 0 to 1, not {low:g} to {high:g}: the box is"
            raise rules.InvalidValue("rewards", rule)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for a box, and for a search."""
        return 0, 8 * arms

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
        """Deploy the optimistic fair policy of the boxes of this round."""
        n, plays, pulls = len(arms), 0.0, 0.0
        for arm in range(len(state.plays)):
            plays += state.plays[arm]
            pulls += state.pulls[arm]
        box = box_in(work, n)
        term = (6.0 if self.missing else 4.0) * len(state.plays) * (1.0 + max(plays, pulls))
        term = 0.5 * log(term / self.delta)
        for position in range(n):
            arm = arms[position]
            whole = state.pulls[arm]
            late = max(state.plays[arm] - whole, 0.0) if self.missing else 0.0
            whole += late
            half = math.sqrt(term / whole) if whole > 0.0 else 1.0
            mean, rest = state.reward_sums[arm] / max(whole, 1.0), late / max(whole, 1.0)
            low, high = min(max(mean - half, 0.0), 1.0), min(max(mean + rest + half, 0.0), 1.0)
            set_interval(box, position, low, high, self.merit)
        positions: Any = range(n)
        if not (self.merit.is_log_concave() and climb_ends(box, positions, PASSES, out)):
            climb_peaks(self.merit, box, positions, PASSES, work[7 * n : 8 * n], out)

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
        """Return the fair policy of the most optimistic means."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Awaited, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)


@kernel
def box_in(work: Vector, n: int) -> Box:
    """Return a box of n positions in working memory; its counts, which nobody reads, are its ends."""
    low, high = work[:n], work[n : 2 * n]
    merits = work[2 * n : 3 * n], work[3 * n : 4 * n]
    values = work[4 * n : 5 * n], work[5 * n : 6 * n]
    return Box(low, high, low, high, *merits, *values, work[6 * n : 7 * n])
