"""The decision service under load on loopback, with durability on beside off.

    python benchmarks/service.py ratios        # the bars: durable / not logged, contexts / without
    python benchmarks/service.py slates        # the bar: 10 places / one, 100 candidates, durable
    python benchmarks/service.py latency       # open loop: p50, p99, p99.9 at stated rates
    python benchmarks/service.py postgresql    # one process and two, on one PostgreSQL
    python benchmarks/service.py restart       # until it serves, with a million decisions in the store
    python benchmarks/service.py soak --minutes 30

All are closed or open loops of `open_loop.py`, 32 connections, on the machine of the service itself:
the load generator takes its part of the cores.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from open_loop import Summary, decisions, load, wait_for
from traffic import HOST, Request

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import postgres_cluster

MERIT = {"kind": "Exponential", "steepness": 4}
COUNTED = {"kind": "FairXTS", "merit": MERIT, "prior_std": 0.5, "reward_std": 0.5}
LINEAR = {"kind": "FairXLinTS", "merit": MERIT, "prior_std": 0.5, "reward_std": 0.5}
CANDIDATES, DIMENSION = 20, 50
PLACES = [round(1 / math.log2(1 + place), 3) for place in range(1, 11)]
SECRET = "a secret of this benchmark only"


@contextmanager
def service(store: str, *, logged: bool = True) -> Iterator[tuple[int, int]]:
    """Run the service; return its port and process."""
    port = postgres_cluster.free_port()
    command = [sys.executable, __file__, "serve", store, str(port), "logged" if logged else "not"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, seconds=60)
            yield port, process.pid
        finally:
            process.terminate()


def serve(store: str, port: int, logged: bool) -> None:
    """Serve; where nothing is logged, decisions are answered as if they had been written."""
    from fairx.service import running
    from fairx.store.decisions import Recorded
    from fairx.store.writer import DECISIONS

    os.environ["FAIRX_SECRET"] = SECRET
    options = running.Options(store, port=port, auth=False)
    app = running.application(options)
    if not logged:
        submit = app.runtime.submit

        def answered(kind: str, asked: Any, done: Any) -> None:
            if kind == DECISIONS:
                done.set_result(Recorded(asked[0], False))
            else:
                submit(kind, asked, done)

        app.runtime.submit = answered
    running.serve(options, app=app)


def create(
    port: int, name: str, policy: dict[str, Any], window: float = 600.0, arms: int = CANDIDATES
) -> None:
    """Create an experiment of 20 arms."""
    linear = policy is LINEAR
    body = {"name": name, "arms": [f"arm {i}" for i in range(arms)], "policy": policy,
            "dimension": DIMENSION if linear else 0, "reward_window_s": window}  # fmt: skip
    post(port, "/v1/experiments", body)


def post(port: int, path: str, body: Any) -> Any:
    """Ask, and ask again while a policy is being compiled."""
    wanted = urllib.request.Request(f"http://{HOST}:{port}{path}", json.dumps(body).encode())
    while True:
        try:
            with urllib.request.urlopen(wanted) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
        time.sleep(0.5)


def contexts() -> str:
    """Return the JSON of one set of contexts."""
    rows = np.random.default_rng(0).normal(size=(CANDIDATES, DIMENSION)).round(6)
    return f'"contexts": {json.dumps(rows.tolist())}'


def asked(experiment: str) -> Iterator[Request]:
    return decisions(experiment, contexts() if experiment == "linear" else "")


def ratios(seconds: float, rounds: int) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        servers = {
            logged: stack.enter_context(service(f"sqlite:///{folder}/{logged}.db", logged=logged))
            for logged in (True, False)
        }
        for port, _ in servers.values():
            create(port, "counted", COUNTED)
            create(port, "linear", LINEAR)
        found: dict[str, list[Summary]] = {}
        for number in range(rounds + 1):
            for name, logged, kind in (
                ("not logged", False, "counted"),
                ("durable", True, "counted"),
                ("durable, contexts", True, "linear"),
            ):
                port, process = servers[logged]
                one = load(port, asked(kind), seconds=seconds if number else 1, processes=[process])
                if number:  # the first round warms up
                    found.setdefault(name, []).append(one)
                    print(f"{name:20} {one}", flush=True)
    rate = {name: statistics.median(one.rate for one in runs) for name, runs in found.items()}
    cpu = {name: statistics.median(r.per_cpu_second for r in runs) for name, runs in found.items()}
    print(f"durable / not logged: {rate['durable'] / rate['not logged']:.2f} (bar 0.45); "
          f"per server CPU-second {cpu['durable'] / cpu['not logged']:.2f}")  # fmt: skip
    print(f"contexts (20 x 50) / without: {rate['durable, contexts'] / rate['durable']:.2f} (bar 0.5); "
          f"per server CPU-second {cpu['durable, contexts'] / cpu['durable']:.2f}")  # fmt: skip
    print(f"durable decisions a second: {rate['durable']:,.0f} (bar 2,000)")


def slates(seconds: float, rounds: int) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        port, process = stack.enter_context(service(f"sqlite:///{folder}/slates.db"))
        create(port, "page", COUNTED, arms=100)
        post(port, "/v1/experiments/page/decide", {"key": "first", "places": PLACES})  # compiles
        found: dict[str, list[Summary]] = {}
        for number in range(rounds + 1):
            for name, fields in (("one place", ""), ("ten places", f'"places": {PLACES}')):
                one = load(port, decisions("page", fields), seconds=seconds if number else 1,
                           processes=[process])  # fmt: skip
                if number:  # the first round warms up
                    found.setdefault(name, []).append(one)
                    print(f"{name:20} {one}", flush=True)
    rate = {name: statistics.median(one.rate for one in runs) for name, runs in found.items()}
    cpu = {name: statistics.median(r.per_cpu_second for r in runs) for name, runs in found.items()}
    print(f"ten places / one: {rate['ten places'] / rate['one place']:.2f} (bar 0.4); "
          f"per server CPU-second {cpu['ten places'] / cpu['one place']:.2f}")  # fmt: skip


def latency(seconds: float) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for logged in (True, False):
            port, process = stack.enter_context(
                service(f"sqlite:///{folder}/{logged}.db", logged=logged)
            )
            create(port, "counted", COUNTED)
            load(port, asked("counted"), seconds=1)
            most = load(port, asked("counted"), seconds=seconds, processes=[process])
            print(
                f"{'durable' if logged else 'not logged'}, as fast as it goes: {most}", flush=True
            )
            for part in (0.25, 0.5, 0.75):
                one = load(port, asked("counted"), seconds=seconds, rate=part * most.rate, seed=1,
                           processes=[process])  # fmt: skip
                print(f"  at {part:.0%} of that: {one}", flush=True)


def postgresql(seconds: float) -> None:
    programs = postgres_cluster.binaries()
    if programs is None:
        raise SystemExit("needs PostgreSQL: apt-get install postgresql")
    with ExitStack() as stack:
        cluster = stack.enter_context(postgres_cluster.cluster(programs))
        url = cluster.create_database()
        ports, processes = zip(*(stack.enter_context(service(url)) for _ in range(2)), strict=True)
        create(ports[0], "counted", COUNTED)
        time.sleep(6)  # until the other process has heard of it
        load(ports[0], asked("counted"), seconds=2)
        one = load(ports[0], asked("counted"), seconds=seconds, processes=processes[:1])
        print(f"one process: {one}", flush=True)
        runs = [
            subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("open_loop.py")), "--port", str(port),
                 "--experiment", "counted", "--seconds", str(seconds), "--process", str(process)],
                stdout=subprocess.PIPE, text=True,
            )
            for port, process in zip(ports, processes, strict=True)
        ]  # fmt: skip
        for run in runs:
            print("two processes:", (run.communicate()[0] or "").strip(), flush=True)


def restart(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/large.db"
        with service(store) as (port, _):
            create(port, "counted", COUNTED, window=1.0)
            body = '{"key": "%d", "count": 1000}'
            path = "/v1/experiments/counted/decide"
            wanted = (Request("POST", path, (body % i).encode()) for i in range(count // 1000))
            filled = load(port, wanted, seconds=3600, connections=4)
            print(f"filled: {filled}", flush=True)
            while json.loads(_get(port, "/v1/experiments/counted/status"))["waiting"]:
                time.sleep(1)
        size = Path(folder, "large.db").stat().st_size
        for how, number in (("stopped", signal.SIGTERM), ("killed", signal.SIGKILL)):
            with service(store) as (_, process):
                os.kill(process, number)
            begun = time.perf_counter()
            with service(store) as (port, _):
                post(port, path, {"key": f"after {how}"})
                took = time.perf_counter() - begun
            print(f"{count:,} decisions ({size / 1e6:.0f} MB), {how}: {took:.1f} s until the first "
                  "decision (bar 5)", flush=True)  # fmt: skip


def soak(minutes: float, rate: float) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        service(f"sqlite:///{folder}/soak.db") as (port, process),
    ):
        create(port, "counted", COUNTED, window=5.0)
        create(port, "linear", LINEAR, window=5.0)
        ids: list[tuple[str, str]] = []

        def answered(request: Request, status: int, body: bytes) -> None:
            found = json.loads(body)
            if "decision" in found:
                ids.append((request.path.split("/")[3], found["decision"]))

        def mixed() -> Iterator[Request]:
            counted, linear = asked("counted"), asked("linear")
            while True:
                yield next(counted)
                yield next(counted)
                yield next(linear)
                if ids:
                    name, decision = ids.pop()
                    body = {
                        "rewards": [{"decision": decision, "reward": len(ids) % 2, "final": True}]
                    }
                    yield Request(
                        "POST", f"/v1/experiments/{name}/rewards", json.dumps(body).encode()
                    )

        for minute in range(int(minutes)):
            one = load(
                port,
                mixed(),
                seconds=60,
                rate=rate,
                seed=minute,
                processes=[process],
                answered=answered,
            )
            ids.clear()
            _get(port, "/v1/experiments/counted/audit")
            print(f"minute {minute + 1}: resident {_resident(process):.0f} MiB; {one}", flush=True)


def _get(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://{HOST}:{port}{path}") as answer:
        found: bytes = answer.read()
        return found


def _resident(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=["ratios", "slates", "latency", "postgresql", "restart", "soak", "serve"]
    )
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=400.0)
    options = parser.parse_args()
    if options.what == "serve":
        store, port, logged = options.rest
        serve(store, int(port), logged == "logged")
    runs: dict[str, Any] = {
        "ratios": lambda: ratios(options.seconds, options.rounds),
        "slates": lambda: slates(options.seconds, options.rounds),
        "latency": lambda: latency(options.seconds),
        "postgresql": lambda: postgresql(options.seconds),
        "restart": lambda: restart(options.decisions),
        "soak": lambda: soak(options.minutes, options.rate),
    }
    if options.what in runs:
        runs[options.what]()


if __name__ == "__main__":
    main()
