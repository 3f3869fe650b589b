"""Seals: what is removed from the log, or changed in it, is missed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from asking import LINEAR, SECRET, E, Service, serving
from hypothesis import given
from hypothesis import strategies as st

from fairx.command import main
from fairx.store import Verified, located, verify
from fairx.store.anchors import behind
from fairx.store.sealing import MODULUS, Ledger, blinded, digest, revealed
from fairx.store.seals import KINDS, keyed


def fill(service: Service) -> None:
    """Decide, reward, show, change arms, erase, delete: a line of each kind, mature and waiting."""
    service.create(reward_window_s=100)
    service.create("reader", policy=LINEAR, dimension=1, reward_window_s=100)
    service.create("gone")
    for i in range(6):
        made = service.decide(f"k{i}")["decision"]
        service.reward(made, i % 2, id="click")
        service.reward(made, i % 2, id="click", final=True)
        service.post(f"{E}/shop/shown", {"decisions": [made]})
        service.decide(f"p{i}", places=2)
        service.decide(f"r{i}", "reader", contexts=[[1.0], [0.5], [0.0]], unit=f"u{i % 2}")
        service.later(20)
    service.post(f"{E}/shop/arms", {"add": ["d"]})
    service.post(f"{E}/reader/erase", {"unit": "u1"})
    service.post(f"{E}/reader/pause")
    service.ask("DELETE", f"{E}/gone")
    for refused in ({"add": ["d"]}, {"remove": ["none"]}):  # what is undone is not in the sums
        service.ask("POST", f"{E}/shop/arms", refused)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("seals") / "store.db"
    with serving(path) as service:
        fill(service)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path, whole: bytes) -> Path:
    (tmp_path / "store.db").write_bytes(whole)
    return tmp_path / "store.db"


def verified(address: str | Path, secret: bytes | None = SECRET) -> Verified:
    store = located(address if isinstance(address, str) else f"sqlite:///{address}")
    reader = store.reader()
    try:
        return verify(reader, secret, served=secret is not None)
    finally:
        reader.close()


def test_a_whole_store_has_no_problem(path: Path) -> None:
    found = verified(path)
    assert (found.problems, found.sealed) == ((), True)
    assert not verified(path, None).sealed


WAITING = "SELECT sequence FROM waiting ORDER BY sequence LIMIT 2"
TAMPERING = {
    "waiting decisions gone": (
        f"DELETE FROM decisions WHERE sequence IN ({WAITING}); DELETE FROM waiting WHERE sequence IN ({WAITING})",
        "shop: 2 of 1. lines of decisions are gone|reader: .* lines of decisions are gone",
    ),
    "a reward of a waiting decision gone": (
        "DELETE FROM rewards WHERE decision IN (SELECT id FROM decisions WHERE sequence IN (SELECT sequence FROM waiting))",
        "lines of rewards are gone",
    ),
    "a reward of a waiting decision changed": (
        "UPDATE rewards SET value = 1 - value WHERE decision IN (SELECT id FROM decisions WHERE sequence IN (SELECT sequence FROM waiting))",
        "shop: lines of rewards were changed",
    ),
    "a reward no longer final": ("UPDATE rewards SET final = 0", "lines of rewards were changed"),
    "a time of a decision": ("UPDATE decisions SET time = time - 1 WHERE sequence = 1", "lines of decisions were changed"),
    "all times": ("UPDATE decisions SET time = time + 60, due = due + 60", "lines of decisions were changed"),
    "windows cut short": ("UPDATE waiting SET due = due - 50", "reader: . decisions wait until another time than they were to"),
    "windows that never end": ("UPDATE waiting SET due = 1e12", "shop: .* decisions wait until another time than they were to"),
    "a time of a matured decision": ("UPDATE matured SET time = time + 1 WHERE number = 1", "lines of matured were changed"),
    "a time of a snapshot": ("UPDATE snapshots SET time = time + 1", "lines of snapshots were changed"),
    "a shown event gone": ("DELETE FROM shown", "6 of 6 lines of shown are gone"),
    "an action gone": ("DELETE FROM actions WHERE action = 'erase'", "the store: 1 of .* lines of actions are gone"),
    "an action changed": ("UPDATE actions SET actor = 'nobody'", "the store: lines of actions were changed"),
    "an experiment gone": (
        "; ".join(f"DELETE FROM {table} WHERE experiment = 2" for table in ("decisions", "waiting", "shown", "rewards", "matured", "statistics", "snapshots", "arms", "seals"))
        + "; DELETE FROM experiments WHERE id = 2",
        "the store: 1 of 3 lines of experiments are gone",
    ),
    "an experiment back": ("UPDATE experiments SET status = 'paused' WHERE name = 'gone'", "the store: lines of experiments were changed"),
    "a unit of another": ("UPDATE decisions SET unit = 'x' WHERE unit = 'u0'", "reader: lines of decisions were changed"),
    "a reward added": (
        "INSERT INTO rewards SELECT decision, 'more', experiment, 1.0, 0, 1, time FROM rewards LIMIT 1",
        "shop: 1 lines of rewards were added",
    ),
    "a seal gone": ("DELETE FROM seals WHERE kind = 'rewards'", "lines of rewards were added"),
    "all seals gone": ("DELETE FROM seals", "were added"),
    "the mark gone": ("DELETE FROM seals; DELETE FROM meta WHERE name = 'sealed'", "its seals are gone"),
    "all marks gone": ("DELETE FROM meta WHERE name IN ('secret', 'sealed')", "its seals are gone"),
    "nothing left of seals": (
        "DELETE FROM seals; DELETE FROM meta WHERE name IN ('secret', 'sealed')", "its seals are gone",
    ),
    "a count lowered": (
        "DELETE FROM actions WHERE action = 'erase'; UPDATE seals SET lines = lines - 1 WHERE kind = 'actions'",
        "lines of actions were changed",
    ),
    "seals of another kind": (
        "UPDATE seals SET (lines, nonce, value) = (SELECT lines, nonce, value FROM seals WHERE kind = 'shown') WHERE kind = 'rewards'",
        "lines of rewards",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAMPERING)
def test_what_is_gone_or_changed_is_missed(path: Path, kind: str) -> None:
    statements, message = TAMPERING[kind]
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()
    problems = verified(path).problems
    assert any(re.search(message, problem) for problem in problems), problems


def test_what_was_learned_before_its_window_ended_is_noticed(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE waiting SET due = 0")
    connection.close()
    with serving(path) as service:
        service.now += 121  # where the filled one stopped
        service.later(0)
    problems = verified(path).problems
    assert any("learned before their window ended" in problem for problem in problems), problems


def test_two_processes_seal_together(database_url: str) -> None:
    with serving(database_url) as one, serving(database_url) as other:
        fill(one)
        for i in range(5):
            other.decide(f"o{i}")
            one.decide(f"o{i}")
        other.later(300)
        found = verified(database_url)
        assert (found.problems, found.sealed) == ((), True)
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM shown")
    assert "shop: 6 of 6 lines of shown are gone" in verified(database_url).problems[0]


def test_sums_go_on_after_a_restart_and_a_failure(path: Path) -> None:
    with serving(path) as service:
        service.decide("new")
        database: Any = service.runtime._writing.writer.database
        with pytest.raises(apsw.SQLError), database.transaction():
            _fail(database)
        service.decide("newer")
    assert verified(path).problems == ()


def _fail(database: Any) -> None:
    database.rows("DELETE FROM shown")
    database.ledger.add("shown", 1, [("x",)])
    database.rows("no SQL")


def test_what_was_sealed_is_not_sealed_anew(path: Path) -> None:
    """The next start took what was left for all there ever was."""
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM meta WHERE name IN ('secret', 'sealed')")
    connection.close()
    with pytest.raises(ValueError, match="must have the mark that it is sealed"):
        keyed(located(f"sqlite:///{path}"), SECRET)


def test_another_secret_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="secret must be the one"):
        keyed(located(f"sqlite:///{path}"), b"another")


VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
LINES = st.lists(st.lists(VALUES, max_size=4).map(tuple), max_size=5)


@given(LINES, LINES)
def test_a_sum_is_of_lines_in_any_order_and_of_no_others(one: Any, other: Any) -> None:
    key, of = b"k", (1, "rewards")

    def total(lines: Any) -> int:
        return sum(digest(key, of, line) for line in lines) % MODULUS

    same = sorted(map(repr, one)) == sorted(map(repr, other))
    assert (total(one) == total(other)) == same
    assert total(one) == total(reversed(one))


@given(st.integers(0, 1000), st.integers(0, MODULUS - 1))
def test_a_blinded_sum_tells_nothing_and_comes_back(lines: int, total: int) -> None:
    of = (1, "rewards", "")
    first, second = (blinded(b"k", of, (lines, total), bytes([i] * 16)) for i in range(2))
    assert first[2] != second[2]
    assert revealed(b"k", of, first) == revealed(b"k", of, second) == (lines, total)
    assert revealed(b"other", of, first) != (lines, total)
    assert revealed(b"k", (2, "rewards", ""), first) != (lines, total)


def test_every_table_of_the_log_is_sealed() -> None:
    assert set(KINDS) == {
        "decisions", "rewards", "shown", "matured", "snapshots", "arms", "experiments", "actions",
        "archives",
    }  # fmt: skip


def test_a_part_that_is_undone_is_forgotten() -> None:
    ledger = Ledger(b"k")
    ledger.add("shown", 1, [(1,)])
    mark = ledger.mark()
    ledger.add("shown", 1, [(2,)])
    ledger.back(mark)
    assert ledger.mark() == {(1, "shown"): (1, digest(b"k", (1, "shown"), (1,)))}


def test_an_export_tells_that_a_store_was_put_back(path: Path, tmp_path: Path) -> None:
    old, log = path.read_bytes(), tmp_path / "log.parquet"
    with serving(path) as service:
        made = service.decide("new")["decision"]
        log.write_bytes(service.ask("GET", f"{E}/shop/export").content)
        service.reward(made, 1)
    command = ["verify", "--store", f"sqlite:///{path}", "--export", str(log)]
    assert main(command) == 0
    path.write_bytes(old)  # seals and all
    assert verified(path).problems == ()
    reader = located(f"sqlite:///{path}").reader()
    problems = behind(reader, log)
    reader.close()
    assert re.search(
        r"knows of 19 lines of decisions, the store of 18: it was put back", problems[0]
    )
    assert problems[1] == "1 decisions of the export are not in the store"
    assert main(command) == 1
