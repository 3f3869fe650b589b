"""What a log of decisions must keep to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.logs.problems import EACH, SUM
from fairx.types import Indices

SMALLEST = np.finfo(np.float64).tiny  # 1 divided by less may be no number


def numbers(name: str, value: npt.ArrayLike, dimensions: int) -> Indices:
    """Return whole numbers as an array."""
    found = np.asarray(value)
    if found.ndim != dimensions or found.dtype.kind not in "iu":
        rule = f"whole numbers in {dimensions} dimension{'s' * (dimensions > 1)}"
        remedy = "give the names of arms in names, or read a table with from_table"
        raise ValueError(f"{name} must be {rule}, not {found.dtype} {found.shape}: {remedy}")
    return np.ascontiguousarray(found, np.int64)


def optional(name: str, value: Any, shape: tuple[int | None, ...]) -> Any:
    """Return an array of `shape`, or nothing for nothing."""
    return None if value is None else rules.array(name, value, shape)


def contexts(value: Any, rows: int, wide: int) -> Any:
    """Return contexts: one for each decision, or one for each of its candidates."""
    shape = (rows, wide, None) if np.ndim(value) == 3 else (rows, None)
    return optional("contexts", value, shape)


def units(value: Any, rows: int) -> Any:
    """Return units as numbers from 0."""
    if value is None:
        return None
    fits("units", np.asarray(value), rows)
    try:
        return np.unique(np.asarray(value), return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        remedy = "give each decision one, and leave out those without"
        raise TypeError(f"units must be numbers, or texts, not {error}: {remedy}") from None


def fits(name: str, value: npt.NDArray[Any], rows: int) -> None:
    """Refuse what is not one for each decision."""
    if len(value) != rows:
        raise ValueError(f"{name} must be as many as decisions, {rows}, not {len(value)}")


def check(log: Any, largest: int) -> None:
    """Refuse arms that do not exist and probabilities that are none."""
    if min(log.arms.min(), 0) < 0 or largest >= len(log.names):
        worst = int(log.arms.min()) if log.arms.min() < 0 else largest
        raise ValueError(f"arms must be from 0 to {len(log.names) - 1}, not {worst}")
    wrong = np.flatnonzero((log.propensities < SMALLEST) | (log.propensities > 1))
    if wrong.size:
        where, remedy = wrong[0], "leave such decisions out, their arm was not drawn with it"
        found = f"{log.propensities[where]:g} at {where}"
        raise ValueError(f"propensities must be above 0 and at most 1, not {found}: {remedy}")
    if log.candidates is not None:
        _check_candidates(log)
    if log.probabilities is not None:
        _check_probabilities(log)


def _check_candidates(log: Any) -> None:
    assert log.candidates is not None
    ordered = np.sort(log.candidates, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    absent = ~(log.candidates == log.arms[:, None]).any(axis=1)
    for wrong, rule in ((repeated, "distinct"), (absent, "those on offer, the arm shown too")):
        if wrong.any():
            where = int(np.flatnonzero(wrong)[0])
            found = f"{log.candidates[where].tolist()} with arm {log.arms[where]} at {where}"
            raise ValueError(f"candidates must be {rule}, not {found}")


def _check_probabilities(log: Any) -> None:
    assert log.probabilities is not None
    shown = log.probabilities[np.arange(len(log.arms)), log.positions()]
    wrong = np.abs(shown - log.propensities) > EACH
    wrong |= np.abs(log.probabilities.sum(axis=1) - 1) > SUM
    wrong |= log.probabilities.min(axis=1) < 0
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        rule = "not negative, sum to 1 and be the propensity at the arm shown"
        found = f"{log.probabilities[where].tolist()} at {where}"
        raise ValueError(f"probabilities must be {rule}, not {found}")
