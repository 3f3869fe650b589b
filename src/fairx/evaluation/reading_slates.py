"""Logs of slates, a row for each decision and place, as a row for each decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.logs import Log
from fairx.types import Indices, Vector

from .slates import LoggedSlates

NEEDED = ("arm", "place", "propensity", "reward")
MORE = ("decision", "weight", "candidates", "context")
Column = npt.NDArray[Any]


def slates_of(log: Log, missing: float | None = None) -> LoggedSlates:
    """Return the slates of a log of `fairx.logs`, its rows without problems.

    Where rows do not say of which decision they are, as in the Open Bandit data, each stands alone; a weight
    is then that of its place everywhere. A context is read where all places of a decision have the same.

    Parameters
    ----------
    log
        With the columns arm, place, propensity and reward; where there are any, decision, weight, time,
        candidates and context.
    missing
        The reward of rows whose reward is missing; without, they are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairx import logs
    >>> rows = {"decision": [7, 7, 8, 8], "place": [1, 2, 1, 2], "arm": ["a", "b", "b", "c"]}
    >>> table = pd.DataFrame({**rows, "propensity": 0.5, "reward": [1.0, 0.0, 0.0, 1.0]})
    >>> found = slates_of(logs.read(table))
    >>> found.names, found.arms.tolist()
    (('a', 'b', 'c'), [[0, 1], [1, 2]])
    """
    for name in NEEDED:
        if name not in log.columns:
            raise ValueError(f"{name} must be a column of the log: slates need it")
    rows = _rows(log)
    decision, place = rows["first"].astype(np.int64), rows["place"].astype(np.int64) - 1
    starts = np.flatnonzero(np.diff(decision, prepend=-1))
    where = np.repeat(np.arange(starts.size), np.diff(starts, append=decision.size)), place
    names, arms, candidates = _arms(rows["arm"], rows.get("candidates"), starts)
    gaps = np.nan if missing is None else missing
    weights = _table(where, rows["weight"], 0.0) if "weight" in rows else None
    return LoggedSlates(
        arms=_table(where, arms, -1),
        rewards=_table(where, np.ma.filled(rows["reward"].astype(np.float64), gaps), 0.0),
        propensities=_table(where, rows["propensity"], 1.0),
        weights=weights if weights is None or "decision" in rows else weights.max(axis=0),
        candidates=candidates,
        contexts=_contexts(rows["context"], where[0], starts) if "context" in rows else None,
        names=names,
    )


def _rows(log: Log) -> dict[str, Column]:
    """Return the columns, decisions in the order of time; `first` tells decisions apart."""
    names = [name for name in (*NEEDED, *MORE) if name in log.columns]
    order = "time, row" if "time" in log.columns else "row"
    listed = f"SELECT *, row_number() OVER (ORDER BY {order}) AS turn FROM valid"
    first = "min(turn) OVER (PARTITION BY decision)" if "decision" in names else "turn"
    sql = f"SELECT {', '.join(names)}, {first} AS first FROM ({listed}) ORDER BY first, place"
    found = log.query(sql)
    return {name: column for name, column in found.items() if not np.ma.getmaskarray(column).all()}


def _table(where: tuple[Indices, Indices], values: Column, fill: float) -> Column:
    """Return values by decision and place."""
    out = np.full([int(part.max()) + 1 for part in where], fill, values.dtype)
    out[where] = values
    return out


def _arms(
    arms: Column, lists: Column | None, starts: Indices
) -> tuple[tuple[Any, ...], Indices, Indices | None]:
    """Return the names of all arms, those shown by number, and the candidates of each decision."""
    offered = [] if lists is None else [np.asarray(lists[i]) for i in starts]
    names = np.unique(np.concatenate([np.asarray(arms), *offered]))
    numbers = np.searchsorted(names, np.asarray(arms)).astype(np.int64)
    if lists is None:
        return tuple(names.tolist()), numbers, None
    sizes = np.array([len(each) for each in offered])
    there = np.arange(sizes.max()) < sizes[:, None]
    candidates = np.full(there.shape, -1)
    candidates[there] = np.searchsorted(names, np.concatenate(offered))
    return tuple(names.tolist()), numbers, candidates


def _contexts(column: Column, decision: Indices, starts: Indices) -> Vector | None:
    """Return one context for each decision, where its places have the same."""
    each = np.stack([np.asarray(context, np.float64) for context in column])
    found: Vector = each[starts]
    return found if np.array_equal(found[decision], each) else None
