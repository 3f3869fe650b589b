"""The client and the service together: real processes, also killed and started again meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
from asking import ROOT
from serving import PATIENCE, Server, server

from fairx import Exponential, FairXLinTS, FairXTS
from fairx.client import AsyncClient, Client, Conflict, Reward, ServiceError
from fairx.features import Category, Features, Number

pytestmark = pytest.mark.service
POLICY = FairXTS(Exponential(3.0), prior_std=1.0, reward_std=0.5)
LINEAR = FairXLinTS(Exponential(3.0), prior_std=1.0, reward_std=0.5)
PATIENT: dict[str, Any] = {"timeout": 60.0, "retries": 60}  # a busy machine is slow, not wrong
# Retries for longer than a server may take to start again: they come once a second or so.
OUTLASTING: dict[str, Any] = {"timeout": 60.0, "retries": 3 * int(PATIENCE)}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("service"), FAIRX_ADMIN_TOKEN=ROOT) as found:
        yield found


class Awaited:
    """An asynchronous client, or a handle of it, called as if it were the other."""

    def __init__(self, runner: asyncio.Runner, inner: Any) -> None:
        self._runner, self._inner = runner, inner

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*values: Any, **named: Any) -> Any:
            found = method(*values, **named)
            if inspect.isawaitable(found):
                return self._runner.run(_finished(found))
            return Awaited(self._runner, found)

        return call


async def _finished(found: Any) -> Any:
    return await found


@pytest.fixture(params=["blocking", "awaiting"])
def client(request: pytest.FixtureRequest, running: Server) -> Iterator[Any]:
    if request.param == "blocking":
        with Client(running.url, ROOT, **PATIENT) as found:
            yield found
    else:
        with asyncio.Runner() as runner:
            waiting = AsyncClient(running.url, ROOT, **PATIENT)
            yield Awaited(runner, waiting)
            runner.run(waiting.close())


def _until(fact: Callable[[], bool]) -> None:
    end = time.monotonic() + 180
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_all_of_an_experiments_life(client: Any, tmp_path: Path) -> None:
    shop = client.experiment("shop")
    made = shop.create(["a", "b"], POLICY, reward_window_s=5, floor=0.1, reward_range=(0, 1))
    assert [arm.name for arm in made.arms] == ["a", "b"]
    assert shop.get() == made
    assert made in client.experiments()
    with pytest.raises(Conflict) as taken:
        shop.create(["a", "b"], POLICY)
    assert (taken.value.status, taken.value.field) == (409, "name")

    first = shop.decide("k", probabilities=True, unit="me")
    assert shop.decide("k", probabilities=True, unit="me") == first
    assert sum(first.probabilities.values()) == pytest.approx(1)
    assert min(first.probabilities.values()) >= 0.1
    several = shop.decide(count=600)
    assert len({each.decision for each in several}) == 600
    assert shop.decide().decision not in {each.decision for each in several}

    assert shop.reward(first.decision, 0.5).status == "accepted"
    assert shop.reward(first.decision, 0.5).status == "duplicate"
    with pytest.raises(Conflict, match=r"0\.5"):
        shop.reward(first.decision, 0.75)
    gone = [each.decision for each in several]
    assert [each.decision for each in shop.shown(gone)] == gone  # in two parts
    answers = shop.rewards([Reward(number, 1.0, "x", True) for number in gone])
    assert [each.decision for each in answers] == gone
    assert {each.status for each in answers} <= {"accepted", "late"}
    with pytest.raises(ServiceError) as forged:
        shop.reward("forged", 1.0)
    assert (forged.value.code, forged.value.status) == ("forged_decision", 422)

    _until(lambda: shop.status().waiting == 0)
    status = shop.status()
    assert (status.decisions, status.mature) == (602, 602)
    found = shop.decision(first.decision)
    assert (found.status, found.reward, found.unit, found.arm) == ("mature", 0.5, "me", first.arm)
    audit = shop.audit(alpha=0.1)
    assert (audit.alpha, audit.decisions, audit.floor) == (0.1, 602, 0.1)
    assert [line.arm for line in audit.lines] == ["a", "b"]
    shop.export(tmp_path / "log.parquet")
    assert pq.read_table(tmp_path / "log.parquet").num_rows == 602
    assert shop.erase("me") == 1
    assert shop.decision(first.decision).unit is None

    changed = shop.arms(add=["c"], pause=["b"])
    assert {arm.name: arm.status for arm in changed.arms} == {
        "a": "active",
        "b": "paused",
        "c": "active",
    }
    assert shop.decide(candidates=["a", "b"]).left_out == ("b",)
    shop.arms(resume=["b"], remove=["c"])
    assert shop.pause().status == "paused"
    with pytest.raises(Conflict, match="paused"):
        shop.decide()
    assert shop.decide("k", unit="me").arm == first.arm
    assert shop.resume().status == "running"
    shop.delete()
    with pytest.raises(ServiceError, match="does not exist"):
        shop.get()
    assert [action.action for action in client.actions()][:2] == ["deleted", "running"]


def test_slates(client: Any) -> None:
    shop = client.experiment("page")
    shop.create(["a", "b"], POLICY, reward_window_s=3)
    slate = shop.decide("page", places=[1.0, 0.5], probabilities=True)
    assert shop.decide("page", places=[1.0, 0.5], probabilities=True) == slate
    assert sorted(slate.arms) == ["a", "b"]
    assert sum(slate.exposures.values()) == pytest.approx(1.5)
    assert [each.place for each in shop.shown(slate.decision, [1, 2])] == [1, 2]
    given = [Reward(slate.decision, (place - 1) / 4, "", True, place) for place in (2, 1)]
    assert [each.status for each in shop.rewards(given)] == ["accepted"] * 2
    with pytest.raises(ServiceError, match="place must be given"):
        shop.reward(slate.decision, 0.25)
    _until(lambda: shop.status().waiting == 0)
    assert [each.reward for each in shop.slate(slate.decision).slate] == [0.0, 0.25]
    audit = shop.audit_slates(alpha=0.1)
    assert (audit.alpha, audit.decisions, len(audit.means)) == (0.1, 1, 2)
    had = {line.arm: 1.5 * line.exposure for line in audit.lines}
    assert had == pytest.approx(slate.exposures)
    shop.delete()


def test_contexts(client: Any) -> None:
    news = client.experiment("news")
    news.create(["a", "b"], LINEAR, dimension=2)
    made = news.decide(candidates=["b", "a"], contexts=[[1, 2], [3, 4]], probabilities=True)
    assert list(made.probabilities) == ["b", "a"]
    assert news.decision(made.decision).contexts == ((1.0, 2.0), (3.0, 4.0))
    with pytest.raises(ServiceError) as refused:
        news.decide(contexts=[[1, 2, 3], [4, 5, 6]])
    assert (refused.value.status, refused.value.field) == (422, "contexts")
    news.delete()


def test_named_features_are_encoded_before_they_are_sent(client: Any) -> None:
    features = Features({"hour": Number(12, 6)}, {"arm": Category(["a", "b"])}, [("hour", "arm")])
    rows = features.rows({"hour": 21}, [{"arm": "a"}, {"arm": "b"}]).tolist()
    named = client.experiment("named")
    named.create(["a", "b"], LINEAR, dimension=features.dimension)
    made = named.decide(contexts=rows)
    assert [list(row) for row in named.decision(made.decision).contexts] == rows
    named.delete()


def test_named_features_are_encoded_by_the_service(client: Any) -> None:
    features = Features({"hour": Number(12, 6)}, {"arm": Category(["a", "b"])}, [("hour", "arm")])
    named = client.experiment("by-name")
    made = named.create(["a", "b"], LINEAR, features=features)
    assert made.dimension == features.dimension
    choice = named.decide(contexts={"visit": {"hour": 21}})
    rows = features.rows({"hour": 21}, [{"arm": "a"}, {"arm": "b"}])
    assert named.decision(choice.decision).contexts == tuple(map(tuple, rows.tolist()))
    with pytest.raises(ServiceError, match="feature 'hour' must be given"):
        named.decide(contexts={"visit": {}})
    named.delete()


def test_tokens(client: Any, running: Server) -> None:
    client.experiment("own").create(["a"], POLICY)
    made = client.create_token("site", "decide", "own")
    assert made.id in [token.id for token in client.tokens()]
    with Client(running.url, made.token, **PATIENT) as site:
        assert site.experiment("own").decide().arm == "a"
        with pytest.raises(ServiceError) as refused:
            site.experiment("own").status()
        assert refused.value.status == 403
        client.delete_token(made.id)
        with pytest.raises(ServiceError) as refused:
            site.experiment("own").decide()
        assert refused.value.status == 401
    client.experiment("own").delete()


def test_a_large_body_is_refused_in_words(running: Server) -> None:
    headers = {"Authorization": f"Bearer {ROOT}"}
    body = b" " * 20_000_000
    answer = httpx.post(running.url + "/v1/experiments", content=body, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "too_large"


def _restarting(found: Server, times: int, made: list[Any]) -> threading.Thread:
    """Kill the server whenever some more decisions were made, and start it again."""

    def run() -> None:
        for done in range(times):
            while len(made) <= 5 * (done + 1):
                time.sleep(0.02)
            found.kill()
            found.start()

    thread = threading.Thread(target=run, daemon=True)  # a test that fails must not wait for it
    thread.start()
    return thread


def test_retries_outlast_crashes_and_nothing_is_done_twice(tmp_path: Path) -> None:
    """Decide and reward without a pause while the server is killed and started again: each call
    returns in the end, its answer is on record, and each reward counts once."""
    with (
        server(tmp_path, "--no-auth") as found,
        Client(found.url, **OUTLASTING) as client,
    ):
        shop = client.experiment("shop")
        shop.create(["a", "b"], POLICY, reward_window_s=3600)
        made: list[Any] = []
        crashes = _restarting(found, 3, made)
        while crashes.is_alive():
            choice = shop.decide(str(len(made)))
            assert shop.reward(choice.decision, 0.25).status in ("accepted", "duplicate")
            made.append(choice)
        crashes.join()
        assert len(made) > 10
        for number, choice in enumerate(made):
            assert shop.decide(str(number)) == choice
            kept = shop.decision(choice.decision)
            assert (kept.arm, kept.propensity) == (choice.arm, choice.propensity)
            assert [reward.reward for reward in kept.rewards] == [0.25]
        status = shop.status()
        assert status.decisions == len(made)
        assert sum(arm.rewards for arm in status.arms) == len(made)


def test_asynchronous_retries_outlast_a_crash(tmp_path: Path) -> None:
    async def work(url: str) -> tuple[list[Any], list[Any]]:
        async with AsyncClient(url, **OUTLASTING) as client:
            shop = client.experiment("shop")
            await shop.create(["a", "b"], POLICY)
            made: list[Any] = []
            crashes = _restarting(found, 2, made)
            while crashes.is_alive():
                keys = range(len(made), len(made) + 8)
                made += await asyncio.gather(*(shop.decide(str(key)) for key in keys))
            again = [await shop.decide(str(key)) for key in range(len(made))]
            assert (await shop.status()).decisions == len(made)
            return made, again

    with server(tmp_path, "--no-auth") as found:
        made, again = asyncio.run(work(found.url))
    assert len(made) > 10
    assert made == again


def test_a_graceful_stop_answers_what_was_asked(tmp_path: Path) -> None:
    with server(tmp_path, "--no-auth") as found:
        with Client(found.url, **PATIENT) as client:
            client.experiment("shop").create(["a"], POLICY)
            made = client.experiment("shop").decide("k")
        assert found.stop() in (0, -signal.SIGTERM)  # uvicorn says what ended it
        assert "Application shutdown complete" in found.log.read_text()
        found.start()
        with Client(found.url, **PATIENT) as client:
            assert client.experiment("shop").decide("k") == made
