"""What can be wrong with a row: each kind has a bit, so that one pass counts them all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from fairx.texts import several
from fairx.types import Indices

# Probabilities may have been rounded, to four digits or to 32 bits, before they were logged: each of
# them, and the sum of twenty. The last part keeps sums of decimals from falling on the border.
EACH = 1e-4 + 1e-9
SUM = 1e-3 + 1e-9
LISTED = "probabilities[list_position(candidates, arm)]"
UNREADABLE = "unreadable line"
REMEDIES = {
    "reward not finite": "a reward is a number with a point (0.5, not 0,5), true or false; one that is "
    "not known is empty; decimal commas become points by "
    "pandas.read_csv(IN, sep=None, engine='python', decimal=',').to_parquet(OUT)",
    "missing or invalid time": "a time is a number, or a date with the year first (2026-12-31 10:00); "
    "days first become dates by "
    "pandas.read_csv(IN, parse_dates=['time'], dayfirst=True).to_parquet(OUT)",
    "missing or invalid place": "places are whole numbers from 1 on; if the column is of something else, "
    "say so by columns={'place': ''} or --place ''",
    UNREADABLE: "lines have as many columns as the first",
}
# What a kind is about, where it needs something else than a column
ABOUT = {"repeated": "decision", "chance": "propensity", "slates": "place"}


class Kind(NamedTuple):
    """One kind of problem: the columns that it is about, and SQL that says when a row has it.

    `chance` is a propensity, logged or looked up in the probabilities; `repeated` are decisions
    that occur twice; `slates` are those with a problem between their rows; `repeats` and `gaps` are of
    lists of candidates.
    """

    name: str
    needs: tuple[str, ...]
    when: str

    def column(self) -> str:
        """Return our name of the column that the kind is about."""
        about = self.needs[-1] if self.needs else "arm"
        return ABOUT.get(about, about)


KINDS = (
    Kind("missing arm", (), "arm IS NULL"),
    Kind("missing decision", ("decision",), "decision IS NULL"),
    Kind("duplicate decision", ("repeated",), "row <> first_row"),
    Kind("missing or invalid time", ("time",), "time IS NULL OR NOT isfinite(time)"),
    Kind("missing candidates", ("candidates",), "coalesce(len(candidates) = 0, true) OR gaps"),
    Kind("candidate listed twice", ("candidates",), "repeats"),
    Kind("arm not among its candidates", ("candidates",), "NOT list_contains(candidates, arm)"),
    Kind("missing propensity", ("propensity",), "propensity IS NULL"),
    Kind("propensity outside (0, 1]", ("chance",), "NOT (propensity > 0 AND propensity <= 1)"),
    Kind("missing probabilities", ("probabilities",), "probabilities IS NULL"),
    Kind(
        "probabilities not one for each candidate",
        ("probabilities",),
        "len(probabilities) <> len(candidates)",
    ),
    Kind(
        "probabilities not a distribution",
        ("probabilities",),
        "list_count(probabilities) < len(probabilities) OR list_min(probabilities) < 0 "
        f"OR abs(list_sum(probabilities) - 1) > {SUM}",
    ),
    Kind(
        "propensity unlike its probability",
        ("probabilities", "propensity"),
        f"abs(propensity - {LISTED}) > {EACH}",
    ),
    Kind("reward not finite", ("reward",), "NOT isfinite(reward)"),
)
EXPOSURE = "exposures[list_position(candidates, arm)]"
SLATE_KINDS = (
    Kind(
        "missing or invalid place", ("place",), "NOT coalesce(place >= 1 AND place % 1 = 0, false)"
    ),
    Kind(
        "missing or invalid weight",
        ("weight",),
        "NOT coalesce(weight >= 0 AND isfinite(weight), false)",
    ),
    Kind(
        "exposures not one for each candidate",
        ("exposures",),
        "exposures IS NULL OR len(exposures) <> len(candidates) "
        "OR list_count(exposures) < len(exposures)",
    ),
    Kind(
        "exposure below what its place gives",
        ("exposures",),
        f"list_min(exposures) < 0 OR weight * coalesce(propensity, 0) > {EXPOSURE} + {EACH} * greatest(1, weight)",
    ),
    Kind("two rows for one place", ("slates",), "row <> first_row"),
    Kind("arm twice in its slate", ("slates",), "arm_twice"),
    Kind("places not 1 to their number", ("slates",), "gap"),
    Kind("weights that increase by place", ("slates", "weight"), "rises"),
    Kind("candidates unlike those of another place", ("slates", "candidates"), "differ"),
    Kind("exposures without the sum of the weights", ("slates", "exposures"), "unequal"),
    Kind("problem at another place of its slate", (), "false"),
)
ALL = KINDS + SLATE_KINDS
TWO_ROWS, ELSEWHERE = (
    1 << [kind.name for kind in ALL].index(name)
    for name in ("two rows for one place", "problem at another place of its slate")
)


def mask(there: Collection[str]) -> str:
    """Return the SQL of the sum of bits of all kinds that a row has."""
    bits = [
        f"CASE WHEN {kind.when} THEN {1 << bit} ELSE 0 END"
        for bit, kind in enumerate(ALL)
        if set(kind.needs) <= set(there)
    ]
    return " + ".join(bits)


def names(bits: int) -> list[str]:
    """Return the kinds in a sum of bits.

    Examples
    --------
    >>> names(1 + 8192)
    ['missing arm', 'reward not finite']
    """
    return [kind.name for bit, kind in enumerate(ALL) if bits >> bit & 1]


def remedies(found: Collection[str]) -> str:
    """Return what helps against the kinds of problems that were found.

    Examples
    --------
    >>> remedies(["missing arm", "missing or invalid time"])
    ": a time is a number, or a date with the year first (2026-12-31 10:00); ...
    """
    return "".join(f": {REMEDIES[name]}" for name in found if name in REMEDIES)


def told(found: Mapping[str, int]) -> str:
    """Return the kinds of problems that were found with their numbers, and what helps.

    Examples
    --------
    >>> told({"missing arm": 1, "missing decision": 1200}), told({})
    ('missing arm in 1 row, missing decision in 1,200 rows', 'it has no rows')
    """
    kinds = [f"{name} in {several(count, 'row', 'rows')}" for name, count in found.items()]
    return (", ".join(kinds) or "it has no rows") + remedies(found)


def counted(masks: Indices, rows: Indices) -> dict[str, int]:
    """Return how many rows have each kind, given the number of rows with each sum of bits."""
    found: dict[str, int] = {}
    for bits, number in zip(masks.tolist(), rows.tolist(), strict=True):
        for name in names(bits):
            found[name] = found.get(name, 0) + number
    return found
