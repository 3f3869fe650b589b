"""What is learned of a decision whose unit is erased while it waits for its reward."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import LINEAR, SECRET, E, failure, serving
from test_store import FAIR_LIN_TS, FAIR_TS, Site

from fairx.store import verify
from fairx.store.experiments import erase
from fairx.store.sqlite import SQLite


@pytest.mark.parametrize(("dimension", "learned"), [(0, [1.0, 0.5]), (2, [None, 0.5])])
def test_an_erased_decision_is_lost_where_its_context_is_needed(
    tmp_path: Path, dimension: int, learned: list[float | None]
) -> None:
    database = SQLite(tmp_path / "store.db", write=True)
    policy = FAIR_LIN_TS if dimension else FAIR_TS
    site = Site(database, ["only"], policy=policy, dimension=dimension)
    contexts = [[1.0, 2.0]] if dimension else None
    for key, reward in (("anna", 1.0), ("bert", 0.5)):
        site.decide(key, None, contexts, key)
        site.reward(key, reward)
    with database.transaction():
        assert erase(database, site.experiment, "anna", site.now, "test") == 1
    snapshot = site.close_windows()
    assert snapshot is not None
    counts = [0 if value is None else 1 for value in learned]
    assert [value for _, value, _ in site.learned()] == learned
    assert [number for _, _, number in site.learned()] == [1, 1]
    assert snapshot.sums[0] == sum(counts)
    assert snapshot.watermark == 2
    assert site.verify().problems == ()
    database.close()


def test_erasing_reaches_deleted_experiments(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        for times in range(2):  # the second has the name of the first, which is deleted
            service.create(policy=LINEAR, dimension=1, reward_window_s=10)
            for i in range(3):
                service.decide(f"{times} {i}", contexts=[[1.0], [0.5], [0.0]], unit="anna")
            service.later(6)
            service.later(6)
            if not times:
                service.ask("DELETE", f"{E}/shop")
        assert service.post(f"{E}/shop/erase", {"unit": "anna"})["erased"] == 6
        service.ask("DELETE", f"{E}/shop")
        assert service.post(f"{E}/shop/erase", {"unit": "anna"})["erased"] == 0
        failure(service.ask("POST", f"{E}/none/erase", {"unit": "anna"}), 404, "not_found")
        reader = service.runtime.store.reader()
        sql = "SELECT count(*) FROM decisions WHERE unit IS NOT NULL OR contexts IS NOT NULL"
        assert reader.rows(sql) == [(0,)]
        found = verify(reader, SECRET)
        assert (found.problems, found.erased, found.sealed) == ((), 6, True)
        reader.close()
