"""Decisions of the service among many arms: 100,000 beside 100, with rewards, folds and snapshots.

    python benchmarks/many_arms_served.py [--arms 100 100000] [--seconds 8] [--kind FairXEG]

The routes are called in this process, 32 at a time, without HTTP, which would be the same for both. Each
decision gets its reward, and matures after a second, so that folds and new snapshots are in the numbers.
Processor time of the whole process, all threads, for each decision.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from fairx.service import fast_routes, holding
from fairx.service.access import Access
from fairx.service.app import Application
from fairx.service.limits import Limits
from fairx.service.runtime import Runtime
from fairx.store import located
from fairx.store.experiments import create
from fairx.store.settings import checked

holding.COMPILED_IN = 600.0  # seconds
AT_ONCE = 32
MERIT = {"kind": "Exponential", "steepness": 4.0}
POLICIES: dict[str, Any] = {
    "FairXEG": {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.1},
    "FairXUCB": {"kind": "FairXUCB", "merit": MERIT, "width": 0.3, "bounds": [0, 1]},
}


async def play(runtime: Runtime, worker: int, until: float) -> int:
    """Decide and send the reward, again and again; return how often."""
    made = 0
    while time.monotonic() < until:
        body = json.dumps({"key": f"{worker} {made} {until}"}).encode()
        answer = json.loads(await fast_routes.decide(runtime, "shop", body))
        reward = {"decision": answer["decision"], "reward": float(made % 3 == 0), "id": "click"}
        await fast_routes.rewards(runtime, "shop", json.dumps({"rewards": [reward]}).encode())
        made += 1
    return made


async def measure(folder: Path, arms: int, kind: str, seconds: float) -> tuple[float, float, int]:
    """Return microseconds of processor time a decision, decisions a second, and snapshots made."""
    limits = Limits(arms=arms, numbers=10**9)
    store = located(f"sqlite:///{folder / f'{kind}{arms}.db'}")
    runtime = Runtime(
        store, b"s" * 32, Access(open_to_all=True, admin_token=None, rate=1e9), limits
    )
    Application(runtime)
    await runtime.start()
    settings = {"policy": POLICIES[kind], "reward_window_s": 1.0}
    names = [f"arm {i}" for i in range(arms)]
    made = await runtime.change(
        lambda database: create(database, "shop", names, checked(settings), runtime.clock(), "me")
    )
    await runtime.hold(made, new=True)
    await runtime.compiled(runtime.decider("shop"))
    await play(runtime, 0, time.monotonic() + 3.0)  # compiled, and folded once
    version = runtime.decider("shop").snapshot.version
    used, begun = time.process_time(), time.monotonic()
    counts = await asyncio.gather(*(play(runtime, 1 + i, begun + seconds) for i in range(AT_ONCE)))
    used, took = time.process_time() - used, time.monotonic() - begun
    folds = runtime.decider("shop").snapshot.version - version
    await runtime.stop()
    return used / sum(counts) * 1e6, sum(counts) / took, folds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--kind", choices=sorted(POLICIES), nargs="+", default=sorted(POLICIES))
    options = parser.parse_args()
    print(
        f"{'policy':9} {'arms':>8} {'µs of processor':>16} {'a second':>9} {'snapshots':>10} ratio"
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kind:
            first = 0.0
            for arms in options.arms:
                found = asyncio.run(measure(Path(folder), arms, kind, options.seconds))
                first = first or found[0]
                numbers = f"{found[0]:16.0f} {found[1]:9.0f} {found[2]:10}"
                print(f"{kind:9} {arms:8} {numbers} {found[0] / first:5.2f}", flush=True)


if __name__ == "__main__":
    main()
