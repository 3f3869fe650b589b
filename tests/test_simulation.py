from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
from cases import ENVIRONMENTS, MERITS, POLICIES, YEAST, contexts, name
from hypothesis import given, settings
from hypothesis import strategies as st

from fairx import (
    Affine,
    Bandit,
    Custom,
    Exponential,
    FairXEG,
    FairXLinTS,
    FairXTS,
    FairXUCB,
    OptimalFair,
    Uniform,
    fair_probabilities,
    simulate,
    theory,
)
from fairx.environments import (
    Bernoulli,
    Linear,
    LinearPrior,
    Normal,
    NormalPrior,
    lipschitz_pair,
    minimum_merit_pair,
)
from fairx.numerics.streams import streams, uniform

MERIT = Exponential(4)
WORLD = Bernoulli([0.2, 0.5, 0.5, 0.8])


def by_hand(policy: Any, environment: Any, judge: Any, rounds: int, seed: int) -> dict[str, Any]:
    """Play with the public doors, the definitions and the documented random numbers."""
    from fairx.numerics.streams import normals_of_round

    world, keys = environment.world(None), streams(seed, 0)
    arms, dimension = world.features.shape[1:]
    state = policy.start(arms, dimension)
    each, work = policy.needs(arms, dimension)
    totals, exposure, pulls = np.zeros(2), np.zeros(arms), np.zeros(arms)
    pair = np.empty(1)
    with np.errstate(all="ignore"):
        for t in range(rounds):
            example = environment.world(None).pick(uniform(keys.example, t), t)
            shown, means = environment.contexts_of(example), environment.means_of(example)
            normals, deployed = np.empty(each), np.empty(arms)
            normals_of_round(keys.policy, t, each, normals)
            policy.propose(state, np.arange(arms), shown, normals, np.empty(work), deployed)
            chance = uniform(keys.choice, t)
            arm = min(int(np.searchsorted(np.cumsum(deployed), chance, side="right")), arms - 1)
            normals_of_round(keys.reward_noise, t, 1, pair)
            reward = world.pay(example, arm, uniform(keys.reward, t), pair[0])
            policy.learn(state, arm, shown[arm], reward)
            totals += oracles.regrets(oracles.fair(judge, means), deployed, means)
            exposure += deployed
            pulls[arm] += 1
    return {"totals": totals, "exposure": exposure / rounds, "pulls": pulls}


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "policy", [POLICIES[0], POLICIES[2], POLICIES[3], *POLICIES[-8:-5]], ids=name
)
def test_regret_is_that_of_the_definitions(policy: Any, environment: Any) -> None:
    found = simulate(policy, environment, MERIT, rounds=40, seed=3)
    expected = by_hand(policy, environment, MERIT, 40, 3)
    np.testing.assert_array_equal(found.pulls[0], expected["pulls"])
    np.testing.assert_allclose(found.exposure[0], expected["exposure"], rtol=1e-12)
    regrets = [found.fairness_regret[0, -1], found.reward_regret[0, -1]]
    np.testing.assert_allclose(regrets, expected["totals"], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("policy", POLICIES[-5:-2], ids=name)
def test_linear_regret_is_that_of_the_definitions(policy: Any) -> None:
    found = simulate(policy, ENVIRONMENTS[2], MERIT, rounds=40, seed=3)
    expected = by_hand(policy, ENVIRONMENTS[2], MERIT, 40, 3)
    np.testing.assert_array_equal(found.pulls[0], expected["pulls"])
    np.testing.assert_allclose(found.fairness_regret[0, -1], expected["totals"][0], rtol=1e-11)


def test_shapes_and_checkpoints() -> None:
    result = simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, rounds=1000, seed=1, runs=3, checkpoints=7)
    assert result.rounds.tolist() == [142, 285, 428, 571, 714, 857, 1000]
    assert result.fairness_regret.shape == result.reward_regret.shape == (3, 7)
    assert result.exposure.shape == result.pulls.shape == (3, 4)
    np.testing.assert_array_equal(result.pulls.sum(axis=1), 1000)
    np.testing.assert_allclose(result.exposure.sum(axis=1), 1)
    assert (np.diff(result.fairness_regret) >= 0).all()
    chosen = simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, rounds=1000, seed=1, checkpoints=[285])
    assert chosen.rounds.tolist() == [285, 1000]
    np.testing.assert_array_equal(chosen.fairness_regret[0], result.fairness_regret[0, [1, 6]])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 200))
def test_a_run_depends_on_the_seed_and_its_number_alone(seed: int, jobs: int, rounds: int) -> None:
    policy = FairXTS(MERIT, 1, 0.5)
    few = simulate(policy, WORLD, MERIT, rounds=rounds, seed=seed, runs=2, jobs=1)
    many = simulate(policy, WORLD, MERIT, rounds=rounds, seed=seed, runs=4, jobs=jobs)
    for part in ("fairness_regret", "reward_regret", "exposure", "pulls"):
        np.testing.assert_array_equal(getattr(few, part), getattr(many, part)[:2])
    assert not np.array_equal(many.exposure[0], many.exposure[1])


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate(FairXTS(MERIT, 1, 0.5), WORLD, MERIT, rounds=700, seed=1)
    monkeypatch.setattr("fairx.simulation.runs.CHUNK_SECONDS", 1e-9)
    pieces = simulate(FairXTS(MERIT, 1, 0.5), WORLD, MERIT, rounds=700, seed=1)
    np.testing.assert_array_equal(whole.fairness_regret, pieces.fairness_regret)


def test_policies_meet_the_same_world_under_one_seed() -> None:
    """The optimal policy of both merits is played on the same examples and noise."""
    first = simulate(OptimalFair(MERIT, [0.5]), Normal([0.5], 0.2), MERIT, rounds=50, seed=4)
    second = simulate(Uniform(), Normal([0.5], 0.2), MERIT, rounds=50, seed=4)
    np.testing.assert_array_equal(first.pulls, second.pulls)


@pytest.mark.compiled
def test_the_optimal_policy_has_no_regret_and_is_sampled_in_proportion() -> None:
    """Frequencies of 20,000 draws within 5 standard errors: false alarm below 1e-5 for 14 arms."""
    merit, rounds = Exponential(10), 20_000
    fair = fair_probabilities(merit, YEAST)
    result = simulate(OptimalFair(merit, YEAST), Bernoulli(YEAST), merit, rounds=rounds, seed=1)
    assert result.fairness_regret[0, -1] < 1e-9
    assert abs(result.reward_regret[0, -1]) < 1e-9
    error = np.sqrt(fair * (1 - fair) / rounds)
    assert (np.abs(result.pulls[0] / rounds - fair) < 5 * error).all()


def test_summary_and_frame() -> None:
    result = simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, rounds=100, seed=1, runs=3, checkpoints=2)
    summary = result.summary()
    np.testing.assert_allclose(summary.fairness_mean, result.fairness_regret.mean(axis=0))
    np.testing.assert_allclose(summary.reward_std, result.reward_regret.std(axis=0, ddof=1))
    single = simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, rounds=100, seed=1, checkpoints=2)
    assert single.summary().fairness_std.tolist() == [0, 0]
    frame = result.to_frame()
    assert frame["run"].tolist() == [0, 0, 1, 1, 2, 2]
    assert frame["round"].tolist() == [50, 100] * 3
    assert frame["fairness_regret"].tolist() == result.fairness_regret.ravel().tolist()
    assert frame["reward_regret"].tolist() == result.reward_regret.ravel().tolist()
    for part_name in ("fairness", "reward", "exposure"):
        part = getattr(result, part_name if part_name == "exposure" else f"{part_name}_regret")
        for how, values in (("mean", part.mean(axis=0)), ("std", part.std(axis=0, ddof=1))):
            np.testing.assert_allclose(getattr(summary, f"{part_name}_{how}"), values, atol=1e-12)


def test_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="pip install 'fairx[plots]'")
    matplotlib.use("Agg")
    result = simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, rounds=100, seed=1, runs=3)
    axes = result.plot("FairX-EG")
    assert [axis.get_ylabel() for axis in axes] == ["fairness regret", "reward regret"]
    assert result.plot("again", axes) is axes
    summary = result.summary()
    drawn = (summary.fairness_mean, summary.fairness_std), (summary.reward_mean, summary.reward_std)
    for axis, (mean, std) in zip(axes, drawn, strict=True):
        np.testing.assert_array_equal(axis.lines[0].get_xdata(), result.rounds)
        np.testing.assert_allclose(axis.lines[0].get_ydata(), mean)
        band = axis.collections[0].get_paths()[0].vertices
        for edge in (mean - std, mean + std):
            corners = {tuple(point) for point in band}
            assert set(zip(result.rounds.astype(float), edge, strict=True)) <= corners
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number of at least 1, not 0"),
        ({"rounds": 1.5}, "rounds must be a whole number of at least 1, not 1.5"),
        ({"runs": 0}, "runs must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"jobs": 0}, "jobs must be"),
        ({"checkpoints": 0}, "checkpoints must be"),
        ({"checkpoints": []}, "checkpoints must increase"),
        ({"checkpoints": [5, 4]}, "checkpoints must increase"),
        ({"checkpoints": [11]}, "must increase and not exceed 10"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(FairXEG(MERIT, 0.1), WORLD, MERIT, **({"rounds": 10, "seed": 1} | options))


def test_a_merit_without_merit_is_refused() -> None:
    falling = Custom(lambda mean: 2.0 - mean)
    with pytest.raises(ValueError, match="must not decrease"):
        simulate(Uniform(), WORLD, falling, rounds=10, seed=1)
    with pytest.raises(ValueError, match="must not decrease"):
        simulate(FairXEG(falling, 0.1), WORLD, MERIT, rounds=10, seed=1)


class Softmax(NamedTuple):
    """A policy of somebody's: softmax of the means, written in plain NumPy."""

    steepness: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros((2, arms))

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        means = state[1][arms] / np.maximum(state[0][arms], 1.0)
        weights = np.exp(self.steepness * (means - means.max())) + 0.001 * rng.random()
        return weights / weights.sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[0, arm] += 1.0
        state[1, arm] += reward


class Weather(NamedTuple):
    """An environment of somebody's, whose arms on offer change."""

    chances: Any

    def size(self) -> tuple[int, int]:
        return self.chances.shape[1], 0

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(0, 2))

    def arms_of(self, example: int) -> Any:
        return np.arange(self.chances.shape[1] - example)

    def contexts_of(self, example: int) -> Any:
        return np.zeros((self.chances.shape[1] - example, 0))

    def means_of(self, example: int) -> Any:
        return self.chances[example, : self.chances.shape[1] - example]

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return 1.0 if rng.random() < self.chances[example, arm] else 0.0


WEATHER = Weather(np.array([[0.2, 0.5, 0.8], [0.6, 0.3, 0.9]]))


@pytest.mark.compiled
def test_records_of_others_play_in_the_same_loop() -> None:
    for policy in (Softmax(4.0), FairXTS(MERIT, 1, 0.5)):
        result = simulate(policy, WEATHER, MERIT, rounds=2000, runs=2, seed=1)
        np.testing.assert_allclose(result.exposure.sum(axis=1), 1)
        assert result.pulls[0, 2] < 1100  # the third arm is on offer half of the time
        again = simulate(policy, WEATHER, MERIT, rounds=2000, runs=1, seed=1)
        np.testing.assert_array_equal(again.exposure[0], result.exposure[0])


@pytest.mark.compiled
def test_a_policy_of_others_learns() -> None:
    result = simulate(Softmax(4.0), WORLD, MERIT, rounds=5000, seed=1)
    assert np.abs(result.exposure[0] - fair_probabilities(MERIT, WORLD.means)).sum() < 0.1


class Inverse(NamedTuple):
    """A policy of somebody's whose setting is declared a float and given as a whole number."""

    scale: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        first = self.scale**-2
        return np.array([first, 1.0 - first])

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def test_whole_numbers_in_records_of_others_are_numbers() -> None:
    """Compiled 2**-2 of whole numbers is not 0.25."""
    result = simulate(Inverse(2), Bernoulli([0.5, 0.5]), MERIT, rounds=10, seed=1)
    np.testing.assert_allclose(result.exposure[0], [0.25, 0.75])


class Broken(Softmax):
    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        return np.full(arms.size, np.nan)


class Bottomless(Weather):
    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return -np.inf


def test_nonsense_of_others_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"sum 1, but those of Broken.* are 4 numbers with sum nan"
    ):
        simulate(Broken(1.0), WORLD, MERIT, rounds=10, seed=1)
    with pytest.raises(ValueError, match=r"those of Broken.* are 3 numbers with sum nan"):
        Bandit(Broken(1.0), arms=3, seed=1).act()
    with pytest.raises(ValueError, match="rewards must be finite"):
        simulate(Uniform(), Bottomless(WEATHER.chances), MERIT, rounds=10, seed=1)


def test_what_is_not_a_policy_or_environment_is_refused() -> None:
    with pytest.raises(TypeError, match="policy must have start, probabilities and learn"):
        simulate("TS", WORLD, MERIT, rounds=10, seed=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="environment must have draw"):
        simulate(Uniform(), [0.1, 0.2], MERIT, rounds=10, seed=1)  # type: ignore[arg-type]


def test_bayesian_environments_draw_anew_for_each_run() -> None:
    policy = FairXTS(Exponential(1), 1, 1)
    result = simulate(policy, NormalPrior(4), Exponential(1), rounds=200, seed=1, runs=3)
    shares = result.exposure
    assert len({row.tobytes() for row in shares}) == 3
    assert np.abs(shares[0] - shares[1]).max() > 0.05
    linear = LinearPrior(contexts())
    result = simulate(
        FairXLinTS(Exponential(1), 1, 1), linear, Exponential(1), rounds=50, seed=1, runs=2
    )
    assert np.isfinite(result.fairness_regret).all()


def test_a_prior_is_checked_in_every_run() -> None:
    """Some run draws means below zero, where this merit is not positive."""
    with pytest.raises(ValueError, match="merit must be positive and finite, but Affine"):
        simulate(Uniform(), NormalPrior(2), Affine(1, 0.5), rounds=5, runs=20, seed=1)


@pytest.mark.compiled
@pytest.mark.parametrize("pair", [minimum_merit_pair, lipschitz_pair])
def test_no_policy_escapes_the_lower_bounds(pair: Any) -> None:
    """The mean over the runs of the worse instance stays above 0.015 per round."""
    rounds, runs = 400, 40
    *instances, merit = pair(rounds)
    for policy in (Uniform(), FairXTS(merit, 0.3, 0.7), FairXUCB(merit, 0.3), FairXEG(merit, 0.0)):
        regrets = [
            simulate(policy, one, merit, rounds=rounds, runs=runs, seed=1)
            .fairness_regret[:, -1]
            .mean()
            for one in instances
        ]
        assert max(regrets) >= theory.lower_bound(rounds)


@pytest.mark.compiled
def test_regret_stays_below_the_upper_bounds() -> None:
    merit, rounds = Exponential(1), 2000
    gamma, slope = merit.minimum(0, 1), merit.lipschitz(0, 1)
    policy = FairXUCB.for_horizon(merit, rounds, 4, 0.05)
    result = simulate(policy, WORLD, merit, rounds=rounds, runs=5, seed=1)
    bound = theory.ucb_fairness_bound(rounds, 4, slope, gamma, 0.05)
    assert (result.fairness_regret[:, -1] <= bound).all()
    assert (result.reward_regret[:, -1] <= theory.ucb_reward_bound(rounds, 4, 0.05)).all()


def test_a_merit_that_numba_cannot_compile_runs_interpreted_with_a_warning() -> None:
    table = {"level": 1.0}

    def strange(mean: float) -> float:
        return table["level"] + float(f"{mean:.6f}") ** 2

    policy = FairXEG(Custom(strange), 0.1)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0":
        with pytest.warns(UserWarning, match="Numba cannot compile FairXEG.*running interpreted"):
            result = simulate(policy, WORLD, MERIT, rounds=50, seed=1)
    else:
        result = simulate(policy, WORLD, MERIT, rounds=50, seed=1)
    np.testing.assert_allclose(result.exposure.sum(), 1)


def test_a_custom_merit_is_compiled_into_the_loop() -> None:
    plain = simulate(
        FairXEG(Custom(lambda mean: 1.0 + mean), 0.1), WORLD, MERIT, rounds=500, seed=1
    )
    same = simulate(FairXEG(Affine(1, 1), 0.1), WORLD, MERIT, rounds=500, seed=1)
    np.testing.assert_array_equal(plain.pulls, same.pulls)
    np.testing.assert_allclose(plain.fairness_regret, same.fairness_regret, rtol=1e-12)


@pytest.mark.parametrize("merit", MERITS, ids=name)
def test_every_merit_plays(merit: Any) -> None:
    result = simulate(FairXUCB(merit, 0.2), WORLD, merit, rounds=300, seed=1)
    assert 0 <= result.fairness_regret[0, -1] <= 600


LONG = """
from fairx import Exponential, FairXTS, environments, simulate
merit, world = Exponential(4), environments.Bernoulli([0.2, 0.8])
simulate(FairXTS(merit, 1, 1), world, merit, rounds=100, seed=1)
print("ready", flush=True)
simulate(FairXTS(merit, 1, 1), world, merit, rounds=10**12, runs=3, seed=1, jobs=2)
"""


def start_long(errors: int) -> subprocess.Popen[bytes]:
    """Start a simulation that never ends, and wait until it is under way."""
    command = [sys.executable, "-c", LONG]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_interruption_stops_within_a_second() -> None:
    process = start_long(subprocess.PIPE)
    time.sleep(1.0)
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    try:
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()  # it would never end
    assert b"KeyboardInterrupt" in errors
    assert time.perf_counter() - start < 3.0  # a second, and slack for a loaded machine


def test_progress_is_shown_on_a_terminal() -> None:
    pty = pytest.importorskip("pty", reason="this system has no terminals to pretend")
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = start_long(theirs)
    shown, late = b"", time.monotonic() + 30
    while b"round/s" not in shown and time.monotonic() < late:
        if select.select([ours], [], [], 1.0)[0]:
            shown += os.read(ours, 1000)
    process.kill()
    process.communicate(timeout=30)
    os.close(ours)
    os.close(theirs)
    assert b"/3.00T [00:0" in shown


def test_linear_examples_are_drawn_uniformly() -> None:
    """Counts of 10 examples in 20,000 rounds: chi-square with 9 degrees, level 1e-5."""
    keys = streams(9, 0)
    world = Linear(contexts(10), np.ones(5), 0.1).world(None)
    with np.errstate(over="ignore"):
        shown = [world.pick(uniform(keys.example, t), t) for t in range(20_000)]
    counts = np.bincount(shown, minlength=10)
    assert ((counts - 2000) ** 2 / 2000).sum() < 40.5


def test_runs_can_be_picked() -> None:
    settings: Any = {"rounds": 300, "seed": 4}
    everything = simulate(FairXTS(MERIT, 1, 1), WORLD, MERIT, runs=5, **settings)
    some = simulate(FairXTS(MERIT, 1, 1), WORLD, MERIT, runs=[3, 1], **settings)
    np.testing.assert_array_equal(some.fairness_regret, everything.fairness_regret[[3, 1]])
    for runs in ([], [1, 1], [-1]):
        with pytest.raises(ValueError, match="runs must be"):
            simulate(FairXTS(MERIT, 1, 1), WORLD, MERIT, runs=runs, **settings)


def test_progress_is_told_and_may_stop_it() -> None:
    told: list[int] = []
    settings: Any = {"rounds": 1000, "seed": 1, "runs": 3}
    simulate(Uniform(), WORLD, MERIT, progress=told.append, **settings)
    assert sum(told) == 3000

    def enough(rounds: int) -> None:
        raise InterruptedError

    for jobs in (1, 2):
        with pytest.raises(InterruptedError):
            simulate(Uniform(), WORLD, MERIT, progress=enough, jobs=jobs, **settings)
