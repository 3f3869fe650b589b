"""FairX-UCB (Algorithm 1)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, is_overridden, record
from fairx.exposure import put_all_on
from fairx.merit import Merit, check_conditions, merit_given
from fairx.slates.places import Page
from fairx.slates.ranking import rank_by_score
from fairx.texts import short
from fairx.types import Indices, Matrix, Vector

from .base import deploy, named, observe
from .capped_optimism import VECTORS
from .clicks import bounded_pulls
from .counts import count_reward, first_unpulled
from .gradient import Gradient
from .intervals import INTERVALS, Hoeffding, bounds_given, clipped
from .optimism import Exact, set_interval

SOLVED = {"deploy_optimum": "weigher"}  # what a weigher stands for


@record
class FairXUCB(NamedTuple):
    """Be fair to the most optimistic means within a box around the estimates.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    width
        The half width of an arm's interval after one pull, w0 in the paper.
    solver
        "exact" (the global optimum), "gradient" (the paper's ten steps), or a record
        `Exact(...)` or `Gradient(steps, rate)`. At wide boxes the two are different
        algorithms, and a width tuned for one does not suit the other.
    bounds
        The lowest and the highest mean there can be, where that is known: intervals are clipped to
        them. A merit that is not positive everywhere needs it.
    interval
        "hoeffding" (the paper's), or, where `bounds` are also those of the rewards, "kl" or
        "bernstein": never far from Hoeffding's, and much narrower for means near an end of the
        bounds, or for rewards of small variance.

    Notes
    -----
    Each arm on offer is played once first, in order; regret counts those rounds. The paper does
    not say where its ascent starts: here, at the means. Draws no random numbers. With several places
    the optimum is that of all places; arms that were never pulled are shown first, in order, and while
    there are any, the highest upper ends follow.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXUCB
    >>> policy = FairXUCB(Exponential(4), width=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> policy.learn(state, arm=1, context=np.empty(0), reward=0.5)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(2)
    array([0.94, 0.06])
    """

    merit: Merit
    width: float
    solver: Any = "exact"
    bounds: Any = None
    interval: Any = "hoeffding"

    def checked(self) -> FairXUCB:
        """Refuse a negative width; turn names into a solver and an interval."""
        merit_given("merit", self.merit)
        rules.number("width", self.width, low=0)
        solver = named("solver", self.solver, {"exact": Exact(), "gradient": Gradient()})
        interval = named("interval", self.interval, INTERVALS)
        bounds = bounds_given(self.bounds)
        if bounds is None and not isinstance(interval, Hoeffding):
            rule = f"be given for interval={self.interval!r}: the lowest and the highest reward"
            raise rules.InvalidValue("bounds", rule)
        if bounds is not None:
            self._check_within(bounds)
        return changed(self, solver=solver, bounds=bounds, interval=interval)

    def _check_within(self, bounds: tuple[float, float]) -> None:
        try:
            check_conditions(self.merit, *bounds)
        except rules.InvalidValue as error:
            remedy = "give bounds within which it is"
            raise rules.InvalidValue("merit", f"{error.rule}: {remedy}") from None

    def check_reach(self, low: float, high: float) -> None:
        """Refuse a merit that an interval can leave, where rewards are from `low` to `high`.

        Exact optimism keeps an arm where it has no merit, and shows it no more.

        Examples
        --------
        >>> from fairx import Affine, FairXUCB
        >>> FairXUCB(Affine(1, 0.1), width=0.5).check_reach(0, 1)
        Traceback (most recent call last):
        InvalidValue: merit must be positive wherever an interval can reach, but Affine(slope=1.0, intercept=0.1) is not at mean -0.5: give bounds=(low, high), the lowest and the highest mean there can be
        """
        reached = low - self.width
        if self.bounds is None and not self.merit.log(reached) > -math.inf:
            rule = f"be positive wherever an interval can reach, but {short(self.merit)} is not"
            remedy = "give bounds=(low, high), the lowest and the highest mean there can be"
            raise rules.InvalidValue("merit", f"{rule} at mean {reached:g}: {remedy}")

    @classmethod
    def for_horizon(
        cls, merit: Merit, rounds: int, arms: int, delta: float, bounds: Any = None,
        interval: Any = "hoeffding",
    ) -> FairXUCB:  # fmt: skip
        """Return the policy with a width for which all boxes hold the truth with chance 1 - delta / 2.

        Without bounds it is the width of the paper's theorems, sqrt(2 ln(4 T K / delta)), for
        rewards in [-1, 1]. With them it is what the interval needs for rewards of that range: for
        [0, 1] half as much.

        Examples
        --------
        >>> from fairx import Exponential, FairXUCB
        >>> round(FairXUCB.for_horizon(Exponential(4), rounds=1000, arms=10, delta=0.05).width, 3)
        5.214
        >>> known = FairXUCB.for_horizon(Exponential(4), 1000, 10, 0.05, bounds=(0, 1))
        >>> round(known.width, 3)
        2.607
        """
        rules.number("delta", delta, low=0, high=1)
        rounds, arms = rules.count("rounds", rounds), rules.count("arms", arms)
        low, high = bounds_given(bounds) or (-1.0, 1.0)
        rule = named("interval", interval, INTERVALS)
        term = math.log(rule.failures() * rounds * arms / rules.positive("delta", delta / 2))
        return cls(merit, (high - low) * math.sqrt(term / 2), bounds=bounds, interval=rule)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for the vectors of a search."""
        return 0, VECTORS * arms

    def start(self, arms: int, dimension: int = 0) -> Any:
        """Return intervals without ends."""
        return self.interval.empty_state(arms)

    def propose(
        self,
        state: Any,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play each arm once, then deploy the optimistic fair policy."""
        unpulled = first_unpulled(state, arms)
        if unpulled >= 0:
            put_all_on(unpulled, out)
        else:
            self.solver.deploy_optimum(self.merit, state, arms, work, out)  # lines 7 and 8

    def weigher(self, arms: int, low: float, high: float) -> Any:
        """Return what weighs many arms, for rewards from `low` to `high`: the ends of intervals."""
        reach = self.bounds or (low - self.width, high + self.width)
        if not hasattr(self.solver, "weigher") or is_overridden(self.solver, SOLVED):
            return None  # the paper's steps move every arm, and those of others may
        return self.solver.weigher(self.merit, arms, *reach)

    def propose_slate(
        self, state: Any, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Show arms that were never pulled first, then deploy the optimistic fair exposures."""
        if first_unpulled(state, arms) < 0:
            self.solver.deploy_on_places(self.merit, state, arms, page, work, out)
        else:
            for position in range(len(arms)):
                out[position] = state.high[arms[position]]
            rank_by_score(page, out)

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull and move the arm's interval."""
        mean = count_reward(state, arm, reward)  # lines 3 and 4
        self.interval.note_reward(state, arm, reward, self.bounds)
        low, high = self.interval.ends(state, arm, mean, self.width, self.bounds)  # line 5
        low, high = clipped(self.bounds, low, high)
        set_interval(state, arm, low, high, self.merit)  # line 6

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the interval."""
        return bounded_pulls(shows, examined)

    def check_clicks(self, least: float, low: float, high: float) -> None:
        """Refuse intervals that clicks do not have, on places looked at with a chance of `least`."""
        if not isinstance(self.interval, Hoeffding):
            rule = (
                f"be 'hoeffding' for clicks, not {short(self.interval)}: the others are for rewards"
            )
            raise rules.InvalidValue("interval", rule)
        changed(self, width=self.width / least).check_reach(min(low, 0.0), high)

    def probabilities(
        self, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the most optimistic means."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Any, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm` and move its interval."""
        observe(self, state, arm, context, reward)
