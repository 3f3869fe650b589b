"""What people who attacked the service found between processes, and in what it says of itself."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from asking import E, Service, failure, serving

from fairx.service import gauges, readers


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
