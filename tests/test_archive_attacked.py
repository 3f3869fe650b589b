"""Retention attacked: copies and moves of stores, two at once, policies of every kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asking import LINEAR, POLICY, START, E, Service, failure, serving
from test_archive import ARMS, SECRET, TEXT, archived, at, create, verified, visit

from fairx.command import main
from fairx.store import Archive, located
from fairx.store.archives.checking import broken_archives
from fairx.store.archives.erasing import check_known
from fairx.store.archives.moving import Archivist
from fairx.store.experiments import note
from fairx.store.seals import keyed
from fairx.store.sqlite import SQLite


@pytest.fixture(autouse=True, scope="module")
def secret() -> Iterator[None]:
    """Have services sign with a secret that the command can be given."""
    with patch("asking.SECRET", SECRET), patch.dict(os.environ, FAIRX_SECRET=TEXT):
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a store with a history."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    with serving(path) as service:
        create(service)
        for i in range(8):
            visit(service, i)
    return path.read_bytes()


@pytest.fixture
def store(filled: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "here" / "store.db"
    path.parent.mkdir()
    path.write_bytes(filled)
    return path


def command(name: str, store: Path, *options: Any) -> int:
    days = ("--days", "0") if name == "archive" else ()
    return main([name, "--store", f"sqlite:///{store}", *days, *map(str, options)])


def go_on(store: Path) -> None:
    """Decide a little more, so that there is something to archive."""
    with serving(store) as service:
        service.now = START + 500
        for key in ("one", "two", "three"):
            service.decide(key, unit="anna")
            service.later(100)


def test_a_store_that_was_moved_with_its_archive_is_not_torn_apart(
    store: Path, tmp_path: Path, capsys: Any
) -> None:
    assert command("archive", store) == 0
    there = store.parent.rename(tmp_path / "there") / "store.db"
    go_on(there)
    capsys.readouterr()
    assert command("archive", there) == 1
    assert "--to must" in capsys.readouterr().err
    assert not store.parent.exists()
    assert command("archive", there, "--to", f"{there}.archive") == 0
    assert command("verify", there) == 0


def test_a_copy_of_a_store_leaves_the_archive_of_the_first_alone(
    store: Path, tmp_path: Path, capsys: Any
) -> None:
    assert command("archive", store) == 0
    assert command("backup", store, tmp_path / "backup.db") == 0
    go_on(store)
    assert command("archive", store) == 0
    copy = tmp_path / "copy" / "store.db"
    copy.parent.mkdir()
    assert main(["restore", str(tmp_path / "backup.db"), "--store", f"sqlite:///{copy}"]) == 0
    with serving(copy) as service:
        body = {"unit": "u1"}
        message, _ = failure(service.ask("POST", f"{E}/reader/erase", body), 409, "conflict")
        assert "--archive FOLDER" in message
    capsys.readouterr()
    assert command("archive", copy) == 1
    assert "--to must" in capsys.readouterr().err
    assert command("verify", copy) == 0  # who reads does no harm
    assert command("verify", store) == 0
    shutil.copytree(f"{store}.archive", f"{copy}.archive")
    with serving(copy) as service:
        service.runtime.archive = Path(f"{copy}.archive")
        assert service.post(f"{E}/reader/erase", body) == {"erased": 3}
    assert command("archive", copy, "--to", f"{copy}.archive") == 0
    assert command("verify", copy) == 0
    assert command("verify", store) == 0


def test_a_database_that_cannot_be_used_is_said_in_words(store: Path, capsys: Any) -> None:
    full = apsw.FullError("database or disk is full")
    with patch("fairx.store.archives.moving.Archivist.run", side_effect=full):
        assert command("archive", store) == 1
    assert "store cannot be used: database or disk is full" in capsys.readouterr().err
    assert main(["verify", "--store", "postgresql://127.0.0.1:1/nobody"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("fairx: error: the store cannot be used: connection failed")
    assert said.count("\n") == 1


POLICIES: dict[str, tuple[dict[str, Any], int, int]] = {  # policy, dimension, arms
    "UCB": ({"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.3}, 0, 3),
    "EG among many": ({"kind": "FairXEG", "merit": POLICY["merit"], "epsilon": 0.1}, 0, 600),
    "UCB among many": ({"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.3}, 0, 600),
    "Exp3": ({"kind": "Exp3", "gamma": 0.1}, 0, 3),
    "Exp3 among more": ({"kind": "Exp3", "gamma": 0.1}, 0, 70),
    "discounted": ({"kind": "Discounted", "policy": POLICY, "discount": 0.9}, 0, 70),
    "windowed": ({"kind": "Windowed", "policy": POLICY, "window": 5}, 0, 3),
    "discounted ridge": ({"kind": "DiscountedRidge", "policy": LINEAR, "discount": 0.9}, 2, 3),
    "with contexts": (LINEAR, 2, 70),
}


@pytest.mark.parametrize("which", POLICIES)
def test_readers_do_not_notice_whatever_decides(which: str, tmp_path: Path) -> None:
    policy, dimension, arms = POLICIES[which]

    def history(service: Service, i: int) -> None:
        for j in range(3):
            given: Any = (
                {"contexts": [[1.0, a / (i + 2)] for a in range(arms)]} if dimension else {}
            )
            made = service.decide(f"{i} {j}", unit=f"u{i % 4}", **given)["decision"]
            if j:
                service.reward(made, (i + j) % 2)
        service.later(30)
        if i == 5 or (i == 9 and dimension):
            service.post(f"{E}/shop/erase", {"unit": "u1"})

    told: list[Any] = []
    for name, cuts in (("twin.db", ()), ("store.db", (6, 8, 11))):
        path = tmp_path / name
        with serving(path) as service, patch("fairx.store.experiments.secrets.token_bytes", bytes):
            service.create(
                "shop", ARMS[:arms] if arms <= 70 else [f"arm {i}" for i in range(arms)],
                policy=policy, dimension=dimension, reward_window_s=50, reward_range=[0, 1],
            )  # fmt: skip
        for i in range(12):
            with serving(path) as service:
                service.now = START + 30 * i
                history(service, i)
            if i in cuts:
                assert archived(path, tmp_path / "archive", START + 30 * i).decisions
        with serving(path) as service:
            service.now = START + 360
            export = service.ask("GET", f"{E}/shop/export")
            audit = service.ask("GET", f"{E}/shop/audit")
            rows = pq.read_table(pa.BufferReader(export.content)).to_pylist()
            told.append((audit.status_code, audit.json(), service.get(f"{E}/shop/status"), rows))
        assert verified(path).problems == ()
    assert told[0] == told[1]
    assert verified(tmp_path / "store.db", Archive(read=False)).problems == ()


def units(folder: Path) -> set[str]:
    """Return all units that files of a folder, and of those within, know."""
    return {
        unit
        for path in folder.rglob("*-decisions-*.parquet")
        for unit in pq.read_table(path, columns=["unit"])["unit"].to_pylist()
    }


def test_a_unit_is_gone_from_files_that_are_not_named_too(store: Path, capsys: Any) -> None:
    folder, body = Path(f"{store}.archive"), {"unit": "u1"}
    killed = patch("fairx.store.archives.moving.Archivist._name", side_effect=MemoryError)
    with killed, pytest.raises(MemoryError):  # as if it were killed: files stay, in the first run
        archived(store, folder)
    capsys.readouterr()
    assert command("archive", store) == 0
    assert "not-named" in capsys.readouterr().out
    go_on(store)
    with killed, pytest.raises(MemoryError):
        archived(store, folder)
    before = sorted(len(pq.read_table(path)) for path in folder.rglob("*-decisions-*.parquet"))
    with serving(store) as service:
        service.now = START + 900
        with patch("fairx.store.archives.erasing.Erasure.end"):  # killed after the commit
            assert service.post(f"{E}/reader/erase", body) == {"erased": 3}
        assert "u1" in units(folder)
        assert service.post(f"{E}/reader/erase", body) == {"erased": 0}
    assert units(folder) == {"anna", "u0", "u2", None}
    after = sorted(len(pq.read_table(path)) for path in folder.rglob("*-decisions-*.parquet"))
    assert len(after) == len(before) + 1  # the file that was exchanged, without the unit
    assert command("verify", store) == 0
    assert command("archive", store) == 0
    assert command("verify", store) == 0


def test_a_unit_is_gone_from_what_the_first_run_left(store: Path) -> None:
    folder = Path(f"{store}.archive")
    with (
        patch("fairx.store.archives.moving.Archivist._name", side_effect=MemoryError),
        pytest.raises(MemoryError),
    ):
        archived(store, folder)
    with serving(store) as service:
        assert "anna" in units(folder)
        service.post(f"{E}/shop/erase", {"unit": "anna"})
    assert "anna" not in units(folder)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_archive_that_cannot_be_written_is_said_when_erasing(
    store: Path, when: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder, body = Path(f"{store}.archive"), {"unit": "u1"}
    archived(store, folder)
    where = {
        "before": "fairx.store.archives.erasing.write_lines",
        "after": "fairx.store.archives.erasing.Path.unlink",
    }
    full = OSError(28, "No space left on device")
    with serving(store) as service:
        with patch(where[when], side_effect=full):
            answer = service.ask("POST", f"{E}/reader/erase", body)
        failure(answer, 503, "unavailable")
        said = getattr(caplog.records[-1], "error", "")
        assert "No space left" in said
        assert ("nothing was erased" in said) == (when == "before")
        assert service.post(f"{E}/reader/erase", body) == {"erased": 3 if when == "before" else 0}
    assert "u1" not in units(folder)
    assert verified(store).problems == ()


def test_what_waited_in_a_deleted_experiment_is_archived_in_the_end(store: Path) -> None:
    with serving(store) as service:
        service.now = START + 240
        service.decide("never mature", unit="zoe")
        assert service.ask("DELETE", f"{E}/shop").is_success
        service.later(1000)
        service.decide("last", "page")
    for _ in range(2):  # mature in one run, old in the next
        assert command("archive", store) == 0
    reader = located(f"sqlite:///{store}").reader()
    assert reader.rows("SELECT count(*) FROM decisions WHERE unit = 'zoe'") == [(0,)]
    reader.close()
    assert verified(store).problems == ()


def two_ends(service: Service) -> None:
    create(service)
    for i in range(8):
        visit(service, i)


def starts(address: str, folder: Path) -> Callable[[], None]:
    """Return what the beginning of another `fairx archive` does."""

    def start() -> None:
        database = keyed(located(address), SECRET)
        Archivist(database, SECRET, folder, START).filing.move_unnamed(database)
        database.close()

    return start


def test_an_archive_that_starts_leaves_the_files_of_another_in_place(
    database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    with serving(database_url) as service:
        two_ends(service)
    with at("archive_written", starts(database_url, folder)):
        assert archived(database_url, folder).decisions
    assert verified(database_url).problems == ()


def test_two_archives_at_once_archive_everything_once(database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with serving(database_url) as service:
        two_ends(service)
    moved: list[Any] = []
    with at("archive_written", lambda: moved.append(archived(database_url, folder))):
        moved.append(archived(database_url, folder))
    assert verified(database_url).problems == ()
    assert sum(each.decisions for each in moved) == 36


def test_an_archive_that_starts_leaves_the_files_of_an_erasure_in_place(
    database_url: str, tmp_path: Path
) -> None:
    folder, body = tmp_path / "archive", {"unit": "u1"}

    def checked(*arguments: Any) -> None:
        starts(database_url, folder)()
        check_known(*arguments)

    with serving(database_url) as service:
        two_ends(service)
        archived(database_url, folder)
        with patch("fairx.store.experiments.check_known", checked):
            failure(service.ask("POST", f"{E}/reader/erase", body), 409, "conflict")
        assert service.post(f"{E}/reader/erase", body)["erased"] == 3
    assert verified(database_url).problems == ()


def test_an_action_that_comes_while_actions_are_archived_is_not_lost(
    database_url: str, tmp_path: Path
) -> None:
    with serving(database_url) as service:
        create(service)
    other = keyed(located(database_url), SECRET)
    name = Archivist._name

    def slowly(archivist: Archivist, *arguments: Any) -> None:
        if waiting:
            waiting.pop().__exit__(None, None, None)  # which was numbered before, and ends now
        name(archivist, *arguments)

    waiting = [other.transaction()]
    waiting[0].__enter__()
    note(other, START - 5, "somebody", "something", None, {})
    with serving(database_url) as service:
        service.post(f"{E}/shop/pause")
        service.post(f"{E}/shop/resume")
    with patch.object(Archivist, "_name", slowly):
        archived(database_url, tmp_path / "archive")
    other.close()
    assert not waiting
    assert verified(database_url).problems == ()


def test_who_decides_by_a_snapshot_that_is_archived_does_not_have_younger_ones_archived(
    database_url: str, tmp_path: Path
) -> None:
    """A process that was away may decide by an old snapshot after another archived it."""
    with serving(database_url) as service, serving(database_url) as slow:
        service.create("many", arms=ARMS, reward_window_s=40)
        slow.runner.run(slow.runtime.reload())
        for i in range(8):
            service.decide(f"m{i}", "many")
            service.later(30)
        archived(database_url, tmp_path / "archive", START + 140)
        slow.now = service.now
        slow.decide("old", "many")
        young = []
        for i in range(8, 12):
            young.append(service.decide(f"m{i}", "many")["decision"])
            service.later(5)
        archived(database_url, tmp_path / "archive", service.now)
        for decision in young:
            found = service.get(f"{E}/many/decisions/{decision}")
            assert len(found["probabilities"]) == len(ARMS)
        service.later(100)
        service.decide("last", "many")
    assert verified(database_url).problems == ()
    assert verified(database_url, Archive(read=False)).problems == ()


def test_nothing_else_waits_for_an_archive(database_url: str, tmp_path: Path) -> None:
    """Who decides, rewards what waits, creates, reads or starts need not: all but what the docs name."""
    with serving(database_url) as service:
        two_ends(service)
        waits = service.decide("waits", unit="anna")["decision"]

        def meanwhile() -> None:  # all lines of an experiment are gone, and nothing is committed
            service.decide("just now")
            assert service.reward(waits, 1.0) == "accepted"
            service.create("another")
            assert service.get(f"{E}/shop/status")["decisions"] == 10
            assert service.ask("GET", f"{E}/shop/audit").is_success
            export = service.ask("GET", f"{E}/shop/export")
            assert len(pq.read_table(pa.BufferReader(export.content))) == 10
            with serving(database_url) as other:
                other.now = service.now
                other.decide("elsewhere")

        with at("archive_removed", meanwhile) as times:
            assert archived(database_url, tmp_path / "archive").decisions == 36
        assert times
    assert verified(database_url).problems == ()


def test_what_is_large_is_read_in_parts(store: Path, tmp_path: Path) -> None:
    """Lists of candidates and sums that were kept may be large, and many."""
    with serving(store) as service:
        service.now = START + 240
        service.create("wide", arms=[f"arm {i}" for i in range(200)], reward_window_s=40)
        for i in range(9):
            service.decide(f"w{i}", "wide", candidates=[f"arm {j}" for j in range(i, i + 150)])
            one = service.decide(f"v{i}", "reader", contexts=[[1.0]] * 3, unit=f"v{i}")["decision"]
            service.reward(one, 1.0, "reader")
            service.later(50)
            service.post(f"{E}/reader/erase", {"unit": f"v{i}"})  # which keeps sums
        service.decide("last")
    read: list[tuple[str, int]] = []
    rows = SQLite.rows

    def counted(database: SQLite, sql: str, values: Any = ()) -> Any:
        found = rows(database, sql, values)
        read.append((sql, len(found)))
        return found

    parts_of_two = {"snapshots": ("version", 2), "checkpoints": ("watermark", 2)}
    with (
        patch.object(SQLite, "rows", counted),
        patch("fairx.store.archives.rejoining.POOLS", 2),
        patch("fairx.store.archives.lines.BESIDE", parts_of_two),
    ):
        assert archived(store, tmp_path / "archive").decisions
        assert verified(store).problems == ()
    for start in ("SELECT digest, candidates FROM pools", "SELECT experiment, watermark, body"):
        found = [count for sql, count in read if sql.startswith(start)]
        assert max(found) == 2
        assert sum(found) > 4


def test_an_erasure_while_it_is_verified_is_said(store: Path, tmp_path: Path, capsys: Any) -> None:
    archived(store, tmp_path / "archive")
    with serving(store) as service:

        def meanwhile(*arguments: Any) -> list[str]:
            assert service.post(f"{E}/reader/erase", {"unit": "u1"})["erased"] == 3
            return broken_archives(*arguments)

        with patch("fairx.store.verifying.broken_archives", meanwhile):
            assert command("verify", store) == 1
        assert (
            "were exchanged meanwhile, for a unit was erased: verify again"
            in capsys.readouterr().out
        )
        assert command("verify", store) == 0
        assert "meanwhile" not in capsys.readouterr().out
