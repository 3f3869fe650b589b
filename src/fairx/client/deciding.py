"""The calls that ask for decisions, and for what is known of one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, overload

import numpy.typing as npt

from .. import rules
from .answers import Choice, Decision
from .call import Call, body, names, path, reading, reading_field
from .slates import Slate, SlateDecision

CHOICE, CHOICES = reading(Choice), reading_field("decisions", tuple[Choice, ...])
SLATE = reading(Slate)
DECISION, SLATE_DECISION = reading(Decision), reading(SlateDecision)


@overload
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | Mapping[str, Any] | None = None,
    unit: str | None = None,
    count: None = None,
    probabilities: bool = False,
    places: None = None,
) -> Call[Choice]: ...
@overload
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | Mapping[str, Any] | None = None,
    unit: str | None = None,
    *,
    count: int,
    probabilities: bool = False,
    places: None = None,
) -> Call[tuple[Choice, ...]]: ...
@overload
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | Mapping[str, Any] | None = None,
    unit: str | None = None,
    count: None = None,
    probabilities: bool = False,
    *,
    places: int | Iterable[float],
) -> Call[Slate]: ...
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | Mapping[str, Any] | None = None,
    unit: str | None = None,
    count: int | None = None,
    probabilities: bool = False,
    places: int | Iterable[float] | None = None,
) -> Call[Any]:
    """Choose an arm, or `count` arms independently, or a slate; the same `key` gets the same answer.

    Without a key a new one is made here, once, so that a retry cannot decide twice. `places` are the
    weights of the places of a slate, or how many there are where all are seen alike. `contexts` are a row for
    each candidate or, where the experiment has features, `{"visit": {...}, "arms": {...}}`.
    """
    listed = names("candidates", candidates)
    sent = body(
        key=uuid.uuid4().hex if key is None else key,
        candidates=listed,
        contexts=None if contexts is None else _rows(contexts, listed),
        unit=unit,
        count=None if count is None else rules.count("count", count),
        probabilities=probabilities or None,
        places=None if places is None else _places(places),
    )
    read: Any = CHOICE if count is None else CHOICES
    read = read if places is None else SLATE
    return Call("POST", path("experiments", experiment, "decide"), read, sent)


def decision(experiment: str, decision: str) -> Call[Decision]:
    """Return all that the service knows of a decision that is no slate."""
    return Call("GET", path("experiments", experiment, "decisions", decision), DECISION)


def slate(experiment: str, decision: str) -> Call[SlateDecision]:
    """Return all that the service knows of a slate, place by place."""
    return Call("GET", path("experiments", experiment, "decisions", decision), SLATE_DECISION)


def _places(places: int | Iterable[float]) -> int | list[float]:
    if isinstance(places, Iterable):
        return rules.array("places", list(places), (None,), "one weight per place").tolist()  # type: ignore[no-any-return]
    return rules.count("places", places)


def _rows(contexts: Any, candidates: list[str] | None) -> Any:
    """Return rows of numbers; features by name as they are, for the service knows which there are."""
    if isinstance(contexts, Mapping):
        return dict(contexts)
    wanted = None if candidates is None else len(candidates)
    return rules.array("contexts", contexts, (wanted, None), "one row per candidate").tolist()
