"""What the service says when its store cannot be written: not ready, 503, and soon."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from asking import LINEAR, POLICY, E, Service, failure, serving
from stalling import proxy

from fairx.policies import base
from fairx.service import readers
from fairx.service.limits import Limits
from fairx.service.readers import Readers
from fairx.store import Store, deciding, postgres, statistics
from fairx.store.deciding import Decider
from fairx.store.errors import Overloaded
from fairx.store.snapshots import newest
from fairx.store.writer import OTHER

NETWORK = postgres.NETWORK
PATIENCE = 60.0  # seconds: a busy machine is slow, not wrong
resource: Any = pytest.importorskip("resource")  # Windows has none


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for less than in production, but as is done there."""
    monkeypatch.setattr("fairx.service.writing.PROBED_IN", 0.5)
    settings = tuple(each.replace("'4s'", "'1s'") for each in postgres.WRITING)
    monkeypatch.setattr(postgres, "WRITING", settings)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path / "store.db") as service:
        service.create()
        yield service


def check_away(service: Service, within: float) -> None:
    """Check that the service is not ready, and that a decision is refused, in time."""
    for method, path, body in (
        ("GET", "/readyz", None),
        ("POST", f"{E}/shop/decide", {"key": "k"}),
    ):
        begun = time.monotonic()
        answer = service.ask(method, path, body)
        failure(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "1"
        assert time.monotonic() - begun < within
    assert service.ask("GET", "/healthz").is_success


def check_back(service: Service) -> None:
    """Check that all is well again; to connect takes its time on a busy machine."""
    end = time.monotonic() + 60
    while not service.ask("GET", "/readyz").is_success and time.monotonic() < end:
        time.sleep(0.1)
    assert service.get("/readyz") == {"status": "ready"}
    assert service.decide("k")["arm"] in "abc"


def wait_for(service: Service, method: str, path: str, status: int, body: Any = None) -> Any:
    """Ask until the status is that one; return the answer."""
    end = time.monotonic() + PATIENCE
    while (answer := service.ask(method, path, body)).status_code != status:
        assert time.monotonic() < end, answer.text
        time.sleep(0.05)
    return answer.json()


# SQLite.


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow: SQLite gets an error when it writes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_not_ready(shop: Service) -> None:
    with full_disk():
        check_away(shop, 10.0)
        check_away(shop, 10.0)  # also when the connection was opened anew
    check_back(shop)


def test_a_lock_that_lasts_is_not_ready(shop: Service, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "store.db"))
    other.execute("BEGIN IMMEDIATE")
    check_away(shop, 10.0)
    other.execute("ROLLBACK")
    other.close()
    check_back(shop)


# PostgreSQL.


@pytest.fixture
def served(database_url: str) -> Iterator[Service]:
    with serving(database_url) as service:
        service.create()
        yield service


def test_a_primary_that_only_reads_is_not_ready(served: Service, postgres: Any) -> None:
    postgres.execute("alter system set default_transaction_read_only = on")
    postgres.execute("select pg_reload_conf()")
    try:
        wait_for(served, "GET", "/readyz", 503)  # sessions read their settings anew one by one
        check_away(served, 10.0)
        check_away(served, 10.0)
    finally:
        with psycopg.connect(postgres.url(), autocommit=True) as session:
            session.execute("set default_transaction_read_only = off")
            session.execute("alter system reset default_transaction_read_only")
            session.execute("select pg_reload_conf()")
        wait_for(served, "GET", "/readyz", 200)
    check_back(served)


def test_a_table_that_is_locked_is_not_ready(served: Service, database_url: str) -> None:
    with psycopg.connect(database_url) as other:
        other.execute("LOCK TABLE decisions IN ACCESS EXCLUSIVE MODE")
        check_away(served, 10.0)
    check_back(served)


def test_a_connection_that_answers_nothing_is_given_up(
    postgres: Any, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a deadline of a second instead of eight; connecting anew takes one as well."""
    monkeypatch.setattr("fairx.store.postgres.ANSWERED_IN", {True: 1.0, False: 1.0})
    monkeypatch.setitem(NETWORK, "connect_timeout", 2)
    with proxy(postgres.port) as between:
        address = database_url.replace(f":{postgres.port}/", f":{between.port}/")
        with serving(address) as service:
            service.create()
            service.decide("first")
            service.get(f"{E}/shop/status")  # a reader is connected too
            between.stall()
            check_away(service, 10.0)
            failure(service.ask("GET", f"{E}/shop/status"), 503, "unavailable")
            between.flow()
            # What was asked before is given up first, and may be shared by who asks then.
            wait_for(service, "GET", "/readyz", 200)
            assert wait_for(service, "POST", f"{E}/shop/decide", 200, {"key": "k"})["arm"] in "abc"
            assert wait_for(service, "GET", f"{E}/shop/status", 200)["decisions"] == 2


def test_writes_have_a_deadline_below_ten_seconds() -> None:
    assert postgres.ANSWERED_IN[True] < 10
    settings = postgres._completed("postgresql://db/fairx?connect_timeout=2", True)
    assert "connect_timeout=2" in settings  # an address says otherwise
    assert "tcp_user_timeout=7000" in settings
    assert "target_session_attrs=read-write" in settings


def test_what_the_writer_does_not_answer_in_time_is_given_up(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is that it waits for."""
    done = threading.Event()

    pending = shop.runtime._writing._pending

    async def ask() -> Any:
        monkeypatch.setattr(pending, "_patience", 0.2)
        shop.runtime.write(OTHER, lambda database: done.wait(20)).add_done_callback(_seen)
        return await shop._ask("POST", f"{E}/shop/decide", {"key": "k"}, None, {})

    answer = shop.runner.run(ask())
    failure(answer, 503, "unavailable")
    assert (answer.headers["retry-after"], done.is_set()) == ("1", False)
    done.set()
    monkeypatch.undo()
    assert wait_for(shop, "POST", f"{E}/shop/decide", 200, {"key": "k"})["arm"] in "abc"


def _seen(given_up: Any) -> None:
    given_up.exception()


# Readers.


class Fake:
    """A connection that counts how many there are."""

    def __init__(self, open_: list[Fake]) -> None:
        self._open = open_
        open_.append(self)

    def close(self) -> None:
        self._open.remove(self)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield


def test_readers_are_bounded_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "PATIENCE", 0.2)
    open_: list[Fake] = []
    pool = Readers(Store("", lambda: Fake(open_), lambda: Fake(open_), None))  # type: ignore[arg-type,return-value]
    go, most = threading.Event(), []

    def read(_: int) -> str:
        try:
            return pool.read(lambda _: "read" if go.wait(10) else "late")
        except Overloaded:
            return "refused"

    with ThreadPoolExecutor(97) as threads:
        asked = [threads.submit(read, i) for i in range(97)]
        while sum(each.done() for each in asked) < 97 - readers.MOST:
            time.sleep(0.01)
        most.append(len(open_))
        go.set()
        found = [each.result(10) for each in asked]
    assert (found.count("read"), found.count("refused")) == (readers.MOST, 97 - readers.MOST)
    assert most == [readers.MOST]
    assert len(open_) == readers.KEPT
    pool.close()
    assert open_ == []


# Creating.


def test_creating_again_is_the_same_experiment(shop: Service) -> None:
    made = shop.decide("k")
    again = shop.create()
    assert again["snapshot"] == 1
    assert shop.decide("k") == made
    shop.post(f"{E}/shop/arms", {"add": ["d"]})
    assert [arm["name"] for arm in shop.create()["arms"]] == ["a", "b", "c", "d"]  # as it is now
    for other in ({"arms": ["a", "b"]}, {"floor": 0.1}, {"reward_window_s": 1}):
        body = {"name": "shop", "arms": ["a", "b", "c"], "policy": POLICY} | other
        failure(shop.ask("POST", E, body), 409, "conflict")


def test_the_last_experiment_that_there_is_room_for_can_be_created_again(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(experiments=1)) as service:
        assert service.create() == service.create()
        body = {"name": "other", "arms": ["a"], "policy": POLICY}
        failure(service.ask("POST", E, body), 422, "invalid")


def test_nothing_is_compiled_inside_a_request(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, made = threading.Event(), Decider.make_ready

    def slow(self: Decider) -> None:
        go.wait(30)
        made(self)

    monkeypatch.setattr(Decider, "make_ready", slow)
    monkeypatch.setattr("fairx.service.holding.COMPILED_IN", 0.1)
    begun = time.monotonic()
    shop.create("new")
    assert shop.get(f"{E}/new")["status"] == "running"
    answer = shop.ask("POST", f"{E}/new/decide", {"key": "k"})
    message, _ = failure(answer, 503, "overloaded")
    assert "is being compiled" in message
    assert time.monotonic() - begun < 5
    go.set()
    monkeypatch.setattr("fairx.service.holding.COMPILED_IN", 10.0)
    assert shop.decide("k", "new")["snapshot"] == 1


COMPILING = (deciding._ready_to_draw, statistics._ready_to_add, base._ready_to_absorb)
TOLD = {"kind": "FairXGradient", "steepness": 4, "rate": 0.2}
UCB = {"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.5}


@pytest.mark.parametrize("policy", [TOLD, UCB, LINEAR], ids=lambda policy: policy["kind"])
def test_nothing_is_compiled_by_a_second_decision_or_by_learning(
    tmp_path: Path, policy: Any
) -> None:
    """It was, in a request, and in a transaction that held the locks of what was learned: 2 s on a busy machine."""
    for each in COMPILING:
        each.cache_clear()
    linear: dict[str, Any] = {"dimension": 1} if policy is LINEAR else {}
    contexts: dict[str, Any] = {"contexts": [[1.0], [2.0], [3.0]]} if policy is LINEAR else {}
    with serving(tmp_path / "store.db") as service:
        service.create(policy=policy, reward_window_s=10.0, **linear)
        service.runner.run(service.runtime.compiled(service.runtime.decider("shop")))
        compiled = [each.cache_info().misses for each in COMPILING]
        for key in ("first", "second"):
            service.reward(service.decide(key, **contexts)["decision"], 1.0)
        service.later(11)
        assert service.get(f"{E}/shop/status")["mature"] == 2
        assert [each.cache_info().misses for each in COMPILING] == compiled


def test_learning_waits_until_it_is_compiled(shop: Service) -> None:
    shop.decide("k")
    decider = shop.runtime.decider("shop")
    for ready in (False, True):
        decider.is_ready = ready
        shop.later(1000)
        assert shop.get(f"{E}/shop/status")["mature"] == int(ready)


def test_what_another_process_acknowledged_is_found_however_soon(database_url: str) -> None:
    with serving(database_url, auth=True) as one, serving(database_url, auth=True) as other:
        reloaded = []
        reload = other.runtime.reload

        async def counted(only: Any = None) -> None:
            reloaded.append(only)
            await reload(only)

        other.runtime.reload = counted  # type: ignore[method-assign]
        for name in ("first", "second", "third"):
            one.create(name)
            token = one.post("/v1/tokens", {"name": name, "role": "decide"})["token"]
            answer = other.ask("POST", f"{E}/{name}/decide", {"key": "k"}, token=token)
            assert answer.is_success, answer.text
        for i in range(100):
            bad = f"fairx_{i:012x}_" + "0" * 48
            assert other.ask("GET", f"{E}/first", token=bad).status_code == 401
        assert reloaded == []


def test_news_of_one_experiment_reloads_that_alone(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def counted(database: Any, experiment: Any) -> Any:
        loaded.append(experiment.name)
        return newest(database, experiment)

    with serving(database_url) as one, serving(database_url) as other:
        one.create("first")
        one.create("second")
        other.runner.run(other.runtime.reload())
        other.runner.run(other.runtime.change(lambda database: database.news()))
        one.post(f"{E}/second/arms", {"add": ["d"]})
        news = other.runner.run(other.runtime.change(lambda database: database.news()))
        assert news == {one.runtime.decider("second").snapshot.experiment.id}
        monkeypatch.setattr("fairx.store.snapshots.newest", counted)
        other.runner.run(other.runtime.reload(news))
        assert loaded == ["second"]
        assert len(other.runtime.decider("second").snapshot.arms) == 4
        one.ask("DELETE", f"{E}/second")
        news = other.runner.run(other.runtime.change(lambda database: database.news()))
        other.runner.run(other.runtime.reload(news))
        assert set(other.runtime.deciders) == {"first"}
