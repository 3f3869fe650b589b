"""Bandits in files: what is written, and what is refused when it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

import fairx.features
from fairx.errors import BrokenFile
from fairx.features import Features
from fairx.files import read_archive, write_archive
from fairx.settings import KINDS, build, describe

from .arms import Arms
from .waiting import Waited, Waiting

KIND = "bandit"  # of file
Arrays = Mapping[str, npt.NDArray[Any]]
ROWS = ("ids", "arms", "contexts")  # of what waits
PLACE_ROWS = (
    *ROWS,
    "chances",
    "places",
    "numbers",
)  # of slates: also the place, and how many there are
FLOATS = ("contexts", "chances")


def save(
    path: str | os.PathLike[str], bandit: Any, arms: Arms, parts: Arrays, waiting: Waiting
) -> None:
    """Write a bandit, in one step; slates are written where one waits."""
    header = header_of(bandit, arms)
    arrays = {f"state_{name}": part for name, part in parts.items()}
    single = [(i, arm, context) for i, (arm, context, _) in waiting.decisions.items()]
    arrays |= _columns("pending", ROWS, single, header["dimension"])
    if waiting.slates:
        places = [
            (i, *shown, place, slate.number)
            for i, slate in waiting.slates.items()
            for place, shown in slate.left.items()
        ]
        arrays |= _columns("slate", PLACE_ROWS, places, header["dimension"])
    write_archive(path, KIND, header, arrays)


def _columns(
    kind: str, names: Sequence[str], rows: list[tuple[Any, ...]], dimension: int
) -> dict[str, npt.NDArray[Any]]:
    """Return rows as arrays by name: whole numbers, contexts and chances."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    found = {
        f"{kind}_{name}": np.array(column, np.float64 if name in FLOATS else np.int64)
        for name, column in zip(names, columns, strict=True)
    }
    contexts = found[f"{kind}_contexts"].reshape(len(rows), dimension)
    return found | {f"{kind}_contexts": contexts}


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return what `save` wrote."""
    return read_archive(path, KIND)


def restore(parts: Arrays, arrays: Arrays) -> Waiting:
    """Fill the arrays of a new state, and return what waits."""
    for name, part in parts.items():
        saved = arrays[f"state_{name}"]
        if saved.shape != part.shape:
            raise BrokenFile(f"the saved {name} has shape {saved.shape}, not {part.shape}")
        part[...] = saved
    single = _rows(arrays, "pending", ROWS)
    waiting = Waiting({int(i): (int(arm), context, 1.0) for i, arm, context in single}, {})
    if "slate_ids" in arrays:  # files of before slates have none
        for i, arm, context, chance, place, number in _rows(arrays, "slate", PLACE_ROWS):
            slate = waiting.slates.setdefault(int(i), Waited(int(number), {}))
            slate.left[int(place)] = int(arm), context, float(chance)
    return waiting


def _rows(arrays: Arrays, kind: str, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(arrays[f"{kind}_{name}"] for name in names), strict=True)


def header_of(bandit: Any, arms: Arms) -> dict[str, Any]:
    """Return all that is written of a bandit but what it learned, and what waits."""
    return {
        "policy": written(bandit.policy),
        "arms": nameable(arms.names),
        "retired": arms.retired,
        "dimension": bandit.dimension,
        "seed": bandit.seed,
        "feedback": bandit.feedback,
        "reward_range": bandit.reward_range,
        "features": written_features(bandit.features),
        "made": bandit.decisions,
    }


def settings_of(header: Mapping[str, Any], policy: Any) -> dict[str, Any]:
    """Return what a bandit is made with; files of before lack what is newer."""
    found = {name: header[name] for name in ("feedback", "reward_range") if name in header}
    made = built(header["policy"]) if policy is None else policy
    needed = {name: header[name] for name in ("arms", "dimension", "seed")}
    return {"policy": made, "features": built_features(header.get("features")), **needed, **found}


@contextmanager
def all_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say which file lacks what is looked for."""
    try:
        yield
    except (KeyError, TypeError, IndexError) as error:
        raise BrokenFile(f"{path} lacks a part of a saved bandit ({error})") from error


def nameable(arms: Sequence[Any]) -> list[Any]:
    """Return the arms, or refuse names that a file cannot hold."""
    for name in arms:
        if not isinstance(name, (int, float, str)):
            raise TypeError(f"arms must be numbers or texts to be saved, not {name!r}")
    return list(arms)


def written(policy: Any) -> Any:
    """Return a policy as a mapping, or nothing where it holds a function or is not ours."""
    try:
        return describe(policy) if type(policy).__name__ in KINDS else None
    except ValueError:
        return None


def built(mapping: Any) -> Any:
    """Return the policy of a mapping."""
    if mapping is None:
        raise ValueError(
            "the policy is not ours or holds a function: give it as Bandit.load(path, policy)"
        )
    return build(mapping)


def written_features(features: Features | None) -> Any:
    """Return features as a mapping; nothing for none."""
    return None if features is None else describe(features)


def built_features(mapping: Any) -> Any:
    """Return the features of a mapping; files of before have none."""
    kinds = {name: getattr(fairx.features, name) for name in fairx.features.__all__}
    return None if mapping is None else build(mapping, kinds)
