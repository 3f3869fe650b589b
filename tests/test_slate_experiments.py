"""Experiments on pages with several places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_experiments import SMALL, written

from fairx import Exponential, FairXUCB, fair_exposure, simulate
from fairx.environments import Bernoulli
from fairx.experiments import Problem, check, conduct, local_player, opened, read
from fairx.experiments.one_place import OnePlaceUCB
from fairx.experiments.parts import exposure_rows
from fairx.experiments.problems import part, settles
from fairx.experiments.tasks import validation_tasks
from fairx.report import write_report

WEIGHTS = (1.0, 0.5)


@pytest.fixture(autouse=True)
def _slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play interpreted: what is compiled is tested with the loop."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")


def test_places_are_in_the_key_and_one_place_is_not() -> None:
    plain, placed = Problem(), Problem(weights=2, feedback="examined")  # type: ignore[arg-type]
    assert not {"weights", "feedback", "examination"} & set(plain.described())
    assert placed.weights == placed.examination == (1.0, 1.0)
    assert placed.described()["weights"] == [1.0, 1.0]
    (figure,) = read("fig2", "smoke")
    entrant, merit = figure.policies[-1], figure.merits[0]
    point = next(entrant.points())
    problems = [plain, Problem(weights=WEIGHTS), placed]
    keys = [
        validation_tasks(figure._replace(problem=one), entrant, point, merit, "")[0].key
        for one in problems
    ]
    assert len(set(keys)) == 3
    assert figure._replace(problem=placed).identity() != figure.identity()


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("problem.weights = [0.5, 1]", "weights must be not increasing, not 1.0 after 0.5"),
        ("problem.feedback = 'examined'", "weights must be given for feedback='examined'"),
        ("problem = { weights = 2, feedback = 'sen' }", "feedback must be one of each, examined"),
    ],
)
def test_bad_places_are_refused(tmp_path: Path, problem: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, SMALL.replace("seed = 3", problem)))


def test_what_cannot_be_played_is_refused_before_any_work(tmp_path: Path) -> None:
    (many,) = read(written(tmp_path, SMALL.replace("seed = 3", "problem.weights = 15")))
    with pytest.raises(ValueError, match="cannot be played: weights must be at most one for each"):
        check(many)
    clicks = "problem = { weights = 2, feedback = 'examined' }"
    tight = 'grid.width = [0.1]\nbounds = [0, 1]\ninterval = "kl"'
    text = SMALL.replace("seed = 3", clicks).replace("grid.width = [0.01, 0.1, 1.0]", tight)
    with pytest.raises(ValueError, match=r"FairX-UCB.* cannot be played: interval must be 'hoeff"):
        check(read(written(tmp_path, text))[0])


def test_the_judge_s_exposures_are_those_of_places() -> None:
    merit, problem = Exponential(10), Problem(weights=WEIGHTS)
    found = part(problem, "test", 1)
    np.testing.assert_array_equal(
        found.fair(merit), fair_exposure(merit, found.arm_means(), WEIGHTS)
    )
    means = np.random.default_rng(0).random((5, 4))
    rows = exposure_rows(merit, means, np.array(WEIGHTS))
    for row, expected in zip(rows, means, strict=True):
        np.testing.assert_array_equal(row, fair_exposure(merit, expected, WEIGHTS))
    assert settles(problem._replace(setting="linear"), 1, merit) == 0.0


def test_places_are_tuned_played_and_reported(tmp_path: Path) -> None:
    text = SMALL.replace(
        "seed = 3", "seed = 3\nproblem = { weights = [1, 0.5] }\nfigure = 'exposure'"
    )
    (experiment,) = read(written(tmp_path, text))
    experiment = experiment._replace(rounds=(60,), tuning_rounds=60)
    with opened(tmp_path / "out", "test", [experiment]) as rows:
        found = conduct(experiment, rows, local_player(1))
    (shown,) = found.panels
    assert len({curve.label: curve.tried for curve in shown.curves}["FairX-UCB"]) == 3
    for curve in shown.curves:
        np.testing.assert_allclose(curve.result.exposure.sum(axis=1), 1.5)
        np.testing.assert_array_equal(curve.result.pulls.sum(axis=1), 120)
        assert (shown.starved(curve.result) <= 1).all()
        world: Any = part(experiment.problem, "test", 3)
        again = simulate(
            curve.policy,
            world.environment,
            shown.merit,
            rounds=60,
            seed=4,
            weights=WEIGHTS,
            checkpoints=[60],
        )
        assert again.fairness_regret[0, -1] == curve.result.fairness_regret[0, -1]
    page = write_report({experiment.name: found}, tmp_path / "out", {}).read_text("utf-8")
    assert "weights 1, 0.5" in page


def test_optimism_about_one_place_is_that_of_fairx_ucb() -> None:
    """With one place the two are one; with caps they differ."""
    merit, world = Exponential(10), Bernoulli([0.2, 0.5, 0.6, 0.8])
    policies: list[Any] = [FairXUCB(merit, 1), OnePlaceUCB(merit, 1)]
    plain = [simulate(policy, world, merit, rounds=100, seed=1) for policy in policies]
    np.testing.assert_array_equal(plain[0].fairness_regret, plain[1].fairness_regret)
    placed = [simulate(one, world, merit, rounds=100, seed=1, weights=2) for one in policies]
    assert not np.allclose(placed[0].exposure, placed[1].exposure, atol=0.01)


def test_the_experiment_of_slates_is_whole() -> None:
    parts = read("slates", "smoke")
    assert {len(one.problem.weights or ()) for one in parts} == {1, 3, 10}
    for one in parts:
        places = np.array(one.problem.weights)
        np.testing.assert_allclose(places, 1 / np.log2(np.arange(2, places.size + 2)), rtol=1e-12)
        assert one.problem.setting == "mab"
    assert {one.problem.data for one in parts} == {"yeast", "mediamill"}
