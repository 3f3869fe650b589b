"""Decisions of one arm, from the request to the answer, with nothing in between.

A request that is there in one piece needs no task, and no ASGI: it is checked, made and handed to the
writer when it comes, and answered when it is durable. In all else it is what `Application` and
`fast_routes.decide` do, in their order; what has to wait for anything but the writer goes their way.
"""

from __future__ import annotations

from typing import Any

from . import access
from .cycles import Cycle, Elsewhere, Failed
from .failures import Refused
from .heads import Heads
from .runtime import Runtime

# What `fast_routes` answers: seen before anything is counted or read.
MORE = (b'"count"', b'"places"', b'"probabilities"')


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

    def begin(self, protocol: Any, data: bytes) -> bool:
        """Answer a request, or begin to; False if it must go ASGI's way, and nothing was done.

        Where a token is not known it may be another process's; where a decision cannot be made it may
        be on record: both are looked for in ASGI's way. The latter counts twice against the token's rate.
        """
        head = self.heads.of(data)
        decider = None if head is None else self._runtime.deciders.get(head.experiment)
        if head is None or decider is None or not decider.is_ready or protocol.flow.write_paused:
            return False
        body = data[head.start :]
        if len(body) > self._runtime.limits.body_bytes or any(each in body for each in MORE):
            return False
        cycle = Cycle(self._runtime, self._failed, protocol, head)
        try:
            self._runtime.access.admit(head.authorization, access.DECIDE, head.experiment)
            cycle.begin(decider, body)
        except Elsewhere:
            return False
        except Exception as error:  # noqa: BLE001 - answered and logged
            if isinstance(error, Refused) and error.status == 401:
                return False
            cycle.set_exception(error)
        return True
