"""Results in files, results made of several, and when two are the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairx.errors import BrokenFile
from fairx.files import read_archive, write_archive
from fairx.types import Matrix

from .provenance import Provenance

if TYPE_CHECKING:
    from .result import Result

KIND = "result"  # of file
ALWAYS = (
    "fairness_regret", "reward_regret", "exposure", "pulls", "best_arm_regret", "reward_earned",
)  # fmt: skip
MAYBE = ("exposure_curves", "placements", "proved")
BY_RUN = (*ALWAYS, *MAYBE)
LISTS = ("measures", "weights", "examination")  # of a provenance


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result, all of it."""
    arrays = {name: part for name, part in result._asdict().items() if isinstance(part, np.ndarray)}
    arrays |= {f"measure_{i}": curve for i, curve in enumerate(result.measures.values())}
    header = {"provenance": result.provenance._asdict(), "measures": list(result.measures)}
    write_archive(path, KIND, header, arrays)


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a result that was saved."""
    header, arrays = read_archive(path, KIND)
    try:
        return {
            **{name: arrays[name] for name in ("rounds", "runs", *ALWAYS)},
            **{name: arrays.get(name) for name in MAYBE},
            "measures": {name: arrays[f"measure_{i}"] for i, name in enumerate(header["measures"])},
            "provenance": _provenance(**header["provenance"]),
        }
    except (KeyError, TypeError) as error:
        raise BrokenFile(f"{path} lacks a part of a saved {KIND} ({error})") from error


def _provenance(**texts: Any) -> Provenance:
    lists = {name: tuple(texts[name]) for name in LISTS if name in texts}
    return Provenance(**texts | lists)


def merged(results: Sequence[Result]) -> dict[str, Any]:
    """Return the fields of one result with the runs of all; a run that several have counts once."""
    first, *others = results
    for other in others:
        _check_same_experiment(first, other)
    every = [dict(_by_run(result)) for result in results]
    shared = [name for name in every[0] if all(name in arrays for arrays in every)]
    runs, rows = np.unique(np.concatenate([result.runs for result in results]), return_index=True)
    found = {name: np.concatenate([arrays[name] for arrays in every])[rows] for name in shared}
    for result, arrays in zip(results, every, strict=True):
        where = np.searchsorted(runs, result.runs)
        if not all(_equal(found[name][where], arrays[name]) for name in shared):
            raise ValueError(
                "results must agree on the runs that both have, but do not: "
                "what they were played with is not what their provenance says"
            )
    measures = {name: found.pop(name) for name in first.measures}
    absent = dict.fromkeys(MAYBE)
    return first._asdict() | absent | found | {"measures": measures, "runs": runs}


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Tell whether two named tuples hold the same, to the last bit of their arrays."""
    return all(map(_equal, one, other))


def _by_run(result: Result) -> Iterator[tuple[str, Matrix]]:
    """Yield all that has a row for each run."""
    for name in BY_RUN:
        if getattr(result, name) is not None:
            yield name, getattr(result, name)
    yield from result.measures.items()


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        both = one is not None and other is not None
        return both and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    return bool(one == other)


def _check_same_experiment(first: Result, other: Result) -> None:
    pairs = zip(first.provenance._fields, first.provenance, other.provenance, strict=True)
    for name, one, two in pairs:
        if one != two:
            rule = f"results must be of one experiment to be merged, but {name} differs"
            raise ValueError(f"{rule}: {one!r} and {two!r}")
    if not np.array_equal(first.rounds, other.rounds):
        raise ValueError(
            "results must have the same checkpoints to be merged: play both with the same"
        )
