"""A single look that was declared before: sharper, for a finished archive, and for that look alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from fairx import rules
from fairx.types import Vector

from .result import Arm, Line

ENOUGH = 400.0  # alike values, or rewards, from which on sums are taken to be normal
CORRECTIONS = ("bonferroni", "bh")
COVERS = (
    "The log is looked at once: a second look, at a log that has grown, is not covered.",
    "Sums of at least 400 values are as good as normal.",
)
SHARED = "Arms and groups are tested apart, and share alpha by their numbers."


class Look(NamedTuple):
    """How often a log is looked at, and how the tests of its arms are corrected at one look."""

    once: bool = False
    correction: str = "bonferroni"

    @property
    def words(self) -> str:
        """What the report says of it."""
        names = {"bonferroni": "Bonferroni's correction", "bh": "Benjamini and Hochberg's"}
        return f"once, with {names[self.correction]}" if self.once else "at any time"


def declared(look: str, correction: str, by: str | None) -> Look:
    """Return how a log is looked at."""
    if look not in ("always", "once"):
        raise rules.InvalidValue("look", f"be 'always' or 'once', not {look!r}")
    if correction not in CORRECTIONS:
        raise rules.InvalidValue(
            "correction", f"be one of {', '.join(CORRECTIONS)}, not {correction!r}"
        )
    if look == "always" and correction != CORRECTIONS[0]:
        raise rules.InvalidValue(
            "correction", f"be {CORRECTIONS[0]!r}, not {correction!r}: others need look='once'"
        )
    if look == "once" and by is not None:
        raise rules.InvalidValue("look", "be 'always' where the box has strata")
    return Look(look == "once", correction)


def error_of(scores: Vector, alpha: float, look: Look) -> float:
    """Return the chance of a mistake of one arm on one side, given the largest score of each arm.

    By Bonferroni's correction no arm of a fair log is accused, but for a chance alpha; by Benjamini
    and Hochberg's at most alpha of the accused are treated fairly, on average.

    Examples
    --------
    >>> scores = np.array([4.0, 3.0, 0.0, 1.0])
    >>> [error_of(scores, 0.05, Look(True, name)) for name in ("bonferroni", "bh")]
    [0.00625, 0.0125]
    """
    if look.correction == "bonferroni":
        return alpha / 2 / scores.size
    chances = np.sort(2 * ndtr(-scores))
    ranks = np.arange(1, scores.size + 1)
    passed = ranks[chances <= alpha * ranks / scores.size]
    return float(alpha / 2 * max(passed.max(initial=0), 1) / scores.size)


def width(error: float) -> float:
    """Return how many standard errors an interval reaches to one side."""
    return float(-ndtri(error))


def boxed(
    lines: tuple[Line, ...], arms: tuple[Arm, ...], errors: Vector, decisions: int, alpha: float,
    look: Look,
) -> tuple[Line, ...]:  # fmt: skip
    """Return the lines with the verdicts of the delta method, corrected for all arms.

    `errors` are those of fair shares; exposure has one too where it is not known.
    """
    spreads = [
        0.0 if arm.rewards < ENOUGH or not np.isfinite(error)
        else error**2
        + (line.exposure_high > line.exposure_low) * line.exposure * (1 - line.exposure) / decisions
        for line, arm, error in zip(lines, arms, errors.tolist(), strict=True)
    ]  # fmt: skip
    scores = np.array([
        line.difference / spread**0.5 if spread else 0.0
        for line, spread in zip(lines, spreads, strict=True)
    ])  # fmt: skip
    limit = width(error_of(np.abs(scores), alpha, look))
    named = np.select([scores < -limit, scores > limit], ["under", "over"], "unclear").tolist()
    return tuple(line._replace(box=verdict) for line, verdict in zip(lines, named, strict=True))
