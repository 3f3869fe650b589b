"""What is learned of a decision whose unit is erased while it waits for its reward."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_store import FAIR_LIN_TS, FAIR_TS, Site

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
