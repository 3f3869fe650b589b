"""What is between the service and PostgreSQL, and what takes its place: PgBouncer, a standby."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from asking import SECRET, E, Service, serving
from conftest import unavailable
from postgres_cluster import Cluster, free_port, group_of, standby

from fairx.service.remembering import key_of
from fairx.store import located, verify

PATIENCE = 60.0  # seconds


def _patiently(service: Service, path: str, body: Any) -> Any:
    """Return the answer of a service that comes back by itself, and how often it said 503."""
    end = time.monotonic() + PATIENCE
    while (answer := service.ask("POST", f"{E}/shop/{path}", body)).status_code == 503:
        assert answer.headers["retry-after"] == "1"
        assert time.monotonic() < end, answer.text
        time.sleep(0.1)
    assert answer.is_success, answer.text
    return answer.json()


def _check(address: str) -> None:
    """Make everything again that is on record."""
    database = located(address).reader()
    try:
        with database.transaction():
            assert verify(database, SECRET).problems == ()
    finally:
        database.close()


# A standby.


@contextmanager
def _mirrored(primary: Cluster) -> Iterator[Cluster]:
    """Run a standby that has whatever is acknowledged; in the end the primary is as before."""
    with standby(primary) as second:
        primary.execute("alter system set synchronous_standby_names = '*'")
        try:
            primary.execute("select pg_reload_conf()")
            end = time.monotonic() + PATIENCE
            while primary.execute("select sync_state from pg_stat_replication") != [("sync",)]:
                assert time.monotonic() < end
                time.sleep(0.05)
            yield second
        finally:
            if primary.running():
                primary.crash()
            (primary.data / "postgresql.auto.conf").write_text("")
            primary.start()


def test_a_standby_takes_over_and_nothing_acknowledged_is_lost(
    postgres: Cluster, database_url: str
) -> None:
    with _mirrored(postgres) as second:
        # The one that only reads comes first: who writes must look further.
        hosts = f"127.0.0.1:{second.port},127.0.0.1:{postgres.port}"
        address = database_url.replace(f"127.0.0.1:{postgres.port}", hosts)
        with serving(address) as service:
            service.create()
            made = {key: service.decide(key) for key in "abc"}
            assert service.reward(made["a"]["decision"], 1.0) == "accepted"
            postgres.crash()
            answer = service.ask("POST", f"{E}/shop/decide", {"key": "d"})
            assert answer.status_code == 503  # the standby only reads
            second.promote()
            made["d"] = _patiently(service, "decide", {"key": "d"})
            assert not service.runtime.answers.of(
                key_of(1, b'{"key": "a"}')
            )  # the new one is asked
            for key, first in made.items():
                assert service.decide(key) == first
            assert service.reward(made["a"]["decision"], 1.0) == "duplicate"
            assert service.get(f"{E}/shop/status")["decisions"] == 4
        _check(address)


# PgBouncer.


class Bouncer:
    """PgBouncer before a cluster, in session mode."""

    def __init__(self, program: str, primary: Cluster) -> None:
        self._program, self._primary, self.port = program, primary, free_port()
        self._folder = primary.folder / "pgbouncer"
        self._folder.mkdir()
        (self._folder / "users").write_text(f'"postgres" "{primary.password}"\n')
        (self._folder / "pgbouncer.ini").write_text(
            "[databases]\n"
            f"* = host=127.0.0.1 port={primary.port}\n"
            "[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {self._folder}/users\n"
            "pool_mode = session\nmax_client_conn = 200\ndefault_pool_size = 50\n"
        )
        if primary.user:
            for path in (self._folder, *self._folder.iterdir()):
                shutil.chown(path, primary.user)

    def start(self) -> None:
        user = self._primary.user
        names: dict[str, Any] = {"user": user, "group": group_of(user)}
        if user:
            names["extra_groups"] = []
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, str(self._folder / "pgbouncer.ini")], stdout=log, stderr=log, **names
            )  # fmt: skip

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._folder)


@pytest.fixture
def bouncer(postgres: Cluster) -> Iterator[Bouncer]:
    path = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
    program = shutil.which("pgbouncer", path=path)
    if program is None:
        unavailable("needs PgBouncer: apt-get install pgbouncer")
    found = Bouncer(program, postgres)
    found.start()
    yield found
    found.remove()


def test_the_service_works_behind_pgbouncer_and_when_it_is_killed(
    postgres: Cluster, bouncer: Bouncer, database_url: str
) -> None:
    address = database_url.replace(f":{postgres.port}/", f":{bouncer.port}/")
    _wait_for(address)
    with serving(address) as service, serving(address) as other:
        service.create()
        first = service.decide("a")
        assert other.decide("a") == first
        service.create("later")
        other.runner.run(other.runtime.reload())
        assert {each["name"] for each in other.get(E)["experiments"]} == {"shop", "later"}
        bouncer.kill()
        assert service.ask("POST", f"{E}/shop/decide", {"key": "b"}).status_code == 503
        bouncer.start()
        _patiently(service, "decide", {"key": "b"})
        assert service.decide("a") == first
        assert service.reward(first["decision"], 1.0) == "accepted"
    _check(database_url)


def _wait_for(address: str) -> None:
    """Wait until PgBouncer listens."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            located(address).reader().close()
        except psycopg.OperationalError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return
