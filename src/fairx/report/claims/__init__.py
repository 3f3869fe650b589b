"""The paper's claims, each with one statistic and one rule that decides it."""

from .claim import DECIDED, NOT_RUN, UNDECIDED, VERDICTS, Claim
from .looking import LOOKS, looks, settled
from .verdicts import STATEMENTS, claims, corrected

__all__ = [
    "DECIDED",
    "LOOKS",
    "NOT_RUN",
    "STATEMENTS",
    "UNDECIDED",
    "VERDICTS",
    "Claim",
    "claims",
    "corrected",
    "looks",
    "settled",
]
