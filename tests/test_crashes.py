"""Real services killed under load lose nothing that was acknowledged, and count nothing twice."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from crash_harness import Journal, Server, check, cut_off, die_at, kill_after, under_load

from fairx.store.crash_points import NAMES

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Journal]:
    """Kill a service on SQLite at each point, and once at random."""
    folder = tmp_path_factory.mktemp("crashes")
    server = Server(f"sqlite:///{folder}/store.db", folder)
    with under_load([server], seed=1) as journal:
        for i, point in enumerate(NAMES):
            die_at(server, point, 1 + 7 * (i % 3) if point.startswith(("before", "after")) else 1)
        kill_after(server, 0.3)
    return folder, journal


def test_kills_lose_nothing_on_sqlite(killed: tuple[Path, Journal]) -> None:
    folder, journal = killed
    assert check(f"sqlite:///{folder}/store.db", journal) == []
    assert journal.is_full(), journal.counts
    assert journal.counts["not answered"]  # the kills were felt


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM decisions WHERE sequence = 5", "was acknowledged as"),
        ("UPDATE decisions SET arm = (arm + 1) % 3 WHERE sequence = 5", "was acknowledged as"),
        ("DELETE FROM shown WHERE late = 0", "shown event of"),
        ("DELETE FROM rewards WHERE late = 1", "was acknowledged as"),
        ("UPDATE rewards SET value = value + 1 WHERE late = 0", "was learned as"),
        ("UPDATE matured SET reward = 2 * reward + 1", "was learned as"),
        ("UPDATE arms SET status = 'removed' WHERE version > 3", "were acknowledged as"),
        ("UPDATE statistics SET body = zeroblob(length(body))", "statistics say"),
    ],
)
def test_the_checker_finds_what_is_lost_or_counted_twice(
    killed: tuple[Path, Journal], tmp_path: Path, sql: str, message: str
) -> None:
    folder, journal = killed
    for file in folder.glob("store.db*"):
        shutil.copy(file, tmp_path)
    connection = apsw.Connection(str(tmp_path / "store.db"))
    connection.execute(sql)
    connection.close()
    problems = check(f"sqlite:///{tmp_path}/store.db", journal)
    assert any(message in problem for problem in problems), problems[:5]


def test_two_services_on_postgresql_one_killed_one_cut_off(
    postgres: Any, database_url: str, tmp_path: Path
) -> None:
    servers = [Server(database_url, tmp_path), Server(database_url, tmp_path)]
    with under_load(servers, seed=2) as journal:
        die_at(servers[0], "before_commit", 5)
        kill_after(servers[1], 0.3)
        cut_off(servers, postgres, 0.4)
        die_at(servers[1], "mid_snapshot", 1)
    assert check(database_url, journal) == []
    assert journal.is_full(), journal.counts
    assert journal.counts["not answered"]  # the kills were felt
