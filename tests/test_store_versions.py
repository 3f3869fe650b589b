"""Stores that an older fairx wrote: they open for ever, are verified, and served on."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from asking import SECRET, E, serving
from test_store import count

from fairx.store import Archive, located, verify
from fairx.store.archives.moving import Archivist
from fairx.store.database import grouped
from fairx.store.seals import keyed
from fairx.store.sqlite import SQLite
from fairx.store.tables import VERSION, VERSION_OF

# Written by the fairx of store versions 2, 3, 4 and 5: counts, slates, contexts, a unit erased, an experiment
# deleted, decisions that wait, rewards that are final, late and parked; by 3, with seals and long lists;
# by 4, with digests in the place of these, and a token that expires; by 5, with an archive of all experiments,
# in which the unit was erased, and rewards that wait with their decisions.
DATA = Path(__file__).parent / "data"
TABLES = (
    "meta", "experiments", "arms", "decisions", "waiting", "shown", "rewards", "matured", "statistics",
    "snapshots", "checkpoints", "tokens", "actions",
)  # fmt: skip
FOURTH = ("seals", "pools", "token_ends")
ADDED = {2: (), 3: ("seals",), 4: FOURTH, 5: (*FOURTH, "archives", "archived", "archived_arms")}


def unpacked(folder: Path, version: int) -> Path:
    """Return a store of a version."""
    path = folder / f"{version}.db"
    path.write_bytes(gzip.decompress((DATA / f"store-{version}.db.gz").read_bytes()))
    return path


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """Return a store of version 2."""
    return unpacked(tmp_path, 2)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store of version 2, of each kind."""
    return located_in(request, tmp_path, 2)


@pytest.fixture(params=["sqlite", "postgresql"])
def third(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store of version 3, of each kind."""
    return located_in(request, tmp_path, 3)


@pytest.fixture(params=["sqlite", "postgresql"])
def fourth(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store of version 4, of each kind."""
    return located_in(request, tmp_path, 4)


@pytest.fixture(params=["sqlite", "postgresql"])
def fifth(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a store of version 5, of each kind."""
    return located_in(request, tmp_path, 5)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return the folder of what is archived of the store of version 5."""
    with zipfile.ZipFile(DATA / "store-5-archive.zip") as files:
        files.extractall(tmp_path / "archive")
    return tmp_path / "archive"


def located_in(request: pytest.FixtureRequest, folder: Path, version: int) -> str:
    """Return the address of a store of a version, on SQLite or PostgreSQL."""
    path = unpacked(folder, version)
    if request.param == "sqlite":
        return f"sqlite:///{path}"
    url: str = request.getfixturevalue("database_url")
    import psycopg

    source = SQLite(path, write=False)
    with psycopg.connect(url, autocommit=True) as target:
        target.execute((DATA / f"store-{version}.sql").read_bytes())
        for table in (*TABLES, *ADDED[version]):
            for marks, values in grouped(source.rows(f"SELECT * FROM {table}")):
                insert = f"INSERT INTO {table} VALUES {marks.replace('?', '%s')}"
                target.execute(insert.encode(), values)
        for table, column in (("decisions", "sequence"), ("experiments", "id"), ("actions", "id")):
            last = f"(SELECT max({column}) FROM {table})"
            moved = f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {last})"
            target.execute(moved.encode())
    source.close()
    return url


def test_the_version_of_today_has_a_store_here(tmp_path: Path) -> None:
    """Whoever raises it leaves one with decisions, which is to open for ever."""
    reader = SQLite(unpacked(tmp_path, int(VERSION)), write=False)
    assert reader.rows(VERSION_OF) == [(VERSION,)]
    assert reader.rows("SELECT count(*) > 0 FROM decisions") == [(1,)]
    reader.close()


def test_a_store_of_version_2_is_read(address: str) -> None:
    reader = located(address).reader()
    found = verify(reader, SECRET)
    reader.close()
    assert found.problems == ()
    assert (found.experiments, found.decisions, found.matured, found.erased) == (4, 65, 48, 4)


def test_a_store_of_version_2_is_not_changed_by_a_reader(second: Path) -> None:
    before = second.read_bytes()
    located(f"sqlite:///{second}").reader().close()
    assert second.read_bytes() == before


def test_a_store_of_version_2_is_served_on(address: str) -> None:
    with serving(address) as service:
        service.now += 300
        answers = [service.decide(f"k{i}") for i in range(12, 16)]  # all of them are repeated
        assert service.get(f"{E}/shop/status")["decisions"] == 16
        assert service.reward(answers[0]["decision"], 1) == "accepted"
        service.decide("new", "page", places=2)
        service.decide("new", "reader", contexts=[[0.0, 1.0]] * 3, unit="u9")
        assert service.post(f"{E}/reader/erase", {"unit": "u2"})["erased"] == 8
        service.later(200)
        reader = service.runtime.store.reader()
        found = verify(reader, SECRET)
        assert (found.problems, found.sealed) == ((), True)
        assert (found.decisions, found.matured, count(reader, "waiting")) == (68, 67, 1)
        reader.close()


def test_a_store_of_version_3_is_read(third: str) -> None:
    reader = located(third).reader()
    found = verify(reader, SECRET)
    reader.close()
    assert (found.problems, found.sealed) == ((), True)
    assert (found.experiments, found.decisions, found.matured, found.erased) == (5, 104, 93, 12)


def test_a_store_of_version_3_is_served_on(third: str) -> None:
    with serving(third) as service:
        service.now += 400
        again = service.decide("m0", "many", probabilities=True)  # whole lists of before
        assert len(again["probabilities"]) == 150
        many = list(again["probabilities"])
        assert (
            service.decide("mc0", "many", candidates=many[10:145])["snapshot"] == again["snapshot"]
        )
        service.decide("new", "many", candidates=many[10:145])
        service.decide("new slate", "many", places=2)
        service.decide("new", "reader", contexts=[[0.0, 1.0]] * 3, unit="u2")
        assert service.post(f"{E}/reader/erase", {"unit": "u2"})["erased"] == 5
        service.later(200)
        reader = service.runtime.store.reader()
        found = verify(reader, SECRET)
        assert (found.problems, found.sealed) == ((), True)
        assert (found.decisions, count(reader, "waiting"), count(reader, "pools")) == (108, 0, 1)
        reader.close()


def test_a_store_of_version_4_is_read(fourth: str) -> None:
    reader = located(fourth).reader()
    found = verify(reader, SECRET)
    reader.close()
    assert (found.problems, found.sealed) == ((), True)
    assert (found.experiments, found.decisions, found.matured, found.erased) == (5, 90, 54, 6)


def test_a_store_of_version_4_is_served_on_and_archived(fourth: str, tmp_path: Path) -> None:
    with serving(fourth) as service:
        service.now += 400
        again = service.decide("m0", "many", probabilities=True)  # told again from a digest
        assert len(again["probabilities"]) == 150
        for name in ("shop", "page", "many"):
            service.decide("new", name)
        service.later(200)
        service.decide("newer", "many")
        now = service.now
    database = keyed(located(fourth), SECRET)
    moved = Archivist(database, SECRET, tmp_path / "archive", now).run(now + 1).decisions
    database.close()
    reader = located(fourth).reader()
    found = verify(reader, SECRET)
    assert (found.problems, found.sealed) == ((), True)
    assert (found.decisions, count(reader, "decisions")) == (94, 94 - moved)
    assert moved > 60
    reader.close()


def test_a_store_of_version_5_is_read_across_its_archive(fifth: str, archive: Path) -> None:
    reader = located(fifth).reader()
    found = verify(reader, SECRET, archive=Archive(archive))
    stored = count(reader, "decisions")
    without = verify(reader, SECRET, archive=Archive(read=False))
    reader.close()
    assert (found.problems, found.sealed, found.archived) == ((), True, 0)
    assert (found.experiments, found.decisions, found.matured, found.erased) == (5, 151, 109, 12)
    assert stored == 84
    assert (without.problems, without.decisions + without.archived) == ((), 151)
    assert without.archived >= 151 - 84


def test_a_file_that_the_store_of_version_5_lacks_is_missed(fifth: str, archive: Path) -> None:
    min(archive.glob("*-decisions-*")).unlink()
    reader = located(fifth).reader()
    assert verify(reader, SECRET, archive=Archive(archive)).problems
    reader.close()


def test_a_store_of_version_5_decides_learns_and_archives_on(fifth: str, archive: Path) -> None:
    with serving(fifth) as service:
        service.runtime.archive = archive
        service.now += 572  # a second later than what was last learned there
        again = service.decide("m20", "many", probabilities=True)  # told again from a digest
        assert len(again["probabilities"]) == 150
        assert (
            service.ask("POST", f"{E}/shop/decide", {"key": "k1", "unit": "u1"}).status_code == 409
        )
        waits = service.decide("k24", unit="u0")["decision"]
        assert service.reward(waits, 1, id="second") == "accepted"
        service.decide("early")  # its reward is there since before
        page = service.decide("p24", "page", places=[1.0, 0.5])["decision"]
        assert service.reward(page, 1, "page", place=2) == "accepted"
        learned = {name: service.get(f"{E}/{name}/status")["mature"] for name in ("shop", "page")}
        service.later(200)
        for name, before in learned.items():
            assert service.get(f"{E}/{name}/status")["mature"] > before
        assert (
            service.post(f"{E}/reader/erase", {"unit": "u1"})["erased"] == 6
        )  # of these, archived ones too
        now = service.now
    database = keyed(located(fifth), SECRET)
    moved = Archivist(database, SECRET, archive, now).run(now + 1).decisions
    database.close()
    reader = located(fifth).reader()
    found = verify(reader, SECRET, archive=Archive(archive))
    assert (found.problems, found.sealed, count(reader, "waiting")) == ((), True, 0)
    assert (found.decisions, count(reader, "decisions")) == (152, 85 - moved)
    assert (moved > 60, found.erased > 12) == (True, True)
    reader.close()
