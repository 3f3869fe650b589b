"""Requests that fall due, the connections that carry them, and what comes back."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import httptools

HOST = "127.0.0.1"
PATIENCE = 5.0  # seconds for the last answers
# Seconds, at least, between looks at what is due. Timers of event loops go by milliseconds: one for less comes at
# once, and at some thousand requests a second this program looked without end, on a core that the server needs.
TICK = 0.001
TICKS = os.sysconf("SC_CLK_TCK")


class Request(NamedTuple):
    """What to send."""

    method: str
    path: str
    body: bytes = b""


Answered = Callable[[Request, int, bytes], object]


class Traffic:
    """Requests at given times (`gaps` between them), or one after the other on each connection."""

    def __init__(
        self,
        requests: Iterator[Request],
        gaps: Iterator[float] | None,
        seconds: float,
        answered: Answered | None,
    ) -> None:
        self.requests, self.gaps, self.seconds = requests, gaps, seconds
        self.answered = answered
        self.free: deque[Connection] = deque()
        self.busy: set[Connection] = set()
        self.due: deque[float] = deque()  # when
        self.times: list[float] = []  # of answers with status 2xx
        self.statuses: Counter[str] = Counter()

    async def play(self, port: int, connections: int, headers: str) -> None:
        """Open the connections, send, and wait for the end."""
        loop = asyncio.get_running_loop()
        self.later, self.done = loop.call_later, asyncio.Event()
        for _ in range(connections):
            await loop.create_connection(lambda: Connection(self, headers), HOST, port)
        await asyncio.sleep(connections / 1000)  # until the server has taken them in
        self.start = self.next = self.stopped = time.perf_counter()
        self.end = self.start + self.seconds
        if self.gaps is None:
            self.due.extend([self.start] * connections)
            self.send()
        else:
            self.tick(self.gaps)
        await asyncio.wait([asyncio.create_task(self.done.wait())], timeout=self.seconds + PATIENCE)
        self.statuses.update(unanswered=len(self.busy), unsent=len(self.due))
        self.done.set()
        for connection in (*self.free, *self.busy):
            connection.transport.abort()

    def tick(self, gaps: Iterator[float]) -> None:
        """Take note of what has fallen due, and come back for the next."""
        now = time.perf_counter()
        while self.next <= now and self.next < self.end:
            self.due.append(self.next)
            self.next += next(gaps)
        self.send()
        if self.next < self.end:
            self.later(max(TICK, self.next - time.perf_counter()), self.tick, gaps)
        self.finish()

    def send(self) -> None:
        """Send what is due, as far as connections are free."""
        while self.due and self.free:
            request = next(self.requests, None)
            if request is None:
                self.end = 0.0
                self.due.clear()
                break
            connection = self.free.popleft()
            self.busy.add(connection)
            connection.send(request, self.due.popleft())

    def take(self, connection: Connection, status: int, body: bytes) -> None:
        """Note an answer; the connection is free for the next request."""
        now = time.perf_counter()
        self.statuses[str(status)] += 1
        if 200 <= status < 300:
            self.times.append(now - connection.since)
            self.stopped = now
        if self.answered:
            self.answered(connection.request, status, body)
        self.busy.discard(connection)
        self.free.append(connection)
        if self.gaps is None and now < self.end:
            self.due.append(now)
        self.send()
        self.finish()

    def lose(self, connection: Connection) -> None:
        """Note that a connection is closed, with or without a request on it."""
        if not self.done.is_set():
            self.statuses["lost"] += connection in self.busy
            self.busy.discard(connection)
            self.free = deque(one for one in self.free if one is not connection)
            self.finish()

    def finish(self) -> None:
        """End when no answer is to come, and no request or no way to send one."""
        if not self.busy:
            reached = time.perf_counter() if self.gaps is None else self.next
            if not self.free or (reached >= self.end and not self.due):
                self.done.set()


class Connection(asyncio.Protocol):
    """A connection that is kept open, with one request at a time."""

    transport: asyncio.Transport
    request: Request
    since: float

    def __init__(self, traffic: Traffic, headers: str) -> None:
        self.traffic, self.headers = traffic, headers
        self.body = b""
        self.parser = httptools.HttpResponseParser(self)

    def send(self, request: Request, since: float) -> None:
        """Send a request that was due at a time."""
        self.request, self.since, self.body = request, since, b""
        head = start_of(request.method, request.path, self.headers)
        self.transport.write(b"%s%d\r\n\r\n%s" % (head, len(request.body), request.body))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be free."""
        self.transport = cast(asyncio.Transport, transport)
        self.traffic.free.append(self)

    def data_received(self, data: bytes) -> None:
        """Parse."""
        self.parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Keep a part of the body."""
        self.body += body

    def on_message_complete(self) -> None:
        """Hand the answer over; one such as 100 Continue is none."""
        status: Any = self.parser.get_status_code()
        if status >= 200:
            self.traffic.take(self, status, self.body)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell."""
        self.traffic.lose(self)


@cache
def start_of(method: str, path: str, headers: str) -> bytes:
    """Return all of a request before its length."""
    kind = "content-type: application/json\r\n" if method != "GET" else ""
    return f"{method} {path} HTTP/1.1\r\nhost: {HOST}\r\n{headers}{kind}content-length: ".encode()


def waits(rate: float, seed: int | None) -> Iterator[float]:
    """Return the seconds between requests."""
    if seed is None:
        return itertools.repeat(1 / rate)
    random = Random(seed)
    return (random.expovariate(rate) for _ in itertools.count())


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the processor time, user and system, that living processes have used."""
    stats = (Path(f"/proc/{process}/stat").read_text() for process in processes)
    # Fields 14 and 15; the second is a name in parentheses, which may have blanks.
    fields = (stat.rpartition(")")[2].split() for stat in stats)
    return sum((int(field[11]) + int(field[12])) / TICKS for field in fields)
