"""Logs of slates: one row for each decision and place, and what can be wrong between rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_simulation import Softmax

from fairx import Bandit, logs
from fairx.logs import problems

GOOD = pd.DataFrame(
    {
        "decision": [10, 10, 11, 11, 12],
        "place": [1, 2, 2, 1, 1],
        "candidates": [["a", "b", "c"]] * 4 + [["c"]],
        "arm": ["b", "a", "c", "a", "c"],
        "propensity": [0.5, 0.25, 0.25, 0.25, 1.0],
        "weight": [1.0, 0.5, 0.5, 1.0, 1.0],
        "exposures": [[0.5, 0.5, 0.5]] * 4 + [[1.0]],
        "reward": [1.0, 0.0, None, 0.5, 1.0],
    }
)
# What is put into which row, and how many rows of slate 10 have the kind for it
BROKEN: dict[str, tuple[dict[str, tuple[int, Any]], int]] = {
    "missing or invalid place": ({"place": (1, 2.5)}, 1),
    "missing or invalid weight": ({"weight": (1, -0.5)}, 1),
    "exposures not one for each candidate": ({"exposures": (1, [0.5, 1.0])}, 1),
    "exposure below what its place gives": ({"propensity": (1, 1.0), "weight": (1, 1.0)}, 1),
    "arm twice in its slate": ({"arm": (1, "b")}, 2),
    "places not 1 to their number": ({"place": (1, 3)}, 2),
    "weights that increase by place": ({"weight": (0, 0.25)}, 2),
    "candidates unlike those of another place": ({"candidates": (1, ["a", "b", "d"])}, 2),
    "exposures without the sum of the weights": ({"exposures": (0, [0.5, 0.5, 0.25])}, 2),
    "problem at another place of its slate": ({"arm": (0, None)}, 1),
}


def changed(changes: dict[str, tuple[int, Any]]) -> pd.DataFrame:
    table = GOOD.copy()
    for name, (where, value) in changes.items():
        table[name] = [value if i == where else old for i, old in enumerate(table[name])]
    return table


def kept(log: logs.Log) -> list[tuple[int, int]]:
    found = log.query("SELECT decision, place FROM valid ORDER BY row")
    return list(zip(found["decision"].tolist(), found["place"].tolist(), strict=True))


def test_a_slate_is_several_rows_of_one_decision() -> None:
    log = logs.read(GOOD, strict=True)
    assert log.problems() == {}
    assert kept(log) == [(10, 1), (10, 2), (11, 2), (11, 1), (12, 1)]


def test_every_kind_has_a_case() -> None:
    named = {kind.name for kind in problems.SLATE_KINDS}
    assert {*BROKEN, "two rows for one place"} == named


def test_of_two_rows_for_one_place_the_first_stays() -> None:
    twice = pd.concat([GOOD, GOOD[1:2].assign(arm="c", weight=1.0)])
    log = logs.read(twice)
    assert log.problems() == {"two rows for one place": 1}
    assert kept(log) == kept(logs.read(GOOD))


@pytest.mark.parametrize("kind", BROKEN)
def test_every_kind_of_problem_is_counted(kind: str) -> None:
    changes, count = BROKEN[kind]
    log = logs.read(changed(changes))
    assert log.problems()[kind] == count
    assert kept(log) == [(11, 2), (11, 1), (12, 1)]


def test_files_of_text(tmp_path: Path) -> None:
    table = changed({"place": (1, 3)})
    for name in ("candidates", "exposures"):
        table[name] = [json.dumps(value) for value in table[name]]
    table.to_csv(tmp_path / "log.csv", index=False)
    log = logs.read(tmp_path / "log.csv")
    assert log.problems() == {"places not 1 to their number": 2}
    assert [int(decision) for decision, _ in kept(log)] == [11, 11, 12]
    with pytest.raises(ValueError, match=r"line 2 of .* must be valid, not: places not 1 to"):
        logs.read(tmp_path / "log.csv", strict=True)


def test_rows_without_decisions_stand_alone() -> None:
    """As in the Open Bandit data, whose rows do not say which page they were on."""
    table = GOOD.drop(columns=["decision", "exposures", "weight"])
    assert logs.read(table).problems() == {}
    assert logs.read(table, {"place": "place"}).query("SELECT sum(place) AS s FROM valid")["s"] == 7


def test_a_weight_without_places_is_another_thing() -> None:
    table = GOOD[["arm", "reward", "weight"]].assign(weight="heavy")
    assert "weight" not in logs.read(table).columns
    with pytest.raises(ValueError, match="weight needs place"):
        logs.read(table, {"weight": "weight"})
    with pytest.raises(ValueError, match="exposures need weight"):
        logs.read(GOOD.drop(columns=["weight"]))


def test_a_bandit_writes_slates(tmp_path: Path) -> None:
    bandit = Bandit(Softmax(4.0), ["red", "green", "blue", "grey"], seed=3)
    path, rng, slates = tmp_path / "log.jsonl", np.random.default_rng(1), []
    with logs.Appender(path, policy="mine") as log:
        for i in range(20):
            slate = bandit.act(weights=[1, 0.5, 0.25])
            rewards = rng.integers(2, size=3).astype(float).tolist()
            bandit.learn(slate, rewards)
            log.append(slate, None if i == 5 else rewards, time=float(i))
            slates.append(slate)
        log.append(bandit.act(weights=2), [1.0, None], time=20.0)
        with pytest.raises(ValueError, match="rewards must be one for each of the 3 places"):
            log.append(slates[0], [1.0])
    found = logs.read(path, strict=True)
    rows = found.query("SELECT * FROM valid ORDER BY row")
    assert rows["arm"].tolist()[:60] == [arm for slate in slates for arm in slate.arms]
    assert rows["propensity"].tolist()[:60] == [p for one in slates for p in one.propensities]
    np.testing.assert_array_equal(rows["exposures"][30], slates[10].exposures)
    assert rows["place"].tolist() == [1, 2, 3] * 20 + [1, 2]
    assert np.ma.count(rows["reward"]) == 58
    found.write(tmp_path / "log.parquet")
    again = logs.read(tmp_path / "log.parquet", strict=True)
    assert again.query("SELECT sum(weight) AS s FROM valid")["s"] == 20 * 1.75 + 2


def test_weights_of_any_size() -> None:
    """A tolerance of 0.0001 found exposures too low by rounding, where weights are huge."""
    playing, rows = Bandit(Softmax(4.0), list("abcd"), seed=1), []
    for _ in range(40):
        slate = playing.act(weights=[1e300, 1e299])
        rows += logs.rows(slate, [0.0, 1.0])
    assert logs.read(pd.DataFrame(rows)).problems() == {}
