"""Logs of slates: rows that share a decision, one for each place, and what is wrong between them."""

from __future__ import annotations

from typing import Any

from . import problems

AGAIN = """
CREATE TEMP TABLE again AS
SELECT decision, place, min(row) AS first_row FROM rows
WHERE decision IS NOT NULL GROUP BY decision, place HAVING count(*) > 1
"""
# Only slates with a problem are kept. Exposures are compared as lists: a slate has them in each row.
BAD = f"""
CREATE TEMP TABLE bad AS
SELECT * FROM (
  SELECT decision,
    count(DISTINCT arm) < count(arm) AS arm_twice,
    max(place) <> count(*) OR min(place) <> 1 AS gap,
    list(weight ORDER BY place) <> list_reverse_sort(list(weight)) AS rises,
    count(DISTINCT list_sort(candidates)) > 1 AS differ,
    count(DISTINCT exposures) > 1
      OR abs(list_sum(any_value(exposures)) - sum(weight)) > {problems.SUM} * sum(weight) AS unequal
  FROM rows LEFT JOIN again USING (decision, place)
  WHERE decision IS NOT NULL AND coalesce(row = first_row, true)
  GROUP BY decision
) WHERE arm_twice OR gap OR coalesce(rises, false) OR differ OR coalesce(unequal, false)
"""
VIEWS = """
CREATE TEMP VIEW alone AS
SELECT *, {mask} AS own FROM (
  SELECT rows.*, {extra}, first_row, arm_twice, gap, rises, differ, unequal
  FROM rows {joins} LEFT JOIN again USING (decision, place) LEFT JOIN bad USING (decision)
);
CREATE TEMP TABLE broken AS
SELECT DISTINCT decision, true AS elsewhere FROM alone
WHERE own <> 0 AND own <> {two_rows} AND decision IS NOT NULL;
CREATE TEMP VIEW checked AS
SELECT *, CASE WHEN own = 0 AND elsewhere THEN {elsewhere_bit} ELSE own END AS problem
FROM alone LEFT JOIN broken USING (decision);
CREATE TEMP VIEW valid AS SELECT * FROM checked WHERE problem = 0
"""


def refuse_texts(connection: Any, sql: str) -> None:
    """Refuse a column that happens to be called place: no number is among its first rows."""
    first = (
        f"SELECT place::VARCHAR AS said, TRY_CAST(said AS DOUBLE) AS place FROM ({sql}) LIMIT 1000"
    )
    numbers, said = connection.execute(
        f"SELECT count(place), any_value(said) FROM ({first})"
    ).fetchone()
    if said is not None and not numbers:
        raise ValueError(
            f"column 'place' must hold places, whole numbers from 1 on, not {said!r}: if it is of "
            "something else, say so by columns={'place': ''} or --place ''"
        )


def view(connection: Any, there: set[str], joins: str, extra: list[str]) -> None:
    """Make the views `checked` and `valid`: a slate with a problem at one place takes no part.

    But where one place has two rows, the first stays, and so does its slate.
    """
    connection.execute(AGAIN)
    connection.execute(BAD)
    connection.execute(
        VIEWS.format(
            mask=problems.mask(there | {"slates"}),
            extra=", ".join(extra),
            joins=joins,
            two_rows=problems.TWO_ROWS,
            elsewhere_bit=problems.ELSEWHERE,
        )
    )
