"""Regrets that are added up while pseudo-rewards are, and batches that are read ahead."""

from __future__ import annotations

import threading
from collections.abc import Generator

import numpy as np
import pandas as pd
import pytest

from fairx import Exponential
from fairx.auditing import audit, speaking
from fairx.auditing.ahead import ahead


def log_of(order: str, timed: bool, candidates: bool) -> pd.DataFrame:
    """Return propensities of three arms, the third of which comes late or is not always on offer."""
    rng, rows = np.random.default_rng(11), 3000
    offered = np.where(np.arange(rows) < 1200, 2, 3)
    table = pd.DataFrame({"arm": np.array(["a", "b", "c"])[rng.integers(offered)]})
    table["propensity"] = 1 / offered
    means = table["arm"].map({"a": 0.8, "b": 0.4, "c": 0.6})
    table["reward"] = np.where(rng.random(rows) < 0.1, np.nan, rng.random(rows) < means)
    if candidates:
        table["candidates"] = [["a", "b", "c"][:number] for number in offered]
    if timed:
        table["time"] = np.arange(float(rows))
    return table.sample(frac=1, random_state=2) if order == "shuffled" else table


@pytest.mark.parametrize("order", ["in order", "shuffled"])
@pytest.mark.parametrize(("timed", "candidates"), [(True, False), (True, True), (False, True)])
def test_regrets_are_those_of_a_pass_of_their_own(
    order: str, timed: bool, candidates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are not in order are read twice, and counted once."""
    table = log_of(order, timed, candidates)
    found = audit(table, Exponential(4))
    monkeypatch.setattr(speaking, "no_regrets", lambda *_: None)
    other = audit(table, Exponential(4))
    assert found.judged_by == "pseudo-rewards of the arms shown"
    assert found.fairness_regret_per_decision > 0.1
    assert found.fairness_regret_per_decision == pytest.approx(
        other.fairness_regret_per_decision, rel=1e-12
    )
    assert len(found.over_time) == (40 if timed else 0)
    for one, same in zip(found.over_time, other.over_time, strict=True):
        assert (one.start, one.stop, one.decisions) == (same.start, same.stop, same.decisions)
        assert one.fairness_regret_per_decision == pytest.approx(
            same.fairness_regret_per_decision, rel=1e-12
        )


def test_a_batch_is_read_while_another_is_worked_on_and_no_more() -> None:
    read: list[int] = []
    closed: list[str] = []
    third = threading.Event()

    def batches(rows: str) -> Generator[int, None, None]:
        try:
            for number in range(5):
                read.append(number)
                if number == 2:
                    third.set()
                yield number
        finally:
            closed.append(rows)

    some = ahead(batches, "rows")
    assert next(some) == 0
    assert next(some) == 1
    assert third.wait(10)
    some.close()
    assert read == [0, 1, 2]
    assert closed == ["rows"]
    assert list(ahead(batches, "again")) == [0, 1, 2, 3, 4]


def test_what_goes_wrong_while_reading_is_told() -> None:
    def batches(rows: str) -> Generator[int, None, None]:
        yield 1
        raise ValueError(rows)

    with pytest.raises(ValueError, match="cut off"):
        list(ahead(batches, "cut off"))
