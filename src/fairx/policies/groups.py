"""Bounds on what groups of arms have, around any policy."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, kernel, record
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .wrapping import check_inner

TINY = 1e-9  # what a group without probability counts as, where others cannot have all


@record
class Groups(NamedTuple):
    """Keep what each group of arms has between `low` and `high`, as near to `policy` as that can be.

    Parameters
    ----------
    groups
        For each arm the number of its group, from 0 on.
    low, high
        For each group, the least and the most that its arms have together.

    Notes
    -----
    Near is the divergence Σ q log(q / p): within a group probabilities keep their proportions, and
    groups are scaled by one factor, up to their bounds. A group without probability shares out its
    lower bound alike. Where the groups on offer cannot have all within their upper bounds, those
    are passed in proportion. The bounds are those of Celis, Kapoor, Salehi and Vishnoi (2018); their algorithm,
    which we could not check against its text, is another.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Groups, UCB
    >>> policy = Groups(UCB(width=0.1), groups=[0, 0, 1], low=[0.2, 0.3], high=[1, 1])
    >>> state = policy.start(arms=3, dimension=0)
    >>> policy.probabilities(state, np.arange(3), np.empty((3, 0)), np.random.default_rng(0))
    array([0.7, 0. , 0.3])
    """

    policy: Any
    groups: Any
    low: Any
    high: Any

    def checked(self) -> Groups:
        """Refuse bounds that cannot be kept."""
        check_inner(self.policy)
        low, high = (rules.array(end, getattr(self, end), (None,)) for end in ("low", "high"))
        groups = tuple(rules.count("each of the groups", group, low=0) for group in self.groups)
        if not len(low) == len(high) == max(groups, default=-1) + 1:
            rule = f"be one for each group, {max(groups, default=-1) + 1}, not {len(low)}"
            raise rules.InvalidValue("low and high", rule)
        if (
            not ((low >= 0) & (low <= high)).all()
            or not low.sum() <= 1 + 1e-12 <= high.sum() + 2e-12
        ):
            rule = "be shares with low at most high, and 1 between their sums"
            raise rules.InvalidValue("low and high", f"{rule}, not {low} and {high}")
        return changed(self, groups=groups, low=tuple(low.tolist()), high=tuple(high.tolist()))

    def check_reach(self, low: float, high: float) -> None:
        """Refuse what the policy within refuses."""
        if hasattr(self.policy, "check_reach"):
            self.policy.check_reach(low, high)

    @property
    def shares_state(self) -> bool:
        """Say that the state is that of the policy within, which is told what was played."""
        return True

    @property
    def any_order(self) -> bool:
        """Whether the policy within promises it."""
        return bool(getattr(self.policy, "any_order", True))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the policy within does, and room for what each group has."""
        normals, work = self.policy.needs(arms, dimension)
        return normals, max(work, 5 * len(self.low))

    def start(self, arms: int, dimension: int = 0) -> Any:
        """Return the state of the policy within."""
        if arms != len(self.groups):
            rule = f"be one for each of the {arms} arms, not {len(self.groups)}"
            raise rules.InvalidValue("groups", rule)
        return self.policy.start(arms, dimension)

    def propose(
        self,
        state: Any,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Scale the groups."""
        self.policy.propose(state, arms, contexts, normals, work, out)
        n = len(self.low)
        masses, sizes, low = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
        high, parts = work[3 * n : 4 * n], work[4 * n : 5 * n]
        for group in range(n):
            masses[group] = sizes[group] = 0.0
        for position in range(len(arms)):
            group = self.groups[arms[position]]
            masses[group] += out[position]
            sizes[group] += 1.0
        for group in range(n):
            on_offer = 1.0 if sizes[group] > 0.0 else 0.0
            low[group], high[group] = on_offer * self.low[group], on_offer * self.high[group]
        bound(masses, low, high, parts)
        for position in range(len(arms)):
            group = self.groups[arms[position]]
            if masses[group] > 0.0:
                out[position] *= parts[group] / masses[group]
            else:
                out[position] = parts[group] / sizes[group]

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Let the policy within learn."""
        self.policy.absorb(state, arm, context, reward, work)

    def probabilities(
        self, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the policy within, with its groups within their bounds."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Any, arm: int, context: Vector, reward: float) -> None:
        """Take in a reward of `arm`."""
        observe(self, state, arm, context, reward)


@kernel
def bound(masses: Vector, low: Vector, high: Vector, out: Vector) -> None:
    """Write masses times one factor, each brought within its bounds, with sum 1 if that can be.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty(3)
    >>> bound(np.array([0.5, 0.4, 0.1]), np.array([0.0, 0.0, 0.2]), np.ones(3), out)
    >>> out.round(4)
    array([0.4444, 0.3556, 0.2   ])
    """
    least = 0.0
    if scaled_sum(masses, low, high, math.inf, least) < 1.0:
        least = TINY
    lower, upper = 0.0, math.inf
    for i in range(2 * len(masses)):  # between two ends of bounds, the sum is a line
        group = i // 2
        mass = max(masses[group], least)
        if mass > 0.0:
            factor = (low[group] if i % 2 == 0 else high[group]) / mass
            if scaled_sum(masses, low, high, factor, least) <= 1.0:
                lower = max(lower, factor)
            else:
                upper = min(upper, factor)
    free, taken = 0.0, 0.0
    for group in range(len(masses)):
        mass = max(masses[group], least)
        # Quotients as above: multiplied by its mass, a factor may miss its bound by rounding.
        if mass > 0.0 and low[group] / mass <= lower and high[group] / mass >= upper:
            free += mass
        else:
            taken += clip_mass(mass, low[group], high[group], lower)
    factor = (1.0 - taken) / free if free > 0.0 else lower
    total = scaled_sum(masses, low, high, factor, least)
    for group in range(len(masses)):
        mass = max(masses[group], least)
        out[group] = clip_mass(mass, low[group], high[group], factor) / total


@kernel
def scaled_sum(masses: Vector, low: Vector, high: Vector, factor: float, least: float) -> float:
    """Return the sum of masses of at least `least` times a factor, each within its bounds."""
    total = 0.0
    for group in range(len(masses)):
        total += clip_mass(max(masses[group], least), low[group], high[group], factor)
    return total


@kernel
def clip_mass(mass: float, low: float, high: float, factor: float) -> float:
    """Return mass times factor within bounds; nothing stays nothing, whatever the factor."""
    return min(max(mass * factor, low), high) if mass > 0.0 else low
