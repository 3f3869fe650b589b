"""What the store refuses, beside values that break a rule."""

from __future__ import annotations

from fairx.errors import FairxError


class Conflict(FairxError):
    """A request that contradicts what is on record, perhaps in one field."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class NotFound(FairxError):
    """Something that does not exist."""


class Forged(FairxError):
    """A decision id that we did not sign."""


class Overloaded(FairxError):
    """More is asked for than can be done soon: nothing of this was."""


class Unavailable(FairxError):
    """The database cannot be reached; whether the last change is on record is not known."""
