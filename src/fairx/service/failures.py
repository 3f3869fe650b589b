"""From what was raised to what the client reads: one shape, a status, a code, a field."""

from __future__ import annotations

import logging
import re
from typing import NamedTuple

import msgspec

from fairx.errors import FairxError, UnknownArm
from fairx.rules import InvalidValue
from fairx.store.errors import Conflict, Forged, NotFound, Overloaded, Unavailable

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


# What was raised, its status and code, and the field that it is about where it names none itself.
CODES: tuple[tuple[type[Exception], int, str, str | None], ...] = (
    (Conflict, 409, "conflict", None),
    (NotFound, 404, "not_found", None),
    (Forged, 422, "forged_decision", "decision"),
    (Unavailable, 503, "unavailable", None),
    (Overloaded, 503, "overloaded", None),
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
# What msgspec says, the field inside of where it says it, and the rule in our words.
WORDS = (
    (r"Expected (.*), got (.*)", "", "be {0}, not {1}"),
    (r"Expected (.*)", "", "be {0}"),
    (r"Object missing required field (.*)", "{0}", "be given"),
    (r"Object contains unknown field (.*)", "{0}", "be left out: it is not a field here"),
    (r"Invalid enum value (.*)", "", "be one of a few words, not {0}: see /openapi.json"),
    (r"(?:Number|Integer value) out of range", "", "be a finite number, and not so large"),
)
BODY = "body"
LOGGER = logging.getLogger("fairx")


def reply_to(error: Exception) -> Reply | None:
    """Return the answer to a request that raised, or nothing where it is our mistake."""
    if isinstance(error, Refused):
        return _reply(error.status, error.code, str(error), None, error.headers)
    for kind, status, code, field in CODES:
        if isinstance(error, kind):
            headers = {"retry-after": "1"} if status == 503 else {}
            said = _worded(error) if kind is msgspec.ValidationError else error
            named = getattr(said, "field", None)
            found = field if named in (None, BODY) else named
            return _reply(status, code, _message(code, str(said)), found, headers)
    return None


def answered(error: Exception, path: str) -> Reply:
    """Return the answer to a request that raised; where it is our mistake, the log knows more."""
    reply = reply_to(error)
    if reply is None:
        LOGGER.error("internal error", exc_info=error, extra={"path": path})
        said = "something went wrong here: the service's log says what"
        reply = _reply(500, "internal", said, None, {})
    return reply


def _reply(
    status: int, code: str, message: str, field: str | None, headers: dict[str, str]
) -> Reply:
    body = ENCODER.encode(Failure(Problem(code, message, field)))
    return Reply(status, body, tuple((k.encode(), v.encode()) for k, v in headers.items()))


def _message(code: str, said: str) -> str:
    if code == "unavailable":  # the database's words, with addresses in them, are for the log
        return "the store cannot be reached: trying again is safe"
    return f"{BODY} must be JSON: {said}" if code == "malformed" else said


def _worded(error: Exception) -> Exception:
    """Return what msgspec says in our words, with the field that it says it of.

    Examples
    --------
    >>> _worded(ValueError("Expected `float`, got `str` - at `$.rewards[0].reward`"))
    InvalidValue('rewards[0].reward must be float, not str')
    >>> _worded(ValueError("Object missing required field `key`"))
    InvalidValue('key must be given')
    """
    said, _, path = str(error).partition(" - at `$")
    for pattern, inside, rule in WORDS:
        found = re.fullmatch(pattern, said.replace("`", ""), re.DOTALL)
        if found:
            parts = (path.rstrip("`").lstrip("."), inside.format(*found.groups()))
            name = ".".join(part for part in parts if part) or BODY
            return InvalidValue(name, rule.format(*found.groups()))
    return error
