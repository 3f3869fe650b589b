"""The calls of one experiment, each under the name that the clients' handles give it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, overload
from urllib.parse import urlencode

import msgspec
import numpy.typing as npt

from .. import rules
from ..settings import describe
from .answers import Choice, Decision, Experiment, Status
from .audits import Audit
from .call import Call, body, names, nothing, path, reading, reading_field

EXPERIMENT, DECISION = reading(Experiment), reading(Decision)
STATUS, AUDIT = reading(Status), reading(Audit)
CHOICE, CHOICES = reading(Choice), reading_field("decisions", tuple[Choice, ...])
ERASED = reading_field("erased", int)


def create(
    experiment: str,
    arms: Iterable[str],
    policy: Any,
    *,
    dimension: int = 0,
    reward_window_s: float = 600.0,
    missing_reward: float | None = 0.0,
    floor: float = 0.0,
    reward_range: tuple[float, float] | None = None,
    requires_shown: bool = False,
) -> Call[Experiment]:
    """Create the experiment. `policy` is a policy of `fairx`, or its mapping with `kind`."""
    settings = {
        "name": experiment,
        "arms": names("arms", arms),
        "policy": _policy(policy),
        "dimension": rules.count("dimension", dimension, low=0),
        "reward_window_s": rules.number("reward_window_s", reward_window_s, low=0),
        # None is a value of its own here, so it is sent
        "missing_reward": _finite("missing_reward", missing_reward),
        "floor": rules.number("floor", floor, low=0, high=1),
        "reward_range": reward_range and [rules.number("reward_range", r) for r in reward_range],
        "requires_shown": requires_shown,
    }
    path("experiments", experiment)  # a name that no address can hold is refused now, not later
    sent = msgspec.json.encode(settings)
    return Call("POST", path("experiments"), EXPERIMENT, sent, repeatable=False)


def get(experiment: str) -> Call[Experiment]:
    """Return the experiment's settings, and where it stands."""
    return Call("GET", path("experiments", experiment), EXPERIMENT)


def delete(experiment: str) -> Call[None]:
    """Delete the experiment with all its decisions."""
    return Call("DELETE", path("experiments", experiment), nothing, repeatable=False)


def pause(experiment: str) -> Call[Experiment]:
    """Stop deciding."""
    return Call("POST", path("experiments", experiment, "pause"), EXPERIMENT)


def resume(experiment: str) -> Call[Experiment]:
    """Decide again."""
    return Call("POST", path("experiments", experiment, "resume"), EXPERIMENT)


def arms(
    experiment: str,
    *,
    add: Iterable[str] | None = None,
    pause: Iterable[str] | None = None,
    resume: Iterable[str] | None = None,
    remove: Iterable[str] | None = None,
) -> Call[Experiment]:
    """Change the arms, all of it or nothing."""
    asked = {"add": add, "pause": pause, "resume": resume, "remove": remove}
    sent = body(**{field: names(field, value) for field, value in asked.items()})
    return Call("POST", path("experiments", experiment, "arms"), EXPERIMENT, sent, repeatable=False)


@overload
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | None = None,
    unit: str | None = None,
    count: None = None,
    probabilities: bool = False,
) -> Call[Choice]: ...
@overload
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | None = None,
    unit: str | None = None,
    *,
    count: int,
    probabilities: bool = False,
) -> Call[tuple[Choice, ...]]: ...
def decide(
    experiment: str,
    key: str | None = None,
    candidates: Iterable[str] | None = None,
    contexts: npt.ArrayLike | None = None,
    unit: str | None = None,
    count: int | None = None,
    probabilities: bool = False,
) -> Call[Any]:
    """Choose an arm, or `count` arms independently; the same `key` gets the same answer.

    Without a key a new one is made here, once, so that a retry cannot decide twice.
    """
    listed = names("candidates", candidates)
    sent = body(
        key=uuid.uuid4().hex if key is None else key,
        candidates=listed,
        contexts=None if contexts is None else _rows(contexts, listed),
        unit=unit,
        count=None if count is None else rules.count("count", count),
        probabilities=probabilities or None,
    )
    read = CHOICE if count is None else CHOICES
    return Call("POST", path("experiments", experiment, "decide"), read, sent)


def decision(experiment: str, decision: str) -> Call[Decision]:
    """Return all that the service knows of a decision."""
    return Call("GET", path("experiments", experiment, "decisions", decision), DECISION)


def status(experiment: str) -> Call[Status]:
    """Return the experiment's counts."""
    return Call("GET", path("experiments", experiment, "status"), STATUS)


def audit(
    experiment: str,
    *,
    alpha: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Call[Audit]:
    """Return the exposure of each arm beside its fair share; `low`, `high`: the rewards' range."""
    asked = {"alpha": alpha, "low": low, "high": high}
    query = urlencode({k: _finite(k, v) for k, v in asked.items() if v is not None})
    return Call("GET", path("experiments", experiment, "audit") + f"?{query}" * bool(query), AUDIT)


def export(experiment: str) -> Call[None]:
    """Ask for the decision log as Parquet."""
    return Call("GET", path("experiments", experiment, "export"), nothing)


def erase(experiment: str, unit: str) -> Call[int]:
    """Erase a unit's personal data; return how many decisions it was in."""
    sent = body(unit=unit)
    return Call("POST", path("experiments", experiment, "erase"), ERASED, sent, repeatable=False)


def _finite(name: str, value: float | None) -> float | None:
    return None if value is None else rules.number(name, value)


def _rows(contexts: npt.ArrayLike, candidates: list[str] | None) -> Any:
    wanted = None if candidates is None else len(candidates)
    return rules.array("contexts", contexts, (wanted, None), "one row per candidate").tolist()


def _policy(policy: Any) -> Any:
    plain = dict(policy) if isinstance(policy, Mapping) else describe(policy)
    try:
        json.dumps(plain, allow_nan=False)  # msgspec would write NaN as null
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"policy must be of texts and finite numbers, not {plain!r}: {error}"
        ) from None
    return plain
