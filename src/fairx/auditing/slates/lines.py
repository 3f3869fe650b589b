"""Exposure on pages beside the fair one, arm by arm or group by group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.auditing.always_valid import Intervals, always_valid
from fairx.auditing.lines import raised, side_of
from fairx.auditing.merits import Merits
from fairx.auditing.result import Line
from fairx.auditing.shares import summed
from fairx.types import Indices, Vector

from .shares import exposure_box, exposures_of
from .sums import SlateSums

ROUNDING = 1e-9


class Among(NamedTuple):
    """Groups of arms that are judged: each arm by itself, or several together."""

    numbers: Indices  # the group of each arm
    names: list[Any]
    alpha: float  # that of one interval of exposure


def fair_shares(sums: SlateSums, logs: Vector) -> Vector:
    """Return the fair share of each arm in the weight of all places."""
    out = np.zeros(logs.size)
    for kind in sums.kinds:
        out[kind.arms] += kind.decisions * exposures_of(kind, logs)
    return np.asarray(out / sums.weight)


def slate_lines(
    sums: SlateSums, merits: Merits, among: Among, powers: tuple[float, ...] = (1.0,)
) -> tuple[Line, ...]:
    """Return a line for each group; verdicts are those of the box, for each power of the merit."""
    number = len(among.names)
    had, known = _exposure(sums, among)
    boxes = [_box(sums, raised(merits.log_box, power), among) for power in powers]
    box = boxes[powers.index(1.0)]
    wide = None if merits.log_bounds is None else _box(sums, merits.log_bounds, among)
    shows, fair = (
        summed(among.numbers, part, number) for part in (sums.shows, fair_shares(sums, merits.logs))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (had / fair, known.low / box.high, known.high / box.low)
    columns = (
        shows.astype(np.int64),
        *(had, *known, fair, *box),
        *(had - fair, known.low - box.high, known.high - box.low),
        *(np.nan_to_num(ratio, nan=1.0) for ratio in ratios),
    )
    table = zip(among.names, *(column.tolist() for column in columns), strict=True)
    verdicts = list(zip(*(side_of(known, each) for each in boxes), strict=True))
    ends: Any = [(None, None)] * number
    if wide is not None:
        ends = zip(*(end.tolist() for end in wide), strict=True)
    itself = powers.index(1.0)
    return tuple(
        Line._make((*row, found[itself], "box", found[itself], None, None, *bounds, found))
        for row, bounds, found in zip(table, ends, verdicts, strict=True)
    )


def mismatched(sums: SlateSums, alpha: float) -> tuple[Any, ...]:
    """Return the arms that did not get the places that their exposures promise."""
    if sums.exposures is None:
        return ()
    counts = np.full(len(sums.arms), float(sums.decisions))
    box = always_valid(sums.weights, counts, alpha / len(sums.arms), 0.0, sums.most_weight)
    each = sums.exposures / sums.decisions
    outside = (each < box.low - ROUNDING) | (each > box.high + ROUNDING)
    return tuple(sums.arms[i] for i in np.flatnonzero(outside))


def _box(sums: SlateSums, logs: Intervals, among: Among) -> Intervals:
    """Return the lowest and highest fair share of each group over a box of merits."""
    number = len(among.names)
    box = Intervals(np.zeros(number), np.zeros(number))
    for kind in sums.kinds:
        for end, part in zip(box, exposure_box(kind, logs, among.numbers), strict=True):
            end += kind.decisions * part / sums.weight
    return box


def _exposure(sums: SlateSums, among: Among) -> tuple[Vector, Intervals]:
    """Return exposures, which are known, or the weight of the places had with its interval."""
    number = len(among.names)
    if sums.exposures is not None:
        known = summed(among.numbers, sums.exposures, number) / sums.weight
        return known, Intervals(known, known)
    had = summed(among.numbers, sums.weights, number)
    most = sums.most_weight if number == len(sums.arms) else sums.most_total
    counts = np.full(number, float(sums.decisions))
    box = always_valid(had, counts, among.alpha, 0.0, most)
    per = sums.decisions / sums.weight
    return had / sums.weight, Intervals(box.low * per, box.high * per)
