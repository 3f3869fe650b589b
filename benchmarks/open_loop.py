"""Load on loopback: requests at a stated rate, or as fast as the answers come.

    python benchmarks/open_loop.py                    # what this program itself can do
    python benchmarks/open_loop.py --port 8000 --experiment demo --rate 1000 --seed 1

At a rate, a request is late from the moment it was due, also while it waits for a free connection:
a slow answer does not hide those behind it (no coordinated omission). Timers of event loops go by
milliseconds, so that up to one is ours.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import uvloop
from traffic import HOST, Answered, Request, Traffic, cpu_seconds, waits

RAW = argparse.RawDescriptionHelpFormatter


@dataclass(frozen=True)
class Summary:
    """What came back; times in seconds, those of answers with status 2xx, from when they were due."""

    answers: int  # with status 2xx
    seconds: float
    p50: float
    p99: float
    p999: float
    longest: float
    statuses: dict[str, int]  # also "lost" (connection closed), "unanswered", "unsent"
    server_cpu: float  # seconds; nan if no process was named
    own_cpu: float

    @property
    def rate(self) -> float:
        """Answers with status 2xx a second."""
        return self.answers / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Answers with status 2xx per second of the server's processor time."""
        return self.answers / self.server_cpu if self.server_cpu else float("nan")

    def __str__(self) -> str:
        times = (self.p50, self.p99, self.p999, self.longest)
        p50, p99, p999, longest = (f"{1000 * value:.2f}" for value in times)
        others = {name: count for name, count in self.statuses.items() if name[0] != "2"}
        return (
            f"{self.rate:,.0f}/s for {self.seconds:.1f} s; p50 {p50}, p99 {p99}, p99.9 {p999}, "
            f"longest {longest} ms; {self.per_cpu_second:,.0f} per server CPU-second; "
            f"own CPU {self.own_cpu:.1f} s; errors {others or 'none'}"
        )


def load(
    port: int,
    requests: Iterable[Request],
    *,
    seconds: float,
    connections: int = 32,
    rate: float | None = None,
    seed: int | None = None,
    headers: Mapping[str, str] | None = None,
    processes: Sequence[int] = (),
    answered: Answered | None = None,
) -> Summary:
    """Send requests for some seconds and return what came of them.

    Parameters
    ----------
    port : int
        Where the server listens on loopback.
    requests : iterable of Request
        Taken one by one, when they are sent; the end of it is the end of the load.
    seconds : float
        How long requests fall due; the last answers are waited for `PATIENCE` seconds more.
    connections : int
        How many are kept open, each with one request at a time.
    rate : float, optional
        Requests that fall due per second. Without it, each connection sends when it has its answer.
    seed : int, optional
        Requests fall due as a Poisson process of this seed. Without it, evenly.
    headers : mapping, optional
        Sent with each request.
    processes : sequence of int
        The server's, whose processor time is counted.
    answered : callable, optional
        Called with each request, its status and the body of its answer.
    """
    for name, value in (("seconds", seconds), ("connections", connections), ("rate", rate or 1)):
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be positive, not {value}")
    gaps = waits(rate, seed) if rate else None
    traffic = Traffic(iter(requests), gaps, seconds, answered)
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    before, own = cpu_seconds(processes), time.process_time()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(traffic.play(port, connections, lines))
    server = cpu_seconds(processes) - before if processes else float("nan")
    return summary(traffic, server, time.process_time() - own)


def decisions(experiment: str, fields: str = "") -> Iterator[Request]:
    """Ask for decisions without end, each with a key of its own; `fields` is more JSON for the body."""
    path, run = f"/v1/experiments/{experiment}/decide", secrets.token_hex(6)
    more = f", {fields}" if fields else ""
    for number in itertools.count():
        yield Request("POST", path, f'{{"key": "{run}-{number}"{more}}}'.encode())


def summary(traffic: Traffic, server: float, own: float) -> Summary:
    """Return the numbers."""
    times = np.array(traffic.times or [float("nan")])
    p50, p99, p999, longest = np.quantile(times, [0.5, 0.99, 0.999, 1.0]).tolist()
    statuses = {name: count for name, count in sorted(traffic.statuses.items()) if count}
    seconds = max(traffic.stopped - traffic.start, 1e-9)
    return Summary(
        len(traffic.times), seconds, p50, p99, p999, longest, statuses, server, own
    )  # fmt: skip


async def trivial(scope: Any, receive: Any, send: Any) -> None:
    """Answer anything: a server that costs as little as one on uvicorn can."""
    if scope["type"] == "http":
        await receive()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


@contextmanager
def trivial_server() -> Iterator[tuple[int, int]]:
    """Run the trivial application; return its port and process."""
    with socket.create_server((HOST, 0)) as probe:
        port = probe.getsockname()[1]
    # Not by --fd: uvicorn takes such a socket for a Unix one, without TCP_NODELAY, 44 ms a request.
    command = [sys.executable, "-m", "uvicorn", "open_loop:trivial", "--port", str(port)]
    command += ["--no-access-log", "--log-level", "warning"]
    with subprocess.Popen(command, cwd=Path(__file__).parent) as process:
        try:
            wait_for(port, seconds=20)
            yield port, process.pid
        finally:
            process.terminate()


def wait_for(port: int, seconds: float) -> None:
    """Return when a server listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((HOST, port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--port", type=int, help="without it, a trivial server of our own")
    parser.add_argument("--experiment", default="demo")
    parser.add_argument("--fields", default="", help="more JSON for each body: '\"count\": 2'")
    parser.add_argument("--token")
    parser.add_argument("--rate", type=float, help="a second; without it, as fast as possible")
    parser.add_argument("--seed", type=int, help="a Poisson process of this seed, not evenly")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--process", type=int, action="append", default=[], help="the server's")
    given = vars(parser.parse_args())
    port, token, process = given.pop("port"), given.pop("token"), given.pop("process")
    requests = decisions(given.pop("experiment"), given.pop("fields"))
    headers = {"authorization": f"Bearer {token}"} if token else None
    if port:
        print(load(port, requests, headers=headers, processes=process, **given))
        return
    with trivial_server() as (own_port, own_process):
        load(own_port, requests, seconds=1)  # it starts, and warms up
        print(load(own_port, requests, processes=[own_process], **given))


if __name__ == "__main__":
    main()
