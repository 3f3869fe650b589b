"""Stores that an older fairx wrote: they open for ever, are verified, and served on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from asking import SECRET, E, serving
from test_store import count

from fairx.store import located, verify
from fairx.store.archives.moving import Archivist
from fairx.store.database import grouped
from fairx.store.seals import keyed
from fairx.store.sqlite import SQLite

# Written by the fairx of store versions 2, 3 and 4: counts, slates, contexts, a unit erased, an experiment
# deleted, decisions that wait, rewards that are final, late and parked; by 3, with seals and long lists;
# by 4, with digests in the place of these, and a token that expires.
DATA = Path(__file__).parent / "data"
TABLES = (
    "meta", "experiments", "arms", "decisions", "waiting", "shown", "rewards", "matured", "statistics",
    "snapshots", "checkpoints", "tokens", "actions",
)  # fmt: skip
ADDED = {2: (), 3: ("seals",), 4: ("seals", "pools", "token_ends")}


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
