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
    top, total = scores[arms[0]], 0.0
    for position in range(1, len(arms)):
        top = max(top, scores[arms[position]])
    for position in range(len(arms)):
        out[position] = exp(scale * (scores[arms[position]] - top))
    for position in range(len(arms)):
        total += out[position]
    for position in range(len(arms)):
        out[position] /= total
