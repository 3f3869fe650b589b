"""`fairx archive` of a store on SQLite: how long it takes, and what stays.

    python benchmarks/archive.py                     # 50,000 decisions among 100 arms
    python benchmarks/archive.py --decisions 200000

Times are of the processor, the audit's with the log put together again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from fairx.store import located, verify
from fairx.store.archives.moving import Archivist
from fairx.store.deciding import Decider
from fairx.store.decisions import Decision, write_decisions
from fairx.store.events import Batch, Reward
from fairx.store.experiments import create
from fairx.store.folding import fold
from fairx.store.identity import minted
from fairx.store.rewards import take_in
from fairx.store.seals import keyed
from fairx.store.settings import checked
from fairx.store.spool import Spool

POLICY = {"kind": "FairXTS", "merit": {"kind": "Exponential", "steepness": 3.0},
          "prior_std": 1.0, "reward_std": 0.5}  # fmt: skip
SECRET, WINDOW, AT_ONCE = b"a secret of the benchmark", 1000.0, 250


def fill(database: Any, decisions: int, arms: int) -> Any:
    """Decide, reward every third decision, fold; a second goes by with each decision."""
    settings = checked({"policy": POLICY, "reward_window_s": WINDOW})
    with database.transaction():
        snapshot = create(database, "page", [f"arm {i}" for i in range(arms)], settings, 0.0, "me")
    decider = Decider(snapshot)
    for start in range(0, decisions, AT_ONCE):
        made = [_made(decider, number) for number in range(start, start + AT_ONCE)]
        rewards = [Reward(decision.id, 1.0) for decision, _ in made[::3]]
        with database.transaction():
            write_decisions(database, made)
            take_in(database, [Batch(snapshot.experiment, rewards, float(start))])
            folded = fold(database, snapshot.experiment, float(start))
        decider = decider if folded is None else Decider(folded)
    return decider.snapshot


def _made(decider: Decider, number: int) -> tuple[Decision, float]:
    identity, candidates = minted(SECRET, 1, str(number), 0), decider.candidates(None, None)
    position, chances = decider.decide(identity, candidates)
    arm, chance = int(candidates.arms[position]), float(chances[position])
    about = (1, float(number), decider.snapshot.version, arm, position)
    made = Decision(
        identity, *about, None, chances.tobytes(), None, None, b"x" * 16, propensity=chance
    )
    return made, number + WINDOW


def measured(name: str, work: Callable[[], Any], decisions: int) -> Any:
    """Say how long something took."""
    start = time.process_time()
    found = work()
    taken = time.process_time() - start
    print(f"{name}: {taken:.2f} s, {1e6 * taken / decisions:.1f} us a decision", flush=True)
    return found


def size(path: Path) -> int:
    """Return the size of a store without free pages."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute("VACUUM").fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return path.stat().st_size


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=50_000)
    parser.add_argument("--arms", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path, folder = Path(name) / "store.db", Path(name) / "archive"
        store, count = located(f"sqlite:///{path}"), options.decisions
        database = keyed(store, SECRET)
        snapshot = measured(
            "decided and folded", lambda: fill(database, count, options.arms), count
        )
        database.close()
        before = size(path)
        database = keyed(store, SECRET)
        moved = measured(
            "archived", lambda: Archivist(database, SECRET, folder, 0.0).run(1e12), count
        )
        database.close()
        after, files = size(path), sum(each.stat().st_size for each in folder.iterdir())
        left = count - moved.decisions
        print(
            f"{moved.decisions:,} of {count:,} decisions moved: the store had {before / count:.0f} bytes a "
            f"decision, of one that is archived it keeps {(after - before * left / count) / moved.decisions:.0f}; "
            f"files have {files / moved.decisions:.0f}"
        )
        reader, spool = store.reader(), Spool(snapshot.experiment)
        found = measured("verified, all of it", lambda: verify(reader, SECRET), count)
        assert not found.problems, found.problems
        measured("log for the first audit", lambda: spool.extend(reader), count)
        spool.close()
        reader.close()


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
