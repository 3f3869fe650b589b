"""Measure the replay of every policy, and the reading of a log in the format of R6A.

    python benchmarks/replay.py [--events 1000000] [--lines 0] [--passes 3]

Events a second on one core, for pools of 20 of 200 arms: with pools that last for thousands of events,
as in the log of the Yahoo! Today Module, and with another pool at each event. The plain NumPy loop is
that of `plain_numpy`, with the pools as they last. With `--lines`, a made-up day of that many lines is
written to a temporary folder, and read. Compile time is excluded.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plain_numpy
from problems import Floats
from timing import Bar, Task, fastest, number, print_bars, print_table

import fairx
from fairx.replay import UniformLog, replay, yahoo

ARMS, SIZE, POOLS, WIDTH, STEEPNESS = 200, 20, 50, 6, 10.0
MERIT = fairx.Exponential(STEEPNESS)
HEADERS = ("policy", "pools last", "pools change", "NumPy", "fairx / NumPy")


class Case(NamedTuple):
    """A policy of fairx, and the NumPy class that does the same, where there is one."""

    policy: Any
    numpy: Any = None
    bar: float | None = None  # events a second, pools as they last


def bandit_cases() -> list[Case]:
    steps = partial(plain_numpy.FairUCB, steepness=STEEPNESS, width=0.01)
    return [
        Case(fairx.FairXTS(MERIT, 0.1, 0.1),
             partial(plain_numpy.FairTS, steepness=STEEPNESS, prior_std=0.1, reward_std=0.1), 1e6),
        Case(fairx.FairXUCB(MERIT, 0.01), None, 1e6),
        Case(fairx.FairXUCB(MERIT, 0.01, "gradient"), steps, 1e6),
        Case(fairx.FairXEG(MERIT, 0.01),
             partial(plain_numpy.FairEG, steepness=STEEPNESS, epsilon=0.01), 1e6),
        Case(fairx.TS(0.1, 0.1), None, 1e6),
        Case(fairx.UCB(0.01), None, 1e6),
        Case(fairx.EG(0.01), None, 1e6),
    ]  # fmt: skip


def linear_cases() -> list[Case]:
    return [
        Case(fairx.FairXLinTS(MERIT, 0.01, 0.01)),
        Case(fairx.FairXLinUCB(MERIT, 1.0, 1.0)),
        Case(fairx.FairXLinUCB(MERIT, 1.0, 1.0, "gradient")),
        Case(fairx.FairXLinEG(MERIT, 0.001, 1.0)),
        Case(fairx.LinTS(0.01, 0.01)),
        Case(fairx.LinUCB(1.0, 1.0)),
    ]


def made(events: int, *, lasting: bool, linear: bool) -> UniformLog:
    """Return a log with pools that last, or change at each event."""
    rng = np.random.default_rng(0)
    pools = np.array([np.sort(rng.choice(ARMS, SIZE, replace=False)) for _ in range(POOLS)])
    pool = rng.integers(POOLS, size=events)
    pool = np.sort(pool) if lasting else pool
    displayed = pools[pool, rng.integers(SIZE, size=events)]
    means = rng.uniform(0.01, 0.08, ARMS)
    features: dict[str, Any] = {}
    if linear:
        users, items = (rng.dirichlet(np.ones(WIDTH - 1), n) for n in (events, ARMS))
        features = {
            "users": np.column_stack([np.ones(events), users]).astype(np.float32),
            "items": np.column_stack([np.ones(ARMS), items]),
        }
    return UniformLog(pools, displayed, rng.random(events) < means[displayed], pool, **features)


def play(policy: Any, log: UniformLog, events: int) -> None:
    """Replay as many events, near enough: a round is accepted every SIZE of them."""
    replay(policy, log, MERIT, rounds=max(1, events // SIZE), seed=1, jobs=1)


def play_numpy(kind: Any, log: Any, events: int) -> Floats:
    """Replay in plain NumPy."""
    rng, policy, total = np.random.default_rng(1), kind(ARMS), np.zeros(2)
    pulls, sums = policy.pulls, policy.reward_sums
    for event in range(events):
        arms = log.pools[log.pool[event]]
        policy.pulls, policy.reward_sums = pulls[arms], sums[arms]
        deployed = policy.probabilities(np.empty((SIZE, 0)), rng)
        arm = arms[rng.choice(SIZE, p=deployed)]
        if arm != log.displayed[event]:
            continue
        pulls[arm] += 1
        sums[arm] += log.rewards[event]
        means = log.means[arms]
        total += plain_numpy.regrets(plain_numpy.softmax(STEEPNESS * means), deployed, means)
    return total


def report(title: str, cases: list[Case], events: int, passes: int, *, linear: bool) -> None:
    """Time all cases and print them with their bars."""
    longer = events + events // 10
    logs = [made(longer, lasting=lasting, linear=linear) for lasting in (True, False)]
    tasks = {}
    for case in cases:
        play(case.policy, logs[0], 1)  # compiles, or loads from the disk cache
        for log, kind in zip(logs, ("last", "change"), strict=True):
            tasks[f"{kind} {case.policy}"] = Task(partial(play, case.policy, log), events)
        if case.numpy is not None:
            tasks[f"numpy {case.policy}"] = Task(partial(play_numpy, case.numpy, logs[0]), 5000)
    seconds = fastest(tasks, passes)
    rows, bars = [], []
    for case in cases:
        found = [seconds.get(f"{kind} {case.policy}") for kind in ("last", "change", "numpy")]
        rates = [each and 1 / each for each in found]
        ratio = rates[0] / rates[2] if rates[0] and rates[2] else None
        name = type(case.policy).__name__
        solver = getattr(case.policy, "solver", None)
        name += f", {type(solver).__name__.lower()}" if solver is not None else ""
        rows.append([name, *map(number, rates), number(ratio)])
        if case.bar is not None and rates[0]:
            bars.append(Bar(f"{name}: events a second", rates[0], at_least=case.bar))
    print_table(f"{title}: events a second", HEADERS, rows)
    print_bars(bars)


def report_reading(lines: int) -> None:
    """Write a made-up day, and time what is done with it."""
    with tempfile.TemporaryDirectory() as folder:
        (path,) = yahoo.make_yahoo(folder, days=1, events=lines, seed=0)
        start = time.perf_counter()
        size = unpacked(path)
        marks = [time.perf_counter()]
        log = yahoo.parse(path)
        marks.append(time.perf_counter())
        yahoo.read(path)  # parses it again, and keeps it
        marks.append(time.perf_counter())
        yahoo.read(path)
        marks.append(time.perf_counter())
        unpacking, parsing, _, again = np.diff([start, *marks])
    megabytes = size / 1e6
    rows = [
        [name, number(seconds), number(lines / seconds), number(megabytes / seconds)]
        for name, seconds in (
            ("unpack only (gzip)", unpacking), ("unpack and parse", parsing),
            ("from the cache (Parquet)", again),
        )
    ]  # fmt: skip
    title = f"A day of {lines:,} lines ({megabytes:,.0f} MB of text)"
    print_table(title, ("", "seconds", "lines/s", "MB/s"), rows)
    print(f"\n  {dict(log.counts)}")


def unpacked(path: Path) -> int:
    """Return how many bytes a file has when it is unpacked."""
    with gzip.open(path) as file:
        return sum(map(len, iter(lambda: file.read(2**24), b"")))


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--lines", type=int, default=0)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    where = f"pools of {SIZE} of {ARMS} arms"
    if options.events:
        title = f"Without contexts ({where}, {options.events:,} events)"
        report(title, bandit_cases(), options.events, options.passes, linear=False)
        few = options.events // 20
        title = f"With contexts of {WIDTH} x {WIDTH} ({where}, {few:,} events)"
        report(title, linear_cases(), few, options.passes, linear=True)
    if options.lines:
        report_reading(options.lines)


if __name__ == "__main__":
    main()
