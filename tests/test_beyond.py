"""The experiments that the paper does not have, and what they need of files, reports and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import MEANS, Made, panel, regrets
from scipy import stats
from test_experiments import SMALL, rows_of, written

from fairx import Exponential, FairXUCB
from fairx.command import main
from fairx.command.experiments import NAMES
from fairx.environments import Bernoulli
from fairx.experiments import (
    Experiment,
    Outcome,
    Problem,
    Task,
    beyond,
    conduct,
    local_player,
    opened,
    read,
)
from fairx.experiments.outcome import Panel
from fairx.experiments.problems import dataset, part
from fairx.experiments.tasks import validation_tasks
from fairx.experiments.weighted import WeightedLinEG
from fairx.plots import panels, sweep_figure
from fairx.report import write_report
from fairx.report.comparisons import comparisons, interval

# Keys

KEYS = {  # of the fourth run of the first point: as stored by runs of hours
    ("fig2", "FairX-UCB (gradient)"): "5c282df8c463da8f2c79f110",
    ("fig2", "FairX-TS"): "bff2c539562cd42c3c9e8a19",
    ("fig3", "FairX-LinTS"): "5a7f55bfe274d7e7fe38bbcb",
}


@pytest.mark.parametrize(("name", "label"), KEYS)
def test_rows_of_the_paper_keep_their_keys(name: str, label: str) -> None:
    (figure,) = read(name)
    entrant = next(one for one in figure.policies if one.label == label)
    checksum = dataset(figure.problem).checksum
    point = next(entrant.points())
    task = validation_tasks(figure, entrant, point, figure.merits[0], checksum)[3]
    rounds = 2_000_000 if name == "fig2" else 200_000
    assert task._replace(rounds=rounds, version="0.1.0").key == KEYS[name, label]


# Files


def test_all_of_them_are_read_and_told() -> None:
    for name in beyond():
        assert name in NAMES
        for scale in ("smoke", "quick", "paper"):
            for experiment in read(name, scale):
                assert experiment.chapter == "Beyond the paper"
                assert experiment.text
                assert experiment.compare in [one.label for one in experiment.policies]


@pytest.mark.parametrize("experiment", read("tight-intervals"), ids=lambda one: str(one.name))
def test_widths_are_those_of_the_theorems(experiment: Experiment) -> None:
    (merit,), (rounds,) = experiment.merits, experiment.rounds
    arms = part(experiment.problem, "test", 2021).arms
    assert arms == (14 if experiment.problem.data == "yeast" else 2)
    paper = FairXUCB.for_horizon(merit, rounds, arms, delta=0.05).width
    for entrant in experiment.policies:
        known = {
            name: entrant.fixed[name] for name in ("bounds", "interval") if name in entrant.fixed
        }
        needed = FairXUCB.for_horizon(merit, rounds, arms, 0.05, **known).width
        wide = entrant.label in ("Hoeffding, as in the paper", "Hoeffding, clipped")
        assert entrant.fixed["width"] == pytest.approx(paper if wide else needed, rel=1e-12)


def test_a_sweep_is_one_policy_for_each_value(tmp_path: Path) -> None:
    text = SMALL.replace("grid.width", "sweep.width")
    (experiment,) = read(written(tmp_path, text))
    swept = [one for one in experiment.policies if one.family]
    assert [one.label for one in swept] == [f"FairX-UCB, width {w}" for w in (0.01, 0.1, 1.0)]
    assert {one.family for one in swept} == {"FairX-UCB"}
    assert [list(one.points()) for one in swept] == [[{"width": w}] for w in (0.01, 0.1, 1.0)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("grid.width", "sweep.width = [1]\ngrid.width"), "must be of one setting, without a grid"),
        (("grid.width = [0.01, 0.1, 1.0]", "sweep = 3"), "the sweep of FairX-UCB must be a table"),
        (("grid.width = [0.01, 0.1, 1.0]", "sweep.width = []"), "must list values of width"),
        (
            ("grid.width = [0.01, 0.1, 1.0]", "sweep.solver = ['exact', 'gradient']"),
            "each solver of the sweep of FairX-UCB must be",
        ),
        (("seed = 3", "seed = 3\nproblem.means = [0.1, 0.2]\nproblem.data = 'yeast'"), "not both"),
        (("grid.width", "width = 1\nsweep.width"), "in its sweep or beside it, not both"),
        (("seed = 3", "compare = 'FairXST'"), r"compare must be .* did you mean 'FairXTS'\?"),
        (("seed = 3", "problem.means = []"), "the number of means must be"),
        (("seed = 3", "problem.means = [0.2, 1.5]"), r"means\[1\] must be a number from 0 to 1"),
        (
            ("seed = 3", "problem = { means = [0.2], setting = 'linear' }"),
            "means must be of a problem without contexts, not of one that is linear",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, SMALL.replace(*change)))


def test_made_up_arms_have_the_means_given() -> None:
    problem = Problem(means=(0.2, 0.8))
    for which in ("validation", "test"):
        found = part(problem, which, 1)
        assert found.arm_means().tolist() == [0.2, 0.8]
        assert np.array_equal(found.environment.means, Bernoulli([0.2, 0.8]).means)  # type: ignore[union-attr]
    assert problem.data == "means 0.2, 0.8"
    assert dataset(problem).checksum != dataset(Problem(means=(0.2, 0.81))).checksum
    assert "means" not in Problem().described()


# Played, resumed and reported


def nobody(tasks: Sequence[Task], progress: Any) -> Iterator[Any]:
    raise AssertionError("nothing is left to play")


def test_two_arms_are_played_resumed_and_reported(tmp_path: Path) -> None:
    experiment = read("tight-intervals", "smoke")[1]._replace(rounds=(60,), runs=3)
    out = tmp_path / "out"
    for player in (local_player(1), nobody):
        with opened(out, "test", [experiment]) as rows:
            found = conduct(experiment, rows, player)
    page = write_report({experiment.name: found}, out, {}).read_text("utf-8")
    assert re.search(r"<h2 [^>]*>Beyond the paper</h2>", page)
    assert re.search(r"<h3 [^>]*>Tight intervals at the widths of the theorems: two arms", page)
    assert experiment.text[:60] in page
    for row in comparisons(found):
        assert f"{interval(row.fairness)}</td><td>{row.fairness.verdict}" in page


def test_an_experiment_is_reproduced_by_its_name(tmp_path: Path) -> None:
    """At the smallest scale, of one merit, and again, which plays nothing."""
    out = tmp_path / "out"
    command = ["reproduce", "exploration", "--scale", "smoke", "--out", str(out), "--jobs", "1"]
    for _ in range(2):
        assert main([*command, "--steepness", "4"]) == 0
    rows = rows_of(out)
    assert len(rows) == 2 * (1 + 3 * 8)
    sessions = [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()]
    assert sum(session.get("runs", 0) for session in sessions) == len(rows)
    page = (out / "index.html").read_text("utf-8")
    assert "Beyond the paper</h2>" in page
    assert "All policies beside greedy, run by run" in page
    assert "Claims</h2>" not in page  # those are the paper's


def test_a_merit_without_steepness_is_none_of_those_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "tight-intervals", "--steepness", "4", "--out", str(tmp_path / "out")]
    assert main(command) == 1
    assert "one of none for tight-intervals-two-arms, not 4" in capsys.readouterr().err


def test_weights_are_those_of_a_uniform_policy() -> None:
    """Against the normal equations, each row with the weight 1 / (arms * propensity)."""
    rng, arms, dimension, ridge = np.random.default_rng(3), 4, 3, 2.0
    policy = WeightedLinEG(Exponential(3), epsilon=0.1, ridge=ridge)
    state, work = policy.start(arms, dimension), np.empty(policy.needs(arms, dimension)[1])
    precision, target, shown = ridge * np.eye(dimension), np.zeros(dimension), np.arange(arms)
    for _ in range(40):
        contexts, out = rng.standard_normal((arms, dimension)), np.empty(arms)
        policy.propose(state, shown, contexts, np.empty(0), work, out)
        arm, reward = int(rng.choice(arms, p=out)), rng.random()
        policy.absorb(state, arm, contexts[arm], reward, work)
        precision += np.outer(contexts[arm], contexts[arm]) / (arms * out[arm])
        target += reward * contexts[arm] / (arms * out[arm])
    assert np.allclose(state.ridge.estimate, np.linalg.solve(precision, target), rtol=1e-10)


def test_weights_need_exploration() -> None:
    with pytest.raises(ValueError, match="epsilon must be positive, not 0"):
        WeightedLinEG(Exponential(3), epsilon=0, ridge=1)


def test_the_remedy_is_played(tmp_path: Path) -> None:
    (experiment,) = read("misspecification", "smoke")
    some = tuple(one for one in experiment.policies if one.label.startswith("FairX-LinEG"))
    small = experiment._replace(rounds=(10, 20), merits=experiment.merits[:1], policies=some)
    with opened(tmp_path, "test", [small]) as rows:
        found = conduct(small, rows, local_player(1))
    assert [(row.policy, row.rounds) for row in comparisons(found)] == [
        ("FairX-LinEG, weighted", 10),
        ("FairX-LinEG, weighted", 20),
    ]


# Comparisons and sweeps


def made(**changes: Any) -> Outcome:
    """Return an outcome with a sweep of two values, and one policy beside it."""
    (experiment,) = read("exploration", "smoke")
    some = tuple(one for one in experiment.policies if one.family in ("", "FairX-TS"))[:3]
    makes = [Made(900, deviation=0.2), Made(500), Made(700, deviation=0.3)]
    found = panel({one.label: each for one, each in zip(some, makes, strict=True)}, 4)
    curves = tuple(
        curve._replace(settings=next(one.points()), tried=())
        for curve, one in zip(found.curves, some, strict=True)
    )
    changes = {"policies": some, "figure": "sweep", "compare": "greedy", **changes}
    return regrets("exploration", found._replace(curves=curves), **changes)


def test_differences_are_paired() -> None:
    outcome = made()
    greedy, *others = outcome.panels[0].curves
    rows = comparisons(outcome)
    assert [row.policy for row in rows] == [curve.label for curve in others]
    for row, curve in zip(rows, others, strict=True):
        gaps = curve.result.fairness_regret[:, -1] - greedy.result.fairness_regret[:, -1]
        ends = stats.t.interval(0.95, gaps.size - 1, gaps.mean(), stats.sem(gaps))
        assert row.fairness[3:6] == pytest.approx((gaps.mean(), *ends))
    assert not comparisons(made(compare=""))


def test_starved_arms_are_those_below_a_tenth_of_their_share() -> None:
    fair = np.array([0.5, 0.3, 0.2])
    result = made().panels[0].curves[0].result
    shown = np.array([[0.9, 0.1, 0.0], [0.96, 0.029, 0.011], [0.049, 0.951, 0.0], fair])
    found = Panel(Exponential(1), MEANS, fair, ()).starved(result._replace(exposure=shown))
    assert found == pytest.approx([0.2, 0.5, 0.7, 0.0])


def test_a_sweep_is_drawn_by_its_values() -> None:
    outcome = made()
    fairness, starved = sweep_figure(outcome).axes
    (level, swept) = fairness.lines
    assert swept.get_xdata() == pytest.approx([0.001, 0.01])
    finals = [c.result.fairness_regret[:, -1].mean() for c in outcome.panels[0].curves]
    assert swept.get_ydata() == pytest.approx(finals[1:])
    assert level.get_ydata() == pytest.approx([finals[0]] * 2)
    assert starved.get_ylim()[0] == 0
    assert set(panels(outcome)) == {"fairness-c4", "starved-c4"}


def test_no_panel_of_a_sweep_is_cut_off() -> None:
    """Panels share their axes, and the last one starves most."""
    outcome = made()
    (first,) = outcome.panels
    shown = np.zeros_like(first.curves[0].result.exposure)
    starving = [
        curve._replace(results=(curve.result._replace(exposure=shown),)) for curve in first.curves
    ]
    second = first._replace(merit=Exponential(6), curves=tuple(starving))
    found = sweep_figure(outcome._replace(panels=(first, second)))
    for axis in found.axes:
        low, high = axis.get_ylim()
        for line in axis.lines:
            assert low <= np.min(line.get_ydata()) <= np.max(line.get_ydata()) <= high
