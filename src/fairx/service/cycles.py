"""One request for a decision of one arm, which is answered past ASGI: see `quick`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from fairx.errors import FairxError
from fairx.store.deciding import Decider
from fairx.store.decisions import Decision, Recorded
from fairx.store.identity import minted
from fairx.store.writer import DECISIONS

from .answers import ENCODER
from .deciding import answers, array, digest_of, made, said
from .failures import Reply
from .fast_routes import READ_DECIDE, check_limits
from .heads import Head
from .observing import HEADER, new_id, request_id
from .remembering import key_of
from .requests import Decide
from .routes import E
from .runtime import Runtime
from .wire import whole

Failed = Callable[[Exception, str], Reply]
CLOSE = (b"connection", b"close")


class Elsewhere(Exception):
    """It is answered in another way."""


class Asked(NamedTuple):
    """A request that was read."""

    decider: Decider
    asked: Decide
    key: bytes  # under which its answer is kept


class _Event:
    """Nobody waits for more of a request that is there."""

    def set(self) -> None:
        """Tell nobody."""


class Cycle:
    """A request: to uvicorn the cycle of a connection, to the writer whom to tell."""

    scope, message_event = object(), _Event()
    more_body = response_started = False

    def __init__(self, runtime: Runtime, failed: Failed, protocol: Any, head: Head) -> None:
        self._runtime, self._failed, self._protocol, self._head = runtime, failed, protocol, head
        self._begun = time.perf_counter()
        self._id = head.request_id or new_id()
        self._asked: Asked | None = None
        self._is_started = False
        self.keep_alive, self.response_complete, self.disconnected = True, False, False

    def begin(self, decider: Decider, body: bytes) -> None:
        """Decide and have it written, or answer as a moment ago; else raise, and nothing was done."""
        runtime, experiment = self._runtime, decider.snapshot.experiment
        key = key_of(experiment.id, body)
        found = runtime.answers.of(key)
        if found is not None:
            runtime.metrics.decided(experiment.name, True, found[1])
            self._start()
            self._end(Reply(200, found[0]))
            return
        asked = READ_DECIDE.decode(body)
        if asked.count is not None or asked.places is not None or asked.probabilities:
            raise Elsewhere
        job = self._made(decider, asked)
        self._asked = Asked(decider, asked, key)
        self._start()
        runtime.submit(DECISIONS, job, self)

    def _made(self, decider: Decider, asked: Decide) -> tuple[Decision, float]:
        runtime = self._runtime
        check_limits(runtime, decider, asked)
        contexts, asked.contexts = array(asked.contexts), None
        digest = digest_of(asked, contexts)
        number = minted(runtime.secret, decider.snapshot.experiment.id, asked.key, 0)
        try:
            return made(runtime, decider, asked, contexts, digest, [number])[0]
        except (FairxError, ValueError):
            raise Elsewhere from None

    def done(self) -> bool:
        """Tell whether it is answered."""
        return self.response_complete

    def set_result(self, found: Recorded) -> None:
        """Answer by what is on record."""
        assert self._asked is not None
        decider, asked, _ = self._asked
        self._runtime.metrics.decided(self._head.experiment, found.repeated)
        if found.decision.snapshot != decider.snapshot.version:
            self._look_up(self._asked, found)
            return
        try:
            encoded = ENCODER.encode(said(decider.snapshot.arms, asked, found.decision))
        except Exception as error:  # noqa: BLE001 - answered and logged
            self.set_exception(error)
        else:
            self._say(self._asked.key, encoded)

    def set_exception(self, error: Exception) -> None:
        """Answer what went wrong."""
        request_id.set(self._id)  # for lines of the log
        if not self._is_started:
            self._start()
        self._end(self._failed(error, f"{E}/{self._head.experiment}/decide"))

    def _look_up(self, about: Asked, found: Recorded) -> None:
        """Answer by a decision of another snapshot, whose arms may be others."""

        async def look_up() -> None:
            try:
                (said,) = await answers(self._runtime, about.decider, about.asked, [found])
            except Exception as error:  # noqa: BLE001 - answered and logged
                self.set_exception(error)
            else:
                self._say(about.key, ENCODER.encode(said))

        tasks = self._protocol.tasks  # which the server waits for when it stops
        task = self._protocol.loop.create_task(look_up())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _say(self, key: bytes, encoded: bytes) -> None:
        self._runtime.answers.keep(key, (encoded, 1))
        self._end(Reply(200, encoded))

    def _start(self) -> None:
        """Be what the connection does now."""
        self._is_started = True
        self._protocol._unset_keepalive_if_required()
        self._protocol.cycle = self
        load = self._runtime.load
        load.at_work += 1
        load.begin(id(self))

    def _end(self, reply: Reply) -> None:
        protocol, runtime = self._protocol, self._runtime
        runtime.load.at_work -= 1
        runtime.load.end(id(self))
        self.response_complete = True
        runtime.metrics.seconds.observe(time.perf_counter() - self._begun)
        if self.disconnected or protocol.transport.is_closing():
            return
        headers = [*protocol.server_state.default_headers, (HEADER, self._id.encode())]
        protocol.transport.write(whole(reply, headers if self.keep_alive else [*headers, CLOSE]))
        if not self.keep_alive:
            protocol.transport.close()
        protocol.on_response_complete()
