"""What a result says of itself, and that nothing is lost when it is kept, merged or compared."""

from __future__ import annotations

import functools
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairx import (
    TS,
    Bandit,
    BrokenFile,
    Custom,
    Exponential,
    FairXLinTS,
    FairXTS,
    FairXUCB,
    OptimalFair,
    Result,
    Round,
    Uniform,
    UniformLog,
    compare,
    environments,
    replay,
    simulate,
)
from fairx.policies import __all__ as policy_names
from fairx.simulation.provenance import identified

MERIT = Exponential(4)
WORLD = environments.Bernoulli([0.3, 0.5, 0.6])
POLICY = FairXTS(MERIT, 1, 0.5)


def played(policy: Any = POLICY, world: Any = WORLD, judge: Any = MERIT, **options: Any) -> Result:
    return simulate(policy, world, judge, **{"rounds": 60, "seed": 1, "checkpoints": 7} | options)


def bowl(mean: float) -> float:
    return 1.0 + mean * mean


def unfairness(seen: Round) -> float:
    return float(np.sum(np.abs(seen.fair - seen.deployed)))


# What is shown


class Tuned:
    """A policy as a plain class, with an array in itself."""

    def __init__(self, width: float = 1.0) -> None:
        self.weights = np.full(3, width)

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return self.weights[: len(arms)] / self.weights[: len(arms)].sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        self.weights[arm] += reward


def test_a_result_is_shown_in_a_few_lines() -> None:
    means = np.linspace(0.1, 0.9, 200)
    longest = played(
        OptimalFair(MERIT, means),
        environments.Bernoulli(means),
        Custom(lambda mean: 1.0 + mean, name="n" * 300),
        runs=range(1000, 1010),
        measures={f"{i} {'of a long name ' * 20}": unfairness for i in range(12)},
    )
    for result in (longest, played()):
        assert len(repr(result)) < 600
        assert len(result._repr_html_()) < 5000  # type: ignore[attr-defined]
        assert len(repr(result.summary())) < 600
        assert len(result.summary()._repr_html_()) < 5000  # type: ignore[attr-defined]
    words = repr(played(runs=[5, 6]))
    for said in ("FairXTS(merit=Exponential(steepness=4.0)", "[0.3, 0.5, 0.6]", "seed 1", "5, 6"):
        assert said in words


def test_html_of_names_is_escaped() -> None:
    result = played(measures={"<b>": unfairness})
    assert "<b>" not in result._repr_html_()  # type: ignore[attr-defined]
    decision = Bandit(POLICY, ["<b>", "x"], seed=1).act()
    assert "<b>" not in decision._repr_html_()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "shown",
    [
        Custom(bowl),
        Custom(lambda mean: 1.0 + mean),
        Custom(functools.partial(pow, 2.0)),
        FairXUCB(Custom(bowl), 1.0),
        OptimalFair(MERIT, np.linspace(0, 1, 5000)),
        environments.Bernoulli(np.linspace(0, 1, 5000)),
        environments.Labelled(np.ones((40, 5, 3)), np.ones((40, 5)), np.ones(3)),
        Bandit(FairXTS(Custom(bowl), 1, 0.5), [f"song {i}" for i in range(900)], seed=1),
        Bandit(FairXTS(Custom(bowl), 1, 0.5), [f"song {i}" for i in range(900)], seed=1).act(),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_records_bandits_and_decisions_are_short_and_say_no_address(shown: Any) -> None:
    assert len(repr(shown)) < 400
    assert " at 0x" not in repr(shown) + shown._repr_html_()
    assert len(shown._repr_html_()) < 5000


def test_every_policy_and_merit_of_ours_has_a_page() -> None:
    import fairx.merit
    import fairx.policies

    for module, names in ((fairx.policies, policy_names), (fairx.merit, fairx.merit.__all__)):
        records = [getattr(module, name) for name in names]
        assert all(hasattr(kind, "_repr_html_") for kind in records if hasattr(kind, "_fields"))


def test_a_merit_that_is_a_function_has_its_name_or_the_one_given() -> None:
    assert repr(Custom(bowl)) == "Custom(function=bowl)"
    assert repr(FairXTS(Custom(bowl, name="dish"), 1, 0.5)) == (
        "FairXTS(merit=Custom(function=dish), prior_std=1.0, reward_std=0.5)"
    )
    result = played(FairXTS(Custom(bowl, "dish"), 1, 0.5), judge=Custom(bowl, "plate"))
    plain = played(FairXTS(Custom(bowl), 1, 0.5), judge=Custom(bowl))
    assert result.provenance.judge.startswith("Custom(function=plate) #")
    assert np.array_equal(result.fairness_regret, plain.fairness_regret)


# Where it comes from


def test_run_numbers_and_provenance_are_in_the_object_and_in_the_table() -> None:
    result = played(runs=[5, 3])
    assert result.runs.tolist() == [5, 3]
    frame = result.to_frame()
    assert frame["run"].tolist() == [5] * 7 + [3] * 7
    assert frame["horizon"].unique().tolist() == [60]
    for name in ("policy", "environment", "judge", "seed", "version"):
        assert frame[name].unique().tolist() == [getattr(result.provenance, name)]
    assert frame["reward_earned"].tolist() == result.reward_earned.ravel().tolist()


def test_words_that_leave_something_out_have_a_digest() -> None:
    means = np.linspace(0.1, 0.9, 50)
    other = means.copy()
    other[30] += 1e-12
    one, two = (identified(environments.Bernoulli(m)) for m in (means, other))
    assert one.split("#")[0] == two.split("#")[0]
    assert one != two
    assert identified(environments.Bernoulli(means.copy())) == one
    assert identified(Tuned(1.0)) == identified(Tuned(1.0)) != identified(Tuned(2.0))
    assert identified(Custom(bowl)) != identified(Custom(lambda mean: 2.0 + mean, "bowl"))
    assert "#" not in identified(environments.Bernoulli([0.1, 0.2]))


def times(steepness: float, mean: float) -> float:
    return float(np.exp(steepness * mean))


class Callable:
    """A merit function that is an object."""

    def __init__(self, steepness: float) -> None:
        self.steepness = steepness

    def __call__(self, mean: float) -> float:
        return float(np.exp(self.steepness * mean))


def test_objects_are_known_by_what_is_in_them_not_by_where_they_are() -> None:
    """Addresses are used again, and an object that is changed stays where it is."""
    parts = [identified(Custom(functools.partial(times, 1.0 + i))) for i in range(30)]
    assert len(set(parts)) == 30
    assert identified(Custom(functools.partial(times, 1.0))) == parts[0]
    changed = Callable(1.0)
    before = identified(Custom(changed))
    changed.steepness = 9.0
    assert identified(Custom(changed)) != before
    assert identified(Custom(Callable(1.0))) == before
    policy = Tuned()
    policy.weights = types.SimpleNamespace(first=1.0)  # type: ignore[assignment]
    before = identified(policy)
    policy.weights.first = 2.0  # type: ignore[attr-defined]
    assert identified(policy) != before
    lock = Tuned()
    lock.weights = threading.Lock()  # type: ignore[assignment]
    assert identified(lock) != identified(lock)  # nobody can tell


def test_special_methods_and_patches_are_part_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(value: float) -> Any:
        class Mine:
            def __call__(self) -> float:
                return value

        return Mine()

    assert identified(made(1.0)) != identified(made(9.0))
    before = identified(POLICY)
    texts = set()
    for steepness in (1.0, 9.0):
        monkeypatch.setattr(Exponential, "log", lambda self, mean, k=steepness: k * mean)
        texts.add(identified(POLICY))
    assert len(texts | {before}) == 3


def test_arrays_of_objects_and_empty_matrices_have_short_words() -> None:
    policy = Tuned()
    policy.weights = np.array(["a", None], dtype=object)
    assert identified(policy).startswith("Tuned #")
    log = UniformLog([[0, 1]], np.arange(9000) % 2, np.zeros(9000))
    assert len(identified(log)) < 400


# Kept, merged, equal


def test_a_result_comes_back_from_its_file(tmp_path: Path) -> None:
    result = played(runs=[4, 2], measures={"a/b: ": unfairness, "": lambda seen: np.nan})
    for kept in (result, result._replace(exposure_curves=None)):
        kept.save(tmp_path / "result")  # any name: nothing is added to it
        found = Result.load(tmp_path / "result")
        assert found == kept
        assert [*found.measures] == ["a/b: ", ""]
        assert found.provenance == kept.provenance


def test_a_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    Bandit(POLICY, 2, seed=1).save(path)
    with pytest.raises(BrokenFile, match="not a saved result"):
        Result.load(path)
    played().save(path)
    with pytest.raises(BrokenFile, match="not a saved bandit"):
        Bandit.load(path)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        with pytest.raises(BrokenFile, match="not a saved result"):
            Result.load(path)


def test_runs_of_one_experiment_merge() -> None:
    options = {"measures": {"unfairness": unfairness}}
    whole = played(runs=5, **options)
    parts = [played(runs=runs, **options) for runs in ([4], [1, 0], [2, 3, 4])]
    assert parts[0].merge(*parts[1:]) == whole
    assert whole.merge() == whole
    kept = parts[0].merge(parts[1]._replace(exposure_curves=None))
    assert kept.exposure_curves is None


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: played(seed=2), "seed differs: 1 and 2"),
        (lambda: played(TS(1, 0.5)), "policy differs"),
        (lambda: played(judge=Exponential(5)), "judge differs"),
        (lambda: played(world=environments.Bernoulli([0.3, 0.5, 0.7])), "environment differs"),
        (lambda: played(rounds=61), "rounds differs: 60 and 61"),
        (lambda: played(checkpoints=3), "same checkpoints"),
        (lambda: played(measures={"x": unfairness}), "measures differs"),
        (lambda: played()._replace(reward_earned=np.zeros((1, 7))), "agree on the runs"),
    ],
)
def test_what_is_not_one_experiment_does_not_merge(other: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        played().merge(other())


def test_results_are_equal_to_the_last_bit() -> None:
    result = played(runs=2)
    assert result == played(runs=2, jobs=1)
    assert (result != played(runs=2)) is False
    assert result != played(runs=[0])
    moved = result.fairness_regret.copy()
    moved[1, 3] = np.nextafter(moved[1, 3], 9e9)
    assert result != result._replace(fairness_regret=moved)
    assert result != result[:5]
    assert result.summary() == played(runs=2).summary()
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


# What is measured


def test_best_arm_regret_is_that_of_the_deployed_probabilities() -> None:
    """Checked with measures of our own, and with contexts, where the best arm changes."""
    rng = np.random.default_rng(3)
    contexts = np.abs(rng.normal(size=(6, 4, 2)))
    world = environments.Linear(contexts, parameter=[0.4, 0.2], noise_std=0.1)
    for policy, place in ((FairXLinTS(MERIT, 1, 0.5), world), (POLICY, WORLD)):
        result = played(
            policy,
            place,
            runs=3,
            measures={
                "best": lambda seen: np.max(seen.means) - np.sum(seen.deployed * seen.means),
                "earned": lambda seen: seen.reward,
                "unfairness": unfairness,
                "fair": lambda seen: np.sum((seen.fair - seen.deployed) * seen.means),
            },
        )
        assert result.measures["best"] == pytest.approx(result.best_arm_regret, abs=1e-9)
        assert result.measures["earned"] == pytest.approx(result.reward_earned, abs=1e-9)
        assert result.measures["unfairness"] == pytest.approx(result.fairness_regret, abs=1e-9)
        assert result.measures["fair"] == pytest.approx(result.reward_regret, abs=1e-9)


def test_exposure_over_time_ends_where_exposure_does() -> None:
    result = played(runs=2, measures={"first": lambda seen: seen.deployed[0]})
    curves = result.exposure_curves
    assert curves is not None
    assert curves.shape == (2, 7, 3)
    assert curves[:, -1] == pytest.approx(result.exposure, abs=1e-15)
    assert curves.sum(axis=2) == pytest.approx(1.0)
    assert curves[:, :, 0] * result.rounds == pytest.approx(result.measures["first"], abs=1e-12)


def test_a_measure_sees_the_arm_that_was_played_and_its_pull() -> None:
    result = played(measures={"second": lambda seen: seen.arms[seen.position] == 2})
    assert result.measures["second"][0, -1] == result.pulls[0, 2]


def test_a_measure_that_writes_on_what_it_sees_changes_nothing() -> None:
    def spoil(seen: Round) -> float:
        for i in range(len(seen.arms)):
            seen.deployed[i] = seen.fair[i] = seen.means[i] = seen.arms[i] = 0
        return 1.0

    spoilt, plain = played(runs=2, measures={"spoil": spoil}), played(runs=2)
    origin = spoilt.provenance._replace(measures=())
    assert spoilt._replace(measures={}, provenance=origin) == plain
    assert spoilt.measures["spoil"][0].tolist() == plain.rounds.tolist()


def test_measures_do_not_see_what_others_write() -> None:
    def spoil(seen: Round) -> float:
        for i in range(len(seen.arms)):
            seen.deployed[i] = 0.0
        return 0.0

    result = played(measures={"spoil": spoil, "total": lambda seen: np.sum(seen.deployed)})
    assert result.measures["total"][0] == pytest.approx(result.rounds)


def test_measures_of_one_name_are_not_one_measure() -> None:
    one = played(runs=[0], measures={"m": lambda seen: seen.reward})
    other = played(TS(1, 0.5), runs=[0], measures={"m": lambda seen: 100 + seen.reward})
    with pytest.raises(ValueError, match="measures differs"):
        one.merge(played(runs=[1], measures={"m": lambda seen: 100 + seen.reward}))
    assert "m" not in {found.measure for found in compare(one, other).differences}
    same = played(TS(1, 0.5), runs=[0], measures={"m": lambda seen: seen.reward})
    assert "m" in {found.measure for found in compare(one, same).differences}


@pytest.mark.parametrize("name", ["fairness_regret", "exposure", "run", "seed", "policy", 1])
def test_a_measure_has_a_name_of_its_own(name: Any) -> None:
    with pytest.raises(ValueError, match="measures must have names of their own"):
        played(measures={name: unfairness})
    with pytest.raises(ValueError, match="measures must be functions by their names"):
        played(measures=[unfairness])


def test_progress_may_be_something_empty() -> None:
    class Told(list[int]):
        def __call__(self, rounds: int) -> None:
            self.append(rounds)

    told = Told()
    played(progress=told)
    assert sum(told) == 60


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (3, r"measures\['mine'\] must be a function of a fairx.Round, not 3"),
        (lambda seen: seen.means, r"measures\['mine'\] must return one number, not array"),
        (lambda seen: None, r"measures\['mine'\] must return one number, not None"),
        (lambda seen: "1", r"measures\['mine'\] must return one number, not '1'"),
    ],
)
def test_a_measure_that_is_none_is_refused_by_name(measure: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        played(measures={"mine": measure})


def test_an_edited_measure_is_the_one_that_is_summed() -> None:
    for value in (1.0, 2.0):

        def mine(seen: Round, value: float = value) -> float:
            return value

        assert played(measures={"mine": mine}).measures["mine"][0, -1] == 60 * value


def test_a_replay_measures_the_same() -> None:
    rng = np.random.default_rng(1)
    displayed = rng.integers(3, size=600)
    rewards = rng.random(600) < 0.5
    log = UniformLog([[0, 1, 2]], displayed, rewards, means=[0.2, 0.5, 0.8])
    result = replay(
        POLICY, log, MERIT, seed=1, rounds=100, runs=2,
        measures={"unfairness": unfairness, "earned": lambda seen: seen.reward},
    ).result  # fmt: skip
    assert result.measures["unfairness"] == pytest.approx(result.fairness_regret, abs=1e-9)
    assert result.measures["earned"].tolist() == result.reward_earned.tolist()
    gap = result.best_arm_regret - result.reward_regret
    fair = np.exp(4 * np.array([0.2, 0.5, 0.8]))
    lead = 0.8 - fair @ [0.2, 0.5, 0.8] / fair.sum()
    assert gap == pytest.approx(np.tile(lead * result.rounds, (2, 1)))


def test_the_uniform_policy_earns_less_than_the_best_arm_by_the_mean_gap() -> None:
    result = played(Uniform())
    assert result.best_arm_regret[0, -1] == pytest.approx(60 * (0.6 - 1.4 / 3))
