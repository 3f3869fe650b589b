"""The calls that tell what was shown and what came of it: lists go in several requests.

A list is checked as a whole before its first part is sent. Each part is taken in whole or not at
all; all of them can be sent again, for what the service has already it answers `duplicate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET

from .. import rules
from .answers import Reward, Rewarded, Shown
from .call import Call, T, body, path, reading_field

PART = 500  # events in a request; by default the service takes 1,000

ONE_REWARD = reading_field("results", tuple[Rewarded])
REWARDS = reading_field("results", tuple[Rewarded, ...])
SHOWN = reading_field("results", tuple[Shown, ...])


def shown(
    experiment: str,
    decisions: str | Iterable[str],
    places: int | Iterable[int] | None = None,
) -> list[Call[tuple[Shown, ...]]]:
    """Tell that one or several decisions were shown; of slates, at which `places`, from 1."""
    listed: list[Any] = [decisions] if isinstance(decisions, str) else list(decisions)
    if places is not None:
        every = list(places) if isinstance(places, Iterable) else [places]
        numbers = [rules.count("places", place) for place in every]
        listed = [{"decision": each, "place": place} for each in listed for place in numbers]
    where = path("experiments", experiment, "shown")
    return [Call("POST", where, SHOWN, body(decisions=part)) for part in _parts(listed)]


def rewards(experiment: str, rewards: Iterable[Reward]) -> list[Call[tuple[Rewarded, ...]]]:
    """Give rewards, each once by its decision and id."""
    listed = [_checked(f"rewards[{i}].reward", reward) for i, reward in enumerate(rewards)]
    where = path("experiments", experiment, "rewards")
    return [Call("POST", where, REWARDS, body(rewards=part)) for part in _parts(listed)]


def reward(
    experiment: str,
    decision: str,
    value: float,
    id: str = "",  # noqa: A002 - the contract's name
    final: bool = False,
    place: int | None = None,
) -> Call[Rewarded]:
    """Give one reward, of a slate at its place, from 1; `final` closes it to others."""
    one = _checked("reward", Reward(decision, value, id, final, UNSET if place is None else place))
    where = path("experiments", experiment, "rewards")
    return Call("POST", where, lambda content: ONE_REWARD(content)[0], body(rewards=[one]))


def _checked(name: str, reward: Reward) -> Reward:
    place = reward.place if reward.place is UNSET else rules.count("place", reward.place)
    value = rules.number(name, reward.reward)
    return Reward(reward.decision, value, reward.id, reward.final, place)


def _parts(listed: Sequence[T]) -> list[Sequence[T]]:
    return [listed[start : start + PART] for start in range(0, len(listed), PART)]
