"""Decisions of one arm, from the request to the answer, with nothing in between.

A request that is there in one piece needs no task, and no ASGI: it is checked, made and handed to the
writer when it comes, and answered when it is durable. In all else it is what `Application` and
`fast_routes.decide` do, in their order; what has to wait for anything but the writer goes their way.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from . import access
from .cycles import Cycle, Elsewhere, Failed
from .failures import Refused
from .heads import Heads
from .runtime import Runtime


class Way(Enum):
    """Which way a request goes."""

    STRAIGHT = "straight"  # it is answered, or will be
    ASGI = "ASGI"  # nothing was done
    ADMITTED = "admitted"  # as ASGI's, but who asks is known, and it was counted


class Quick:
    """Decides straight away.

    Parameters
    ----------
    heads
        Reads what is before the body of a request.
    failed
        Returns the answer to a request, of some path, that raised.
    """

    def __init__(self, runtime: Runtime, heads: Heads, failed: Failed) -> None:
        self.heads, self._runtime, self._failed = heads, runtime, failed

    def begin(self, protocol: Any, data: bytes) -> Way:
        """Answer a request, or begin to, unless it must go ASGI's way.

        Where a token is not known it may be another process's; where a decision cannot be made it may
        be on record: both are looked for in ASGI's way.
        """
        head = self.heads.of(data)
        decider = None if head is None else self._runtime.deciders.get(head.experiment)
        if head is None or decider is None or not decider.is_ready or protocol.flow.write_paused:
            return Way.ASGI
        body = data[head.start :]
        if len(body) > self._runtime.limits.body_bytes:
            return Way.ASGI
        cycle = Cycle(self._runtime, self._failed, protocol, head)
        try:
            self._runtime.access.admit(head.authorization, access.DECIDE, head.experiment)
            cycle.begin(decider, body)
        except Elsewhere:
            return Way.ADMITTED
        except Exception as error:  # noqa: BLE001 - answered and logged
            if isinstance(error, Refused) and error.status == 401:
                return Way.ASGI
            cycle.set_exception(error)
        return Way.STRAIGHT
