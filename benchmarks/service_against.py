"""The service of this checkout beside that of another one, in turns, in one run.

    git worktree add /tmp/before 0f6b4f4 --detach
    python benchmarks/service_against.py --against /tmp/before              # most, and half of that
    python benchmarks/service_against.py --against /tmp/before --store postgresql
    python benchmarks/service_against.py --overload                         # twice the most, this checkout alone

Each checkout is served by its own sources with its own `benchmarks/service.py`. What is printed are medians
of turns, and of the ratios of this checkout to the other in a turn, with an interval of that median: by the sign
test, which asks nothing of how ratios are distributed, at 95 % or more (from six turns on).
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from open_loop import RAW, Summary, load, wait_for
from service import COUNTED, LINEAR, asked, create

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import postgres_cluster

HERE = Path(__file__).parents[1]
NAMES = {"counted": COUNTED, "linear": LINEAR}
Server = tuple[int, int]  # port and process
Stores = Callable[[], str]


@contextmanager
def served(checkout: Path, store: str) -> Iterator[Server]:
    """Run the service of a checkout, with both experiments."""
    port = postgres_cluster.free_port()
    program = checkout / "benchmarks" / "service.py"
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, str(program), "serve", store, str(port), "logged"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            wait_for(port, seconds=120)
            for name, policy in NAMES.items():
                create(port, name, policy)
                load(port, asked(name), seconds=1)  # it is compiled, and warm
            yield port, process.pid
        finally:
            process.terminate()


@contextmanager
def stores(kind: str) -> Iterator[Stores]:
    """Give addresses of empty stores."""
    with ExitStack() as stack:
        if kind == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            numbers = iter(range(100))
            yield lambda: f"sqlite:///{folder}/{next(numbers)}.db"
        else:
            programs = postgres_cluster.binaries()
            if programs is None:
                raise SystemExit("needs PostgreSQL: apt-get install postgresql")
            yield stack.enter_context(postgres_cluster.cluster(programs)).create_database


def in_turns(
    servers: dict[str, Server], kind: str, seconds: float, turns: int, rate: float | None = None
) -> dict[str, list[Summary]]:
    """Load one server after the other, beginning with each in turn."""
    found: dict[str, list[Summary]] = {name: [] for name in servers}
    for turn in range(turns):
        for name in list(servers)[:: 1 if turn % 2 else -1]:
            port, process = servers[name]
            one = load(
                port, asked(kind), seconds=seconds, rate=rate, seed=turn, processes=[process]
            )
            found[name].append(one)
            print(f"{kind} {name:6} {one}", flush=True)
    return found


def said(what: str, found: dict[str, list[float]]) -> str:
    """Return medians, and this checkout over the other."""
    this, other = found["this"], found["other"]
    ratios = sorted(one / two for one, two in zip(this, other, strict=True))
    medians = f"{statistics.median(this):,.4g} against {statistics.median(other):,.4g}"
    middle, (low, high) = statistics.median(ratios), interval(ratios)
    return f"{what}: {medians}; ratio {middle:.2f} [{low:.2f}, {high:.2f}]"


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the interval of the median of sorted ratios: those that no sign test at 5 % refutes."""
    turns = len(ratios)
    tails = itertools.accumulate(math.comb(turns, k) / 2**turns for k in range(turns))
    left_out = sum(1 for tail in tails if 2 * tail <= 0.05)
    end = max(left_out - 1, 0)
    return ratios[end], ratios[turns - 1 - end]


def compare(against: Path, kind: str, store: str, seconds: float, turns: int) -> None:
    """Compare durable decisions a second, per processor second, and the times at half the most."""
    with ExitStack() as stack:
        made = stack.enter_context(stores(store))
        servers = {
            name: stack.enter_context(served(where, made()))
            for name, where in (("this", HERE), ("other", against.resolve()))
        }
        most = in_turns(servers, kind, seconds, turns)
        lines = [
            said(f"{kind}, {store}: decisions a second", _each(most, lambda one: one.rate)),
            said("per server CPU-second", _each(most, lambda one: one.per_cpu_second)),
        ]
        half = min(statistics.median(one.rate for one in runs) for runs in most.values()) / 2
        times = in_turns(servers, kind, seconds, turns, half)
        where = f"at {half:,.0f} a second, ms"
        lines.append(said(f"p50 {where}", _each(times, lambda one: 1000 * one.p50)))
        lines.append(said(f"p99 {where}", _each(times, lambda one: 1000 * one.p99)))
        lines.append(said("per server CPU-second", _each(times, lambda one: one.per_cpu_second)))
    print("\n".join(lines))


def overload(store: str, seconds: float, turns: int, connections: int) -> None:
    """Ask for twice the most, open loop, and say what is answered and what is shed."""
    with ExitStack() as stack:
        port, process = stack.enter_context(served(HERE, stack.enter_context(stores(store))()))
        parts, lines = [], []
        for turn in range(turns):
            most = load(port, asked("counted"), seconds=seconds, processes=[process])
            twice = load(port, asked("counted"), seconds=seconds, connections=connections,
                         rate=2 * most.rate, seed=turn, processes=[process])  # fmt: skip
            parts.append(twice.rate / most.rate)
            sent = sum(twice.statuses.values())
            kept = {each: f"{count / sent:.0%}" for each, count in twice.statuses.items()}
            lines.append(f"most {most.rate:,.0f}/s; at twice that: {parts[-1]:.2f} of it, {kept}, "
                         f"p99 {twice.p99:.3f} s")  # fmt: skip
            print(lines[-1], flush=True)
            print(f"  {twice}", flush=True)
    print(f"goodput at twice the most: {statistics.median(parts):.2f} of the most "
          f"({min(parts):.2f} to {max(parts):.2f}; bar 0.8)")  # fmt: skip


def _each(
    runs: dict[str, list[Summary]], number: Callable[[Summary], float]
) -> dict[str, list[float]]:
    return {name: [number(one) for one in found] for name, found in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=RAW)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--overload", action="store_true")
    parser.add_argument("--kind", choices=NAMES, default="counted")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--connections", type=int, default=2_000)
    given = parser.parse_args()
    print(f"load average before: {os.getloadavg()[0]:.1f}", flush=True)
    if given.against:
        compare(given.against, given.kind, given.store, given.seconds, given.turns)
    if given.overload:
        overload(given.store, given.seconds, given.turns, given.connections)


if __name__ == "__main__":
    main()
