"""Catalogues that turn over daily for a year; news that do not load everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asking import SECRET, E, failure, serving

from fairx.service.limits import Limits
from fairx.store import arms as known
from fairx.store import snapshots, verify

MERIT = {"kind": "Exponential", "steepness": 3.0}
GREEDY = {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.1}
DAY = 86_400.0


def names(day: int) -> list[str]:
    """Return the arms of a day: the one of the day and of the three days before."""
    return [f"arm of day {each}" for each in range(day - 3, day + 1)]


def test_a_catalogue_turns_over_daily_for_a_year(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(arms=5)) as service:
        service.create(arms=[*names(0), "evergreen"], policy=GREEDY, reward_window_s=DAY / 2)
        for day in range(1, 366):
            changes = {"remove": names(day - 1)[:1], "add": names(day)[3:]}
            if day % 50 == 0:
                changes["remove"] += ["evergreen"]
            if day % 50 == 1 and day > 1:
                changes["add"] += ["evergreen"]  # it comes back
            service.post(f"{E}/shop/arms", changes)
            made = service.decide(f"day {day}")
            service.reward(made["decision"], float(day % 3 == 0))
            service.later(DAY)
        found = service.get(f"{E}/shop")
        assert sum(arm["status"] == "active" for arm in found["arms"]) == 5
        assert len(found["arms"]) == 5 + 365
        message, _ = failure(service.ask("POST", f"{E}/shop/arms", {"add": ["x"]}), 422, "invalid")
        assert "arms must be at most 5" in message
        assert service.get(f"{E}/shop/audit")["decisions"] == 365
        reader = service.runtime.store.reader()
        checked = verify(reader, SECRET)
        reader.close()
        assert (checked.problems, checked.decisions, checked.snapshots) == ((), 365, 731)


def test_arms_are_read_as_they_change_and_forgotten_when_undone(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()
        database: Any = service.runtime._writing.writer.database
        first = known.arms_at(database, 1, 1)
        assert known.arms_at(database, 1, 7) is first  # not read again
        with pytest.raises(RuntimeError), database.transaction():
            _fail(database)
        assert known.arms_at(database, 1, 2) == first
        service.post(f"{E}/shop/arms", {"add": ["e"], "pause": ["a"]})
        assert known.arms_at(database, 1, 2)[3] == ("e", "active")
        assert known.arms_at(database, 1, 1) == first  # back, too


def _fail(database: Any) -> None:
    database.rows("INSERT INTO arms VALUES (1, 2, 3, 'd', 'active')")
    assert [arm.name for arm in known.arms_at(database, 1, 2)] == ["a", "b", "c", "d"]
    raise RuntimeError


def test_a_look_at_everything_loads_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "store.db") as service:
        for name in ("one", "two", "three"):
            service.create(name)
        loaded, newest = [], snapshots.newest

        def noted(database: Any, experiment: Any) -> Any:
            loaded.append(experiment.name)
            return newest(database, experiment)

        monkeypatch.setattr(snapshots, "newest", noted)
        service.runner.run(service.runtime.reload())
        assert loaded == []
        database: Any = service.runtime._writing.writer.database
        with database.transaction():  # as another process does
            database.rows("UPDATE experiments SET status = 'paused' WHERE name = 'two'")
            database.rows("UPDATE experiments SET status = 'deleted' WHERE name = 'three'")
        service.runner.run(service.runtime.reload())
        assert loaded == ["two"]
        assert service.get(f"{E}/two")["status"] == "paused"
        assert [each["name"] for each in service.get(E)["experiments"]] == ["one", "two"]
