"""Exposure in proportion to merit (Section 3 of the paper), and an arm drawn from it."""

from .choosing import choose, choose_by_sums, highest, put_all_on
from .shares import fair_probabilities, fair_rows, mix, share, uphill, value

__all__ = [
    "choose",
    "choose_by_sums",
    "fair_probabilities",
    "fair_rows",
    "highest",
    "mix",
    "put_all_on",
    "share",
    "uphill",
    "value",
]
