"""The paper's claims, each with a rule that was written down before the runs."""

from .claim import Claim
from .verdicts import STATEMENTS, claims

__all__ = ["STATEMENTS", "Claim", "claims"]
