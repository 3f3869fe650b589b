"""How often each arm was a candidate: the dashboard counts the decisions that the audit reads."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_store import WINDOW, Site

from fairx.store.candidacies import candidacies
from fairx.store.spool import Spool
from fairx.store.sqlite import SQLite


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SQLite]:
    found = SQLite(tmp_path / "store.db", write=True)
    yield found
    found.close()


def audited(site: Site) -> tuple[int, list[int]]:
    """Return how many decisions the audit reads, and in how many each arm was a candidate."""
    spool = Spool(site.experiment)
    folder = spool.extend(site.database)
    rows = pq.read_table(folder, columns=["candidates"]).to_pylist() if folder else []
    spool.close()
    counts = Counter(name for row in rows for name in row["candidates"])
    return len(rows), [counts[arm.name] for arm in site.snapshot.arms]


def test_what_was_shown_too_late_counts_for_neither(database: SQLite) -> None:
    site = Site(database, requires_shown=True)
    site.decide("late", ["b", "c"])  # the first to be mature
    site.decide("in time", ["a", "b"])
    site.decide("rewarded", ["a", "b"])
    site.shown("in time")
    site.reward("rewarded", 1.0)
    site.close_windows()
    assert site.shown("late") == ["late"]
    decisions, expected = audited(site)
    assert (decisions, expected) == (2, [2, 2, 0])
    assert candidacies(database, site.snapshot, decisions).tolist() == expected


def _live(site: Site, rng: random.Random) -> None:
    """Decide, show, reward, pause and resume at random, in time and too late."""
    keys: list[str] = []
    for _ in range(60):
        name = f"{rng.getrandbits(60)}"
        what = rng.choice(["decide", "decide", "shown", "reward", "arms", "wait", "fold"])
        active = [arm.name for arm in site.snapshot.arms if arm.status == "active"]
        if what == "decide":
            chosen = rng.sample(active, rng.randint(1, len(active)))
            keys.append(name)
            site.decide(name, rng.choice([None, chosen]))
        elif what == "shown" and keys:
            site.shown(rng.choice(keys))
        elif what == "reward" and keys:
            site.reward(rng.choice(keys), 1.0, id=name, final=rng.random() < 0.3)
        elif what == "arms":
            paused = [arm.name for arm in site.snapshot.arms if arm.status == "paused"]
            pause = rng.sample(active, 1) if len(active) > 1 else []
            site.arms(pause=pause, resume=paused[:1], add=[name][: rng.randint(0, 1)])
        elif what == "wait":
            site.now += WINDOW * rng.random()
        else:
            site.fold(rng.randint(1, 9))


@pytest.mark.parametrize("requires_shown", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_candidates_are_counted_over_what_the_audit_reads(
    database: SQLite, seed: int, requires_shown: bool
) -> None:
    rng = random.Random(seed)
    site = Site(database, requires_shown=requires_shown)
    for _ in range(3):
        _live(site, rng)
        decisions, expected = audited(site)
        _live(site, rng)  # what comes after the audit does not count
        found = candidacies(database, site.snapshot, decisions).astype(int).tolist()
        assert found == expected + [0] * (len(found) - len(expected))
