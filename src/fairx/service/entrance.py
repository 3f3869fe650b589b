"""Who may come in, what they ask for, and what is said to them where it went wrong."""

from __future__ import annotations

import logging

from fairx.store.errors import Overloaded

from .access import Grant
from .failures import Refused, Reply, answered
from .runtime import Runtime

LOGGER = logging.getLogger("fairx")


class Entrance:
    """What is done before every request, and after one that failed."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def admit(self, header: bytes | None, role: str, where: str | None) -> Grant:
        """Return the grant of a request; a token may have been made by another process just now."""
        try:
            return self._runtime.access.admit(header, role, where)
        except Refused as refused:
            if refused.status != 401 or not await self._runtime.find_token(header):
                raise
        return self._runtime.access.admit(header, role, where)

    async def hear_of(self, name: str | None) -> None:
        """Look for an experiment that another process may have created just now."""
        if name is not None and name not in self._runtime.deciders:
            await self._runtime.find(name)

    def failed(self, error: Exception, path: str) -> Reply:
        """Return the answer to a request, of some path, that raised."""
        reply = answered(error, path)
        if reply.status == 503 and not isinstance(error, Overloaded):
            self._runtime.answers.clear()
            LOGGER.warning("store unavailable", extra={"path": path, "error": str(error)})
        self._runtime.metrics.failed(str(reply.status))
        return reply
