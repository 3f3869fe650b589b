"""A validation part to choose settings on, and a test part to report on."""

from __future__ import annotations

import numpy as np

from fairx import rules
from fairx.types import Indices


def split(count: int, share: float, seed: int) -> tuple[Indices, Indices]:
    """Return the row numbers of a random validation part and of the rest, both increasing.

    Parameters
    ----------
    count
        The number of rows.
    share
        How much goes to validation: `round(share * count)` rows.
    seed
        The same seed gives the same parts, on any machine and with any version of NumPy.

    Examples
    --------
    >>> from fairx import datasets
    >>> datasets.split(8, share=0.25, seed=1)
    (array([2, 4]), array([0, 1, 3, 5, 6, 7]))
    """
    count, seed = rules.count("count", count, low=2), rules.count("seed", seed, low=0)
    chosen = round(rules.number("share", share, low=0, high=1) * count)
    if not 0 < chosen < count:
        because = f"it puts {chosen} of {count} rows into validation"
        raise ValueError(f"share must leave rows in both parts, not {share!r}: {because}")
    # Raw bits, in the order of a stable sort: NumPy may change what its generators make of them.
    order = np.argsort(np.random.PCG64(seed).random_raw(count), kind="stable")
    return np.sort(order[:chosen]), np.sort(order[chosen:])
