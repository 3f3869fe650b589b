"""How long and how much memory `fairx evaluate` takes for a large log of many arms.

python benchmarks/large_evaluation.py    # 10,000,000 decisions of 1,000 arms; --rows for others
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import Bar, print_bars, print_table

AT_ONCE = 1_000_000


def written(folder: Path, rows: int, arms: int) -> tuple[Path, Path]:
    """Write a log, some rows at a time, and a policy."""
    rng = np.random.default_rng(1)
    shares, wanted = (rng.dirichlet(np.full(arms, 5.0)) for _ in range(2))
    means = rng.uniform(0.02, 0.3, arms)
    names = np.array([f"item-{arm:04}" for arm in range(arms)])
    schema = pa.schema([("arm", "string"), ("propensity", "f8"), ("reward", "f8")])
    log, policy = folder / "log.parquet", folder / "policy.csv"
    with pq.ParquetWriter(log, schema) as writer:
        for start in range(0, rows, AT_ONCE):
            shown = rng.choice(arms, p=shares, size=min(AT_ONCE, rows - start))
            rewards = (rng.random(shown.size) < means[shown]).astype(float)
            writer.write_table(pa.table([names[shown], shares[shown], rewards], schema))
    policy.write_text("".join(f"{a},{p:.17g}\n" for a, p in zip(names, wanted, strict=True)))
    return log, policy


def run(rows: int, arms: int) -> None:
    """Print time and memory of each estimator, in a process of its own."""
    table, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        log, policy = written(Path(folder), rows, arms)
        for words in ("ips", "snips", "dm", "dr", "snips --merit exponential:4"):
            command = [sys.executable, "-m", "fairx", "evaluate", str(log), "--policy", str(policy)]
            start = time.perf_counter()
            process = subprocess.Popen(
                [*command, "--estimator", *words.split()], stdout=subprocess.PIPE, text=True
            )
            assert process.stdout is not None
            told = process.stdout.readline().strip()
            process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            passed = time.perf_counter() - start
            processor = used.ru_utime + used.ru_stime
            memory = used.ru_maxrss / 1e6
            table.append([words, f"{passed:.1f}", f"{processor:.1f}", f"{memory:.2f}", told])
            bars += [
                Bar(f"{words}, seconds", passed, at_most=60),
                Bar(f"{words}, GB", memory, at_most=1),
            ]
            assert status == 0
    title = f"fairx evaluate: {rows:,} decisions, {arms:,} arms, a policy file"
    print_table(title, ("estimator", "seconds", "of processors", "GB", "found"), table)
    print_bars(bars)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--arms", type=int, default=1000)
    options = parser.parse_args()
    run(options.rows, options.arms)
