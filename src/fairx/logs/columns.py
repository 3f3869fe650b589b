"""The columns of a log, and how columns of any type become them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairx import rules

COLUMNS = {
    "decision": "what the decision is called; each once",
    "time": "when it was made: a date with time, or a number",
    "candidates": "the arms that could be chosen",
    "arm": "the arm that was chosen",
    "propensity": "the probability with which it was chosen",
    "probabilities": "those of all candidates, in the same order",
    "context": "the features that the policy saw, a list of numbers",
    "reward": "what came of it; missing where that is not known",
    "reward_time": "when the reward came",
    "policy": "the name of the policy",
    "version": "its version",
    "place": "the place on a page, from 1 on; a decision then has a row for each place",
    "weight": "how much that place is seen",
    "exposures": "those of all candidates, in the same order: the expected weight of the place of each",
    "unit": "who was shown it: a user, whose decisions may be alike",
    "stratum": "the part of the log in which means do not vary: a place, a kind of reader",
}
OF_PLACES = ("weight", "exposures")  # read where there is a place: other logs may mean other things


def named(columns: Mapping[str, str] | str | os.PathLike[str] | None) -> dict[str, str]:
    """Return the mapping from our names to those of the log, from a mapping or a TOML file.

    An empty name says that the log has no such column, although one is called so.

    Examples
    --------
    >>> named({"arms": "item_id"})
    Traceback (most recent call last):
    ValueError: columns has no key 'arms': did you mean 'arm'?
    """
    mapping: dict[str, Any]
    if isinstance(columns, (str, os.PathLike)):
        found = tomllib.loads(Path(columns).read_text("utf-8"))
        mapping = found.get("columns", found)
    else:
        mapping = dict(columns or {})
    for key, name in mapping.items():
        if key not in COLUMNS:
            raise ValueError(f"columns has no key {key!r}{_hint(key, COLUMNS)}")
        if not isinstance(name, str):
            raise TypeError(f"columns[{key!r}] must be the name of a column, not {name!r}")
    return mapping


def present(mapping: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that this log has: the mapped ones, and those that bear our names.

    Examples
    --------
    >>> present({"arm": "item"}, {"item": "BIGINT", "reward": "DOUBLE"})
    {'arm': 'item', 'reward': 'reward'}
    """
    for key, name in mapping.items():
        if name and name not in there:
            raise ValueError(f"the log has no column {name!r} for {key}{_hint(name, there)}")
    found = {key: mapping.get(key, key) for key in COLUMNS if mapping.get(key, key) in there}
    if "place" not in found:
        found = {key: name for key, name in found.items() if key in mapping or key not in OF_PLACES}
    if "arm" not in found:
        raise ValueError(
            f"the log has no column 'arm': say which of {', '.join(map(repr, there))} holds it, "
            "as columns={'arm': ...} or --arm"
        )
    if "probabilities" in found and "candidates" not in found:
        raise ValueError("probabilities need candidates: the arms that they are the chances of")
    _check_places(found)
    return found


def _check_places(found: Mapping[str, str]) -> None:
    """Refuse columns of slates without what they are about."""
    for key in OF_PLACES:
        if key in found and "place" not in found:
            raise ValueError(f"{key} needs place: the place on the page that a row is about")
    for key in ("candidates", "weight", "decision"):
        if "exposures" in found and key not in found:
            raise ValueError(f"exposures need {key}: they are of all candidates of a decision")


def _hint(name: str, names: Mapping[str, str]) -> str:
    return rules.nearest(name, names, f"choose from {', '.join(names)}")
