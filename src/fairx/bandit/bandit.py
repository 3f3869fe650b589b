"""A policy at work: it decides, and learns from rewards that come late, in any order, once each."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.errors import BrokenFile, RewardGiven, UnknownDecision
from fairx.moved import renamed
from fairx.policies import Policy
from fairx.slates import place_weights
from fairx.texts import short, table
from fairx.types import Indices, Matrix, Vector

from . import keeping
from .arms import Arms
from .decision import Decision, SlateDecision
from .engine import Engine
from .waiting import Places, Waiting

Decided = Decision | SlateDecision | int  # or its id
REWARDS = 0.0, 1.0  # what rewards are taken to be from and to, where a policy must know before


class Bandit:
    """Acts, then learns. Safe to call from several threads.

    Parameters
    ----------
    policy
        Ours, or a record of your own with the three public methods. A `FairXUCB` whose merit is not
        positive a width below 0 needs `bounds`: rewards are taken to be at least 0.
    arms
        Their number, or a list of distinct names.
    dimension
        Of the contexts; 0 without.
    seed
        Decision n is a function of the seed, n and what was learned before: a bandit that is
        saved and loaded goes on as if nothing had happened.

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
        self,
        policy: Policy[Any],
        arms: int | Sequence[Hashable],
        dimension: int = 0,
        *,
        seed: int,
    ) -> None:
        self._arms = Arms(arms)
        if hasattr(policy, "check_reach"):
            policy.check_reach(*REWARDS)
        self.policy = policy
        self.dimension = rules.count("dimension", dimension, low=0)
        self.seed = rules.count("seed", seed, low=0)
        self._lock = threading.RLock()
        self._engine = Engine(policy, len(self._arms.names), self.dimension, self.seed)
        self._waiting = Waiting({}, {})
        self._made = 0

    def __repr__(self) -> str:
        return f"Bandit({', '.join(f'{name}: {text}' for name, text in self._told())})"

    def _repr_html_(self) -> str:
        return table("Bandit", self._told())

    def _told(self) -> list[tuple[str, str]]:
        with self._lock:
            return [
                ("policy", short(self.policy)),
                ("arms", short(list(self.arms))),
                ("dimension", str(self.dimension)),
                ("decisions", str(self._made)),
                ("pending", str(len(self._waiting.ids()))),
                ("seed", str(self.seed)),
            ]

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
        self,
        contexts: npt.ArrayLike | None = None,
        candidates: Sequence[Any] | None = None,
        *,
        weights: None = None,
        available: Sequence[Any] | None = None,
    ) -> Decision: ...

    @overload
    def act(
        self,
        contexts: npt.ArrayLike | None = None,
        candidates: Sequence[Any] | None = None,
        *,
        weights: int | Sequence[float] | Vector,
        available: Sequence[Any] | None = None,
    ) -> SlateDecision: ...

    def act(
        self,
        contexts: npt.ArrayLike | None = None,
        candidates: Sequence[Any] | None = None,
        *,
        weights: int | Sequence[float] | Vector | None = None,
        available: Sequence[Any] | None = None,  # the old name
    ) -> Decision | SlateDecision:
        """Compute this decision's probabilities, once, and draw an arm from them.

        `contexts` has one row per arm on offer: the `candidates`, or all arms. With `weights`, one per
        place of a page (a number k stands for k places that are seen alike), the arms of a slate are
        drawn, each with its fair exposure. With fewer arms than places the first places are used.
        """
        candidates = renamed("available", available, "candidates", candidates)
        with self._lock:
            every = self._arms.offered
            arms, names = every if candidates is None else self._arms.among(candidates)
            rows = self._contexts(contexts, len(names))
            if weights is not None:
                return self._act_slate(arms, names, rows, place_weights(weights)[: len(names)])
            out, number = np.empty(len(names)), self._made
            position = self._engine.decide(number, arms, rows, out)
            self._made = number + 1
            context = rows[position].copy()
            self._waiting.decisions[number] = (int(arms[position]), context)
            seen = context.copy() if self.dimension else context
            return Decision(number, names[position], float(out[position]), out, names, seen)

    def _act_slate(
        self, arms: Indices, names: tuple[Any, ...], contexts: Matrix, weights: Vector
    ) -> SlateDecision:
        """Draw a slate."""
        number = self._made
        page = self._engine.decide_slate(number, arms, contexts, weights)
        self._made = number + 1
        shown = page.shown.tolist()
        left = {place: (int(arms[i]), contexts[i].copy()) for place, i in enumerate(shown, 1)}
        self._waiting.slates[number] = Places(len(shown), left)
        exposures = page.exposures[: len(names)].copy()
        return SlateDecision(
            number, tuple(names[i] for i in shown), page.propensities.copy(), exposures, names,
            weights, contexts[shown],
        )  # fmt: skip

    def learn(
        self,
        decision: Decided | Sequence[Decided],
        reward: float | Sequence[float | Sequence[float]],
        *,
        place: int | None = None,
    ) -> None:
        """Take in the reward of an earlier decision, given whole or by its id, or of several.

        A slate takes a list of rewards, one for each place; or, with `place`, that of one place: the
        first is 1. Each decision, and each place, is learned from once. Where one of several is
        refused, none is taken in.
        """
        if isinstance(decision, (Decision, SlateDecision, int, np.integer, str, float)):
            return self._learn([getattr(decision, "id", decision)], [reward], place)
        if place is not None:
            raise rules.InvalidValue("place", "be given with one decision, not with several")
        return self._learn([getattr(each, "id", each) for each in decision], list(reward), None)  # type: ignore[arg-type]

    def _learn(self, ids: list[Any], rewards: list[Any], place: int | None) -> None:
        if len(ids) != len(rewards):
            raise ValueError(
                f"rewards must be as many as decisions, {len(ids)}, not {len(rewards)}"
            )
        with self._lock:
            found = []
            for number, reward in zip(ids, rewards, strict=True):
                self._check_pending(number)
                found += self._waiting.rewarded(number, reward, place)
            if len(set(ids)) < len(ids):
                raise RewardGiven(f"decisions must be rewarded once each, not as in {ids!r}")
            for key, value in found:
                self._engine.learn(*self._waiting.pop(key), value)

    def forget(self, decision: Decision | SlateDecision | int, *, place: int | None = None) -> None:
        """Give up waiting for a reward that will not come; the decision teaches nothing.

        Of a slate, `place` alone, or all places that wait.
        """
        with self._lock:
            number: Any = getattr(decision, "id", decision)
            self._check_pending(number)
            for key in self._waiting.left(number, place):
                self._waiting.pop(key)

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
            header = {
                "policy": keeping.written(self.policy),
                "arms": keeping.nameable(self._arms.names),
                "retired": self._arms.retired,
                "dimension": self.dimension,
                "seed": self.seed,
                "made": self._made,
            }
            keeping.save(path, header, self._engine.parts(), self._waiting)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy[Any] | None = None) -> Bandit:
        """Read what `save` wrote; `policy` is needed where it is not ours or holds a function."""
        header, arrays = keeping.read(path)
        try:
            found = keeping.built(header["policy"]) if policy is None else policy
            bandit = cls(found, header["arms"], header["dimension"], seed=header["seed"])
            bandit._waiting = keeping.restore(bandit._engine.parts(), arrays)
            bandit._arms.retire(header["retired"])
            bandit._made = header["made"]
        except (KeyError, TypeError, IndexError) as error:
            raise BrokenFile(f"{path} lacks a part of a saved bandit ({error})") from error
        return bandit

    def _contexts(self, contexts: npt.ArrayLike | None, arms: int) -> Vector:
        if contexts is None and self.dimension == 0:
            return np.empty((arms, 0))
        if contexts is None:
            raise ValueError(f"contexts must be given: this bandit has dimension {self.dimension}")
        hint = "one row per arm on offer"
        return rules.array("contexts", contexts, (arms, self.dimension), hint)

    def _check_pending(self, number: Any) -> None:
        if number in self._waiting.decisions or number in self._waiting.slates:
            return
        if isinstance(number, (int, np.integer)) and 0 <= number < self._made:
            raise RewardGiven(f"decision {number} was rewarded or forgotten already")
        hint = f"this bandit made {self._made} so far"
        if isinstance(number, Hashable) and number in self._arms.numbers:
            hint = "that is an arm; learn takes what act returned, or its id"
        raise UnknownDecision(f"decision {number!r} does not exist: {hint}")
