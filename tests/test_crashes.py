"""Real services killed under load lose nothing that was acknowledged, and count nothing twice."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import apsw
import pytest
from bad_weather import (
    backup,
    black_hole,
    clock_steps,
    cluster_with_a_disk,
    decided,
    dump,
    full_database,
    full_disk,
    lasting_lock,
    mistimed,
    only_reads,
    put_back,
    ready,
)
from crash_harness import Journal, Server, check, cut_off, die_at, kill_after, under_load
from stalling import proxy

from fairx.store.crash_points import NAMES

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Journal]:
    """Kill a service on SQLite at each point, and once at random; then bad weather comes."""
    folder, begun = tmp_path_factory.mktemp("crashes"), time.time()
    server = Server(f"sqlite:///{folder}/store.db", folder, clock=folder / "clock")
    with under_load([server], seed=1) as journal:
        for i, point in enumerate(NAMES):
            die_at(server, point, 1 + 7 * (i % 3) if point.startswith(("before", "after")) else 1)
        kill_after(server, 0.3)
        ready([server])
        full_disk(server, journal)
        lasting_lock(server, journal)
        clock_steps(server, journal)
        backup(server, journal, folder / "backup.db")
    journal.violations += mistimed(server.store, begun, time.time())
    return folder, journal


def test_kills_and_bad_weather_lose_nothing_on_sqlite(killed: tuple[Path, Journal]) -> None:
    folder, journal = killed
    assert check(f"sqlite:///{folder}/store.db", journal) == []
    assert journal.is_full(), journal.counts
    assert journal.counts["not answered"]  # the kills were felt
    weather = ("full disks", "lasting locks", "clock steps", "backups")
    assert [journal.counts[each] for each in weather] == [1, 1, 3, 1]


def test_a_restored_store_has_what_was_acknowledged_before_its_backup(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/store.db", tmp_path)
    journal = put_back(server, seed=3, out=tmp_path / "backup.db")
    assert check(server.store, journal) == []
    assert journal.counts["restores"] == 1


def test_a_clock_that_jumps_would_be_noticed(killed: tuple[Path, Journal], tmp_path: Path) -> None:
    folder, _ = killed
    store, now = f"sqlite:///{tmp_path}/backup.db", time.time()
    shutil.copy(folder / "backup.db", tmp_path)
    assert mistimed(store, 0.0, now) == []
    assert "but it was" in mistimed(store, now, now)[0]
    connection = apsw.Connection(str(tmp_path / "backup.db"))
    connection.execute("UPDATE matured SET time = time - 7200")
    connection.close()
    assert "before their windows ended" in mistimed(store, 0.0, now)[0]


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


def test_two_services_on_postgresql_killed_and_cut_off_in_bad_weather(
    postgres: Any, database_url: str, tmp_path: Path
) -> None:
    with proxy(postgres.port) as between:
        far = database_url.replace(f":{postgres.port}/", f":{between.port}/")
        servers = [Server(far, tmp_path), Server(database_url, tmp_path)]
        with under_load(servers, seed=2) as journal:
            die_at(servers[0], "before_commit", 5)
            kill_after(servers[1], 0.3)
            cut_off(servers, postgres, 0.4)
            die_at(servers[1], "mid_snapshot", 1)
            ready(servers)
            black_hole(servers[0], between, journal)
            only_reads(servers, postgres, journal)
            dump(database_url, postgres, journal)
    assert check(database_url, journal) == []
    assert journal.is_full(), journal.counts
    weather = ("black holes", "primaries that only read", "dumps")
    assert [journal.counts[each] for each in weather] == [1, 1, 1]
    assert journal.counts["not answered"]  # the kills were felt


def test_a_full_disk_of_postgresql_loses_nothing(tmp_path: Path, postgres: Any) -> None:
    with cluster_with_a_disk(postgres.programs) as (database, disk):
        if disk is None:
            pytest.skip("a disk of its own must not be mounted here")
        servers = [Server(database.create_database(), tmp_path)]
        with under_load(servers, seed=4) as journal:
            decided(journal, 30)
            full_database(servers, database, journal, disk)
            decided(journal, 30)
        assert check(servers[0].store, journal) == []
