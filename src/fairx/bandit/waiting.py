"""What was shown and waits for its reward: by decision, and in a slate by place."""

from __future__ import annotations

from typing import Any, NamedTuple

from fairx import rules
from fairx.errors import RewardGiven
from fairx.types import Vector

Shown = tuple[int, Vector]  # the arm and its context
Key = tuple[int, int]  # the decision and its place; place 0 is that of a decision with one arm


class Places(NamedTuple):
    """A slate: how many places it has, and what was shown at those that wait, from place 1 on."""

    number: int
    left: dict[int, Shown]


class Waiting(NamedTuple):
    """Decisions of one arm, and slates of which a place waits."""

    decisions: dict[int, Shown]
    slates: dict[int, Places]

    def ids(self) -> tuple[int, ...]:
        """Return the decisions that wait, in their order."""
        return tuple(sorted([*self.decisions, *self.slates]) if self.slates else self.decisions)

    def rewarded(self, number: int, reward: Any, place: int | None) -> list[tuple[Key, float]]:
        """Return what a reward, or the rewards of all places, would be learned for."""
        if place is None and number in self.decisions:
            return [((number, 0), rules.number("reward", reward))]
        if place is not None:
            return [(self.key(number, place), rules.number("reward", reward))]
        slate = self.slates[number]
        values = list(reward) if hasattr(reward, "__len__") else []
        if len(values) != slate.number:
            rule = f"be one for each of the {slate.number} places of decision {number}"
            raise rules.InvalidValue("rewards", f"{rule}, not {reward!r}: or name the place")
        keys = [self.key(number, each) for each in range(1, slate.number + 1)]
        return list(zip(keys, (rules.number("reward", value) for value in values), strict=True))

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
