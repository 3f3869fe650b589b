"""The cluster that other tests rely on: what is committed survives a crash, nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from conftest import unavailable
from postgres_cluster import Cluster, binaries, cluster, remove_leftovers


def count(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from kept").fetchone()
    assert row is not None
    return int(row[0])


def fill(url: str, rows: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("create table kept as select generate_series(1, %s)", [rows])


def test_a_crash_keeps_what_was_committed(postgres: Cluster, database_url: str) -> None:
    fill(database_url, 10)
    with psycopg.connect(database_url) as cut_off:
        cut_off.execute("insert into kept values (11)")
        postgres.crash()
        assert not postgres.running()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(database_url)
        with pytest.raises(psycopg.OperationalError):
            cut_off.execute("insert into kept values (12)")
    postgres.start()
    assert count(database_url) == 10


def test_a_test_may_leave_it_stopped(postgres: Cluster, database_url: str) -> None:
    fill(database_url, 1)
    postgres.stop()


@pytest.mark.parametrize("_", range(2))
def test_every_test_has_an_empty_database(database_url: str, _: int) -> None:
    fill(database_url, 1)


def test_connections_are_cut(postgres: Cluster, database_url: str) -> None:
    first = psycopg.connect(database_url, application_name="first")
    second = psycopg.connect(database_url, application_name="second")
    assert postgres.disconnect("first") == 1
    with pytest.raises(psycopg.OperationalError):
        first.execute("select 1")
    second.execute("select 1")
    assert postgres.disconnect() == 1
    with pytest.raises(psycopg.OperationalError):
        second.execute("select 1")
    first.close()
    second.close()


def test_commits_are_synced_and_only_loopback_listens(postgres: Cluster) -> None:
    assert postgres.execute("show fsync") == [("on",)]
    assert postgres.execute("show synchronous_commit") == [("on",)]
    assert postgres.execute("show listen_addresses") == [("127.0.0.1",)]


def test_a_password_is_needed(postgres: Cluster) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres.url().replace(postgres.password, "guess"))


def test_nothing_stays_after_an_error() -> None:
    folders, servers = [], []

    def fail() -> None:
        with cluster(programs()) as made:
            folders.append(made.folder)
            servers.append(postmaster(made.folder))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not folders[0].exists()
    assert not alive(servers[0])


def test_what_a_killed_run_left_is_removed(postgres: Cluster) -> None:
    left = (
        "import os, signal, postgres_cluster\n"
        "with postgres_cluster.cluster(postgres_cluster.binaries()) as made:\n"
        "    print(made.folder, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", left]
    done = subprocess.run(
        command, env=here, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    folder = Path(done.stdout.strip())
    if folder.exists():  # another worker may have removed it already
        server = postmaster(folder)
        remove_leftovers(programs())
        assert not alive(server)
    assert not folder.exists()
    assert postgres.running()


def programs() -> Path:
    return binaries() or unavailable("needs PostgreSQL: apt-get install postgresql")


def postmaster(folder: Path) -> int:
    return int((folder / "data" / "postmaster.pid").read_text().split()[0])


def alive(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
