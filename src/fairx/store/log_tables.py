"""Rows of the store as tables of Arrow: what `fairx.logs` reads. A slate has a row for each place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .arms import candidates_of
from .compact import is_digest
from .decisions import Decision
from .earlier import Earlier
from .identity import slate_id
from .snapshots import ServedExperiment

PLACE = 14  # where it is in a row
PLAIN = pa.list_(pa.string())


class Pools(NamedTuple):
    """The distinct sets of candidates, by their names, and the number of each."""

    earlier: Earlier
    experiment: ServedExperiment
    known: dict[tuple[bytes | None, int], int]
    numbers: dict[tuple[str, ...], int]

    def number(self, candidates: bytes | None, snapshot: int) -> int:
        """Return the number of the pool that a decision was made from."""
        key = (candidates, 0 if candidates is not None else self.earlier.arms.start(snapshot))
        found = self.known.get(key)
        if found is None:
            names = self._names(candidates, snapshot)
            found = self.known[key] = self.numbers.setdefault(names, len(self.numbers))
        return found

    def _names(self, candidates: bytes | None, snapshot: int) -> tuple[str, ...]:
        arms = self.earlier.arms.at(snapshot)
        found = candidates_of(arms, self.earlier.pools.candidates(candidates))
        return tuple(arms[number].name for number in found)

    def longest(self, snapshot: int) -> int:
        """Return how many candidates a decision by a snapshot has at most."""
        return len(self.earlier.arms.at(snapshot))

    def chances(self, row: tuple[Any, ...]) -> bytes:
        """Return the probabilities of a decision, or the exposures of a slate."""
        if not is_digest(row[7]):
            return bytes(row[7])
        about = (row[1], self.experiment.id, *row[2:8], None, None, b"", row[PLACE])
        made = Decision._make((*about, None, None))
        return self.earlier.chances(made).tobytes()


def table(rows: list[tuple[Any, ...]], pools: Pools, *, places: bool) -> pa.Table:
    """Return decisions as a table; with `places`, in the form of slates, a row for each place.

    A decision that is no slate is one of a single place then, of weight 1.
    """
    columns = list(zip(*rows, strict=True))
    numbers = [pools.number(row[6], row[3]) for row in rows]
    lists = list(pools.numbers)
    names = [lists[pool][position] for pool, position in zip(numbers, columns[5], strict=True)]
    policy = type(pools.experiment.settings.policy).__name__
    data: dict[str, Any] = {
        "decision": pa.array([slate_id(row) for row in columns[1]], pa.string()),
        "time": pa.array(columns[2], pa.float64()),
        "candidates": pa.array(lists, PLAIN).take(pa.array(numbers, pa.int32())),
        "arm": pa.array(names, pa.string()),
        "propensity": pa.array(propensities(rows), pa.float64()),
        "exposures" if places else "probabilities": _lists([pools.chances(row) for row in rows]),
        "reward": pa.array(columns[9], pa.float64()),
        "reward_time": pa.array(columns[11], pa.float64()),
        "policy": pa.array([policy] * len(rows), pa.string()),
        "version": pa.array([str(each) for each in columns[3]], pa.string()),
        "mature": pa.array([number is not None for number in columns[8]]),
        "rewards": pa.array(columns[10], pa.int64()),
        "late": pa.array(columns[12], pa.int64()),
        "shown": pa.array(columns[13], pa.float64()),
    }
    if places:
        data["place"] = pa.array([place or 1 for place in columns[PLACE]], pa.int64())
        weights = [1.0 if weight is None else weight for weight in columns[PLACE + 1]]
        data["weight"] = pa.array(weights, pa.float64())
    return pa.table(data)


def schema(*, places: bool) -> pa.Schema:
    """Return the names and types of the columns."""
    texts = ("decision", "arm", "policy", "version")
    kinds: dict[str, Any] = dict.fromkeys(texts, pa.string())
    kinds |= dict.fromkeys(("probabilities", "exposures"), pa.list_(pa.float64()))
    kinds |= {"candidates": PLAIN, "mature": pa.bool_()}
    kinds |= dict.fromkeys(("rewards", "late", "place"), pa.int64())
    order: tuple[str, ...] = (
        "decision", "time", "candidates", "arm", "propensity",
        "exposures" if places else "probabilities", "reward", "reward_time", "policy", "version",
        "mature", "rewards", "late", "shown", *(("place", "weight") if places else ()),
    )  # fmt: skip
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in order])


def propensities(rows: list[tuple[Any, ...]]) -> list[float]:
    """Return how likely each arm was: on record, or in a store of before among the probabilities."""
    return [
        float(np.frombuffer(row[7], np.float64, 1, 8 * row[5])[0]) if row[PLACE + 2] is None
        else row[PLACE + 2]
        for row in rows
    ]  # fmt: skip


def _lists(bodies: Sequence[bytes]) -> pa.Array:
    """Return lists of numbers."""
    lengths = np.array([len(body) for body in bodies], np.int64) // 8
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(np.frombuffer(b"".join(bodies))))
