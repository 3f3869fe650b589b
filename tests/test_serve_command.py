"""`fairx serve`, verify, backup and restore, as commands."""

from __future__ import annotations

import asyncio
import json
import math
import time
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from asking import POLICY, E
from serving import PATIENCE, Server, posted, server

from fairx.command import main
from fairx.service.demo import CROWD, Visits
from fairx.service.running import Options, application
from fairx.store import located
from fairx.store.copying import backup, restore

pytestmark = pytest.mark.service


def filled(url: str, decisions: int, name: str = "shop") -> list[str]:
    """Create an experiment, if it is new, and let it decide."""
    httpx.post(url + E, json={"name": name, "arms": ["a", "b"], "policy": POLICY})
    answers = []
    for i in range(decisions):
        key = f"{name} {time.monotonic_ns()} {i}"
        found = posted(f"{url}{E}/{name}/decide", {"key": key})["decision"]
        reward = {"decision": found, "reward": i % 2, "final": True}
        httpx.post(f"{url}{E}/{name}/rewards", json={"rewards": [reward]}).raise_for_status()
        answers.append(found)
    return answers


def address(folder: Path) -> str:
    return f"sqlite:///{folder}/store.db"


def test_a_backup_of_a_running_service_is_whole_and_can_be_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    with server(tmp_path, "--no-auth") as running:
        kept = filled(running.url, 20)
        assert main(["backup", "--store", address(tmp_path), str(copy)]) == 0
        lost = filled(running.url, 5)
        assert main(["restore", str(copy), "--store", address(tmp_path), "--replace"]) == 1
        assert "in use by process" in capsys.readouterr().err
    assert main(["restore", str(copy), "--store", address(tmp_path)]) == 1
    assert "--replace" in capsys.readouterr().err
    assert main(["restore", str(copy), "--store", address(tmp_path), "--replace"]) == 0
    said = capsys.readouterr().out
    (aside,) = tmp_path.glob("store.db.before-*")
    assert str(aside) in said
    assert main(["verify", "--store", address(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("20 decisions of 1 experiments made again")
    assert main(["verify", "--store", f"sqlite:///{aside}"]) == 0
    assert capsys.readouterr().out.startswith("25 decisions")
    with server(tmp_path, "--no-auth") as running:
        for number, decision in enumerate(kept + lost):
            status = httpx.get(f"{running.url}{E}/shop/decisions/{decision}").status_code
            assert status == (200 if number < len(kept) else 404)
        # The reward of a decision that the backup does not have is parked, not lost.
        reward = {"rewards": [{"decision": lost[0], "reward": 1.0}]}
        found = httpx.post(f"{running.url}{E}/shop/rewards", json=reward).json()
        assert found["results"][0]["status"] == "parked"


def test_a_store_with_another_secret_is_not_served(tmp_path: Path) -> None:
    with server(tmp_path, "--no-auth") as running:
        filled(running.url, 1)
    (tmp_path / "store.db.secret").unlink()
    with pytest.raises(ValueError, match=r"store.db.secret must be there"):
        application(Options(address(tmp_path)))
    (tmp_path / "store.db.secret").write_text("another secret, as long as it must be")
    with pytest.raises(ValueError, match="the secret must be the one"):
        application(Options(address(tmp_path)))


def test_what_was_changed_by_hand_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(tmp_path, "--no-auth") as running:
        filled(running.url, 3)
    database = apsw.Connection(str(tmp_path / "store.db"))
    database.execute("UPDATE decisions SET arm = 1 - arm, slot = 1 - slot WHERE sequence = 2")
    database.close()
    assert main(["verify", "--store", address(tmp_path)]) == 1
    assert "problem: shop: decision" in capsys.readouterr().out


def test_backups_and_restores_that_cannot_be(tmp_path: Path) -> None:
    store = located(address(tmp_path))
    with pytest.raises(OSError, match="cannot open"):
        backup(store, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
    with pytest.raises(FileNotFoundError, match="no backup"):
        restore(tmp_path / "nothing.db", store)
    (tmp_path / "text.db").write_text("not a database, but long enough to look like one" * 50)
    with pytest.raises(ValueError, match="must be a store of fairx"):
        restore(tmp_path / "text.db", store)
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t (a)")
    with pytest.raises(ValueError, match="has no decisions"):
        restore(tmp_path / "other.db", store)
    with pytest.raises(ValueError, match="use pg_dump"):
        backup(located("postgresql://localhost/x"), tmp_path / "copy.db")


def moved(demo: Server, name: str, count: str, least: int) -> dict[str, Any]:
    """Return the status of an experiment when it has counted so many."""
    end = time.monotonic() + PATIENCE
    counts: dict[str, Any] = {}
    while time.monotonic() < end and counts.get(count, 0) < least:
        time.sleep(0.5)
        answer = httpx.get(f"{demo.url}{E}/{name}/status", timeout=PATIENCE)
        counts = answer.json() if answer.is_success else {}
    return counts


def test_visitors_of_the_demonstration_stay_away_from_a_crowd() -> None:
    """They came on, waited and asked again until a busy machine did nothing else: traffic ended in 20 s."""

    async def crowd() -> tuple[list[bool], int, bool]:
        doors = asyncio.Event()

        async def visit() -> None:
            await doors.wait()

        async with asyncio.TaskGroup() as group:
            visits = Visits(group, set())
            came = [visits.begin(visit) for _ in range(CROWD + 5)]
            there = len(visits.there)
            doors.set()
            while visits.there:
                await asyncio.sleep(0)
            return came, there, visits.begin(visit)

    came, there, later = asyncio.run(crowd())
    assert came == [True] * CROWD + [False] * 5
    assert there == CROWD
    assert later


def test_the_demonstration_moves_and_stops_gracefully(tmp_path: Path) -> None:
    demo = Server(address(tmp_path), tmp_path / "log", "--demo")
    demo.start()
    try:
        counts = moved(demo, "demo-news", "mature", 20)
        assert counts["mature"] >= 20
        page = moved(demo, "demo-front-page", "decisions", 5)
        assert page["decisions"] % 5 == 0
        assert math.isclose(sum(arm["exposure"] for arm in page["arms"]), 1)
        assert "demo-news" in httpx.get(demo.url + "/", timeout=PATIENCE).text
        assert httpx.get(f"{demo.url}{E}/demo-radio/audit", timeout=PATIENCE).is_success
    finally:
        demo.interrupt()
    said = (tmp_path / "log").read_text()
    assert f"the dashboard is at {demo.url}/" in said
    assert "Traceback" not in said
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {"time", "level", "event"} <= lines[0].keys()
    assert main(["verify", "--store", address(tmp_path)]) == 0


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with server(tmp_path, "--no-auth") as running:
        other = Server(f"sqlite:///{tmp_path}/other.db", tmp_path / "other", "--no-auth")
        other._command[other._command.index("--port") + 1] = str(running.port)
        other.start(wait=False)
        assert other.ended() == 1
        said = (tmp_path / "other").read_text()
        assert "cannot serve on" in said
        assert "Traceback" not in said


def test_without_tokens_no_other_name_is_answered(tmp_path: Path) -> None:
    """A page of another site can have its own name point here: its requests would be answered."""
    with server(tmp_path, "--no-auth") as running:
        answers = {
            host: httpx.get(running.url + E, headers={"Host": f"{host}:{running.port}"}).status_code
            for host in ("127.0.0.1", "localhost", "[::1]", "evil.example", "[broken")
        }
        assert list(answers.values()) == [200, 200, 200, 403, 403]
