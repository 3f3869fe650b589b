"""How unequal exposure is, beside how unequal merit makes it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.types import Vector


def gini(shares: npt.ArrayLike) -> float:
    """Return the Gini coefficient: 0 where all have the same, near 1 where one has all.

    Examples
    --------
    >>> gini([0.25, 0.25, 0.5]), gini([1.0, 1.0])
    (0.16666666666666663, 0.0)
    """
    curve = lorenz(shares)
    return float(1.0 - (curve[1:] + curve[:-1]).sum() / (curve.size - 1))


def lorenz(shares: npt.ArrayLike) -> Vector:
    """Return what the i least shown arms have together, for i from 0 to all of them.

    Examples
    --------
    >>> lorenz([0.5, 0.25, 0.25])
    array([0.  , 0.25, 0.5 , 1.  ])
    """
    found = np.sort(rules.array("shares", shares, (None,)))
    total = rules.positive("the sum of shares", float(found.sum()))
    return np.concatenate([[0.0], np.cumsum(found) / total])
