"""Fair bandits, compared: notions of fairness, what tunes a policy, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rival_oracles
from outcomes import MEANS
from test_experiments import rows_of, run, written

from fairx import Exponential, OptimalFair, environments
from fairx.experiments import Experiment, check, read
from fairx.experiments.notions import NOTIONS, frontier, unfairness
from fairx.experiments.parts import Part
from fairx.experiments.problems import part
from fairx.report import write_report
from fairx.report.notions import notion_tables

MERIT = Exponential(2)
SMALL = """
seed = 3
rounds = 60
runs = 3
validation_runs = 2
figure = "frontier"
notions = ["merit", "calibrated", "minimum share", "Nash", "meritocratic", "reward"]
merits = [{ kind = "Exponential", steepness = 4 }]
problem.world = { kind = "Switching", means = [[0.2, 0.5, 0.8], [0.8, 0.5, 0.2]], every = 20 }
problem.late = { mean = 3, lost = 0.1 }

[[policies]]
kind = "Chaining"
notion = "meritocratic"
grid.width = [0.01, 10.0]

[[policies]]
kind = "UCB"
notion = "reward"
grid.width = [0.1, 1.0]

[[policies]]
kind = "SDTS"
notion = "calibrated"
"""


def test_notions_are_what_they_say() -> None:
    """Of a policy that shows the same in each round, by formulas over all arms."""
    means = np.array(MEANS[:4])
    deployed = np.exp(3 * means) / np.exp(3 * means).sum()
    policy = OptimalFair(Exponential(3), means)
    played = Part(environments.Bernoulli(means), means[None], 0)
    result = played.result(
        policy, MERIT, 50, seed=1, runs=[0, 1], jobs=1, progress=lambda rounds: None, notions=True
    )
    fair = np.exp(2 * means) / np.exp(2 * means).sum()
    best = rival_oracles.best_chances(means)
    expected = {
        "merit": np.abs(fair - deployed).sum(),
        "calibrated": np.maximum(best - deployed, 0).sum(),
        "minimum share": np.maximum(0.125 - deployed, 0).sum(),
        "Nash": 1 - means @ deployed / means.max(),
        "meritocratic": 0.0,
        "reward": means.max() - means @ deployed,
    }
    assert expected.keys() == NOTIONS.keys()
    for notion, value in expected.items():
        np.testing.assert_allclose(
            unfairness(notion, result), [value] * 2, rtol=1e-9, err_msg=notion
        )


def test_the_worst_preference_counts() -> None:
    means = np.array([0.6, 0.5, 0.2])
    policy = OptimalFair(Exponential(3), 1 - means)  # the wrong way round
    played = Part(environments.Bernoulli(means), means[None], 0)
    result = played.result(
        policy, MERIT, 20, seed=1, runs=[0], jobs=1, progress=lambda rounds: None, notions=True
    )
    deployed = np.exp(3 * (1 - means)) / np.exp(3 * (1 - means)).sum()
    assert unfairness("meritocratic", result)[0] == pytest.approx(deployed[2] - deployed[0])


def test_the_frontier_is_who_nobody_beats() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, y = rng.integers(5, size=(2, 6)).astype(float)
        kept = set(zip(x[frontier(x, y)], y[frontier(x, y)], strict=True))
        beaten = [
            any((x[j] <= x[i]) & (y[j] <= y[i]) & ((x[j], y[j]) != (x[i], y[i])) for j in range(6))
            for i in range(6)
        ]
        assert kept == {(x[i], y[i]) for i in range(6) if not beaten[i]}


@pytest.mark.parametrize("experiment", read("fair-bandits", "smoke"), ids=lambda one: str(one.name))
def test_all_policies_of_the_page_can_be_played(experiment: Experiment) -> None:
    check(experiment)
    assert {one.notion for one in experiment.policies} <= {*experiment.notions}
    for notion in experiment.notions:
        own = [one.label for one in experiment.policies if one.notion == notion]
        assert own, f"nobody is made for {notion}"


def test_each_is_tuned_by_its_own_notion_and_shown_under_it_first(tmp_path: Path) -> None:
    (experiment,) = read(written(tmp_path, SMALL))
    outcome = run(experiment, tmp_path / "out")
    chaining, ucb, _ = outcome.panels[0].curves
    for curve in (chaining, ucb):
        best = min(curve.tried, key=lambda tried: tried.mean)
        assert curve.settings == best.settings
    assert chaining.settings == {"width": 10.0}  # uniform for long: nobody is preferred
    tables = {table.title: table.lines for table in notion_tables(outcome)}
    assert len(tables) == len(NOTIONS)
    assert tables["Meritocratic"][0].policy == "Chaining"
    assert tables["Calibrated"][0].policy == "SDTS"
    for lines in tables.values():
        assert any(line.unbeaten for line in lines)
        assert all(line.unfair.low <= line.unfair.value <= line.unfair.high for line in lines)
    page = write_report({"small": outcome}, tmp_path / "report", {}).read_text("utf-8")
    assert page.count("Reward given up") == len(NOTIONS)
    assert "95% interval; those made for the notion first" in page
    # One entry more is all that is played.
    before = rows_of(tmp_path / "out")
    more = SMALL + '\n[[policies]]\nkind = "Uniform"\n'
    (larger,) = read(written(tmp_path, more))
    run(larger, tmp_path / "out")
    after = rows_of(tmp_path / "out")
    assert before.keys() < after.keys()
    assert len(after) - len(before) == experiment.runs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"meritocratic"\ngrid', '"meritocracy"\ngrid'), "the notion of Chaining must be one of"),
        (
            ('"Nash", "meritocratic", "reward"]', '"Nash"]'),
            "must be one of the notions that are shown",
        ),
        (('"Nash",', '"Nsah",'), "each of the notions must be one of"),
        (('kind = "Switching"', 'kind = "Swtching"'), "unknown kind 'Swtching'"),
    ],
)
def test_mistakes_in_the_file_are_told(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, SMALL.replace(*change)))


def test_problems_that_move_have_their_means_and_delays(tmp_path: Path) -> None:
    (experiment,) = read(written(tmp_path, SMALL))
    found: Any = part(experiment.problem, "test", 3)
    assert isinstance(found.environment, environments.Late)
    np.testing.assert_allclose(found.arm_means(), [0.5, 0.5, 0.5], atol=0.1)
    assert "world" not in read("fig2")[0].problem.described()
