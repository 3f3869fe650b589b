"""Logs in tables: columns by name, in batches, so that no wide column is ever whole in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fairx import rules
from fairx.compiled import changed
from fairx.logs import Log
from fairx.types import Indices

from . import arrow
from .logged import PIECE, Logged

NEEDED = ("arm", "reward", "propensity")
LISTS = ("candidates", "probabilities", "context")
COLUMNS = (*NEEDED, *LISTS, "unit")


class Table(NamedTuple):
    """A log in a table, gone through in batches as often as needed."""

    table: Any
    columns: dict[str, str]  # what the columns there are called
    names: tuple[Any, ...]
    decisions: int
    units: Indices | None
    missing: float | None  # the reward of decisions that have none
    problems: dict[str, int]  # rows of the log that are no decisions, by kind

    def pieces(self) -> Iterator[Logged]:
        """Go through the batches of the table; a mistake says how many decisions came before."""
        start = 0
        for batch in _batches(self.table, self.columns):
            try:
                piece = self._logged(batch)
            except ValueError as error:
                error.add_note(f"counted from decision {start} of the log")
                raise
            end = start + len(piece.arms)
            yield piece if self.units is None else changed(piece, units=self.units[start:end])
            start = end

    def _logged(self, batch: Mapping[str, Any]) -> Logged:
        lists = {name: arrow.elements(batch[name]) for name in LISTS if name in batch}
        candidates, probabilities, context = (lists.get(name) for name in LISTS)
        return Logged(
            arms=arrow.arm_numbers(batch["arm"], self.names),
            rewards=arrow.rewards(batch["reward"], self.missing),
            propensities=arrow.floats(batch["propensity"], "propensity"),
            candidates=candidates
            and arrow.filled(arrow.arm_numbers(candidates[0], self.names), candidates[1], -1),
            contexts=context and arrow.even(*context),
            probabilities=probabilities
            and arrow.filled(arrow.floats(probabilities[0], "probabilities"), probabilities[1], 0),
            names=self.names,
        )


def from_table(
    table: Any,
    columns: Mapping[str, str] | None = None,
    names: Sequence[Any] = (),
    missing: float | None = None,
) -> Table:
    """Return a log of `fairx.logs`, or in a table of pandas, pyarrow, Polars, DuckDB and so on.

    Parameters
    ----------
    table
        One row per decision, in the order of time; a log that has times is put in that order.
    columns
        What columns are called: arm, reward, propensity; where there are any, candidates,
        probabilities and context (lists), and unit. Those not given have these very names.
    names
        All arms, where some were neither shown nor among the candidates.
    missing
        The reward of decisions whose reward is missing; without, they are refused.

    Examples
    --------
    >>> import pyarrow as pa
    >>> log = pa.table({"item": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 0.5]})
    >>> found = from_table(log, {"arm": "item"})
    >>> found.names, [piece.arms.tolist() for piece in found.pieces()]
    (('a', 'b'), [[0, 1]])
    """
    problems: dict[str, int] = {}
    if isinstance(table, Log):
        if "place" in table.columns:
            remedy = "evaluate_slates(slates_of(log), policy)"
            raise ValueError(f"the log must have no column 'place', it is of slates: use {remedy}")
        there = [name for name in COLUMNS if name in NEEDED or name in table.columns]
        problems, table = table.problems(), table.in_order(there)
    called = _called(table, dict(columns or {}))
    seen: dict[Any, None] = dict.fromkeys(names)
    units, nulls, decisions = [], dict.fromkeys(called, 0), 0
    for batch in _batches(table, called):
        decisions += len(batch["arm"])
        nulls = {name: nulls[name] + column.null_count for name, column in batch.items()}
        arms_of = [
            batch["arm"],
            *([arrow.elements(batch["candidates"])[0]] if "candidates" in batch else []),
        ]
        seen |= dict.fromkeys(arm for column in arms_of for arm in column.unique().to_pylist())
        units += [batch["unit"]] if "unit" in batch else []
    rules.count("the number of decisions", decisions)
    _refuse_gaps(called, nulls, decisions, missing)
    kept = {name: column for name, column in called.items() if nulls[name] < decisions}
    arms = tuple(names) if names else tuple(sorted(arm for arm in seen if arm is not None))
    codes = arrow.codes(units) if "unit" in kept else None
    return Table(table, kept, arms, decisions, codes, missing, problems)


def _called(table: Any, given: dict[str, str]) -> dict[str, str]:
    """Return what each column that is there is called."""
    with _stream(table) as stream:
        there = stream.schema.names
    for name, column in given.items():
        if name not in COLUMNS or column not in there:
            choices = COLUMNS if name not in COLUMNS else there
            wrong = name if name not in COLUMNS else column
            raise ValueError(f"columns must be among {', '.join(choices)}, not {wrong!r}")
    called = {name: given.get(name, name) for name in COLUMNS}
    for name in NEEDED:
        if called[name] not in there:
            remedy = f'say what it is called: columns={{"{name}": ...}}'
            raise ValueError(f"{name} must be a column of {', '.join(there)}: {remedy}")
    return {name: column for name, column in called.items() if column in there}


def _refuse_gaps(
    called: dict[str, str], nulls: dict[str, int], decisions: int, missing: float | None
) -> None:
    """Refuse columns with gaps; one that is empty throughout counts as not there."""
    for name, gaps in nulls.items():
        whole = gaps == decisions and name not in NEEDED
        filled = name == "reward" and missing is not None
        if gaps and not whole and not filled:
            remedy = (
                "give the reward they count as in missing, or leave them out"
                if name == "reward"
                else "leave these decisions out"
            )
            found = f"missing in {gaps} of {decisions} decisions"
            raise ValueError(f"{called[name]} must be given, not {found}: {remedy}")


def _stream(table: Any) -> Any:
    import pyarrow as pa

    if not hasattr(table, "__arrow_c_stream__"):
        kind = type(table).__name__
        raise TypeError(f"log must be Logged or a table that speaks Arrow, not {kind}")
    return pa.RecordBatchReader.from_stream(table)


def _batches(table: Any, columns: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Go through a table, some decisions at a time."""
    with _stream(table) as stream:  # closed in any case: DuckDB has one open at a time
        for batch in stream:
            for start in range(0, batch.num_rows, PIECE):
                some = batch.slice(start, PIECE)
                yield {name: arrow.decoded(some.column(column)) for name, column in columns.items()}
