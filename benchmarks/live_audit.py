"""The live audit and the status of an experiment of many arms, from a store of a million decisions.

    python benchmarks/live_audit.py                  # the bar: under 60 s, 512 MB; and bytes a decision
    python benchmarks/live_audit.py --arms 1000 --decisions 100000

Decisions are written straight into the tables, as a service would have: what is measured is reading.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from fairx.service.audits import PLAIN, _audited
from fairx.service.views import status
from fairx.store import located
from fairx.store.compact import digest_of
from fairx.store.database import Database
from fairx.store.decisions import COLUMNS
from fairx.store.experiments import create
from fairx.store.settings import checked
from fairx.store.snapshots import Snapshot
from fairx.store.spool import Spool

POLICY = {"kind": "FairXTS", "merit": {"kind": "Exponential", "steepness": 3.0},
          "prior_std": 1.0, "reward_std": 0.5}  # fmt: skip
CHUNK = 10_000
DUE = 600.0


def fill(database: Database, snapshot: Snapshot, decisions: int) -> None:
    """Write mature decisions, each of an arm drawn uniformly."""
    random, arms = np.random.default_rng(1), len(snapshot.arms)
    connection: Any = database
    insert = f"INSERT INTO decisions (sequence, {COLUMNS}, due) VALUES ({','.join('?' * 16)})"
    for start in range(0, decisions, CHUNK):
        chosen = random.integers(0, arms, CHUNK).tolist()
        rewards = (random.random(CHUNK) < 0.1).astype(float).tolist()
        digest = digest_of(start.to_bytes(8, "big"))
        with database.transaction():
            connection.connection.executemany(insert, (
                (number, f"{number:024d}", 1, float(number), 1, arm, arm, None, digest, None, None,
                 b"x" * 16, None, None, 1 / arms, number + DUE)
                for number, arm in enumerate(chosen, start + 1)
            ))  # fmt: skip
            connection.connection.executemany("INSERT INTO matured VALUES (1, ?, ?, ?, 1, ?)", (
                (number, number, reward, number + DUE) for number, reward in enumerate(rewards, start + 1)
            ))  # fmt: skip


def measured(name: str, work: Any) -> Any:
    """Say how long something took."""
    wall, own = time.perf_counter(), time.process_time()
    found = work()
    # Not getrusage: its ru_maxrss also counts the process that this one was started from.
    status_of_process = Path("/proc/self/status").read_text()
    peak = int(status_of_process.partition("VmHWM:")[2].split()[0]) / 1024
    print(f"{name}: {time.process_time() - own:.1f} s of processor time, "
          f"{time.perf_counter() - wall:.1f} s; peak so far {peak:.0f} MB", flush=True)  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--arms", type=int, default=10_000)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        database, settings = located(f"sqlite:///{path}").writer(), checked({"policy": POLICY})
        with database.transaction():
            names = [f"arm number {i}" for i in range(options.arms)]
            snapshot = create(database, "shop", names, settings, 0.0, "benchmark")
        measured("writing", lambda: fill(database, snapshot, options.decisions))
        database.close()
        print(f"{path.stat().st_size / options.decisions:.0f} bytes a decision")
        reader, spool = located(f"sqlite:///{path}").reader(), Spool(snapshot.experiment)
        folder_of_rows = measured("rows for the audit", lambda: spool.extend(reader))
        found = measured("audit", lambda: _audited(spool, folder_of_rows, snapshot, PLAIN))
        print(f"{found.decisions:,} decisions judged by {found.judged_by}")
        measured("status", lambda: status(reader, snapshot, 2e6))
        reader.close()
        spool.close()


if __name__ == "__main__":
    main()
