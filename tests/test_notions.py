"""Fair bandits, compared: notions of fairness, what tunes a policy, and the page."""

from __future__ import annotations

import json
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
from fairx.experiments.problem import Problem
from fairx.experiments.problems import part
from fairx.report import write_report
from fairx.report.giving_up import prices, words
from fairx.report.notions import notion_tables
from fairx.simulation.notions import NOTIONS as MEASURED
from fairx.simulation.notions import Notions
from fairx.simulation.tally import new_tally

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


def by_pairs(means: Any, deployed: Any) -> float:
    """Return the most by which an arm is preferred to a better one, by all pairs."""
    gaps = deployed[:, None] - deployed
    return float(np.where(means[:, None] < means, gaps, 0.0).max(initial=0.0))


@pytest.mark.parametrize("arms", [1, 2, 3, 7])
def test_what_is_kept_of_means_is_that_of_the_means(arms: int) -> None:
    """Means stay, change, tie, and are of fewer arms: as if nothing had been kept."""
    rng, tally = np.random.default_rng(arms), new_tally(np.array([1]), 7, 0, 0, len(MEASURED))
    means, total = rng.random(arms), np.zeros(3)
    for number in range(60):
        if number % 3 == 0:
            means = rng.integers(4, size=arms) / 4 if number % 2 else rng.random(arms)
        here = means[: rng.integers(1, arms + 1)]
        deployed = rng.dirichlet(np.ones(len(here)))
        Notions().note_round(tally, 0, np.arange(len(here)), deployed, deployed, here, 0, 0.0)
        lack = np.maximum(rival_oracles.best_chances(here) - deployed, 0).sum()
        best, earned = np.maximum([here.max(), here @ deployed], 1e-12)
        total += [lack, by_pairs(here, deployed), np.log(best / earned)]
        np.testing.assert_allclose(tally.measured, total, rtol=1e-9, atol=1e-12)


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


def without_data(experiment: Experiment) -> Experiment:
    """Return an experiment that has made-up means in the place of those of mediamill."""
    if experiment.problem.data != "mediamill":
        return experiment
    means = tuple(np.geomspace(7e-4, 0.77, 101).tolist())
    return experiment._replace(problem=Problem(means=means))


@pytest.mark.parametrize("experiment", read("fair-bandits", "smoke"), ids=lambda one: str(one.name))
def test_all_policies_of_the_page_can_be_played(experiment: Experiment) -> None:
    check(without_data(experiment))
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
        (
            ('notion = "reward"', 'notion = "reward"\ntuned_by = "Nsah"'),
            "what UCB is tuned_by must be one of",
        ),
        (
            ('notion = "reward"', 'notion = "reward"\nnot_in = "here"'),
            "not_in of UCB must be a list",
        ),
        (("seed = 3", 'seed = 3\nchanges = { "UBC" = { width = 1 } }'), "did you mean 'UCB'"),
        (("seed = 3", 'seed = 3\nchanges = { "UCB" = 1 }'), "the changes of UCB must be a table"),
        (
            ("grid.width = [0.1, 1.0]", 'grid."policy.width" = [0.1]'),
            "policy, to which policy.width leads, must be a table",
        ),
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


PARTS = """
extends = "base.toml"
compare = "SDTS"
more_policies = [
  { label = "Held", kind = "Floor", share = 0.1, policy = { kind = "UCB" }, tuned_by = "reward", not_in = ["two"], grid = { "policy.width" = [0.1, 0.5] } },
]

[[parts]]
name = "one"

[[parts]]
name = "two"
changes = { "UCB" = { width = 2 }, "SDTS" = { notion = "merit", successes = 3 } }
"""


def test_parts_change_policies_and_leave_some_out(tmp_path: Path) -> None:
    written(tmp_path, SMALL.replace("grid.width = [0.1, 1.0]", "width = 0.5"), "base.toml")
    one, two = read(written(tmp_path, PARTS))
    assert [entrant.label for entrant in one.policies] == ["Chaining", "UCB", "SDTS", "Held"]
    assert [entrant.label for entrant in two.policies] == ["Chaining", "UCB", "SDTS"]
    assert one.policies[3].tuned_by == "reward"
    assert one.policies[3].notion == "merit"
    assert (one.policies[1].fixed, two.policies[1].fixed) == ({"width": 0.5}, {"width": 2})
    assert (two.policies[2].notion, two.policies[2].fixed) == ("merit", {"successes": 3})
    outcome = run(one, tmp_path / "out")
    held = outcome.panels[0].curves[3]
    assert held.policy.policy.width == held.settings["policy.width"]
    assert held.tuned_by == "reward"


def test_what_is_given_up_follows_from_the_runs(tmp_path: Path) -> None:
    (experiment,) = read(written(tmp_path, SMALL + '\n[[policies]]\nkind = "Uniform"\n'))
    outcome = run(experiment, tmp_path / "out")
    found = {price.policy: price for price in prices(outcome)}
    curves = {curve.label: curve.result for curve in outcome.panels[0].curves}
    for label, price in found.items():
        own = {other: unfairness(price.notion, result) for other, result in curves.items()}
        paid = {other: unfairness("reward", result) for other, result in curves.items()}
        order = sorted(own, key=lambda other: own[other].mean())
        assert own[order[price.place - 1]].mean() == own[label].mean()
        for other in price.better:
            assert own[other].mean() < own[label].mean()
            assert paid[other].mean() < paid[label].mean()
    assert found["Uniform"].place > 1
    assert words(found["UCB"]).startswith("is no. ")
    assert "it gives up" in words(found["Uniform"])
    write_report({"small": outcome}, tmp_path / "report", {})
    kept = json.loads((tmp_path / "report" / "notions.json").read_text("utf-8"))["small"]
    assert [price["policy"] for price in kept["prices"]] == list(found)
    assert {table["notion"] for table in kept["tables"]} == set(NOTIONS)
