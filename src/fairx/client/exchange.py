"""When to try again, and what an answer means. Nothing here sends or sleeps.

A call that changes nothing when repeated is tried again after every failure that may pass:
decisions have keys, rewards have ids. Others (`Call.repeatable` is false) are tried again only if
the service cannot have taken them in; else the caller has to look.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
import msgspec

from .call import Call, T
from .errors import Conflict, ServiceError

Outcome = httpx.Response | httpx.RequestError

FIRST_WAIT = 0.1  # seconds; doubles with each try
LONGEST_WAIT = 5.0
LONGEST_REQUEST = 60.0  # if the service asks for a longer wait, the caller decides
NOT_TAKEN_IN = 429  # the service did nothing, whatever was asked
PERHAPS_TAKEN_IN = (502, 503, 504)  # the proxy lost the answer, or the service its database
NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


class Refusal(msgspec.Struct):
    """The inner part of the service's error shape."""

    code: str
    message: str
    field: str | None = None


class Refused(msgspec.Struct):
    """The service's error shape."""

    error: Refusal


def waits(retries: int, draw: Callable[[], float] = random.random) -> Iterator[float | None]:
    """Yield how long to wait after each try, and None after the last: full jitter.

    Examples
    --------
    >>> list(waits(3, draw=lambda: 1.0))
    [0.1, 0.2, 0.4, None]
    """
    for retry in range(retries):
        yield draw() * min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(retry, 10))
    yield None


def pause(call: Call[T], outcome: Outcome, wait: float | None) -> float | None:
    """Return the seconds until the next try; None: the outcome stands."""
    if wait is None or not _again(call, outcome):
        return None
    asked = requested_wait(outcome) if isinstance(outcome, httpx.Response) else 0.0
    return asked + wait if asked <= LONGEST_REQUEST else None


def _again(call: Call[T], outcome: Outcome) -> bool:
    if isinstance(outcome, httpx.Response):
        status = outcome.status_code
        return status == NOT_TAKEN_IN or (call.repeatable and status in PERHAPS_TAKEN_IN)
    if isinstance(outcome, HOPELESS):
        return False
    return call.repeatable or isinstance(outcome, NOT_CONNECTED)


def requested_wait(response: httpx.Response) -> float:
    """Return the seconds that Retry-After asks for, given as a number or as a date.

    Examples
    --------
    >>> requested_wait(httpx.Response(503, headers={"Retry-After": "2"}))
    2.0
    >>> requested_wait(httpx.Response(503, headers={"Retry-After": "soon"}))
    0.0
    """
    text = response.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def answer(call: Call[T], outcome: Outcome) -> T:
    """Return what was answered, or raise what was refused."""
    if not isinstance(outcome, httpx.Response):
        raise _unreachable(call, outcome) from outcome
    if not outcome.is_success:
        raise _refused(call, outcome)
    try:
        return call.read(outcome.content)
    except ValueError as error:
        raise ServiceError(
            "unreadable",
            f"the answer to {call.method} {call.path} must keep the contract: {error}",
            status=outcome.status_code,
        ) from error


def _unreachable(call: Call[T], error: httpx.RequestError) -> ServiceError:
    cause = f"{type(error).__name__} {error}".rstrip()
    return ServiceError("unreachable", f"no answer to {call.method} {call.path}: {cause}")


def _refused(call: Call[T], response: httpx.Response) -> ServiceError:
    status = response.status_code
    kind = Conflict if status == 409 else ServiceError
    try:
        refusal = msgspec.json.decode(response.content, type=Refused).error
    except ValueError:  # from a proxy, or not our service
        said = f"{call.method} {call.path} was answered {status} {response.reason_phrase}"
        return kind("http", f"{said}, not by the decision service: check the url", None, status)
    return kind(refusal.code, refusal.message, refusal.field, status)
