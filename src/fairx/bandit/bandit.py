"""A policy at work: it decides, and learns from rewards that come late, in any order, once each."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np

from fairx import rules
from fairx.features import Features
from fairx.policies import Policy
from fairx.slates.examination import feedback_given
from fairx.texts import table

from . import keeping, offering
from .arms import Arms
from .decision import Decided, Decision, Rewards, SlateDecision, told
from .engine import Engine
from .offering import Chances, Contexts, Names, Weights
from .waiting import Waiting


class Bandit:
    """Acts, then learns. Safe to call from several threads.

    Parameters
    ----------
    policy
        Ours, or a record of your own with the three public methods. A `FairXUCB` whose merit is not
        positive a width below the lowest reward needs `bounds`.
    arms, dimension
        The number of arms, or a list of distinct names; the dimension of contexts, 0 without.
    seed
        Decision n is a function of the seed, n and what was learned before: a bandit that is
        saved and loaded goes on as if nothing had happened.
    feedback
        Of slates. "each": each place has its reward. "examined": a place is looked at with some chance,
        and has the reward if it was, and 0 if not; nobody knows which of them a 0 is.
    reward_range
        What rewards are from and to, where a policy must know before.
    features
        Named features that contexts are made of: `act` then takes {"visit": {...}, "arms": {...}}, and
        the dimension is theirs.

    Examples
    --------
    >>> from fairx import Bandit, Exponential, FairXTS
    >>> bandit = Bandit(FairXTS(Exponential(4), 1, 0.5), arms=["red", "green"], seed=7)
    >>> decision = bandit.act()
    >>> decision.arm, round(decision.probability, 3)
    ('red', 0.854)
    >>> bandit.learn(decision, reward=1.0)
    >>> bandit.learn(decision, reward=1.0)
    Traceback (most recent call last):
    fairx.errors.RewardGiven: decision 0 was rewarded or forgotten already
    """

    def __init__(
        self, policy: Policy[Any], arms: int | Sequence[Hashable], dimension: int = 0, *,
        seed: int, feedback: str = "each", reward_range: tuple[float, float] = (0.0, 1.0),
        features: Features | None = None,
    ) -> None:  # fmt: skip
        self._arms = Arms(arms)
        self.policy, self.feedback = policy, feedback_given(feedback, None)
        self.reward_range = rules.interval("reward_range", reward_range)
        clicks = offering.range_of_clicks(policy, feedback, self.reward_range)
        self.features, self.dimension = features, offering.dimension_given(dimension, features)
        self.seed = rules.count("seed", seed, low=0)
        self._lock = threading.RLock()
        self._engine = Engine(policy, len(self._arms.names), self.dimension, self.seed, clicks)
        self._waiting, self._made = Waiting({}, {}), 0

    def __repr__(self) -> str:
        return f"Bandit({', '.join(f'{name}: {text}' for name, text in told(self))})"

    def _repr_html_(self) -> str:
        return table("Bandit", told(self))

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that may be played."""
        return self._arms.played

    @property
    def state(self) -> Any:
        """What the policy has learned."""
        return self._engine.state

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._made

    @property
    def pending(self) -> tuple[int, ...]:
        """The decisions that wait for a reward, a slate until each of its places had one."""
        with self._lock:
            return self._waiting.ids()

    @overload
    def act(
        self, contexts: Contexts = None, candidates: Names = None, *, weights: None = None,
        examination: None = None, available: Names = None,
    ) -> Decision: ...  # fmt: skip

    @overload
    def act(
        self, contexts: Contexts = None, candidates: Names = None, *, weights: Weights,
        examination: Chances | None = None, available: Names = None,
    ) -> SlateDecision: ...  # fmt: skip

    def act(
        self, contexts: Contexts = None, candidates: Names = None, *,
        weights: Weights | None = None, examination: Chances | None = None, available: Names = None,
    ) -> Decision | SlateDecision:  # fmt: skip
        """Compute this decision's probabilities, once, and draw an arm from them.

        `contexts` has one row per arm on offer: the `candidates`, or all arms; or, for a bandit with
        `features`, those of the visit and of the arms, by name or in their order. With `weights`, one per
        place of a page (a number k stands for k places that are seen alike), the arms of a slate are
        drawn, each with its fair exposure. With fewer arms than places the first places are used.
        `examination`, the weights by default, has the chances of looks for feedback "examined".
        """
        with self._lock:
            number, (arms, names) = self._made, self._arms.on_offer(candidates, available)
            rows = offering.contexts_given(contexts, names, self.dimension, self.features)
            if weights is not None or examination is not None:
                page = offering.page_given(self, weights, examination)
                drawn = self._engine.decide_slate(number, arms, rows, page.weights)
                slate, waited = offering.slate_of(number, drawn, arms, names, rows, page)
                self._made, self._waiting.slates[number] = number + 1, waited
                return slate
            out = np.empty(len(names))
            position = self._engine.decide(number, arms, rows, out)
            self._made = number + 1
            context, seen = offering.contexts_of(rows, position)
            self._waiting.decisions[number] = (arms.item(position), context, 1.0)
            return Decision(number, names[position], out.item(position), out, names, seen)

    def learn(
        self, decision: Decided | Sequence[Decided], reward: Rewards, *, place: int | None = None
    ) -> None:
        """Take in the reward of an earlier decision, given whole or by its id, or of several.

        A slate takes a list of rewards, one for each place; or, with `place`, that of one place: the
        first is 1. Each decision, and each place, is learned from once. Where one of several is
        refused, none is taken in.
        """
        with self._lock:
            one = self._waiting.decisions
            if place is None and isinstance(decision, Decision) and decision.id in one:
                value = rules.number("reward", reward)  # the most frequent case, without detours
                arm, context, chance = one.pop(decision.id)
                self._engine.learn(arm, context, value, chance)
                return
            asked = decision, reward, place
            for shown, value in self._waiting.taken(*asked, self._made, self._arms.numbers):
                self._engine.learn(*shown[:2], value, shown[2])

    def forget(self, decision: Decided, *, place: int | None = None) -> None:
        """Give up waiting for a reward that will not come; the decision teaches nothing.

        Of a slate, `place` alone, or all places that wait.
        """
        with self._lock:
            self._waiting.give_up(decision, place, self._made, self._arms.numbers)

    def add_arm(self, name: Hashable) -> None:
        """Add an arm, with nothing learned of it; a removed arm comes back with what was."""
        with self._lock:
            if name not in self._arms.numbers:
                self._engine.grow()
            self._arms.add(name)

    def remove_arm(self, name: Hashable) -> None:
        """Play an arm no more. Rewards of its earlier decisions are still taken in."""
        with self._lock:
            self._arms.remove(name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, in one step; arms must be numbers or texts.

        Functions are not written: a policy or merit that holds one must be given to `load` again.
        """
        with self._lock:
            keeping.save(path, self, self._arms, self._engine.parts(), self._waiting)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy[Any] | None = None) -> Bandit:
        """Read what `save` wrote; `policy` is needed where it is not ours or holds a function."""
        header, arrays = keeping.read(path)
        with keeping.all_of(path):
            bandit = cls(**keeping.settings_of(header, policy))
            bandit._waiting = keeping.restore(bandit._engine.parts(), arrays)
            bandit._arms.retire(header["retired"])
            bandit._made = header["made"]
        return bandit
