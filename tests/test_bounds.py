"""What one request and many of them may cost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from asking import LINEAR, E, Service, failure, serving

from fairx.command import main
from fairx.service.limits import Limits
from fairx.store.sqlite import SQLite

# One request.


def test_the_product_of_what_is_asked_for_is_bounded(tmp_path: Path) -> None:
    """Each of count, candidates and dimension is in its own limits."""
    rows = [[0.5] * 5] * 10
    with serving(tmp_path / "store.db", Limits(numbers=1000)) as service:
        service.create(arms=[f"a{i}" for i in range(10)], policy=LINEAR, dimension=5)
        service.create("plain", arms=[f"a{i}" for i in range(10)])
        for name, body, found in (
            ("shop", {"key": "k", "count": 21, "contexts": rows}, 1050),
            ("plain", {"key": "k", "count": 101}, 1010),
        ):
            message, field = failure(
                service.ask("POST", f"{E}/{name}/decide", body), 422, "invalid"
            )
            assert field == "count"
            assert f"at most 1000, not {found}: see --limit-numbers" in message
        assert len(service.decide("k", count=20, contexts=rows)["decisions"]) == 20
        assert len(service.decide("k", "plain", count=100)["decisions"]) == 100
    assert Limits().numbers == 1_000_000


# Many requests.


def test_what_is_too_much_at_once_is_refused_at_once(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(at_once=8)) as service:
        service.create()
        statuses = service.runner.run(_many(service, 40))
        assert statuses.count(200) >= 8
        assert statuses.count(503) >= 1
        assert set(statuses) == {200, 503}
        assert service.decide("after")["snapshot"] == 1
        assert service.get(f"{E}/shop/status")["decisions"] == statuses.count(200) + 1


async def _many(service: Service, count: int) -> list[int]:
    async def one(i: int) -> int:
        answer = await service._ask("POST", f"{E}/shop/decide", {"key": f"k{i}"}, None, {})
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == "1"
            assert failure(answer, 503, "overloaded")
        return answer.status_code

    return await asyncio.gather(*(one(i) for i in range(count)))


def test_health_is_answered_when_all_else_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(at_once=1)) as service:
        service.runtime.load.at_work = 1
        failure(service.ask("GET", E), 503, "overloaded")
        assert service.ask("GET", "/healthz").is_success
        assert service.ask("GET", "/readyz").is_success


# Arms.


def test_removed_arms_do_not_count_against_the_limit_and_come_back(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(arms=10)) as service:
        service.create(arms=[f"0-{i}" for i in range(10)])
        for day in range(1, 4):
            old, new = ([f"{each}-{i}" for i in range(10)] for each in (day - 1, day))
            service.post(f"{E}/shop/arms", {"add": new, "remove": old})
        found = service.post(f"{E}/shop/arms", {"add": ["0-0"], "remove": ["3-0"]})
        active = {arm["name"] for arm in found["arms"] if arm["status"] == "active"}
        assert active == {"0-0", *(f"3-{i}" for i in range(1, 10))}
        answer = service.ask("POST", f"{E}/shop/arms", {"add": ["more"]})
        message, _ = failure(answer, 422, "invalid")
        assert "at most 10, not 11" in message


# Starting.


def test_a_port_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "99999"]) == 1
    assert "--port must be from 0 to 65,535, not 99999" in capsys.readouterr().err


def test_a_link_does_not_evade_the_lock(tmp_path: Path) -> None:
    first = SQLite(tmp_path / "store.db", write=True)
    (tmp_path / "link.db").symlink_to("store.db")
    with pytest.raises(OSError, match="in use by process"):
        SQLite(tmp_path / "link.db", write=True)
    first.close()


def test_a_hard_link_does_not_evade_the_lock(tmp_path: Path) -> None:
    first = SQLite(tmp_path / "store.db", write=True)
    (tmp_path / "other.db").hardlink_to(tmp_path / "store.db")
    for name in ("other.db", "store.db"):
        with pytest.raises(OSError, match="must have one name, not 2"):
            SQLite(tmp_path / name, write=True)
    (tmp_path / "other.db").unlink()
    first.close()
    SQLite(tmp_path / "store.db", write=True).close()
