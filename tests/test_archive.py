"""Retention: what is archived is out of the store, and nobody who reads misses it."""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asking import LINEAR, START, E, Service, failure, serving
from hypothesis import given, settings
from hypothesis import strategies as st

from fairx.command import main
from fairx.store import Archive, Verified, crash_points, located, verify
from fairx.store.archives.files import SCHEMAS
from fairx.store.archives.moving import Archivist, Moved
from fairx.store.archives.record import last_cut, parts
from fairx.store.candidacies import candidacies
from fairx.store.crash_points import ARCHIVING
from fairx.store.seals import keyed
from fairx.store.snapshots import experiments

ARMS = [f"arm {i}" for i in range(70)]  # of so many, digests are on record
NAMES = ("shop", "page", "reader", "many")
FUTURE = 1e9
TEXT = "the secret of these tests"
SECRET = hashlib.sha256(TEXT.encode()).digest()


@pytest.fixture(autouse=True, scope="module")
def secret() -> Iterator[None]:
    """Have services sign with a secret that the command can be given."""
    with patch("asking.SECRET", SECRET), patch.dict(os.environ, FAIRX_SECRET=TEXT):
        yield


def create(service: Service) -> None:
    """Create an experiment of each kind: counted, shown, with contexts, with digests for lists."""
    same = random.Random(7).randbytes  # seeds: two services decide alike
    with patch("fairx.store.experiments.secrets.token_bytes", same):
        service.create(reward_window_s=40)
        service.create("page", reward_window_s=40, requires_shown=True)
        service.create("reader", policy=LINEAR, dimension=1, reward_window_s=40)
        service.create("many", arms=ARMS, reward_window_s=40)


def visit(service: Service, i: int) -> None:
    """Decide in all of them; reward, in time and late, show some, and let time go by."""
    made = service.decide(f"k{i}", unit="anna")["decision"]
    service.reward(made, i % 2, id="click")
    slate = service.decide(f"p{i}", "page", places=[1, 0.5])["decision"]
    if i % 2:
        service.post(f"{E}/page/shown", {"decisions": [{"decision": slate, "place": 2}]})
    rows = [[1.0], [0.5], [i / 10]]
    one = service.decide(f"r{i}", "reader", contexts=rows, unit=f"u{i % 3}")["decision"]
    service.reward(one, 0.5, "reader")
    service.decide(f"m{i}", "many")
    service.decide(f"n{i}", "many", candidates=ARMS[3:69])
    if i == 3:
        service.post(f"{E}/shop/arms", {"add": ["d"], "remove": ["b"]})
    service.later(30)
    if i > 3:  # such a one is mature since 30 seconds
        service.reward(service.decide(f"k{i - 3}", unit="anna")["decision"], 1.0, id="late")


def archived(address: Path | str, folder: Path, before: float = FUTURE) -> Moved:
    """Archive what was mature before a time, as the command does."""
    store = located(address if isinstance(address, str) else f"sqlite:///{address}")
    database = keyed(store, SECRET)
    try:
        return Archivist(database, SECRET, folder, START).run(before)
    finally:
        database.close()


def verified(address: Path | str, archive: Archive = Archive()) -> Verified:  # noqa: B008
    reader = located(address if isinstance(address, str) else f"sqlite:///{address}").reader()
    try:
        return verify(reader, SECRET, archive=archive)
    finally:
        reader.close()


def answers(service: Service) -> Any:
    """Return what readers are told: counts, audits, exports."""
    found: dict[str, Any] = {}
    for name in NAMES:
        status = service.get(f"{E}/{name}/status")
        for arm in status["arms"]:
            arm.pop("exposure", None)  # a sum in another order
        audit = service.get(f"{E}/{name}/audit")
        export = service.ask("GET", f"{E}/{name}/export")
        assert export.is_success, export.text
        rows = pq.read_table(pa.BufferReader(export.content)).to_pylist()
        found[name] = (status, audit, rows, could_be_shown(service, name, status["mature"]))
    return found


def could_be_shown(service: Service, name: str, decisions: int) -> list[float]:
    """Return how often each arm was a candidate, as the dashboard tells it."""
    reader = service.runtime.store.reader()
    try:
        snapshot = service.runtime.decider(name).snapshot
        return list(map(float, candidacies(reader, snapshot, decisions)))
    finally:
        reader.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    url: str = request.getfixturevalue("database_url")
    return url


def test_readers_do_not_notice(address: str, tmp_path: Path) -> None:
    with serving(tmp_path / "twin.db") as twin:
        create(twin)
        for i in range(10):
            visit(twin, i)
        wanted = answers(twin)
    with serving(address) as service:
        create(service)
        for i in range(7):
            visit(service, i)
    first = archived(address, tmp_path / "archive", START + 110)
    assert first.decisions
    with serving(address) as service:  # whose audits begin with what is archived
        service.now = START + 7 * 30
        for i in range(7, 9):
            visit(service, i)
        answers(service)
    second = archived(address, tmp_path / "archive", START + 170)
    with serving(address) as service:
        service.now = START + 9 * 30
        for i in range(9, 10):
            visit(service, i)
        assert answers(service) == wanted
        assert service.get("/v1/actions")["older"] == first.actions + second.actions
    found = verified(address)
    assert (found.problems, found.sealed, found.archived) == ((), True, 0)
    assert second.decisions
    assert second.actions
    assert found.decisions == sum(len(rows) for _, _, rows, _ in wanted.values())


def test_what_is_young_stays_with_all_that_it_follows_from(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with serving(path) as service:
        create(service)
        for i in range(12):
            visit(service, i)
        told = {
            key: service.get(f"{E}/many/decisions/{service.decide(key, 'many')['decision']}")
            for key in (f"m{i}" for i in range(12))
        }
    before = START + 250
    archived(path, tmp_path / "archive", before)
    for file in (tmp_path / "archive").iterdir():
        file.unlink()  # nothing of it is needed
    with serving(path) as service:
        service.now = START + 400
        young = [made for made in told.values() if made["due"] >= before]
        assert 0 < len(young) < len(told)
        for made in young:
            assert service.get(f"{E}/many/decisions/{made['decision']}") == made
        reader = service.runtime.store.reader()
        sql = "SELECT count(*) FROM decisions d JOIN matured m ON m.sequence = d.sequence WHERE m.time < ?"
        ((seam,),) = reader.rows(sql, (before,))
        reader.close()
        assert 0 < seam <= 6 * 3  # what was decided in one window
        told_again = [
            service.ask("GET", f"{E}/many/decisions/{made['decision']}") for made in told.values()
        ]
        assert {answer.status_code for answer in told_again} == {200, 404, 409}
        refused = next(answer for answer in told_again if answer.status_code == 409)
        assert "without the archive" in failure(refused, 409, "conflict")[0]
        failure(service.ask("GET", f"{E}/many/export"), 409, "conflict")
    found = verified(path, Archive(read=False))
    assert (found.problems, found.sealed) == ((), True)
    assert found.archived
    assert "is not there" in str(verified(path).problems)


@pytest.mark.parametrize(("point", "times"), list(zip(ARCHIVING, (2, 2, 1, 2, 1), strict=True)))
def test_killed_at_any_point_nothing_is_lost(
    tmp_path: Path, filled: tuple[bytes, Any], point: str, times: int
) -> None:
    path, (whole, wanted) = tmp_path / "store.db", filled
    path.write_bytes(whole)
    command = [sys.executable, "-m", "fairx", "archive", "--store", f"sqlite:///{path}"]
    environment = os.environ | {"FAIRX_KILL_AT": f"{point}:{times}"}
    run = subprocess.run([*command, "--days", "0"], env=environment, check=False)
    assert run.returncode == -signal.SIGKILL
    assert verified(path).problems == ()
    with serving(path) as service:
        service.now = START + 240
        assert answers(service) == wanted
    done = subprocess.run([*command, "--days", "0"], check=True, capture_output=True, text=True)
    assert ("not-named" in done.stdout) == (point != "archive_committed")
    assert verified(path).problems == ()
    with serving(path) as service:
        service.now = START + 240
        assert answers(service) == wanted
    assert archived(path, tmp_path / "store.db.archive").decisions == 0


def test_a_key_that_is_archived_is_not_decided_again(address: str, tmp_path: Path) -> None:
    with serving(address) as service:
        create(service)
        for i in range(6):
            visit(service, i)
        made = service.decide("k0", unit="anna")["decision"]
        slate = service.decide("p0", "page", places=[1, 0.5])["decision"]
    archived(address, tmp_path / "archive")
    with serving(address) as service:
        service.now = START + 300
        status = service.get(f"{E}/shop/status")
        new = service.decide("new")["decision"]
        for name, asked in (
            ("shop", {"key": "k0", "unit": "anna"}),
            ("shop", {"key": "k0"}),
            ("page", {"key": "p0", "places": [1, 0.5]}),
        ):
            answer = service.ask("POST", f"{E}/{name}/decide", asked)
            message, field = failure(answer, 409, "conflict")
            assert (field, "is archived" in message) == ("key", True)
        reward = {"reward": 1, "id": "very late"}
        for path, body in (
            (
                "shop/rewards",
                {"rewards": [{"decision": new, "reward": 1}, {"decision": made} | reward]},
            ),
            ("shop/shown", {"decisions": [new, made]}),
            ("page/rewards", {"rewards": [{"decision": slate, "place": 1} | reward]}),
            ("page/rewards", {"rewards": [{"decision": slate, "place": 2} | reward]}),
            ("page/shown", {"decisions": [{"decision": slate, "place": 2}]}),
        ):
            message, _ = failure(service.ask("POST", f"{E}/{path}", body), 409, "conflict")
            assert f"decision {made if 'shop' in path else slate} is archived" in message
        answer = service.ask("GET", f"{E}/shop/decisions/{made}")
        assert "is archived" in failure(answer, 404, "not_found")[0]
        after = service.get(f"{E}/shop/status")
        counts = (after["decisions"], after["parked"], after["arms"][0]["rewards"])
        assert counts == (status["decisions"] + 1, 0, status["arms"][0]["rewards"])
        assert service.get(f"{E}/shop/decisions/{new}")["rewards"] == []
    assert verified(address).problems == ()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Any]:
    """Return a store, and what readers are told."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    with serving(path) as service:
        create(service)
        for i in range(8):
            visit(service, i)
        told = answers(service)
    return path.read_bytes(), told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, filled: tuple[bytes, Any]) -> Path:
    """Return a store of which a part is archived."""
    folder = tmp_path_factory.mktemp("archive")
    (folder / "store.db").write_bytes(filled[0])
    archived(folder / "store.db", folder / "archive")
    return folder


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of it; the files are where `--archive` says."""
    (tmp_path / "store.db").write_bytes((whole / "store.db").read_bytes())
    (tmp_path / "archive").mkdir()
    for file in (whole / "archive").iterdir():
        (tmp_path / "archive" / file.name).write_bytes(file.read_bytes())
    return tmp_path


def one(folder: Path, kind: str) -> Path:
    """Return the first file of a kind."""
    return min((folder / "archive").glob(f"*-1-*-{kind}-*.parquet"))


def without_a_line(path: Path) -> None:
    rows = pq.read_table(path)
    pq.write_table(rows.slice(1), path)


def with_another_reward(path: Path) -> None:
    rows = pq.read_table(path).to_pylist()
    rows[0]["value"] = 1 - rows[0]["value"]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMAS["rewards"]), path)


def sql(statement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        connection = apsw.Connection(str(folder / "store.db"))
        connection.execute(statement)
        connection.close()

    return change


TAMPERING: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file gone": (lambda folder: one(folder, "rewards").unlink(), "is not there: it has 10 lines"),
    "a file cut off": (lambda folder: one(folder, "decisions").write_bytes(b"PAR1"), "was changed"),
    "a byte changed": (
        lambda folder: one(folder, "matured").write_bytes(
            one(folder, "matured").read_bytes().replace(b"PAR1", b"PAR2", 1)
        ),
        "was changed",
    ),
    "a line gone": (lambda folder: without_a_line(one(folder, "decisions")), "was changed"),
    "a reward changed": (lambda folder: with_another_reward(one(folder, "rewards")), "was changed"),
    "two files exchanged": (
        lambda folder: one(folder, "matured").rename(one(folder, "snapshots")), "is not there|was changed",
    ),
    "no longer named": (
        sql("DELETE FROM archives WHERE kind = 'shown'"), "lines of archives are gone|lines of shown are gone",
    ),
    "an id forgotten": (
        sql("DELETE FROM archived WHERE id = (SELECT min(id) FROM archived)"), "its key could be used again",
    ),
    "an id made up": (
        sql("INSERT INTO archived VALUES ('x', 1)"), "decisions are archived, but",
    ),
    "a count changed": (
        sql("UPDATE archived_arms SET late = late + 1 WHERE experiment = 1"), "counted of arm 0 is not",
    ),
    "the cut moved": (sql("UPDATE archives SET upto = upto + 1"), "lines of archives were changed"),
    "a line of the store gone": (
        sql("DELETE FROM rewards WHERE experiment = 3"), "reader: . of 8 lines of rewards are gone",
    ),
    "sums at the cut changed": (
        sql("UPDATE checkpoints SET body = zeroblob(length(body)) WHERE experiment = 1"), "sums kept after",
    ),
    "a line back in the store": (
        sql(
            "INSERT INTO shown SELECT id, 1, 0, 5 FROM archived WHERE experiment = 1 LIMIT 1"
        ), "lines of shown were added",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAMPERING)
def test_what_is_changed_or_gone_is_noticed(copied: Path, kind: str) -> None:
    archive = Archive(copied / "archive")
    assert verified(copied / "store.db", archive).problems == ()
    tamper, message = TAMPERING[kind]
    tamper(copied)
    problems = verified(copied / "store.db", archive).problems
    assert any(re.search(message, problem) for problem in problems), problems


def test_a_forged_file_with_its_digest_is_noticed(copied: Path) -> None:
    """Who can write the tables and the files, but has not the secret."""
    path = one(copied, "rewards")
    with_another_reward(path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    sql(f"UPDATE archives SET digest = '{found}' WHERE file = '{path.name}'")(copied)
    problems = str(verified(copied / "store.db", Archive(copied / "archive")).problems)
    assert "shop: lines of archives were changed" in problems
    assert "does not have the lines that were archived" in problems


def test_erasure_reaches_archives(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    with serving(address) as service:
        create(service)
        for i in range(9):
            visit(service, i)
    archived(address, folder)
    assert _has(folder, "u1")
    with serving(address) as service:
        service.now = START + 300
        count = service.get(f"{E}/reader/status")["decisions"]
        assert service.post(f"{E}/reader/erase", {"unit": "u1"})["erased"] == 3
        assert service.post(f"{E}/reader/erase", {"unit": "u1"})["erased"] == 0
        assert service.get(f"{E}/reader/status")["decisions"] == count
        assert not _has(folder, "u1")
        assert _has(folder, "u2")
        reader = service.runtime.store.reader()
        assert {part.file for part in parts(reader)} == {path.name for path in folder.iterdir()}
        reader.close()
    found = verified(address)
    assert (found.problems, found.sealed) == ((), True)
    assert found.erased


def _has(folder: Path, unit: str) -> bool:
    return any(
        unit in pq.read_table(path, columns=["unit"])["unit"].to_pylist()
        for path in folder.glob("*-decisions-*.parquet")
    )


def test_erasure_is_refused_where_the_archive_is_not_there(copied: Path) -> None:
    with serving(copied / "store.db") as service:
        service.runtime.archive = copied / "elsewhere"
        body = {"unit": "u1"}
        message, _ = failure(service.ask("POST", f"{E}/reader/erase", body), 409, "conflict")
        assert "is not there" in message
        service.runtime.archive = copied / "archive"
        assert service.post(f"{E}/reader/erase", body)["erased"] == 3


@contextmanager
def at(point: str, happens: Callable[[], Any]) -> Iterator[list[int]]:
    """Have something happen once, when a point is reached."""
    times: list[int] = []
    reach = crash_points.reach

    def reached(name: str) -> None:
        reach(name)
        if name == point:
            times.append(1)
            if len(times) == 1:
                happens()

    with patch("fairx.store.crash_points.reach", reached):
        yield times


def test_what_comes_while_it_is_archived_is_not_lost(database_url: str, tmp_path: Path) -> None:
    with serving(database_url) as service:
        create(service)
        for i in range(8):
            visit(service, i)
        made = service.decide("k0", unit="anna")["decision"]

        def meanwhile() -> None:
            assert service.reward(made, 1.0, id="just now") == "late"
            service.post(f"{E}/shop/erase", {"unit": "anna"})

        with at("archive_written", meanwhile) as times:
            archived(database_url, tmp_path / "archive")
        assert len(times) == len(NAMES) + 1  # it was tried again
        rows = pq.read_table(
            pa.BufferReader(service.ask("GET", f"{E}/shop/export").content)
        ).to_pylist()
        assert [row["late"] for row in rows if row["decision"] == made] == [1]
        assert not _has(tmp_path / "archive", "anna")
        service.decide("k9")
    assert verified(database_url).problems == ()


def test_archives_and_services_do_not_deadlock(database_url: str, tmp_path: Path) -> None:
    """A key and a reward that come while their lines are being removed wait, and are refused."""
    with serving(database_url) as service:
        create(service)
        for i in range(8):
            visit(service, i)
        made = service.decide("k0", unit="anna")["decision"]
        reward = {"rewards": [{"decision": made, "reward": 1.0, "id": "just now"}]}
        found: list[Any] = []

        def ask() -> None:
            found.append(service.ask("POST", f"{E}/shop/rewards", reward))
            found.append(
                service.ask(
                    "POST", f"{E}/shop/decide", {"key": "k0", "unit": "anna", "probabilities": True}
                )
            )

        thread = threading.Thread(target=ask)
        with at("archive_removed", thread.start):
            archived(database_url, tmp_path / "archive")
        thread.join()
        for answer in found:
            failure(answer, 409, "conflict")
        assert service.get(f"{E}/shop/status")["parked"] == 0
    assert verified(database_url).problems == ()


def test_a_service_on_sqlite_must_be_stopped(tmp_path: Path, capsys: Any) -> None:
    with serving(tmp_path / "store.db"):
        command = ["archive", "--store", f"sqlite:///{tmp_path}/store.db", "--days", "0"]
        assert main(command) == 1
        assert "is in use by process" in capsys.readouterr().err
    assert main(command) == 0
    assert main(["archive", "--store", f"sqlite:///{tmp_path}/none.db", "--days", "0"]) == 1
    assert "there is no store" in capsys.readouterr().err


def test_files_may_be_moved_all_together(copied: Path, capsys: Any) -> None:
    command = ["archive", "--store", f"sqlite:///{copied}/store.db", "--days", "0", "--to"]
    (copied / "none").mkdir()
    assert main([*command, str(copied / "none")]) == 1
    assert "--to must have the" in capsys.readouterr().err
    with serving(copied / "store.db") as service:
        service.now = START + 500
        service.decide("new")
        service.later(200)
        service.decide("newer")
    assert main([*command, str(copied / "archive")]) == 0
    assert "0 decisions" not in capsys.readouterr().out
    assert (
        main(["verify", "--store", f"sqlite:///{copied}/store.db"]) == 0
    )  # where the store says now
    assert main(["verify", "--store", f"sqlite:///{copied}/store.db", "--without-archive"]) == 0
    assert "what they follow from is archived" in capsys.readouterr().out


@settings(max_examples=4)
@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.floats(100, 300), st.integers(0, 4)), min_size=1, max_size=3
    )
)
def test_any_history_archived_at_any_time_reads_the_same(steps: Any) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, archives in ((folder / "twin.db", False), (folder / "store.db", True)):
            done = 3
            with serving(path) as service:
                create(service)
                for i in range(4):
                    visit(service, i)
            for visits, age, unit in steps:
                with serving(path) as service:
                    service.now = START + 30 * (done + 1)
                    for i in range(done + 1, done + 1 + visits):
                        visit(service, i)
                    done += visits
                    if unit < 3:
                        service.post(f"{E}/reader/erase", {"unit": f"u{unit}"})
                    now = service.now
                if archives:
                    archived(path, folder / "archive", now - age)
        found = []
        for path in (folder / "twin.db", folder / "store.db"):
            with serving(path) as service:
                service.now = START + 30 * (done + 1) + 100
                service.later(100)
                found.append(answers(service))
            assert verified(path).problems == ()
        assert found[0] == found[1]
        assert verified(folder / "store.db", Archive(read=False)).problems == ()


def test_the_cut_leaves_slates_whole(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with serving(path) as service:
        service.create("page", arms=ARMS[:12], reward_window_s=100)
        for i in range(100):
            service.decide(f"s{i}", "page", places=7)
        service.later(101)  # folds of 500 places
        service.decide("last", "page")
    with patch("fairx.store.archives.cutting.AT_ONCE", 500):
        assert archived(path, tmp_path / "archive").decisions == 700
    reader = located(f"sqlite:///{path}").reader()
    (experiment,) = experiments(reader)
    assert last_cut(reader, experiment.id).upto == 700
    assert {
        len(pq.read_table(each)) % 7 for each in (tmp_path / "archive").glob("*-decisions-*")
    } == {0}
    reader.close()
    assert verified(path).problems == ()
