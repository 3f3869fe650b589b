"""What can go wrong by the user's doing.

FairxError (a ValueError)
├── UnknownArm        an arm that the bandit does not have, or has retired
├── UnknownDecision   a decision that the bandit never made
├── RewardGiven       a second reward for one decision
└── BrokenFile        a saved bandit that is truncated, foreign or of another version

A value that breaks a rule is a `fairx.rules.InvalidValue`, which is a ValueError too.
"""

from __future__ import annotations


class FairxError(ValueError):
    """The base of all errors of a running bandit."""


class UnknownArm(FairxError):
    """An arm that the bandit does not have, or has retired."""


class UnknownDecision(FairxError):
    """A decision that the bandit never made."""


class RewardGiven(FairxError):
    """A second reward for one decision."""


class BrokenFile(FairxError):
    """A saved bandit that is truncated, foreign or of another version."""
