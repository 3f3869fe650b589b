"""What was shown and waits for its reward: by decision, and in a slate by place."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.errors import RewardGiven, UnknownDecision
from fairx.types import Vector

from .decision import Decision, SlateDecision

Shown = tuple[int, Vector, float]  # the arm, its context, and how likely its place is looked at
Key = tuple[int, int]  # the decision and its place; place 0 is that of a decision with one arm


class Waited(NamedTuple):
    """A slate: how many places it has, and what was shown at those that wait, from place 1 on."""

    number: int
    left: dict[int, Shown]


class Waiting(NamedTuple):
    """Decisions of one arm, and slates of which a place waits."""

    decisions: dict[int, Shown]
    slates: dict[int, Waited]

    def ids(self) -> tuple[int, ...]:
        """Return the decisions that wait, in their order."""
        return tuple(sorted([*self.decisions, *self.slates]) if self.slates else self.decisions)

    def check(self, number: Any, made: int, arms: Mapping[Any, int]) -> None:
        """Refuse a decision that does not wait, of `made` so far."""
        if number in self.decisions or number in self.slates:
            return
        if isinstance(number, (int, np.integer)) and 0 <= number < made:
            raise RewardGiven(f"decision {number} was rewarded or forgotten already")
        hint = f"this bandit made {made} so far"
        if isinstance(number, Hashable) and number in arms:
            hint = "that is an arm; learn takes what act returned, or its id"
        raise UnknownDecision(f"decision {number!r} does not exist: {hint}")

    def rewarded(self, number: int, reward: Any, place: int | None) -> list[tuple[Key, float]]:
        """Return what a reward, or the rewards of all places, would be learned for."""
        if place is None and number in self.decisions:
            return [((number, 0), rules.number("reward", reward))]
        if place is not None:
            return [(self.key(number, place), rules.number("reward", reward))]
        slate = self.slates[number]
        values = rules.in_order("rewards", reward) if hasattr(reward, "__len__") else []
        if len(values) != slate.number:
            rule = f"be one for each of the {slate.number} places of decision {number}"
            raise rules.InvalidValue("rewards", f"{rule}, not {reward!r}: or name the place")
        keys = [self.key(number, each) for each in range(1, slate.number + 1)]
        return list(zip(keys, (rules.number("reward", value) for value in values), strict=True))

    def all_rewarded(
        self, ids: list[Any], rewards: list[Any], place: int | None
    ) -> list[tuple[Key, float]]:
        """Return what the rewards of several decisions would be learned for, or refuse them all."""
        if len(ids) == 1:
            return self.rewarded(ids[0], rewards[0], place)
        found = []
        for number, reward in zip(ids, rewards, strict=True):
            found += self.rewarded(number, reward, place)
        if len(set(ids)) < len(ids):
            raise RewardGiven(f"decisions must be rewarded once each, not as in {ids!r}")
        return found

    def left(self, number: int, place: int | None) -> list[Key]:
        """Return the place, or all places of a decision that wait."""
        if number in self.decisions or place is not None:
            return [self.key(number, place)]
        return [(number, each) for each in self.slates[number].left]

    def key(self, number: int, place: int | None) -> Key:
        """Return the key of a place that waits."""
        if number in self.decisions:
            if place is not None:
                rule = f"be left out, not {place!r}: decision {number} is not a slate"
                raise rules.InvalidValue("place", rule)
            return number, 0
        slate, found = self.slates[number], rules.count("place", place)
        if found > slate.number:
            rule = f"be from 1 to {slate.number}, not {found}: the first place is 1"
            raise rules.InvalidValue("place", rule)
        if found not in slate.left:
            raise RewardGiven(
                f"place {found} of decision {number} was rewarded or forgotten already"
            )
        return number, found

    def taken(
        self, decision: Any, reward: Any, place: int | None, made: int, arms: Mapping[Any, int]
    ) -> Iterator[tuple[Shown, float]]:
        """Yield what was shown and its reward, which wait no more; refuse all before the first."""
        ids, rewards = asked_for(decision, reward, place)
        for number in ids:
            self.check(number, made, arms)
        for key, value in self.all_rewarded(ids, rewards, place):
            yield self.pop(key), value

    def give_up(self, decision: Any, place: int | None, made: int, arms: Mapping[Any, int]) -> None:
        """Wait no more for a decision, or for one place of a slate."""
        number = getattr(decision, "id", decision)
        self.check(number, made, arms)
        for key in self.left(number, place):
            self.pop(key)

    def pop(self, key: Key) -> Shown:
        """Return what was shown there, which waits no more."""
        number, place = key
        if not place:
            return self.decisions.pop(number)
        left = self.slates[number].left
        shown = left.pop(place)
        if not left:
            del self.slates[number]
        return shown


def asked_for(decision: Any, reward: Any, place: int | None) -> tuple[list[Any], list[Any]]:
    """Return the ids of one decision or of several, and a reward for each."""
    if isinstance(decision, (Decision, SlateDecision, int, np.integer, str, float)):
        return [getattr(decision, "id", decision)], [reward]
    if place is not None:
        raise rules.InvalidValue("place", "be given with one decision, not with several")
    ids, rewards = (
        [getattr(each, "id", each) for each in decision],
        rules.in_order("rewards", reward),
    )
    if len(ids) != len(rewards):
        raise ValueError(f"rewards must be as many as decisions, {len(ids)}, not {len(rewards)}")
    return ids, rewards
