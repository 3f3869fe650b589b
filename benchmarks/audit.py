"""The bars of the audit, and its examples on real data.

python benchmarks/audit.py speed [ROWS] [--by time:day]  # 50,000,000 rows of 1,000 arms, two threads
python benchmarks/audit.py against SOURCES [TURNS]  # the same beside other sources, turn by turn
python benchmarks/audit.py alarms [RUNS]      # how often fair runs are accused
python benchmarks/audit.py open-bandit WHEEL  # pip download obp==0.4.1 --no-deps
python benchmarks/audit.py upworthy CSV [PART]  # 63,557,442 impressions, or one test in PART
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
OUT = Path("results") / "audit"
RUN = "import sys; from fairx.command import main; sys.exit(main(sys.argv[1:]))"
LOG = """
COPY (
  SELECT i AS decision, TIMESTAMP '2026-01-01' + to_milliseconds(i * 10) AS time,
    'arm-' || arm AS arm, (1 + arm % 10) / 5500 AS propensity,
    CASE WHEN hash(i + 1) % 20 > 0 THEN (hash(i + 2) % 1000 < 20 + arm % 60)::DOUBLE END AS reward
  FROM (
    SELECT i, (floor(pick / 10) * 10 + tenth)::INTEGER AS arm FROM (
      SELECT i, (hash(i) % 1000)::INTEGER AS pick, hash(i + 3) % 55 AS which,
        CASE WHEN which < 1 THEN 0 WHEN which < 3 THEN 1 WHEN which < 6 THEN 2 WHEN which < 10 THEN 3
          WHEN which < 15 THEN 4 WHEN which < 21 THEN 5 WHEN which < 28 THEN 6
          WHEN which < 36 THEN 7 WHEN which < 45 THEN 8 ELSE 9 END AS tenth
      FROM range({rows}) AS numbers(i)
    )
  )
) TO '{path}' (FORMAT parquet, COMPRESSION zstd)
"""
HEADLINES = """
CREATE TABLE kept AS SELECT row_number() OVER () AS arm, * FROM read_csv('{path}', header = true);
DELETE FROM kept WHERE test_week BETWEEN 201325 AND 201402 OR hash(test_id) % {part} > 0;
COPY (
  SELECT arm, candidates, 1 / len(candidates) AS propensity,
    (unnest(range(impressions)) < clicks)::DOUBLE AS reward
  FROM kept JOIN (SELECT test_id, list(arm ORDER BY arm) AS candidates FROM kept GROUP BY test_id)
  USING (test_id)
) TO '{log}' (FORMAT parquet)
"""


def audited(log: Path, out: Path, *options: str) -> dict[str, Any]:
    """Run the command in a process of its own; return audit.json, its time and its memory."""
    start = time.perf_counter()
    words = [sys.executable, "-c", RUN, "audit", str(log), "--out", str(out), *options]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory, work = used.ru_maxrss / 1e6, used.ru_utime + used.ru_stime
    held: dict[str, Any] = json.loads((out / "audit.json").read_text("utf-8"))
    rate = held["rows"] / seconds
    print(f"{held['rows']:,} rows in {seconds:.1f} s: {rate:,.0f} a second, ", end="")
    print(f"{memory:.2f} GB at most, {work:.1f} s of processor time in all so far")
    return held


def speed(rows: str = "50000000", *options: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        duckdb.connect(config={"threads": 2}).execute(LOG.format(rows=int(rows), path=log))
        print(f"{log.stat().st_size / 1e6:,.0f} MB")
        words = ("--merit", "exponential:10", "--threads", "2", *options)
        held = audited(log, Path(folder) / "out", *words)
    print(f"{len(held['arms']):,} arms, {held['problems'] or 'no problems'}")


def against(sources: str, turns: str = "3", rows: str = "50000000") -> None:
    """Measure the command beside that of other sources; ratios by the clock and by processor time."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        duckdb.connect(config={"threads": 2}).execute(LOG.format(rows=int(rows), path=log))
        ways = {
            "before": (sources, ()),
            "now": ("src", ()),
            "by day": ("src", ("--by", "time:day")),
        }
        found: dict[str, list[Floats]] = {name: [] for name in ways}
        for _ in range(int(turns) + 1):  # the first warms the caches and does not count
            for name, (where, options) in ways.items():
                found[name].append(_measured(where, log, Path(folder) / "out", options))
    for name, turn in found.items():
        each = np.array(turn[1:])
        ratios = each / np.array(found["before"][1:])
        told = (
            f"{median:.2f} ({' '.join(f'{one:.2f}' for one in all_of)})"
            for median, all_of in zip(np.median(ratios, axis=0), ratios.T, strict=True)
        )
        seconds = ", ".join(f"{one:.1f}" for one in np.median(each, axis=0))
        print(
            f"{name}: {seconds} s by the clock and of processors;", " and ".join(told), "of before"
        )
    print("load of the machine at the end:", round(os.getloadavg()[0], 1))


def _measured(sources: str, log: Path, out: Path, options: tuple[str, ...]) -> Floats:
    words = [sys.executable, "-c", RUN, "audit", str(log), "--out", str(out), *options]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*words, "--merit", "exponential:10", "--threads", "2"],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(sources).absolute())},
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return np.array([time.perf_counter() - start, used.ru_utime + used.ru_stime])


def alarms(runs: str = "1000") -> None:
    sys.path.insert(0, "tests")
    from test_audit import accused

    looks = np.linspace(250, 5000, 20).astype(int)
    for exact in (True, False):
        rng = np.random.default_rng(1)
        found = np.mean([accused(rng, exact, looks) for _ in range(int(runs))], axis=0)
        known = "probabilities" if exact else "shows"
        print(f"{known}: of {runs} fair runs accused by the box {found[0]:.1%}, ", end="")
        print(f"by the delta method {found[1]:.1%}, 10 arms and 20 looks")


def open_bandit(wheel: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for campaign in ("all", "men", "women"):
            name = f"obp/dataset/obd/bts/{campaign}/{campaign}.csv"
            log = Path(zipfile.ZipFile(wheel).extract(name, folder))
            columns = ["--arm", "item_id", "--reward", "click", "--time", "timestamp"]
            columns += ["--propensity", "propensity_score", "--merit", "exponential:10"]
            held = audited(log, OUT / campaign, *columns)
            largest = sorted((arm["exposure"] for arm in held["arms"]), reverse=True)[:5]
            print(f"{campaign}: the five most shown have {sum(largest):.1%}")
            _tell(held)


def upworthy(path: str, part: str = "1") -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.parquet"
        connection = duckdb.connect(config={"memory_limit": "1GB"})
        for statement in HEADLINES.format(path=path, log=log, part=int(part)).split(";"):
            connection.execute(statement)
        held = audited(log, OUT / "upworthy", "--merit", "power:1,0.001")
        tests = connection.execute("SELECT list(arm) FROM kept GROUP BY test_id").fetchall()
    _tell(held)
    fair_share = {arm["arm"]: arm["fair_share"] for arm in held["arms"]}
    in_test = [[fair_share[arm] for arm in arms] for (arms,) in tests]
    best = np.median([max(shares) / sum(shares) for shares in in_test])
    median = np.median([1 / len(shares) for shares in in_test])
    print(f"median share of the best package of a test: {best:.1%}, where even is {median:.1%}")
    shares = ("exposure", "fair_share")
    even, fair = (sum(arm[name] * arm["mean"] for arm in held["arms"]) for name in shares)
    print(f"clicks per impression: {even:.4%} as shown, {fair:.4%} by fair share, in sample")
    moved = [arm["ratio"] for arm in held["arms"]]
    print("exposure / fair share, 5th to 95th percentile:", np.percentile(moved, [5, 50, 95]))


def _tell(held: dict[str, Any]) -> None:
    for name in ("fairness_regret_per_decision", "distance", "gini_exposure", "gini_fair_share"):
        print(f"  {name} {held[name]:.4f}")
    print(f"  {len(held['arms']):,} arms", *held["sensitivity"], sep="\n  ")


if __name__ == "__main__":
    COMMANDS: dict[str, Callable[..., None]] = {
        "speed": speed,
        "against": against,
        "alarms": alarms,
        "open-bandit": open_bandit,
        "upworthy": upworthy,
    }
    COMMANDS[sys.argv[1]](*sys.argv[2:])
