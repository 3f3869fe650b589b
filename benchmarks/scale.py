"""How far it goes: rounds, decisions and audited rows a second against what they grow with.

    python benchmarks/scale.py [arms|dimension|replicas|cores|processes|audit ...]
    scripts/pictures scale

All is by the processor time of whoever did the work, so that a busy machine measures the same, the least of
several passes. What was asked for is written to benchmarks/scale.json, with the day and the load, beside what was
measured before; docs/scale.md shows it.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import fairx
from fairx import environments, simulate

KEPT = Path(__file__).with_name("scale.json")
MERIT = fairx.Exponential(4.0)
Curve = dict[str, float]  # what it is against, as a text, and how many a second of processor time


def rate(policy: Any, world: Any, rounds: int, skip: int = 0, **more: Any) -> float:
    """Return rounds for a second of processor time, after the first `skip` ones of one run."""
    settings: Any = {"seed": 1, "checkpoints": 1, "jobs": 1} | more
    simulate(policy, world, MERIT, rounds=16, **settings)
    least = {0: 0.0} | dict.fromkeys((skip, skip + rounds), float("inf"))
    for _ in range(3):
        for number in (skip, skip + rounds):
            begun = time.process_time()
            if number:
                simulate(policy, world, MERIT, rounds=number, **settings)
            least[number] = min(least[number], time.process_time() - begun)
    return float(rounds * more.get("runs", 1) / (least[skip + rounds] - least[skip]))


def arms() -> dict[str, Curve]:
    """Return rounds a second against the number of arms, after the first pulls."""
    found: dict[str, Curve] = {"FairX-EG": {}, "FairX-UCB": {}, "FairX-TS": {}}
    for number in (14, 100, 1000, 10_000, 100_000, 1_000_000):
        world = environments.Bernoulli(np.random.default_rng(1).uniform(size=number))
        few = max(100, 10_000_000 // number)
        rounds = min(300_000, few) if number < 512 else max(300_000, number)
        for name, policy in {
            "FairX-EG": fairx.FairXEG(MERIT, 0.1),
            "FairX-UCB": fairx.FairXUCB(MERIT, 0.5),
        }.items():
            found[name][str(number)] = rate(policy, world, rounds, skip=number + 16)
        if number <= 100_000:
            policy = fairx.FairXTS(MERIT, 1.0, 0.5)
            found["FairX-TS"][str(number)] = rate(policy, world, min(300_000, few), skip=16)
    return found


def dimension() -> dict[str, Curve]:
    """Return rounds a second against the dimension of contexts, 14 arms."""
    found: dict[str, Curve] = {"FairX-LinTS": {}, "FairX-LinUCB": {}, "FairX-LinEG": {}}
    for d in (5, 10, 20, 50, 100, 200):
        rng = np.random.default_rng(1)
        contexts = rng.normal(size=(200, 14, d)) / np.sqrt(d)
        world = environments.Linear(contexts, rng.normal(size=d) / np.sqrt(d), 0.1)
        rounds = max(500, 200_000 // d)
        for name, policy in {
            "FairX-LinTS": fairx.FairXLinTS(MERIT, 1.0, 0.5),
            "FairX-LinUCB": fairx.FairXLinUCB(MERIT, 0.1, 1.0),
            "FairX-LinEG": fairx.FairXLinEG(MERIT, 0.05, 1.0),
        }.items():
            found[name][str(d)] = rate(policy, world, rounds)
    return found


def replicas() -> dict[str, Curve]:
    """Return rounds a second, of all runs together, against the number of runs."""
    policy, world = fairx.FairXTS(MERIT, 1.0, 0.5), environments.Bernoulli(np.linspace(0, 0.4, 14))
    counts = (1, 4, 16, 64, 256)
    return {
        "FairX-TS": {str(n): rate(policy, world, max(2000, 400_000 // n), runs=n) for n in counts}
    }


def cores() -> dict[str, Curve]:
    """Return rounds a second of processor time against jobs: cores that are free add up to so much."""
    policy, world = fairx.FairXTS(MERIT, 1.0, 0.5), environments.Bernoulli(np.linspace(0, 0.4, 14))
    here = range(1, (os.cpu_count() or 1) + 1)
    return {"FairX-TS": {str(n): rate(policy, world, 100_000, runs=8, jobs=n) for n in here}}


def processes() -> dict[str, Curve]:
    """Return decisions a second of the services' processor time against processes on one PostgreSQL."""
    import service
    from open_loop import load

    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    import postgres_cluster

    programs = postgres_cluster.binaries()
    if programs is None:
        raise SystemExit("needs PostgreSQL: apt-get install postgresql")
    found: Curve = {}
    with ExitStack() as stack:
        cluster = stack.enter_context(postgres_cluster.cluster(programs))
        url = cluster.create_database()
        each = [stack.enter_context(service.service(url)) for _ in range(2)]
        service.create(each[0][0], "counted", service.COUNTED)
        for port, _ in each:  # until it is compiled, and the other process has heard of it
            service.post(port, "/v1/experiments/counted/decide", {"key": f"first {port}"})
        for number in (1, 2):

            def asked(one: tuple[int, int]) -> Any:
                seen = service.asked("counted")
                return load(one[0], seen, seconds=5.0, connections=16, processes=[one[1]])

            with ThreadPoolExecutor(number) as pool:
                summaries = list(pool.map(asked, each[:number]))
            if any(not summary.answers for summary in summaries):
                raise SystemExit(f"a service answered nothing: {summaries}")
            used = sum(summary.server_cpu for summary in summaries)
            found[str(number)] = sum(summary.answers for summary in summaries) / used
    return {"decisions": found}


def audit() -> dict[str, Curve]:
    """Return audited rows a second against the size of a log of 1,000 arms, reading included."""
    from audit import LOG, audited

    found: Curve = {}
    with tempfile.TemporaryDirectory() as folder:
        for rows in (10_000, 100_000, 1_000_000, 5_000_000):
            log = Path(folder) / f"{rows}.parquet"
            duckdb.connect(config={"threads": 1}).execute(LOG.format(rows=rows, path=log))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            with redirect_stdout(StringIO()):
                audited(log, Path(folder) / "out", "--merit", "exponential:10", "--threads", "2")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[str(rows)] = rows / used
    return {"rows": found}


MEASURED: dict[str, Callable[[], dict[str, Curve]]] = {
    "arms": arms,
    "dimension": dimension,
    "replicas": replicas,
    "cores": cores,
    "processes": processes,
    "audit": audit,
}


def main(*names: str) -> None:
    """Measure, print and keep."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for name in names or MEASURED:
        curves = MEASURED[name]()
        kept[name] = {
            "day": datetime.date.today().isoformat(),
            "load": round(os.getloadavg()[0], 1),
            "a second of processor time": {
                what: {at: float(f"{value:.3g}") for at, value in curve.items()}
                for what, curve in curves.items()
            },
        }
        print(name, json.dumps(kept[name]), flush=True)
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
