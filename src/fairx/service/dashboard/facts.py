"""What a page shows of an experiment: the answers of the API, joined by arm."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fairx.auditing.result import Audit, Line
from fairx.auditing.slates import SlateAudit, SlateLine
from fairx.rules import InvalidValue
from fairx.service.answers import ArmCounts, Status
from fairx.service.audits import Audited

ORDERS = {
    "fair": "fair share",
    "exposure": "exposure",
    "distance": "distance from fair",
    "name": "name",
}
MOST = 500  # arms on a page; all are in the API's answers


class Judged(NamedTuple):
    """The audit, or why there is none."""

    audited: Audited | None
    reason: str = ""

    @property
    def audit(self) -> Audit | SlateAudit | None:
        """What was found."""
        return self.audited.audit if self.audited else None

    @property
    def verdicts(self) -> dict[str, int] | None:
        """How many arms have each verdict."""
        if self.audit is None:
            return None
        counts = Counter(line.verdict for line in self.audit.lines)
        return {kind: counts[kind] for kind in ("under", "over", "fair", "unclear")}


class Candidacies(NamedTuple):
    """The audit, and in how many of its decisions each arm was on offer, by the arm's number."""

    judged: Judged
    times: list[int]


class Counted(NamedTuple):
    """What the status was at a time."""

    status: Status
    time: float


class Mean(NamedTuple):
    """The mean reward of an arm, and between what it is."""

    mean: float
    mean_low: float
    mean_high: float


class Row(NamedTuple):
    """One arm: what was counted, and what the audit says where it was on offer."""

    counts: ArmCounts
    line: Line | SlateLine | None
    arm: Mean | None


def rows(status: Status, audit: Audit | SlateAudit | None) -> list[Row]:
    """Return all arms in the order of the API."""
    found = {} if audit is None else _by_arm(audit)
    return [Row(counts, *found.get(counts.arm, (None, None))) for counts in status.arms]


def _by_arm(audit: Audit | SlateAudit) -> dict[str, tuple[Line | SlateLine, Mean]]:
    lines: tuple[Line | SlateLine, ...] = audit.lines
    if isinstance(audit, SlateAudit):
        columns = (column.tolist() for column in (audit.means, *audit.mean_box))
        means = [Mean(*each) for each in zip(*columns, strict=True)]
    else:
        means = [Mean(arm.mean, arm.mean_low, arm.mean_high) for arm in audit.arms]
    return {line.arm: (line, mean) for line, mean in zip(lines, means, strict=True)}


def ordered(found: list[Row], order: str) -> list[Row]:
    """Return at most `MOST` rows in an order, arms that were never on offer last.

    Where there are more, those are left out that are nearest to their fair share.
    """
    if order not in ORDERS:
        raise InvalidValue("order", f"be one of {', '.join(ORDERS)}, not {order!r}")
    chosen = sorted(found, key=lambda row: _keys(row)["distance"])[:MOST]
    return sorted(chosen, key=lambda row: (row.line is None, _keys(row)[order], row.counts.arm))


def _keys(row: Row) -> dict[str, float | str]:
    line = row.line
    numbers = (line.fair_share, line.exposure, abs(line.difference)) if line else (0.0, 0.0, -1.0)
    fair, exposure, distance = (-value for value in numbers)
    return {"fair": fair, "exposure": exposure, "distance": distance, "name": row.counts.arm}
