"""How much a client may ask for: each is a setting, and beyond it is a clear refusal."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from fairx import rules
from fairx.rules import InvalidValue
from fairx.store.events import MOST_REWARDS


class Limits(NamedTuple):
    """The limits of the service."""

    body_bytes: int = 4_000_000
    candidates: int = 1_000
    places: int = 100
    arms: int = 10_000
    dimension: int = 256
    events: int = 1_000  # rewards, shown events or decisions in one request
    rewards: int = MOST_REWARDS  # of one decision, or of one place of a slate
    experiments: int = 1_000
    letters: int = 200  # of a key, a unit, an arm's name
    rate: float = 20_000.0  # requests a second and token
    numbers: int = 1_000_000  # in one request: decisions, times candidates, times dimension
    at_once: int = 1_000  # requests that are being answered

    def check(self, name: str, found: int, field: str | None = None) -> None:
        """Refuse more than the limit of that name, in a field of the request."""
        limit = getattr(self, name)
        if found > limit:
            rule = f"have at most {limit} letters" if name == "letters" else f"be at most {limit}"
            option = name.replace("_", "-")
            raise InvalidValue(field or name, f"{rule}, not {found}: see --limit-{option}")


def checked(limits: Limits) -> Limits:
    """Refuse limits that let nothing through."""
    for name, value in limits._asdict().items():
        rules.positive(name, value)
    return limits


class Bucket:
    """A bucket of requests that fills at a rate and holds those of one second.

    Examples
    --------
    >>> now = [0.0]
    >>> bucket = Bucket(2.0, clock=lambda: now[0])
    >>> [bucket.wait() for _ in range(3)]
    [0.0, 0.0, 0.5]
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.clock = rate, clock
        self.left, self.last = max(rate, 1.0), clock()

    def wait(self) -> float:
        """Take one; return 0, or after how many seconds there will be one."""
        now: float = self.clock()
        self.left = min(max(self.rate, 1.0), self.left + (now - self.last) * self.rate)
        self.last = now
        if self.left < 1.0:
            return (1.0 - self.left) / self.rate
        self.left -= 1.0
        return 0.0


def retry_after(seconds: float) -> str:
    """Return the value of the header."""
    return str(max(1, math.ceil(seconds)))
