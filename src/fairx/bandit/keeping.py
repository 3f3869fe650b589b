"""Bandits in files: what is written, and what is refused when it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.errors import BrokenFile
from fairx.files import read_archive, write_archive
from fairx.settings import KINDS, build, describe
from fairx.types import Vector

KIND = "bandit"  # of file
Arrays = Mapping[str, npt.NDArray[Any]]
Pending = dict[int, tuple[int, Vector]]  # by decision: the arm and its context


def save(
    path: str | os.PathLike[str], header: Mapping[str, Any], parts: Arrays, pending: Pending
) -> None:
    """Write a bandit, in one step."""
    arrays = {f"state_{name}": part for name, part in parts.items()}
    arrays["pending_ids"] = np.array(list(pending), np.int64)
    arrays["pending_arms"] = np.array([arm for arm, _ in pending.values()], np.int64)
    contexts = [context for _, context in pending.values()]
    arrays["pending_contexts"] = np.array(contexts).reshape(len(contexts), header["dimension"])
    write_archive(path, KIND, dict(header), arrays)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return what `save` wrote."""
    return read_archive(path, KIND)


def restore(parts: Arrays, arrays: Arrays) -> Pending:
    """Fill the arrays of a new state, and return the decisions that wait."""
    for name, part in parts.items():
        saved = arrays[f"state_{name}"]
        if saved.shape != part.shape:
            raise BrokenFile(f"the saved {name} has shape {saved.shape}, not {part.shape}")
        part[...] = saved
    columns = (arrays[f"pending_{name}"] for name in ("ids", "arms", "contexts"))
    return {int(i): (int(arm), context) for i, arm, context in zip(*columns, strict=True)}


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
