"""Probabilities in proportion to exponentials of scores."""

from __future__ import annotations

from fairx.compiled import kernel
from fairx.numerics.elementary import exp
from fairx.types import Indices, Vector


@kernel
def soften(scores: Vector, arms: Indices, scale: float, out: Vector) -> None:
    """Write exp(scale * score) of each arm on offer, over the sum of all.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty(2)
    >>> soften(np.array([0.0, 5.0, 1.0]), np.array([0, 2]), 1.0, out)
    >>> out.round(3)
    array([0.269, 0.731])
    """
    for position in range(len(arms)):
        out[position] = scores[arms[position]]
    soften_here(scale, out)


@kernel
def soften_here(scale: float, out: Vector) -> None:
    """Put exp(scale * score), over the sum of all, in the place of each score."""
    top, total = out[0], 0.0
    for position in range(1, len(out)):
        top = max(top, out[position])
    for position in range(len(out)):
        out[position] = exp(scale * (out[position] - top))
    for position in range(len(out)):
        total += out[position]
    for position in range(len(out)):
        out[position] /= total
