"""What the service can refuse, and what can keep it from answering.

FairxError (a ValueError)
└── ServiceError   the service refused, or never gave an answer that one can read
    └── Conflict   something else is there already: a name, a key, another reward (409)
"""

from __future__ import annotations

from ..errors import FairxError


class ServiceError(FairxError):
    """The service refused, or never gave an answer that one can read.

    Parameters
    ----------
    code
        The service's word for what happened; `unreachable`, `unreadable` or `http` are the client's.
    message
        What it said.
    field
        The part of the request that broke a rule.
    status
        The HTTP status; None if there was no answer.

    Examples
    --------
    >>> error = ServiceError("invalid", "floor must be a number from 0 to 0.5, not 2", "floor", 422)
    >>> print(error)
    floor must be a number from 0 to 0.5, not 2 (422, invalid)
    >>> error.field
    'floor'
    """

    def __init__(
        self, code: str, message: str, field: str | None = None, status: int | None = None
    ) -> None:
        super().__init__(code, message, field, status)  # all of them, so that it can be pickled
        self.code, self.message, self.field, self.status = code, message, field, status

    def __str__(self) -> str:
        origin = self.code if self.status is None else f"{self.status}, {self.code}"
        return f"{self.message} ({origin})"


class Conflict(ServiceError):
    """Something else is there already: a name, a key, another reward."""
