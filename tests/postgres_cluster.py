"""A PostgreSQL cluster of the tests' own: a temporary folder, a free loopback port, no root."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import random
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

PREFIX = "fairx-postgres-"
ATTEMPTS = 5  # another process may take the free port before the server does


def binaries() -> Path | None:
    """Return the folder of initdb and pg_ctl: the one in PATH, or Debian's newest; None without."""
    found = shutil.which("pg_ctl")
    debian = Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")
    newest = sorted(debian, key=lambda path: float(path.parts[-3]))
    return Path(found).resolve().parent if found else newest[-1].parent if newest else None


@dataclass
class Cluster:
    """A server in a folder of its own, which is locked while the process that made it lives."""

    programs: Path
    folder: Path
    lock: int
    port: int = 0
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    user: str | None = field(default_factory=lambda: server_user())

    def create(self) -> None:
        """Make the files and start, on another port should the first be taken."""
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self.user:
            shutil.chown(self.folder, self.user)
            shutil.chown(secret, self.user)
        options = ["--no-sync", "--encoding=UTF8", "--locale=C", "--username=postgres"]
        options += ["--auth=scram-sha-256", f"--pwfile={secret}"]
        self.call("initdb", f"--pgdata={self.data}", *options)
        for _ in range(ATTEMPTS - 1):
            self.port = free_port()
            with contextlib.suppress(RuntimeError):
                self.start()
                return
        self.port = free_port()
        self.start()

    @property
    def data(self) -> Path:
        """The folder of the cluster's files."""
        return self.folder / "data"

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://postgres:{self.password}@127.0.0.1:{self.port}/{database}"

    def running(self) -> bool:
        """Return whether the server runs."""
        return self.finished("pg_ctl", "status", f"--pgdata={self.data}").returncode == 0

    def start(self) -> None:
        """Start the server, on the port it had, and wait until it takes connections."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "fsync": "on",  # what is acknowledged is on the disk, as in production
            "shared_buffers": "16MB",
            "max_wal_size": "128MB",  # small disks are not to fill by themselves
        }
        given = " ".join(f"-c {name}={value}" for name, value in settings.items())
        log = self.folder / "log"
        try:
            self.call("pg_ctl", "start", "-w", f"-D{self.data}", f"-l{log}", f"-o{given}")
        except RuntimeError as error:
            raise RuntimeError(f"{error}{log.read_text() if log.exists() else ''}") from None

    def stop(self) -> None:
        """Stop in good order; connections are closed."""
        self.call("pg_ctl", "stop", "-w", f"-D{self.data}", "-mfast")

    def crash(self) -> None:
        """Stop at once, without a checkpoint: `start` recovers from the write-ahead log."""
        self.call("pg_ctl", "stop", "-w", f"-D{self.data}", "-mimmediate")

    def promote(self) -> None:
        """Have a standby take over."""
        self.call("pg_ctl", "promote", "-w", f"-D{self.data}")

    def disconnect(self, application: str | None = None) -> int:
        """Cut all connections, or those of one `application_name`; return how many."""
        query = (
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where backend_type = 'client backend' and pid <> pg_backend_pid()"
            " and application_name = coalesce(%s, application_name)"
        )
        return int(self.execute(query, [application])[0][0])

    def create_database(self, encoding: str = "UTF8") -> str:
        """Create an empty database and return its address."""
        name = f"test_{secrets.token_hex(8)}"
        self.execute(f"create database {name} encoding '{encoding}' template template0")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, whoever is still connected."""
        self.execute(f"drop database {url.rpartition('/')[2]} with (force)")

    def execute(self, query: str, values: list[Any] | None = None) -> list[Any]:
        """Run one statement as the superuser, outside of a transaction."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(query.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        """Stop the server, whatever state it is in, and remove its files."""
        with contextlib.suppress(RuntimeError):  # it does not run
            self.crash()
        shutil.rmtree(self.folder)
        os.close(self.lock)

    def call(self, program: str, *arguments: str) -> None:
        """Run a program of PostgreSQL's; raise what it says if it fails."""
        done = self.finished(program, *arguments)
        if done.returncode:
            raise RuntimeError(f"{program} failed ({done.returncode}): {done.stdout}{done.stderr}")

    def finished(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of PostgreSQL's as a user that is not root."""
        names: dict[str, Any] = {"user": self.user, "group": group_of(self.user)}
        if self.user:
            names["extra_groups"] = []
        command = [str(self.programs / program), *arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C"}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True,
            timeout=120, check=False, **names,
        )  # fmt: skip


@contextlib.contextmanager
def cluster(programs: Path, folder: Path | None = None) -> Iterator[Cluster]:
    """Run a cluster, in a folder if one is given, and remove it, also after an error."""
    remove_leftovers(programs)
    made = Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}", dir=folder))
    lock = hold(made)  # before it has the name that others look for
    running = Cluster(programs, made.rename(made.with_name(made.name.removeprefix("new-"))), lock)
    try:
        running.create()
        yield running
    finally:
        running.remove()


@contextlib.contextmanager
def standby(primary: Cluster) -> Iterator[Cluster]:
    """Run a second server that follows a first one, and can take its place (`promote`)."""
    folder = primary.folder / "standby"
    folder.mkdir()
    if primary.user:
        shutil.chown(folder, primary.user)
    found = Cluster(primary.programs, folder, primary.lock, free_port(), primary.password)
    try:
        found.call(
            "pg_basebackup", f"--pgdata={found.data}", f"--dbname={primary.url()}",
            "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream",
        )  # fmt: skip
        found.start()
        yield found
    finally:
        with contextlib.suppress(RuntimeError):
            found.crash()
        shutil.rmtree(folder)


def server_user() -> str | None:
    """Return who runs the server: PostgreSQL refuses root; None for who we are."""
    if os.getuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def group_of(user: str | None) -> int | None:
    """Return the user's main group."""
    return pwd.getpwnam(user).pw_gid if user else None


def free_port() -> int:
    """Return a port that nobody has, and nobody gets while the server is down.

    It is below those that the system gives to outgoing connections: one to a port where nobody
    listens can meet itself there, and keep the server from coming back.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def hold(folder: Path) -> int:
    """Lock a folder for as long as this process lives; BlockingIOError if another holds it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    return lock


def remove_leftovers(programs: Path) -> None:
    """Remove the clusters of test runs that were killed: their folders are locked by nobody."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # in use, another user's, or just removed
            Cluster(programs, folder, hold(folder)).remove()
