"""Line 7 of Algorithm 1 for any merit: each arm goes where it promises most at a level."""

from __future__ import annotations

import math
from typing import Any

from fairx.compiled import kernel
from fairx.exposure import share, value
from fairx.merit import Merit
from fairx.types import Indices, Vector


@kernel
def climb_peaks(
    merit: Merit, state: Any, arms: Indices, passes: int, work: Vector, out: Vector
) -> None:
    """Climb for any merit and any size of merits: slower, as nothing is kept between rounds."""
    peak_means(merit, state, arms, passes, work, out)
    share(merit, out, out)


@kernel
def peak_means(
    merit: Merit, state: Any, arms: Indices, passes: int, work: Vector, out: Vector
) -> None:
    """Write the means that promise most."""
    used = -math.inf
    level = promised_by_peaks(merit, used, state, arms, work, out)
    for _ in range(passes):
        reached = promised_by_peaks(merit, level, state, arms, work, out)
        if not reached > level:
            promised_by_peaks(merit, used, state, arms, work, out)
            break
        used, level = level, reached


@kernel
def promised_by_peaks(
    merit: Merit, level: float, state: Any, arms: Indices, work: Vector, out: Vector
) -> float:
    """Write the mean that each arm would choose at `level`; return the value they promise."""
    for position in range(len(arms)):
        low, high = state.low[arms[position]], state.high[arms[position]]
        out[position] = merit.peak(low, high, level) if level > -math.inf else high
    return value(merit, out, work)
