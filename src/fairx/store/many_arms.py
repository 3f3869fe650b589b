"""The audited decisions of an experiment of many arms, small: the arm shown, and the number of its pool.

Lists of ten thousand names and probabilities in each row would be more than an audit can read.
The propensity of the arm that was shown is enough for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .arms import candidates_of
from .earlier import Earlier
from .errors import Conflict
from .log_tables import propensities

MANY = 200  # arms: beyond, audits are by the propensities of the arms shown
MOST = 5_000_000_000  # pairs of candidates in one pool, of all pools: what an audit looks through
SCHEMA = pa.schema(
    [
        ("time", pa.float64()), ("arm", pa.string()), ("propensity", pa.float64()),
        ("reward", pa.float64()), ("reward_time", pa.float64()), ("pool", pa.int64()),
    ]
)  # fmt: skip


Members = npt.NDArray[np.int32]  # numbers of arms


class Numbered:
    """The distinct sets of candidates that decisions were made from, as numbers of arms."""

    def __init__(self) -> None:
        self.pools: list[Members] = []
        self._known: dict[tuple[bytes | None, int], int] = {}
        self._numbers: dict[bytes, int] = {}
        self._pairs = 0

    def number(self, earlier: Earlier, candidates: bytes | None, snapshot: int) -> int:
        """Return the number of the pool that a decision was made from."""
        key = (candidates, 0 if candidates is not None else earlier.arms.start(snapshot))
        if key not in self._known:
            named = earlier.pools.candidates(candidates)
            found = np.sort(candidates_of(earlier.arms.at(snapshot), named)).astype(np.int32)
            self._known[key] = self._numbers.setdefault(found.tobytes(), len(self._numbers))
            if len(self._numbers) > len(self.pools):
                self._take(found)
        return self._known[key]

    def table(self, names: Sequence[str]) -> pa.Table:
        """Return the names of the arms in each pool."""
        known = pa.array(names, pa.string())
        ends = np.cumsum([0, *map(len, self.pools)]).astype(np.int32)
        arms = known.take(pa.array(np.concatenate(self.pools)))
        lists = pa.ListArray.from_arrays(pa.array(ends), arms)
        return pa.table({"pool": np.arange(len(self.pools)), "arms": lists})

    def _take(self, found: Members) -> None:
        self._pairs += found.size**2
        if self._pairs > MOST:
            raise Conflict(
                f"nothing can be audited: {len(self.pools) + 1:,} different lists of candidates among so "
                "many arms are too many; export the log and audit a part of it"
            )
        self.pools.append(found)


def small_table(rows: list[tuple[Any, ...]], pools: Numbered, earlier: Earlier) -> pa.Table:
    """Return decisions as a table."""
    columns = list(zip(*rows, strict=True))
    numbers = [pools.number(earlier, row[6], row[3]) for row in rows]
    names = [earlier.arms.at(row[3])[row[4]].name for row in rows]
    data = (columns[2], names, propensities(rows), columns[9], columns[11], numbers)
    return pa.table(list(map(pa.array, data, SCHEMA.types)), SCHEMA)
