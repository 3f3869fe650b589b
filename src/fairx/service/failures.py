"""From what was raised to what the client reads: one shape, a status, a code, a field."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from fairx.errors import FairxError, UnknownArm
from fairx.store.errors import Conflict, Forged, NotFound, Unavailable

from .answers import ENCODER, Failure, Problem


class Refused(Exception):
    """A request that is refused for what it is, whatever it asks."""

    def __init__(
        self, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers or {}


class Reply(NamedTuple):
    """An answer, ready to be sent."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


# What was raised, its status and code, and the field that it is about where the message has none.
CODES: tuple[tuple[type[Exception], int, str, str | None], ...] = (
    (Conflict, 409, "conflict", None),
    (NotFound, 404, "not_found", None),
    (Forged, 422, "forged_decision", "decision"),
    (Unavailable, 503, "unavailable", None),
    (UnknownArm, 422, "unknown_arm", "candidates"),
    (msgspec.ValidationError, 422, "invalid", None),
    (msgspec.DecodeError, 400, "malformed", None),
    (UnicodeDecodeError, 400, "malformed", None),
    (RecursionError, 400, "malformed", None),
    (FairxError, 409, "conflict", None),
    (ValueError, 422, "invalid", None),
    (TypeError, 422, "invalid", None),
    (OverflowError, 422, "invalid", None),
)
# What msgspec says, and what we say: {0} is the place, the groups follow.
WORDS = (
    (r"Expected (.*), got (.*)", "{0} must be {1}, not {2}"),
    (r"Expected (.*)", "{0} must be {1}"),
    (r"Object missing required field (.*)", "{0}.{1} must be given"),
    (r"Object contains unknown field (.*)", "{0}.{1} must be left out: it is not a field here"),
    (r"Invalid enum value (.*)", "{0} must be one of a few words, not {1}: see /openapi.json"),
    (r"(?:Number|Integer value) out of range", "{0} must be a finite number, and not so large"),
)
WORD = re.compile(r"^([a-z_]\w*(?:[.\[]\S*)?) must ")


def reply_to(error: Exception) -> Reply | None:
    """Return the answer to a request that raised, or nothing where it is our mistake."""
    if isinstance(error, Refused):
        return _reply(error.status, error.code, str(error), None, error.headers)
    for kind, status, code, field in CODES:
        if isinstance(error, kind):
            headers = {"retry-after": "1"} if status == 503 else {}
            message = _message(status, str(error))
            return _reply(status, code, message, _field(message) or field, headers)
    return None


def internal() -> Reply:
    """Return the answer where it is our mistake: the log knows more."""
    return _reply(
        500, "internal", "something went wrong here: the service's log says what", None, {}
    )


def _reply(
    status: int, code: str, message: str, field: str | None, headers: dict[str, str]
) -> Reply:
    body = ENCODER.encode(Failure(Problem(code, message, field)))
    return Reply(status, body, tuple((k.encode(), v.encode()) for k, v in headers.items()))


def _message(status: int, said: str) -> str:
    if status == 503:  # the database's words, with addresses in them, are for the log
        return "the store cannot be reached: trying again is safe"
    return f"body must be JSON: {said}" if status == 400 else _worded(said)


def _worded(message: str) -> str:
    """Return what msgspec says in our words; others' words stay.

    Examples
    --------
    >>> _worded("Expected `float`, got `str` - at `$.rewards[0].reward`")
    'rewards[0].reward must be float, not str'
    >>> _worded("Object missing required field `key`")
    'key must be given'
    """
    said, _, path = message.partition(" - at `$")
    for pattern, words in WORDS:
        found = re.fullmatch(pattern, said.replace("`", ""), re.DOTALL)
        if found:
            place = path.rstrip("`").lstrip(".") or "body"
            return words.format(place, *found.groups()).removeprefix("body.")
    return message


def _field(message: str) -> str | None:
    """Return the field that a message is about.

    Examples
    --------
    >>> _field("rewards[0].reward must be float, not str")
    'rewards[0].reward'
    >>> _field("body must be object, not array") is None
    True
    """
    found = WORD.search(message)
    return found.group(1) if found and found.group(1) != "body" else None
