"""Experiments field by field as their files say, and rows that stay what they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairx import Affine, Exponential
from fairx.experiments import Problem, Rows, read
from fairx.experiments.rows import COUNTS, CURVES, MANY, NUMBERS, TEXTS
from fairx.experiments.specification import Entrant, Experiment

BASE = """
title = "A title"
figure = "exposure"
seed = 7
rounds = [10, 20]
runs = 3
validation_runs = 4
merits = [{ kind = "Exponential", steepness = 4 }, { kind = "Affine", slope = 1, intercept = 2 }]
problem = { setting = "linear", dimension = 5 }
policies = [{ kind = "fairx.policies:UCB", grid = { width = [0.1, 1] } }]
scales.smoke = { runs = 1, rounds = 5 }
scales.quick.validation_runs = 2
"""
ENTRANT = Entrant("UCB", "fairx.policies:UCB", {}, {"width": (0.1, 1)})
WHOLE = Experiment(
    name="base",
    title="A title",
    figure="exposure",
    problem=Problem(setting="linear", dimension=5),
    merits=(Exponential(4), Affine(1, 2)),
    policies=(ENTRANT,),
    rounds=(10, 20),
    tuning_rounds=20,
    runs=3,
    validation_runs=4,
    seed=7,
    scale="paper",
)
LEAST = """
rounds = 9
merits = [{ kind = "Exponential", steepness = 4 }]
policies = [{ kind = "UCB", width = 0.1 }]
"""


def found(folder: Path, text: str, scale: str = "paper", name: str = "base.toml") -> Any:
    (folder / name).write_text(text, "utf-8")
    return read(folder / name, scale)


def test_every_field_is_that_of_the_file(tmp_path: Path) -> None:
    assert found(tmp_path, BASE) == [WHOLE]
    smoke = WHOLE._replace(scale="smoke", runs=1, rounds=(5,), tuning_rounds=5)
    assert found(tmp_path, BASE, "smoke") == [smoke]
    quick = WHOLE._replace(scale="quick", validation_runs=2)
    assert found(tmp_path, BASE, "quick") == [quick]


def test_what_a_file_need_not_say(tmp_path: Path) -> None:
    least = Experiment(
        name="base", title="base", figure="regret", problem=Problem(), merits=(Exponential(4),),
        policies=(Entrant("UCB", "UCB", {"width": 0.1}, {}),), rounds=(9,), tuning_rounds=9, runs=10,
        validation_runs=10, seed=0, scale="paper",
    )  # fmt: skip
    assert found(tmp_path, LEAST) == [least]


def test_what_extends_a_file_lies_on_top_of_it(tmp_path: Path) -> None:
    """Tables are merged, key by key; all else is replaced."""
    found(tmp_path, BASE)
    more = """
extends = "base.toml"
seed = 8
problem.dimension = 6
rounds = 30
more_policies = [{ kind = "UCB", width = 1, label = "wide" }]
parts = [{ name = "a", seed = 9 }, { name = "b", problem.setting = "mab", title = "B" }]
"""
    mine = WHOLE._replace(
        problem=Problem(setting="linear", dimension=6),
        rounds=(30,),
        tuning_rounds=30,
        policies=(ENTRANT, Entrant("wide", "UCB", {"width": 1}, {})),
    )
    second = mine._replace(name="mine-b", title="B", seed=8, problem=Problem(dimension=6))
    assert found(tmp_path, more, name="mine.toml") == [mine._replace(name="mine-a", seed=9), second]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rounds = 9", ""), "base.toml: an experiment needs rounds$"),
        (("merits", "title = 'x' #"), "base.toml: an experiment needs merits$"),
        (("rounds = 9", "rounds = [9, 9]"), r"rounds must increase, not \[9, 9\]"),
        (("rounds = 9", "rounds = [9, 3]"), r"rounds must increase, not \[9, 3\]"),
        (("rounds = 9", "rounds = [1, 0]"), "rounds must be a whole number of at least 1, not 0"),
        (
            ("rounds = 9", "tuning_rounds = 10\nrounds = 9"),
            "tuning_rounds must be at most the rounds of the test, 9, not 10: set both for a scale",
        ),
        (("rounds", "parts = [{ name = 'a', sed = 3 }]\nrounds"), "a part has no key 'sed'"),
        (("rounds", "seed = -1\nrounds"), "seed must be a whole number of at least 0, not -1"),
        (("rounds", "scales.paper.seed = 1\nrounds"), "scales.paper has no key 'seed'"),
        (("rounds", "name = '.a'\nrounds"), "name must be letters, digits, spaces, dots"),
        (("rounds", "name = 'a.b c-1'\nrounds"), None),
        (('kind = "UCB",', ""), "each of the policies needs a kind, but one has width"),
        (("policies =", "more_policies = [{ kind = 'UCB' }]\npolicies ="), "label 'UCB' must"),
        (("width = 0.1", f"grid.width = {list(range(10_000))}"), None),
        (
            ("width = 0.1", f"grid = {{ a = {list(range(73))}, b = {list(range(137))} }}"),
            "the grid of UCB must have at most 10000 points, not 10001",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, change: tuple[str, str], message: str | None) -> None:
    text = LEAST.replace(*change)
    if message is None:
        assert len(found(tmp_path, text)) == 1
        return
    with pytest.raises(ValueError, match=message):
        found(tmp_path, text)


# Rows


def row(number: int) -> dict[str, Any]:
    """Return a row that differs from all others in every field."""
    texts = {name: f"{name} {number}" for name in TEXTS}
    lists = {name: np.arange(number % 3 + 1) + number for name in COUNTS}
    curves = {name: np.arange(number % 4) / 8 + number for name in CURVES}
    key = {"key": f"{number:024}"}
    return {**texts, **key, **dict.fromkeys(NUMBERS, number), **lists, **curves}


def equal(one: Any, other: Any) -> bool:
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("batches", [1, 3, 12])
def test_no_batch_takes_the_place_of_another(tmp_path: Path, batches: int) -> None:
    """Each batch is gathered by another process, and the loose rows at the end by none."""
    numbers = iter(range(1000))
    for _ in range(batches):
        rows = Rows(tmp_path)
        for number in (next(numbers), next(numbers)):
            rows.add(row(number))
        rows.gather()
    Rows(tmp_path).add(row(last := next(numbers)))
    names = sorted(path.name for path in tmp_path.iterdir())
    batch_names = [f"batch-{i + 1:05}.parquet" for i in range(batches)]
    assert names == [f"{last:024}.parquet", *batch_names]
    again = Rows(tmp_path)
    assert len(again) == last + 1
    assert [path.stem for path in again.loose] == [f"{last:024}"]
    assert all(equal(again[f"{number:024}"], row(number)) for number in range(last + 1))
    assert f"{last + 1:024}" not in again


def test_many_loose_rows_are_gathered(tmp_path: Path) -> None:
    rows = Rows(tmp_path)
    for number in range(MANY):
        rows.add(row(number))
    assert len(list(tmp_path.iterdir())) == MANY == len(rows.loose)
    assert len(Rows(tmp_path).loose) == MANY
    rows.add(row(MANY))
    assert [path.name for path in tmp_path.iterdir()] == ["batch-00001.parquet"]
    assert rows.loose == []
    rows.gather()  # nothing
    assert len(list(tmp_path.iterdir())) == 1
    assert len(Rows(tmp_path)) == MANY + 1


def test_loose_rows_of_a_crash_are_gathered_when_opened(tmp_path: Path) -> None:
    rows = Rows(tmp_path)
    rows.gather = lambda: None  # type: ignore[method-assign]
    for number in range(MANY + 1):
        rows.add(row(number))
    assert len(list(tmp_path.iterdir())) == MANY + 1
    assert len(Rows(tmp_path)) == MANY + 1
    assert [path.name for path in tmp_path.iterdir()] == ["batch-00001.parquet"]
