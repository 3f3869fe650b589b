"""The calls of one experiment, each under the name that the clients' handles give it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from .. import rules
from ..settings import describe
from .answers import Experiment, Status
from .audits import Audit, SlateAudit
from .call import Call, body, names, nothing, path, reading, reading_field

EXPERIMENT, STATUS, AUDIT = reading(Experiment), reading(Status), reading(Audit)
SLATE_AUDIT = reading(SlateAudit)
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
    features: Any = None,
) -> Call[Experiment]:
    """Create the experiment. `policy` is a policy of `fairx`, or its mapping with `kind`.

    `features` are `fairx.features.Features`, or their mapping: `decide` then takes contexts by name.
    """
    settings = {
        "name": experiment,
        "arms": names("arms", arms),
        "policy": _plain("policy", policy),
        "dimension": rules.count("dimension", dimension, low=0),
        "reward_window_s": rules.number("reward_window_s", reward_window_s, low=0),
        # None is a value of its own here, so it is sent
        "missing_reward": _finite("missing_reward", missing_reward),
        "floor": rules.number("floor", floor, low=0, high=1),
        "reward_range": reward_range and [rules.number("reward_range", r) for r in reward_range],
        "requires_shown": requires_shown,
    }
    if features is not None:
        settings["features"] = _plain("features", features)
    path("experiments", experiment)  # a name that no address can hold is refused now, not later
    sent = msgspec.json.encode(settings)
    return Call("POST", path("experiments"), EXPERIMENT, sent)


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
    return Call("GET", _audit(experiment, alpha=alpha, low=low, high=high), AUDIT)


def audit_slates(
    experiment: str,
    *,
    alpha: float | None = None,
    low: float | None = None,
    high: float | None = None,
) -> Call[SlateAudit]:
    """Return the same of an experiment that makes slates, by the weight of places."""
    return Call("GET", _audit(experiment, alpha=alpha, low=low, high=high), SLATE_AUDIT)


def export(experiment: str) -> Call[None]:
    """Ask for the decision log as Parquet."""
    return Call("GET", path("experiments", experiment, "export"), nothing)


def erase(experiment: str, unit: str) -> Call[int]:
    """Erase a unit's personal data; return how many decisions it was in."""
    sent = body(unit=unit)
    return Call("POST", path("experiments", experiment, "erase"), ERASED, sent, repeatable=False)


def _audit(experiment: str, **asked: float | None) -> str:
    query = urlencode({k: _finite(k, v) for k, v in asked.items() if v is not None})
    return path("experiments", experiment, "audit") + f"?{query}" * bool(query)


def _finite(name: str, value: float | None) -> float | None:
    return None if value is None else rules.number(name, value)


def _plain(name: str, record: Any) -> Any:
    plain = dict(record) if isinstance(record, Mapping) else describe(record)
    try:
        json.dumps(plain, allow_nan=False)  # msgspec would write NaN as null
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be of texts and finite numbers, not {plain!r}: {error}"
        ) from None
    return plain
