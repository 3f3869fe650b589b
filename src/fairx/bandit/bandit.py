"""A policy at work: it decides, and learns from rewards that come late, in any order, once each."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.errors import BrokenFile, RewardGiven, UnknownArm, UnknownDecision
from fairx.moved import renamed
from fairx.policies import Policy
from fairx.texts import short, table
from fairx.types import Indices, Vector

from . import keeping
from .decision import Decision
from .engine import Engine

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
        counted = isinstance(arms, (int, np.integer))
        self._names: list[Any] = list(range(rules.count("arms", arms)) if counted else arms)  # type: ignore[arg-type]
        self._numbers = {name: number for number, name in enumerate(self._names)}
        rules.count("the number of arms", len(self._names))
        if len(self._numbers) < len(self._names):
            raise ValueError(f"arms must be distinct, not {self._names!r}")
        if hasattr(policy, "check_reach"):
            policy.check_reach(*REWARDS)
        self.policy = policy
        self.dimension = rules.count("dimension", dimension, low=0)
        self.seed = rules.count("seed", seed, low=0)
        self._lock = threading.RLock()
        self._engine = Engine(policy, len(self._names), self.dimension, self.seed)
        self._retired: set[Any] = set()
        self._pending: dict[int, tuple[int, Vector]] = {}
        self._made = 0
        self._list_arms()

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
                ("pending", str(len(self._pending))),
                ("seed", str(self.seed)),
            ]

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that may be played."""
        return self._all[1]

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
        """The decisions that wait for a reward."""
        with self._lock:
            return tuple(self._pending)

    def act(
        self,
        contexts: npt.ArrayLike | None = None,
        candidates: Sequence[Any] | None = None,
        *,
        available: Sequence[Any] | None = None,  # the old name
    ) -> Decision:
        """Compute this decision's probabilities, once, and draw an arm from them.

        `contexts` has one row per arm on offer: the `candidates`, or all arms.
        """
        candidates = renamed("available", available, "candidates", candidates)
        with self._lock:
            arms, names = self._all if candidates is None else self._among(candidates)
            rows = self._contexts(contexts, len(names))
            out, number = np.empty(len(names)), self._made
            position = self._engine.decide(number, arms, rows, out)
            self._made = number + 1
            context = rows[position].copy()
            self._pending[number] = (int(arms[position]), context)
            seen = context.copy() if self.dimension else context
            return Decision(number, names[position], float(out[position]), out, names, seen)

    def learn(
        self, decision: Decision | int | Sequence[Decision | int], reward: float | Sequence[float]
    ) -> None:
        """Take in the reward of an earlier decision, given whole or by its id, or of several.

        Each decision is learned from once. Where one of several is refused, none is taken in.
        """
        if isinstance(decision, (Decision, int, np.integer, str, float)):
            return self._learn([getattr(decision, "id", decision)], [reward])
        return self._learn([getattr(each, "id", each) for each in decision], list(reward))  # type: ignore[arg-type]

    def _learn(self, ids: list[Any], rewards: list[Any]) -> None:
        if len(ids) != len(rewards):
            raise ValueError(
                f"rewards must be as many as decisions, {len(ids)}, not {len(rewards)}"
            )
        values = [rules.number("reward", reward) for reward in rewards]
        with self._lock:
            for number in ids:
                self._check_pending(number)
            if len(set(ids)) < len(ids):
                raise RewardGiven(f"decisions must be rewarded once each, not as in {ids!r}")
            for number, value in zip(ids, values, strict=True):
                self._engine.learn(*self._pending.pop(number), value)

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a reward that will not come; the decision teaches nothing."""
        with self._lock:
            number: Any = getattr(decision, "id", decision)
            self._check_pending(number)
            del self._pending[number]

    def add_arm(self, name: Hashable) -> None:
        """Add an arm, with nothing learned of it; a removed arm comes back with what was."""
        with self._lock:
            if name in self._retired:
                self._retired.remove(name)
            elif name in self._numbers:
                raise ValueError(f"arm {name!r} exists already")
            else:
                self._engine.grow()
                self._numbers[name] = len(self._names)
                self._names.append(name)
            self._list_arms()

    def remove_arm(self, name: Hashable) -> None:
        """Play an arm no more. Rewards of its earlier decisions are still taken in."""
        with self._lock:
            if name not in self._numbers or name in self._retired:
                raise UnknownArm(self._no_such_arm(name))
            if len(self._names) - len(self._retired) == 1:
                raise ValueError(f"arm {name!r} is the last one: a bandit needs at least one arm")
            self._retired.add(name)
            self._list_arms()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, in one step; arms must be numbers or texts.

        Functions are not written: a policy or merit that holds one must be given to `load` again.
        """
        with self._lock:
            header = {
                "policy": keeping.written(self.policy),
                "arms": keeping.nameable(self._names),
                "retired": sorted(self._retired, key=self._numbers.__getitem__),
                "dimension": self.dimension,
                "seed": self.seed,
                "made": self._made,
            }
            keeping.save(path, header, self._engine.parts(), self._pending)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy[Any] | None = None) -> Bandit:
        """Read what `save` wrote; `policy` is needed where it is not ours or holds a function."""
        header, arrays = keeping.read(path)
        try:
            found = keeping.built(header["policy"]) if policy is None else policy
            bandit = cls(found, header["arms"], header["dimension"], seed=header["seed"])
            bandit._pending = keeping.restore(bandit._engine.parts(), arrays)
            bandit._retired, bandit._made = set(header["retired"]), header["made"]
        except (KeyError, TypeError, IndexError) as error:
            raise BrokenFile(f"{path} lacks a part of a saved bandit ({error})") from error
        bandit._list_arms()
        return bandit

    def _list_arms(self) -> None:
        arms = [arm for arm, name in enumerate(self._names) if name not in self._retired]
        self._all = np.array(arms, np.int64), tuple(self._names[arm] for arm in arms)

    def _among(self, candidates: Sequence[Any]) -> tuple[Indices, tuple[Any, ...]]:
        names = tuple(candidates)
        for name in names:
            if name not in self._numbers or name in self._retired:
                raise UnknownArm(self._no_such_arm(name))
        if not names or len(set(names)) < len(names):
            raise ValueError(f"candidates must name at least one arm, each once, not {names!r}")
        return np.array([self._numbers[name] for name in names], np.int64), names

    def _contexts(self, contexts: npt.ArrayLike | None, arms: int) -> Vector:
        if contexts is None and self.dimension == 0:
            return np.empty((arms, 0))
        if contexts is None:
            raise ValueError(f"contexts must be given: this bandit has dimension {self.dimension}")
        hint = "one row per arm on offer"
        return rules.array("contexts", contexts, (arms, self.dimension), hint)

    def _check_pending(self, number: Any) -> None:
        if number in self._pending:
            return
        if isinstance(number, (int, np.integer)) and 0 <= number < self._made:
            raise RewardGiven(f"decision {number} was rewarded or forgotten already")
        hint = f"this bandit made {self._made} so far"
        if isinstance(number, Hashable) and number in self._numbers:
            hint = "that is an arm; learn takes what act returned, or its id"
        raise UnknownDecision(f"decision {number!r} does not exist: {hint}")

    def _no_such_arm(self, name: Any) -> str:
        return (
            f"arm {name!r} does not exist: this bandit has {', '.join(map(repr, self.arms[:20]))}"
        )
