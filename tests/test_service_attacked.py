"""What people who attacked the service found between processes, and in what it says of itself."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from asking import LIMITS, LINEAR, E, Service, failure, serving

from fairx.service import access, gauges, handlers, readers
from fairx.service.runtime import EXPORTS
from fairx.store import logbook
from fairx.store.tokens import Token, create_token, valid_tokens


def _measures(service: Service, name: str) -> list[float]:
    """Return what is measured of an experiment called shop."""
    start = f'{name}{{experiment="shop"}} '
    lines = service.ask("GET", "/metrics").text.splitlines()
    return [float(line.removeprefix(start)) for line in lines if line.startswith(start)]


def test_a_decision_is_counted_by_the_process_that_learned_from_it(database_url: str) -> None:
    """Each counted what others had learned since its last snapshot, too: 55 of 30."""
    with serving(database_url) as one, serving(database_url) as other:
        one.create(reward_window_s=10.0)
        other.runner.run(other.runtime.reload())
        for i, service in enumerate([one, other] * 3):
            service.decide(f"k{i}", count=5)
            one.now = other.now = one.now + 11
            service.later(0)
        counts = [_measures(service, "fairx_matured_total") for service in (one, other)]
        assert counts == [[15.0], [15.0]]


def test_nothing_is_measured_of_an_experiment_that_was_deleted(tmp_path: Path) -> None:
    """The lag of its fold stayed for ever, at what it was: an alarm that nobody could end."""
    gauges = ("fairx_fold_lag_seconds", "fairx_snapshot_age_seconds")
    with serving(tmp_path / "store.db") as service:
        service.create(reward_window_s=10.0)
        service.decide("k")
        service.now += 100
        assert [_measures(service, name) for name in gauges] == [[90.0], [100.0]]
        assert service.ask("DELETE", f"{E}/shop").status_code == 204
        assert [_measures(service, name) for name in gauges] == [[], []]


def test_tokens_of_a_deleted_experiment_end_in_other_processes_too(database_url: str) -> None:
    """They heard of the experiment alone, and a token was good for its successor for seconds."""
    with serving(database_url, auth=True) as one, serving(database_url, auth=True) as other:
        one.create()
        asked = {"name": "site", "role": "decide", "experiment": "shop"}
        token = one.post("/v1/tokens", asked)["token"]
        other.runner.run(_heard(other))
        assert other.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=token).is_success
        assert one.ask("DELETE", f"{E}/shop").status_code == 204
        one.create()
        other.runner.run(_heard(other))
        answer = other.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=token)
        failure(answer, 401, "unauthorized")


async def _heard(service: Service) -> None:
    """Look at what other processes announced, as a service does between folds."""
    await service.runtime.reload(await service.runtime.change(lambda database: database.news()))


def test_many_decisions_that_are_asked_for_again_are_looked_up_together(tmp_path: Path) -> None:
    """Each was told again from the last kept sums: retried, a request took 15 times as long."""
    with serving(tmp_path / "store.db") as service:
        service.create(arms=[f"arm-{i}" for i in range(70)], reward_window_s=10.0)
        asked: dict[str, Any] = {"count": 50, "probabilities": True}
        first = service.decide("k", **asked)
        service.later(11)
        read, reads = service.runtime.read, []

        async def counted(function: Any) -> Any:
            reads.append(function)
            return await read(function)

        service.runtime.read = counted  # type: ignore[method-assign]
        assert service.decide("k", **asked) == first
        assert len(reads) <= 3  # arms, probabilities


def test_who_reads_keeps_nobody_from_learning_and_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """120 clients that asked for counts had new snapshots, and measures, wait for 15 s."""
    monkeypatch.setattr(readers, "PATIENCE", 1000.0)
    go = threading.Event()

    async def crowded(service: Service) -> None:
        runtime = service.runtime
        asked = [asyncio.ensure_future(runtime.read(lambda _: go.wait(300))) for _ in range(100)]
        try:
            while runtime.reading < readers.MOST:
                await asyncio.sleep(0.01)
            await asyncio.wait_for(runtime.fold(), 60)
            assert runtime.decider("shop").snapshot.watermark == 1
            monkeypatch.setattr(gauges, "PATIENCE", 0.01)
            answer = await asyncio.wait_for(service._ask("GET", "/metrics", None, None, {}), 60)
            assert f"fairx_store_readers {readers.MOST}.0" in answer.text
        finally:
            go.set()
            await asyncio.gather(*asked, return_exceptions=True)

    with serving(tmp_path / "store.db") as service:
        service.create(reward_window_s=10.0)
        service.decide("k")
        service.now += 11
        service.runner.run(crowded(service))


NAMED = {
    "visit": {f"v{i}": {"kind": "Number", "optional": True} for i in range(10)},
    "arms": {f"p{i}": {"kind": "Number", "optional": True} for i in range(10)},
    "crosses": [[f"v{i}", f"p{j}"] for i in range(10) for j in range(10)],
    "hashed": 4,
}


def test_features_by_name_are_counted_however_few_columns_they_are_hashed_into(
    tmp_path: Path,
) -> None:
    """1.7 kB asked for 19 million crosses, hashed into 16 columns: nobody was answered for 25 s."""
    with serving(tmp_path / "store.db", LIMITS._replace(numbers=5000)) as service:
        service.create(policy=LINEAR, features=NAMED)  # 3 arms x (4 columns + 8 x 120 terms)
        assert service.decide("k", contexts={})["arm"]
        part = {"experiment": "shop", "route": "decide", "body": {"key": "k", "contexts": {}}}
        requests = [part | {"body": {"key": f"k{i}", "contexts": {}}} for i in range(3)]
        message, _ = failure(
            service.ask("POST", "/v1/batch", {"requests": requests}), 422, "invalid"
        )
        assert "not 8676: see --limit-numbers" in message
        rows = [[1.0] * 4] * 3  # of numbers these are no terms, and contexts are read once for all
        assert service.decide("many", contexts=rows, count=50)
        assert service.decide("named", contexts={}, count=50)


def test_places_of_slates_are_events_of_a_batch(tmp_path: Path) -> None:
    """90 kB asked for 100,000 places: nobody was answered for 4 s."""
    with serving(tmp_path / "store.db", LIMITS._replace(events=5)) as service:
        service.create()
        for places in (3, [1.0, 0.5, 0.2]):
            bodies = [{"key": f"{places} {i}", "places": places} for i in range(2)]
            parts = [{"experiment": "shop", "route": "decide", "body": body} for body in bodies]
            message, _ = failure(
                service.ask("POST", "/v1/batch", {"requests": parts}), 422, "invalid"
            )
            assert message == "requests must be at most 5, not 6: see --limit-events"
            assert service.post("/v1/batch", {"requests": parts[:1]})["answers"][0]["status"] == 200


def test_rewards_of_one_decision_are_bounded(tmp_path: Path) -> None:
    """Each was held against all that were there: 1,000 more of 60,000 kept the only writer for 5 s."""
    with serving(tmp_path / "store.db", LIMITS._replace(rewards=4)) as service:
        service.create(reward_range=[-1, 1])
        made = service.decide("k")["decision"]

        def given(*values: float) -> Any:
            rewards = [{"decision": made, "reward": v, "id": f"{v}"} for v in values]
            return service.ask("POST", f"{E}/shop/rewards", {"rewards": rewards})

        message, _ = failure(given(0.5, 0.75), 422, "invalid")
        assert "from -1 to 1, not 1.25 in all" in message
        assert given(0.5, 0.75, -0.25).is_success  # a request is judged as a whole
        message, field = failure(given(0.1, 0.2), 422, "invalid")
        assert "at most 4 ids for one decision, not 5" in message
        assert field == "rewards"
        assert given(0.5, -0.1, 0.75).is_success  # of what is there, there are no more
        assert service.reward(made, 0.5, id="0.5") == "duplicate"
        failure(given(0.3), 422, "invalid")


def test_a_token_that_ended_while_another_was_looked_up_stays_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found went to the tokens of before, which replaced those that were loaded meanwhile."""
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        old = service.post("/v1/tokens", {"name": "old", "role": "decide"})
        held = service.runtime.access
        number, token, digest = access.new_token()
        new = Token(number, "new", "decide", None, digest, service.now, None)
        service.runner.run(service.runtime.change(lambda database: create_token(database, new)))

        def meanwhile(database: Any, number: str | None = None) -> Any:
            """Find one token while another ends, as `load` sees it."""
            if number is not None:
                held._tokens = {k: v for k, v in held._tokens.items() if k != old["id"]}
            return valid_tokens(database, number)

        monkeypatch.setattr("fairx.service.access.valid_tokens", meanwhile)
        look = service.runtime.read(lambda database: held.find(database, number))
        assert service.runner.run(look)
        asked = {"key": "k"}
        assert service.ask("POST", f"{E}/shop/decide", asked, token=token).is_success
        ended = service.ask("POST", f"{E}/shop/decide", asked, token=old["token"])
        failure(ended, 401, "unauthorized")


def test_what_an_audit_keeps_goes_with_its_experiment(tmp_path: Path) -> None:
    """It stayed until the process ended: of one experiment a day, the logs of all."""
    with serving(tmp_path / "store.db") as service:
        folders = []
        for _ in range(3):
            service.create(reward_window_s=10.0)
            service.decide("k")
            service.later(11)
            assert service.get(f"{E}/shop/audit")["decisions"] == 1
            folders += [each._folder for each in service.application.audits._spools.values()]
            assert service.ask("DELETE", f"{E}/shop").status_code == 204
        assert len(folders) == 3
        assert [folder.exists() for folder in folders] == [False, False, True]


def test_exports_leave_room_for_others_who_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 at once, of seconds each, had all else that reads refused: a key that is asked for again, too."""
    go, exported = threading.Event(), logbook.export

    def slow(*about: Any) -> Any:
        go.wait(300)
        return exported(*about)

    async def crowded(service: Service) -> None:
        def get(what: str) -> Any:
            return service._ask("GET", f"{E}/shop/{what}", None, None, {})

        asked = [asyncio.ensure_future(get("export")) for _ in range(readers.MOST + 4)]
        try:
            while sum(each.done() for each in asked) < readers.MOST or (
                service.runtime.reading < EXPORTS
            ):
                await asyncio.sleep(0.01)
            assert (await get("status")).is_success
        finally:
            go.set()
        refused = [answer for each in asked if not (answer := await each).is_success]
        assert len(refused) == readers.MOST + 4 - EXPORTS
        for answer in refused:
            failure(answer, 503, "overloaded")
            assert answer.headers["retry-after"] == "1"
        assert (await get("export")).is_success

    monkeypatch.setattr(handlers, "export", slow)
    with serving(tmp_path / "store.db") as service:
        service.create()
        service.decide("k")
        service.runner.run(asyncio.wait_for(crowded(service), 120))
