from __future__ import annotations

import json
import linecache
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from oracles import product_features

import fairx
from fairx import UCB, Exponential, datasets
from fairx.compiled import interpreted
from fairx.datasets.features import fourier_features, linear_fit, median_distance
from fairx.experiments import (
    Experiment,
    Outcome,
    Problem,
    Rows,
    Task,
    check,
    conduct,
    figures,
    local_player,
    opened,
    outcome,
    play,
    play_missing,
    read,
)
from fairx.experiments.flow import Flow
from fairx.experiments.parts import marks
from fairx.experiments.problems import part
from fairx.experiments.specification import described
from fairx.experiments.tuning import entered

ROUNDS = 60 if interpreted() else 3_000
EXPONENTIAL = 'merits = [{ kind = "Exponential", steepness = 4 }]'
SMALL = f"""
seed = 3
rounds = {ROUNDS}
runs = 2
validation_runs = 2
{EXPONENTIAL}

[[policies]]
kind = "UCB"
width = 0.1

[[policies]]
label = "FairX-UCB"
kind = "FairXUCB"
grid.width = [0.01, 0.1, 1.0]

[[policies]]
kind = "FairXTS"
grid.prior_std = [0.1, 1]
grid.reward_std = [0.1, 1]
"""
SMALL_RUNS = 3 * 2 + 4 * 2 + 3 * 2  # two grids, then the test runs of three policies


def written(directory: Path, text: str, name: str = "small.toml") -> Path:
    path = directory / name
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Experiment:
    (experiment,) = read(written(tmp_path, SMALL))
    return experiment


def rows_of(folder: Path) -> dict[str, Any]:
    return Rows(folder / "rows").found


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    def text(rows: dict[str, Any]) -> str:
        return json.dumps(rows, default=lambda array: array.tolist(), sort_keys=True)

    return text(one) == text(other)


def run(experiment: Experiment, folder: Path, player: Any = None) -> Outcome:
    with opened(folder, "test", [experiment]) as rows:
        return conduct(experiment, rows, player or local_player(1))


# The paper's experiments


def test_the_grids_are_those_of_the_appendix() -> None:
    widths = (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 1e-1)
    (mab,), (linear,) = read("fig2"), read("fig3")
    sizes = {e.label: len(list(e.points())) for e in mab.policies + linear.policies}
    assert sizes == {
        "UCB": 13, "TS": 36, "FairX-UCB (gradient)": 13, "FairX-UCB (exact)": 13,
        "FairX-TS": 36, "FairX-EG": 4, "LinUCB": 24, "LinTS": 36,
        "FairX-LinUCB (gradient)": 24, "FairX-LinUCB (ascent)": 24, "FairX-LinTS": 36,
        "FairX-LinEG": 20,
    }  # fmt: skip
    assert mab.policies[0].grid == {"width": widths}
    assert mab.policies[5].grid == {"epsilon": (0, 1e-4, 1e-3, 1e-2)}
    assert linear.policies[3].grid["ridge"] == (1, 1e1, 1e2, 1e3, 1e4, 1e5)
    yahoo = [len(list(e.points())) for part in read("fig4") for e in part.policies]
    assert yahoo == [5, 10, 5, 5, 10, 3, 12, 9, 12, 12, 9, 12]


@pytest.mark.parametrize(
    ("name", "data", "setting", "steepness"),
    [
        ("fig1", "yeast", "mab", [4]),
        ("fig2", "yeast", "mab", [10]),
        ("fig3", "yeast", "linear", [3]),
        ("figA1", "yeast", "mab", [6, 8, 10, 12]),
        ("figA2", "mediamill", "mab", [6, 8, 10, 12]),
        ("figA3", "yeast", "linear", [1, 2, 3]),
        ("figA4", "mediamill", "linear", [1, 2, 3]),
        ("figA6", "yeast", "well-specified", [2]),
    ],
)
def test_the_figures(name: str, data: str, setting: str, steepness: list[int]) -> None:
    (figure,) = read(name)
    assert figure.name == name
    assert (figure.problem.data, figure.problem.setting) == (data, setting)
    assert list(figure.merits) == [Exponential(c) for c in steepness]
    assert figure.rounds[-1] == (200_000 if name == "figA4" else 2_000_000)
    assert figure.tuning_rounds == (2_000_000 if setting == "mab" else 200_000)
    assert (figure.runs, figure.validation_runs) == (10, 10)


def test_every_figure_has_a_file() -> None:
    assert figures() == [
        "fig1", "fig2", "fig3", "fig4", "figA1", "figA2", "figA3", "figA4", "figA5", "figA6",
    ]  # fmt: skip
    for name in figures():
        for scale in ("smoke", "quick", "paper"):
            assert read(name, scale)


# What is refused, before any work


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seed = 3", "sed = 3"), r"has no key 'sed': did you mean 'seed'\?"),
        (('"FairXTS"', '"FairXST"'), r"unknown kind 'FairXST': did you mean 'FairXTS'\?"),
        (("grid.width = [0.01, 0.1, 1.0]", "grid.width = []"), "must list values of width"),
        (("[0.01, 0.1, 1.0]", "0.01"), "must list values of width, not 0.01"),
        (("[0.01, 0.1, 1.0]", "[0.1, 0.1]"), "must list each width once"),
        (("grid.width", "grid.widht"), r"FairXUCB has no setting 'widht': did you mean 'width'\?"),
        (
            ("[0.01, 0.1, 1.0]", "[-1]"),
            r"FairX-UCB, width = -1 cannot be played: width must be at least 0",
        ),
        (('"FairXTS"', '"FairXLinTS"'), r"FairXLinTS, .* cannot be played: dimension must be"),
        (('"FairXTS"', '"UCB"'), "label 'UCB' must belong to one policy"),
        (('"FairXTS"', '"nowhere:Mine"'), "kind 'nowhere:Mine' cannot be imported"),
        (('"Exponential", steepness = 4', '"Affine", slope = -1, intercept = 0'), "slope"),
        (("runs = 2", "runs = 0"), "runs must be a whole number of at least 1, not 0"),
        (("seed = 3", "problem.setting = 'linaer'"), r"did you mean 'linear'\?"),
        (("seed = 3", "problem.banwidth = 1"), r"problem has no key 'banwidth'"),
        (("seed = 3", "problem.data = 'yaest'"), "yeast"),
        (("seed = 3", "scales.fast.runs = 1"), "scales has no key 'fast'"),
        (("seed = 3", "figure = 'pie'"), "figure must be one of regret, exposure"),
        (("seed = 3", "extends = 'fig22'"), r"did you mean 'fig2'\?"),
        (("seed = 3", "extends = 'small.toml'"), "extends itself"),
        (("seed = 3", "seed = "), "is not TOML"),
        (("seed = 3", "problem = 3"), "problem must be a table, not 3"),
        (("seed = 3", "name = 'a/b'"), "name must be letters, digits"),
        (("seed = 3", "problem.bandwidth = 'med'"), 'bandwidth, if not "median", must be finite'),
        (("seed = 3", "problem.data = 3"), "data must be a text, not 3"),
        (("seed = 3", "problem.noise_std = -1"), "noise_std must be at least 0"),
        (("seed = 3", "extends = 3"), "extends must be a text, not 3"),
        (("seed = 3", "parts = []"), r"parts must be a list of tables, not \[\]"),
        (("seed = 3", "parts = [{}]"), "the name of a part must be a text, not None"),
        (
            ("seed = 3", "parts = [{name = 'a'}, {name = 'a'}]"),
            "parts must have names of their own",
        ),
        (("runs = 2", "runs = true"), "runs must be a whole number of at least 1, not True"),
        ((EXPONENTIAL, "merits = 3"), "merits must be a list of tables, not 3"),
        ((EXPONENTIAL, EXPONENTIAL.replace("Exponential", "UCB")), "UCB has no setting"),
        ((EXPONENTIAL, 'merits = [{ kind = "UCB", width = 1 }]'), "must be a merit, not UCB"),
        (
            (EXPONENTIAL, EXPONENTIAL.replace("]", ', { kind = "Exponential", steepness = 4.0 }]')),
            "is there twice",
        ),
        (("width = 0.1", "width = '0.1'"), "width must be at least 0 and finite, not '0.1'"),
        (("grid.width", "width = 1\ngrid.width"), "width in its grid or beside it, not both"),
        (("grid.width", "merit = 3\ngrid.width"), "FairX-UCB, width = 0.01 cannot be played"),
    ],
)
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    def nobody(tasks: Sequence[Task], progress: Any) -> Iterator[Any]:
        raise AssertionError("work was done")

    def attempt() -> None:
        (experiment,) = read(written(tmp_path, SMALL.replace(*change)))
        run(experiment, tmp_path / "out", nobody)

    with pytest.raises((ValueError, OSError), match=message):
        attempt()


def test_an_experiment_extends_another(tmp_path: Path) -> None:
    text = """
extends = "fig2"
rounds = 50

[[more_policies]]
kind = "fairx.policies:Uniform"
"""
    (mine,) = read(written(tmp_path, text, "mine.toml"))
    (figure,) = read("fig2")
    assert mine.name == "mine"
    assert mine.rounds == (50,)
    assert mine.policies[:-1] == figure.policies
    assert mine.policies[-1].label == "Uniform"


MINE = '''
import numpy as np
from typing import NamedTuple

class Lukewarm(NamedTuple):
    """Halfway between uniform and the merits of nothing."""

    merit: object
    heat: float

    def start(self, arms, dimension):
        return np.zeros(arms)

    def probabilities(self, state, arms, contexts, rng):
        out = np.empty(len(arms))
        for position in range(len(arms)):
            out[position] = 1.0 / len(arms)
        return out

    def learn(self, state, arm, context, reward):
        state[arm] += self.heat * reward


def bowl(mean):
    return 1.0 + mean * mean
'''


def test_policies_and_merits_of_others_are_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, MINE, "mine_of_test.py")
    monkeypatch.chdir(tmp_path)
    text = SMALL[: SMALL.index("[[policies]]")] + (
        '[[policies]]\nkind = "mine_of_test:Lukewarm"\ngrid.heat = [1, 2]\n'
        '[[policies]]\nkind = "FairXEG"\nepsilon = 0.1\n'
        '[[merits]]\nkind = "mine_of_test:bowl"\n'
    )
    text = text.replace("3_000", "100").replace(EXPONENTIAL, "")
    (experiment,) = read(written(tmp_path, text))
    (panel,) = run(experiment, tmp_path / "out").panels
    assert panel.curves[0].label == "Lukewarm"
    assert [curve.policy.merit for curve in panel.curves] == [panel.merit] * 2
    np.testing.assert_allclose(panel.curves[0].result.exposure, 1 / 14)
    np.testing.assert_allclose(panel.fair, (1 + panel.means**2) / (1 + panel.means**2).sum())
    before = rows_of(tmp_path / "out")
    assert {json.loads(row["merit"])["kind"] for row in before.values()} == {"mine_of_test:bowl"}
    played: list[str] = []
    with (tmp_path / "mine_of_test.py").open("a") as file:
        file.write("# another version\n")
    linecache.checkcache()
    run(experiment, tmp_path / "out", counting(local_player(1), played))
    assert len(played) == len(before)  # other code, other runs


# Problems


def test_means_are_label_frequencies_of_the_part_played() -> None:
    yeast = datasets.load("yeast")
    validation, test = datasets.split(2417, 0.2, seed=5)
    for which, rows in (("validation", validation), ("test", test)):
        means = part(Problem("yeast", "mab"), which, 5).arm_means()
        np.testing.assert_array_equal(means, yeast.labels[rows].mean(axis=0))
    assert len(validation) == 483


def test_features_are_those_of_the_whole_product() -> None:
    """Blocks of directions give what the K d-dimensional product gives."""
    features = np.random.default_rng(1).normal(size=(6, 4))
    found = fourier_features(features, arms=3, seed=7, dimension=5, bandwidth=2.0)
    np.testing.assert_allclose(found, product_features(features, 3, 7, 5, 2.0), atol=1e-6)


def test_inner_products_approximate_the_kernel() -> None:
    """Mean of D products of variance below 1: 6 standard errors for D = 20,000 are 0.043."""
    features = np.random.default_rng(2).normal(size=(5, 3))
    found = fourier_features(features, arms=2, seed=1, dimension=20_000, bandwidth=1.5)
    flat = found.reshape(10, -1)
    product = np.einsum("id,ab->iabd", features, np.eye(2)).reshape(10, -1)
    squares = ((product[:, None] - product[None]) ** 2).sum(axis=2)
    assert np.abs(flat @ flat.T - np.exp(-squares / (2 * 1.5**2))).max() < 0.043


def test_the_median_distance_is_that_of_the_products() -> None:
    features = np.random.default_rng(3).normal(size=(40, 3))
    product = np.einsum("id,ab->iabd", features, np.eye(4)).reshape(160, -1)
    squares = ((product[:, None] - product[None]) ** 2).sum(axis=2)
    median = np.sqrt(np.median(squares[np.triu_indices(160, 1)]))
    assert abs(median_distance(features, 4, seed=0) / median - 1) < 0.03


def test_the_linear_problem_is_the_least_squares_fit() -> None:
    yeast = datasets.load("yeast")
    problem = Problem("yeast", "linear", dimension=8)
    found: Any = part(problem, "validation", 5)
    rows, _ = datasets.split(2417, 0.2, seed=5)
    contexts = found.environment.contexts
    fit, *_ = np.linalg.lstsq(contexts.reshape(-1, 8), yeast.labels[rows].ravel(), rcond=None)
    np.testing.assert_allclose(found.environment.parameter, fit, atol=1e-5)
    np.testing.assert_array_equal(found.environment.labels, yeast.labels[rows])
    well: Any = part(problem._replace(setting="well-specified", noise_std=0.25), "validation", 5)
    assert well.environment.noise_std == 0.25
    np.testing.assert_array_equal(well.means, found.means)


def test_bad_features_are_refused() -> None:
    with pytest.raises(ValueError, match="bandwidth must be positive, not 0"):
        fourier_features(np.ones((2, 2)), 2, seed=1, bandwidth=0)
    with pytest.raises(ValueError, match="features must have at least 2 rows"):
        fourier_features(np.ones((1, 2)), 2, seed=1)
    with pytest.raises(ValueError, match="features must be finite, not nan"):
        fourier_features([[np.nan]], 2, seed=1, bandwidth=1)
    with pytest.raises(
        ValueError, match="the median distance of the features must be positive, not 0"
    ):
        fourier_features(np.zeros((3, 2)), 2, seed=1)
    assert linear_fit(np.zeros((2, 1, 3)), np.ones((2, 1))).tolist() == [0, 0, 0]


# Rows


def test_tuning_takes_the_lowest_fairness_regret(small: Experiment, tmp_path: Path) -> None:
    found = run(small, tmp_path / "out")
    rows = rows_of(tmp_path / "out")
    assert len(rows) == SMALL_RUNS
    (panel,) = found.panels
    for curve in panel.curves[1:]:
        best = min(curve.tried, key=lambda tried: tried.mean)
        assert curve.settings == best.settings
        finals = [
            row["fairness_regret"][-1]
            for row in rows.values()
            if row["part"] == "validation"
            and {**json.loads(row["policy"]), **best.settings} == json.loads(row["policy"])
            and json.loads(row["policy"])["kind"] == type(curve.policy).__name__
        ]
        assert best.mean == pytest.approx(np.mean(finals))
        assert best.std == pytest.approx(np.std(finals, ddof=1))
    assert panel.fair.sum() == pytest.approx(1)


def test_rows_carry_everything(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "out")
    for row in rows_of(tmp_path / "out").values():
        settings = json.loads(row["settings"])
        assert settings["problem"]["data"] == row["data"] == "yeast"
        assert settings["version"] == row["version"]
        assert row["checksum"] == datasets.load("yeast").checksum
        assert row["seed"] == (3 if row["part"] == "validation" else 4)
        assert row["checkpoints"][-1] == row["rounds"] == ROUNDS
        assert sum(row["pulls"]) == ROUNDS
        assert sum(row["exposure"]) == pytest.approx(1)


def test_a_short_horizon_is_the_beginning_of_a_long_one(small: Experiment, tmp_path: Path) -> None:
    found = run(small._replace(rounds=(ROUNDS // 2, ROUNDS)), tmp_path / "out")
    for curve in found.panels[0].curves:
        short, long = curve.results
        at = np.flatnonzero(np.isin(long.rounds, short.rounds[-1]))
        np.testing.assert_array_equal(short.fairness_regret[:, -1], long.fairness_regret[:, at[0]])


def test_what_is_tuned_for_few_rounds_is_played_for_more(small: Experiment, tmp_path: Path) -> None:
    run(small._replace(tuning_rounds=ROUNDS // 4), tmp_path / "out")
    found = {(row["part"], row["rounds"]) for row in rows_of(tmp_path / "out").values()}
    assert found == {("validation", ROUNDS // 4), ("test", ROUNDS)}


@pytest.mark.parametrize("rounds", [1, 7, 100, 12_345, 2_000_000])
def test_marks(rounds: int) -> None:
    found = marks(rounds)
    assert found[0] >= 1
    assert found[-1] == rounds
    assert (np.diff(found) > 0).all()


def counting(player: Any, played: list[str]) -> Any:
    def counted(tasks: Sequence[Task], progress: Callable[[int], None]) -> Iterator[Any]:
        for done in player(tasks, progress):
            played.extend(task.key for task, _ in done)
            yield done

    return counted


def test_rows_that_come_together_are_one_file_and_the_same(
    small: Experiment, tmp_path: Path
) -> None:
    """As a GPU brings them."""

    def together(tasks: Sequence[Task], progress: Callable[[int], None]) -> Iterator[Any]:
        yield [pair for done in local_player(1)(tasks, progress) for pair in done]

    run(small, tmp_path / "one", local_player(1))
    run(small, tmp_path / "many", together)
    assert same(rows_of(tmp_path / "one"), rows_of(tmp_path / "many"))
    files = sorted(path.name for path in (tmp_path / "many" / "rows").glob("*.parquet"))
    assert files == ["batch-00001.parquet", "batch-00002.parquet"]  # those that tune, and tests


@pytest.mark.parametrize("watchful", [True, False])
def test_a_policy_is_tested_as_soon_as_it_is_tuned(
    small: Experiment, tmp_path: Path, watchful: bool
) -> None:
    """By a player that looks for tasks that are added, and one that takes what it is given at first."""
    order: list[Task] = []

    def latest_first(tasks: Sequence[Task], progress: Callable[[int], None]) -> Iterator[Any]:
        """As where tests are the longest, and the tuning of FairX-TS takes for ever."""
        left = list(tasks)
        taken = len(left)
        while left:
            task = min(left, key=lambda task: (task.part != "test", "TS" in task.policy))
            left.remove(task)
            order.append(task)
            yield [(task, play(task))]
            if watchful:
                left += tasks[taken:]
                taken = len(tasks)

    twice = small._replace(name="twice")  # the same keys
    with opened(tmp_path / "out", "test", [small, twice]) as rows:
        play_missing([(one, check(one)) for one in (small, twice)], rows, latest_first)
        assert len(rows) == SMALL_RUNS
    assert len(order) == len({task.key for task in order}) == SMALL_RUNS
    parts = [task.part for task in order if "TS" not in task.policy]
    slow = next(i for i, task in enumerate(order) if "TS" in task.policy)
    tested = sum(task.part == "test" for task in order[:slow])
    assert tested == (4 if watchful else 2)  # of three policies; one of them has no grid
    assert parts[:2] == ["test", "test"]


def test_threads_test_a_policy_while_another_is_tuned(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tested, in_time = threading.Event(), list[bool]()

    def slowly(task: Task, *rest: Any) -> Any:
        """Play a run; the one that tunes FairX-TS last waits until FairX-UCB is tested."""
        if task.part == "test" and "FairXUCB" in task.policy:
            tested.set()
        policy = json.loads(task.policy)
        last = policy["kind"], policy.get("prior_std"), policy.get("reward_std"), task.run
        if task.part == "validation" and last == ("FairXTS", 1, 1, 1):
            in_time.append(tested.wait(20))
        return play(task, *rest)

    monkeypatch.setattr("fairx.experiments.execution.play", slowly)
    run(small, tmp_path / "out", local_player(2))
    assert in_time == [True]
    assert len(rows_of(tmp_path / "out")) == SMALL_RUNS


def test_a_test_waits_for_all_runs_that_tune(small: Experiment, tmp_path: Path) -> None:
    """Whoever gives them, and in which order; what is there already is not waited for."""
    (found,) = [one for one in entered(small, check(small)) if "TS" in one.entrant.kind]
    rows, tasks = Rows(tmp_path / "rows"), found.tuning()
    rows.add(*map(play, tasks[:3]))
    flow = Flow([found, found], rows)
    assert flow.first() == tasks[3:]
    assert flow.runs == 5 + 2
    for task in reversed(tasks[3:]):
        rows.add(play(task))
        tests = flow.after([task.key])
        assert bool(tests) == (task == tasks[3])
    assert tests == found.tests(rows)
    rows.add(*map(play, tests))
    assert Flow([found], rows).first() == []


def test_progress_ends_at_the_runs_that_were_played(
    small: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where tests turn out to be there already: of the point that more runs choose again."""
    run(small, tmp_path / "out")
    assert f"small: {SMALL_RUNS} of {SMALL_RUNS} runs, " in capsys.readouterr().err
    run(small._replace(validation_runs=3), tmp_path / "out")
    done, total = re.findall(r"small: (\d+) of (\d+) runs", capsys.readouterr().err)[-1]
    assert int(done) == int(total) == len(rows_of(tmp_path / "out")) - SMALL_RUNS


def test_jobs_change_nothing(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "one", local_player(1))
    run(small, tmp_path / "three", local_player(3))
    assert same(rows_of(tmp_path / "one"), rows_of(tmp_path / "three"))


def test_finished_runs_are_not_redone(small: Experiment, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def tired(tasks: Sequence[Task], progress: Any) -> Iterator[Any]:
        for i, pair in enumerate(local_player(1)(tasks, progress)):
            if i == 5:
                raise Enough
            yield pair

    with pytest.raises(Enough):
        run(small, tmp_path / "out", tired)
    assert len(rows_of(tmp_path / "out")) == 5
    played: list[str] = []
    run(small, tmp_path / "out", counting(local_player(1), played))
    assert len(played) == SMALL_RUNS - 5
    run(small, tmp_path / "out", counting(local_player(1), played))
    assert len(played) == SMALL_RUNS - 5
    run(small, tmp_path / "whole")
    assert same(rows_of(tmp_path / "out"), rows_of(tmp_path / "whole"))


@pytest.mark.once
@pytest.mark.parametrize("cut", [0, 3, 200, -1])
@pytest.mark.parametrize("gathered", [False, True])
def test_a_torn_file_is_set_aside_and_its_runs_redone(
    small: Experiment, tmp_path: Path, cut: int, gathered: bool
) -> None:
    out = tmp_path / "out"
    with opened(out, "test", [small]) as rows:
        if not gathered:
            rows.gather = lambda: None  # type: ignore[method-assign]
        conduct(small, rows, local_player(1))
    torn = min((out / "rows").glob("*.parquet"))
    torn.write_bytes(torn.read_bytes()[:cut])
    left = len(rows_of(out))
    assert left < SMALL_RUNS
    assert torn.with_suffix(".torn").exists()
    played: list[str] = []
    run(small, out, counting(local_player(1), played))
    assert len(played) == SMALL_RUNS - left
    run(small, tmp_path / "whole")
    assert same(rows_of(out), rows_of(tmp_path / "whole"))


@pytest.mark.once
def test_a_flipped_bit_never_makes_a_wrong_row(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "out")
    whole = rows_of(tmp_path / "out")
    content = min((tmp_path / "out" / "rows").glob("*.parquet")).read_bytes()
    found_out = 0
    for place in range(0, len(content), len(content) // 150):
        other = tmp_path / f"flipped-{place}"
        other.mkdir()
        flipped = bytes([content[place] ^ 4])
        (other / "batch-00001.parquet").write_bytes(
            content[:place] + flipped + content[place + 1 :]
        )
        rows = Rows(other).found
        assert all(same({"row": row}, {"row": whole[key]}) for key, row in rows.items())
        found_out += not rows
    assert found_out > 75


def test_rows_of_before_lack_what_was_not_measured(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "out")
    for path in (tmp_path / "out" / "rows").glob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(table.drop_columns(["best_arm_regret", "reward_earned"]), path)
    result = run(small, tmp_path / "out").panels[0].curves[0].result
    assert np.isnan(result.best_arm_regret).all()
    assert result.best_arm_regret.shape == result.fairness_regret.shape
    assert np.isfinite(result.fairness_regret).all()


def test_a_crash_while_gathering_loses_nothing(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", crash)
        with pytest.raises(KeyboardInterrupt):
            run(small, tmp_path / "out")
    run(small, tmp_path / "out")
    run(small, tmp_path / "whole")
    assert same(rows_of(tmp_path / "out"), rows_of(tmp_path / "whole"))


def test_a_full_disk_loses_nothing(
    small: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, real = [0], os.fsync

    def full(handle: int) -> None:
        calls[0] += 1
        if calls[0] > 8:
            raise OSError(28, "No space left on device")
        real(handle)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            run(small, tmp_path / "out")
    kept = rows_of(tmp_path / "out")
    assert 0 < len(kept) < SMALL_RUNS
    assert not list((tmp_path / "out" / "rows").glob(".unfinished*"))
    played: list[str] = []
    run(small, tmp_path / "out", counting(local_player(1), played))
    assert len(played) == SMALL_RUNS - len(kept)


def test_an_incomplete_experiment_shows_its_finished_panels(
    small: Experiment, tmp_path: Path
) -> None:
    both = small._replace(merits=(Exponential(4), Exponential(8)))
    with opened(tmp_path / "out", "test", [both]) as rows:
        conduct(small, rows, local_player(1))
        found = outcome(both, rows)
    assert [panel.merit for panel in found.panels] == [Exponential(4)]


def test_other_data_on_a_worker_is_refused(small: Experiment) -> None:
    merit, policy = json.dumps(described(Exponential(4))), json.dumps(described(UCB(0.1)))
    task = Task(small.problem, "test", "0" * 64, merit, policy, 10, 4, 0, fairx.__version__, "")
    with pytest.raises(ValueError, match=r"checksum of the data must be 0000.* here too, not"):
        play(task)
    with pytest.raises(ValueError, match=r"version of fairx must be 9 here too, not 0\."):
        play(task._replace(version="9"))


# Folders


def test_a_folder_of_another_experiment_is_refused(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "out")
    with pytest.raises(ValueError, match="the results of another small, whose seed is 3, not 9"):
        run(small._replace(seed=9), tmp_path / "out")
    with (
        pytest.raises(ValueError, match="holds the results of 'test', not of 'mine'"),
        opened(tmp_path / "out", "mine", [small]),
    ):
        pass
    (tmp_path / "strange").mkdir()
    written(tmp_path / "strange", "my thesis")
    with pytest.raises(ValueError, match="is not empty and holds no results"):
        run(small, tmp_path / "strange")
    assert len(rows_of(tmp_path / "out")) == SMALL_RUNS


@pytest.mark.once
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"experiments": 3}', '{"format": "version 9", "experiments": {}}']
)
def test_a_damaged_note_says_what_to_do(small: Experiment, tmp_path: Path, text: str) -> None:
    out = tmp_path / "out"
    run(small, out)
    note = written(out, text, "results.json")
    with pytest.raises(ValueError, match=r"results.json (is damaged|has the format)"):
        run(small, out)
    note.unlink()
    played: list[str] = []
    run(small, out, counting(local_player(1), played))
    assert not played


def test_an_experiment_may_grow(small: Experiment, tmp_path: Path) -> None:
    run(small, tmp_path / "out")
    played: list[str] = []
    run(small._replace(runs=3), tmp_path / "out", counting(local_player(1), played))
    assert len(played) == 3  # one more run of each policy


def test_two_processes_do_not_share_a_folder(small: Experiment, tmp_path: Path) -> None:
    with opened(tmp_path / "out", "test", [small]), pytest.raises(ValueError, match="is in use"):
        run(small, tmp_path / "out")


# Processes that are killed

LONGER = SMALL.replace("validation_runs = 2", "validation_runs = 12").replace(
    f"rounds = {ROUNDS}", f"rounds = {10 if interpreted() else 200_000}"
)


def started(path: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "fairx", "run", str(path), "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_rows(out: Path, count: int) -> None:
    late = time.monotonic() + 60
    while len(list((out / "rows").glob("*.parquet"))) < count:
        assert time.monotonic() < late, "no rows within a minute"
        time.sleep(0.01)


@pytest.mark.compiled
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_killed_work_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    path, out = written(tmp_path, LONGER), tmp_path / "out"
    process = started(path, out)
    wait_for_rows(out, 5)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    assert (b"the same command goes on" in errors) == (how == signal.SIGINT)
    before = {p.name: p.stat().st_mtime_ns for p in (out / "rows").glob("*.parquet")}
    assert before
    process = started(path, out)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    total = 7 * 12 + 3 * 2
    session = [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()][-1]
    assert session["runs"] == total - len(before)
    head = (out / "index.html").read_text("utf-8").partition("<main>")[0]
    assert "or of Python" not in head  # each run has its command
    assert (f"({len(before)} runs on " in head) == (how == signal.SIGKILL)
    started(path, tmp_path / "whole").communicate(timeout=120)
    assert same(rows_of(out), rows_of(tmp_path / "whole"))


@pytest.mark.compiled
def test_a_cluster_gives_the_same_rows_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: pip install 'fairx[cluster]'")
    path, out = written(tmp_path, LONGER), tmp_path / "out"
    dask = [sys.executable, "-m", "dask"]
    address = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(address)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *options],
        **quiet,
    )
    worker = [
        *dask, "worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1",
        "--local-directory", str(tmp_path), *options,
    ]  # fmt: skip
    workers = []
    try:
        late = time.monotonic() + 60
        while not address.exists():
            assert time.monotonic() < late, "no scheduler within a minute"
            time.sleep(0.1)
        workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
        where = json.loads(address.read_text())["address"]
        process = started(path, out, "--cluster", where)
        wait_for_rows(out, 5)
        workers[0].send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    finally:
        for one in (*workers, scheduler):
            one.kill()
            one.wait()
    started(path, tmp_path / "whole", "--jobs", "1").communicate(timeout=120)
    assert len(rows_of(out)) == 7 * 12 + 3 * 2
    assert same(rows_of(out), rows_of(tmp_path / "whole"))


@pytest.mark.compiled
def test_no_scheduler_is_said(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: pip install 'fairx[cluster]'")
    process = started(written(tmp_path, SMALL), tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert b"no Dask scheduler answers at tcp://127.0.0.1:9" in errors


def test_threads_make_a_part_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = fourier_features

    def counted(*arguments: Any, **named: Any) -> Any:
        made.append(1)
        time.sleep(0.05)
        return real(*arguments, **named)

    monkeypatch.setattr("fairx.experiments.problems.fourier_features", counted)
    problem = Problem("yeast", "linear", dimension=3)
    threads = [threading.Thread(target=part, args=(problem, "test", 77)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
