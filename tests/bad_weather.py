"""Bad weather for services under load: what is around them fails, and nothing acknowledged is lost.

python tests/bad_weather.py --store sqlite --rounds 10
python tests/bad_weather.py --store postgresql --rounds 5
python tests/bad_weather.py --store sqlite --before CHECKOUT    # an older fairx, then this one

SQLite: a full disk (of its own where this may mount one, else by a limit), a lock that lasts, a clock that is set,
backups, a restore. PostgreSQL: a connection that swallows everything, a primary that only reads, a full disk (where this
may mount one), dumps, connections cut, a crash. All: kills, slates, and in the end a check of every line.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import psycopg
from crash_harness import (
    PATIENCE,
    SECRET,
    Journal,
    Server,
    asked,
    check,
    cut_off,
    kill_after,
    under_load,
)
from postgres_cluster import Cluster, binaries, cluster
from stalling import Proxy, proxy
from stepping import set_clock

from fairx.store import located

STEPS = (7200.0, -3600.0, 0.0)  # seconds that the clock is set ahead
GIVEN_UP = 10.0  # seconds in which a connection that answers nothing must be given up


# What is seen of a service.


def comes(server: Server, status: int, within: float = PATIENCE) -> float:
    """Wait until `/readyz` says so; return how many seconds it took."""
    begun, found = time.monotonic(), 0
    while found != status:
        passed = time.monotonic() - begun
        if passed > within:
            raise TimeoutError(f"/readyz is {found}, not {status}, after {passed:.1f} s")
        with contextlib.suppress(OSError, http.client.HTTPException):
            found = asked(server.port, "GET", "/readyz", timeout=2 * GIVEN_UP)[0]
        time.sleep(0.02)
    return time.monotonic() - begun


@contextmanager
def felt(servers: Sequence[Server], journal: Journal, name: str) -> Iterator[None]:
    """Check that weather is felt: services are not ready, clients are refused; and that it passes."""
    before = journal.counts["not answered"]
    try:
        yield
        for server in servers:
            comes(server, 503)
        end = time.monotonic() + PATIENCE
        while journal.counts["not answered"] == before:
            assert time.monotonic() < end, f"{name}: nobody was refused"
            time.sleep(0.02)
    finally:
        journal.counts[name] += 1


def ready(servers: Sequence[Server]) -> None:
    """Wait until all are ready, by themselves if they live."""
    for server in servers:
        if not server.lives():
            server.start()
        comes(server, 200)


def decided(journal: Journal, count: int) -> None:
    """Wait until so many more decisions were acknowledged."""
    end, wanted = time.monotonic() + PATIENCE, len(journal.decisions) + count
    while len(journal.decisions) < wanted:
        assert time.monotonic() < end, "nothing is decided"
        time.sleep(0.02)


# SQLite.


@contextmanager
def no_file_grows(server: Server) -> Iterator[None]:
    """Have the system refuse what a process writes, as on a full disk."""
    assert server.process is not None
    number = server.process.pid
    soft, hard = resource.prlimit(number, resource.RLIMIT_FSIZE)
    resource.prlimit(number, resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.prlimit(number, resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Write until the disk of a folder is full; in the end there is room again."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        size = 1 << 20
        while size:  # the last bytes too
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
    try:
        yield
    finally:
        path.unlink()


@contextmanager
def disk_of_its_own(folder: Path, size: str = "64m") -> Iterator[Path | None]:
    """Mount a small disk, if we may; None where we may not."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    try:
        yield place if done else None
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(place)], check=False)


def full_disk(server: Server, journal: Journal, disk: Path | None = None) -> None:
    """Fill the disk for as long as it takes to be felt."""
    with filled(disk) if disk else no_file_grows(server), felt([server], journal, "full disks"):
        pass
    comes(server, 200)


def lasting_lock(server: Server, journal: Journal) -> None:
    """Lock the file, as somebody's console may."""
    other = apsw.Connection(str(located(server.store).path))
    other.set_busy_timeout(10_000)
    other.execute("BEGIN IMMEDIATE")
    try:
        with felt([server], journal, "lasting locks"):
            pass
    finally:
        other.execute("ROLLBACK")
        other.close()
    comes(server, 200)


def clock_steps(server: Server, journal: Journal) -> None:
    """Set the clock back and forth while decisions are made, and end as it was."""
    assert server.clock is not None
    for ahead in STEPS:
        set_clock(server.clock, ahead)
        journal.counts["clock steps"] += 1
        decided(journal, 20)
    assert comes(server, 200) < PATIENCE


def mistimed(store: str, begun: float, ended: float) -> list[str]:
    """Say which lines are of a time that never was, or were learned from before they were due."""
    database = located(store).reader()
    try:
        sql = "SELECT count(*), min(time), max(time) FROM {}"
        found = {name: database.rows(sql.format(name))[0] for name in ("decisions", "matured")}
        early = database.rows(
            "SELECT count(*) FROM matured m JOIN decisions d ON d.sequence = m.sequence "
            "WHERE m.time < d.due"
        )[0][0]
    finally:
        database.close()
    problems = [f"{early} decisions were learned from before their windows ended"] if early else []
    for name, (count, first, last) in found.items():
        if count and not begun - 1 <= first <= last <= ended + 1:
            problems.append(f"{name} are of {first} to {last}, but it was {begun} to {ended}")
    return problems


def fairx(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of fairx."""
    return subprocess.run(
        [sys.executable, "-m", "fairx", *arguments], env=os.environ | {"FAIRX_SECRET": SECRET},
        capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
    )  # fmt: skip


def backup(server: Server, journal: Journal, out: Path) -> Journal:
    """Back up under load; return what the copy must have. What it lacks is a violation."""
    then = journal.copy()
    done = fairx("backup", "--store", server.store, str(out))
    assert done.returncode == 0, done.stderr
    then.sent |= journal.sent
    journal.violations += [f"backup: {each}" for each in check(f"sqlite:///{out}", then)]
    journal.counts["backups"] += 1
    return then


def restored(server: Server, out: Path) -> subprocess.CompletedProcess[str]:
    """Put a backup in the place of the store."""
    return fairx("restore", str(out), "--replace", "--store", server.store)


def put_back(server: Server, seed: int, out: Path) -> Journal:
    """Back up and restore; return what was acknowledged before the one and after the other."""
    with under_load([server], seed) as journal:
        decided(journal, 50)
        then = backup(server, journal, out)
        refused = restored(server, out)
        assert "is in use" in refused.stderr, refused
        assert refused.returncode == 1
        decided(journal, 50)
        then.violations += journal.violations
    server.start()
    comes(server, 200)
    server.end(signal.SIGKILL)
    done = restored(server, out)
    assert done.returncode == 0, done.stderr
    with under_load([server], seed + 1, journal=then):
        decided(then, 50)
        then.counts["restores"] += 1
    return then


# PostgreSQL.


@contextmanager
def cluster_with_a_disk(programs: Path) -> Iterator[tuple[Cluster, Path | None]]:
    """Run a cluster on a disk of its own, if we may mount one."""
    with tempfile.TemporaryDirectory(prefix="fairx-disk-") as folder:
        Path(folder).chmod(0o711)  # PostgreSQL is another user
        with disk_of_its_own(Path(folder), "400m") as disk, cluster(programs, disk) as database:
            yield database, disk


def full_database(
    servers: Sequence[Server], database: Cluster, journal: Journal, disk: Path
) -> None:
    """Fill the disk of the database: it refuses to write, or stops, and is started when there is room."""
    with filled(disk), felt(servers, journal, "full disks"):
        pass
    if not database.running():
        database.start()
    ready(servers)


def black_hole(server: Server, between: Proxy, journal: Journal) -> None:
    """Swallow all that a service and its database say, and give it back when it was given up."""
    between.stall()
    begun = time.monotonic()
    try:
        with felt([server], journal, "black holes"):
            comes(server, 503)
        assert time.monotonic() - begun < GIVEN_UP + 5.0  # the last one for a busy machine
        time.sleep(max(0.0, GIVEN_UP - (time.monotonic() - begun)))  # connections are given up
    finally:
        between.flow()
    comes(server, 200)


def only_reads(servers: Sequence[Server], database: Cluster, journal: Journal) -> None:
    """Have the primary refuse what is written, as one does that was demoted."""
    database.execute("alter system set default_transaction_read_only = on")
    database.execute("select pg_reload_conf()")
    try:
        with felt(servers, journal, "primaries that only read"):
            pass
    finally:
        with psycopg.connect(database.url(), autocommit=True) as session:
            session.execute("set default_transaction_read_only = off")
            session.execute("alter system reset default_transaction_read_only")
            session.execute("select pg_reload_conf()")
    ready(servers)


def dump(store: str, database: Cluster, journal: Journal) -> None:
    """Dump under load, restore elsewhere, and look for what was acknowledged before."""
    then, file = journal.copy(), database.folder / "dump"
    database.call("pg_dump", "--format=custom", f"--file={file}", store)
    then.sent |= journal.sent
    copy = database.create_database()
    database.call("pg_restore", f"--dbname={copy}", str(file))
    journal.violations += [f"dump: {each}" for each in check(copy, then)]
    database.drop_database(copy)
    file.unlink()
    journal.counts["dumps"] += 1


# Long runs.


def on_sqlite(folder: Path, rounds: int, seed: int) -> tuple[Journal, list[str]]:
    """Make all weather of SQLite, in turns that differ."""
    chance, begun = random.Random(seed), time.time()
    with disk_of_its_own(folder) as disk:
        sys.stdout.write(f"a disk of its own: {'yes' if disk else 'no: by a limit'}\n")
        store = f"sqlite:///{disk or folder}/store.db"
        server = Server(store, folder, clock=folder / "clock")
        out = folder / "backup.db"
        with under_load([server], seed) as journal:
            weather: list[Callable[[], object]] = [
                lambda: full_disk(server, journal, disk),
                lambda: lasting_lock(server, journal),
                lambda: clock_steps(server, journal),
                lambda: backup(server, journal, out),
                lambda: kill_after(server, chance.uniform(0, 1.5)),
            ]
            for _ in range(rounds):
                for one in chance.sample(weather, len(weather)):
                    ready([server])
                    one()
                    decided(journal, 10)
        problems = [*check(store, journal), *mistimed(store, begun, time.time())]
        other = f"sqlite:///{disk or folder}/other.db"
        then = put_back(Server(other, folder), seed + 1, out)
        journal.counts.update(restores=then.counts["restores"])
        return journal, [*problems, *check(other, then)]


def on_postgresql(folder: Path, rounds: int, seed: int) -> tuple[Journal, list[str]]:
    """Make all weather of PostgreSQL, in turns that differ."""
    programs, chance = binaries(), random.Random(seed)
    assert programs is not None, "apt-get install postgresql"
    with (
        cluster_with_a_disk(programs) as (database, disk),
        proxy(database.port) as between,
    ):
        sys.stdout.write(f"a disk of its own: {'yes' if disk else 'no: none is filled'}\n")
        store = database.create_database()
        far = store.replace(f":{database.port}/", f":{between.port}/")
        servers = [Server(far, folder), Server(store, folder)]
        with under_load(servers, seed) as journal:
            weather: list[Callable[[], object]] = [
                lambda: black_hole(servers[0], between, journal),
                lambda: only_reads(servers, database, journal),
                lambda: dump(store, database, journal),
                lambda: cut_off(servers, database, 0.5),
                lambda: kill_after(chance.choice(servers), chance.uniform(0, 1.5)),
            ]
            if disk:
                weather.append(lambda: full_database(servers, database, journal, disk))
            for _ in range(rounds):
                for one in chance.sample(weather, len(weather)):
                    ready(servers)
                    one()
                    decided(journal, 10)
        return journal, check(store, journal)


def upgraded(servers: Sequence[Server], seed: int) -> Journal:
    """Serve by an older fairx, then by this one, with the same clients; the older one refuses then."""
    with under_load(servers, seed) as journal:
        decided(journal, 200)
        for server in servers:  # all of the old version first, as the docs say
            server.end(signal.SIGKILL)
        before = [server.sources for server in servers]
        for server in servers:
            server.sources = None
            server.start()
        ready(servers)
        decided(journal, 200)
        servers[0].end(signal.SIGKILL)
        servers[0].sources = before[0]
        servers[0].start()
        process = servers[0].process
        assert process is not None
        assert process.wait(PATIENCE) != 0, "the older fairx serves a newer store"
        servers[0].sources = None
        servers[0].start()
        journal.counts["upgrades"] += 1
    return journal


def from_before(store: str, before: Path, folder: Path, seed: int) -> tuple[Journal, list[str]]:
    """Upgrade under load."""
    sources = before.resolve() / "src"
    if store == "sqlite":
        address = f"sqlite:///{folder}/store.db"
        journal = upgraded([Server(address, folder, sources=sources)], seed)
        return journal, check(address, journal)
    programs = binaries()
    assert programs is not None, "apt-get install postgresql"
    with cluster(programs) as database:
        address = database.create_database()
        servers = [Server(address, folder, sources=sources) for _ in range(2)]
        journal = upgraded(servers, seed)
        return journal, check(address, journal)


def main() -> int:
    """Make a long run, and print what was acknowledged and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--before", type=Path, help="a checkout of an older fairx")
    given = parser.parse_args()
    folder, begun = Path(tempfile.mkdtemp(prefix="fairx-weather-")), time.monotonic()
    if given.before:
        journal, problems = from_before(given.store, given.before, folder, given.seed)
    else:
        long = {"sqlite": on_sqlite, "postgresql": on_postgresql}[given.store]
        journal, problems = long(folder, given.rounds, given.seed)
    lines = [f"{name}: {number}" for name, number in sorted(journal.counts.items())]
    lines += [f"seconds: {time.monotonic() - begun:.0f}", f"logs: {folder}"]
    lines += [f"violations: {len(problems)}", *problems[:20]]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
