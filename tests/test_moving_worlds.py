"""Worlds that move: a state in each run, the number of the round, and means that are judged as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest

from fairx import Affine, Exponential, FairXEG, Uniform, simulate
from fairx.checks import ENVIRONMENT_CHECKS, check_environment
from fairx.numerics.streams import streams, uniform

MERIT = Exponential(4)
POLICY = FairXEG(MERIT, 0.1)


class Walk(NamedTuple):
    """Means that walk at random: each run from a start of its own."""

    step: float = 0.02

    def start(self, rng: np.random.Generator) -> Any:
        return rng.random(3)

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        state[:] = np.clip(state + self.step * rng.standard_normal(3), 0.0, 1.0)
        return state

    def arms_of(self, example: Any) -> Any:
        return np.arange(3)

    def contexts_of(self, example: Any) -> Any:
        return np.zeros((3, 0))

    def means_of(self, example: Any) -> Any:
        return example

    def reward_of(self, example: Any, arm: int, rng: np.random.Generator) -> float:
        return 1.0 if rng.random() < example[arm] else 0.0


class Shown(NamedTuple):
    """What a round of `Fair` shows."""

    arms: Any
    fresh: Any


class Fair(NamedTuple):
    """Arms that come and go by the round, and when one is played, it wears off and they change places."""

    wear: float = 0.9

    def size(self) -> tuple[int, int]:
        return 4, 2

    def start(self, rng: np.random.Generator) -> Any:
        return Shown(np.arange(4), 0.5 + 0.5 * rng.random(4))

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        state.fresh[t % 4] = min(1.0, state.fresh[t % 4] + 0.2)
        return Shown(state.arms[t % 3 : t % 3 + 2], state.fresh)

    def arms_of(self, example: Any) -> Any:
        return example.arms

    def contexts_of(self, example: Any) -> Any:
        return np.ones((len(example.arms), 2))

    def means_of(self, example: Any) -> Any:
        return example.fresh[example.arms]

    def reward_of(self, example: Any, arm: int, rng: np.random.Generator) -> float:
        reward = example.fresh[arm] + 0.1 * rng.standard_normal()
        example.fresh[arm] *= self.wear
        example.arms[:] = example.arms[::-1].copy()
        return float(reward)


class Restless:
    """A plain class that keeps its means in itself: they move though the example is always 0."""

    def __init__(self) -> None:
        self.means, self.t = np.array([0.2, 0.8]), 0

    def draw(self, rng: np.random.Generator) -> int:
        self.t += 1
        self.means = 0.5 + 0.4 * np.sin(self.t / 30 + np.array([0.0, 2.0]))
        return 0

    def arms_of(self, example: int) -> Any:
        return np.arange(2)

    def contexts_of(self, example: int) -> Any:
        return np.zeros((2, 0))

    def means_of(self, example: int) -> Any:
        return self.means

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return float(self.means[arm] + 0.1 * rng.standard_normal())


WORLDS: list[Any] = [Walk, Fair, Restless]


def by_hand(environment: Any, arms: int, rounds: int, seed: int, run: int) -> tuple[Any, Any]:
    """Return both regrets after each round, and the exposure, by the definitions and the public methods."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, 0)))
    state = environment.start(rng) if hasattr(environment, "start") else None
    learned, totals, chances = POLICY.start(arms, 0), np.zeros(2), streams(seed, run).choice
    curves, exposure = [], np.zeros(arms)
    for t in range(rounds):
        example = environment.draw(rng) if state is None else environment.draw(state, t, rng)
        shown, means = (
            np.array(door(example)) for door in (environment.arms_of, environment.means_of)
        )
        deployed = POLICY.probabilities(learned, shown, np.zeros((len(shown), 0)), rng)
        with np.errstate(all="ignore"):
            chance = uniform(chances, t)
        arm = int(shown[np.searchsorted(np.cumsum(deployed), chance, side="right")])
        POLICY.learn(learned, arm, np.empty(0), environment.reward_of(example, arm, rng))
        totals = totals + oracles.regrets(oracles.fair(MERIT, means), deployed, means)
        curves.append(totals)
        exposure[shown] += deployed / rounds
    return np.array(curves).T, exposure


def played(environment: Any, **options: Any) -> Any:
    given: dict[str, Any] = {"rounds": 300, "seed": 7, "runs": 4, "checkpoints": 300} | options
    return simulate(POLICY, environment, MERIT, **given)


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
@pytest.mark.parametrize("kind", WORLDS)
def test_regret_is_that_of_the_means_of_each_round(kind: Any) -> None:
    found = played(kind())
    for run in range(4):
        (fairness, reward), exposure = by_hand(kind(), found.pulls.shape[1], 300, 7, run)
        np.testing.assert_allclose(found.fairness_regret[run], fairness, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.reward_regret[run], reward, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.exposure[run], exposure, rtol=0, atol=1e-9)
    assert len({run.tobytes() for run in found.fairness_regret}) == 4


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
@pytest.mark.parametrize("kind", WORLDS)
def test_runs_jobs_and_interpretation_change_nothing(
    monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    world = kind()
    first, alone = played(world, jobs=1), played(world, runs=[2])
    again = [played(world, jobs=1), played(world, jobs=2)]
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    again.append(played(world, jobs=2))
    for other in again:
        assert first == other
    assert alone.fairness_regret[0].tobytes() == first.fairness_regret[2].tobytes()


@pytest.mark.parametrize("environment", [Walk(), Fair()], ids=lambda e: type(e).__name__)
def test_a_moving_world_passes_the_checks(environment: Any) -> None:
    check_environment(environment)


class Falling(Walk):
    """Means that fall by 0.01 a round, and what else goes wrong late."""

    def size(self) -> tuple[int, int]:
        return 3, 0

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        state[:] = 0.5 - 0.01 * t
        return state


class Undefined(Falling):
    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        state[:] = 0.5 if t < 50 else np.nan
        return state


class Crowded(Falling):
    def arms_of(self, example: Any) -> Any:
        return np.arange(3) if example[0] > 0.1 else np.arange(1, 4)


class Wide(Falling):
    def contexts_of(self, example: Any) -> Any:
        return np.zeros((3, 0)) if example[0] > 0.1 else np.zeros((3, 2))


class Short(Falling):
    def means_of(self, example: Any) -> Any:
        return example if example[0] > 0.1 else example[:2]


@pytest.mark.parametrize(
    ("environment", "judge", "words"),
    [
        (Falling(), Affine(1, -0.4), r"positive and finite, but Affine.* is not at mean 0.3\d*$"),
        (Falling(), Affine(1, 0.1), r"is not at mean -0.49.*: run 1 has means -0.49.* to 0.5; bound"),
        (Undefined(), MERIT, "means must be finite, but this environment's are not"),
        (Crowded(), MERIT, r"arms on offer must be some of 0 to arms - 1: size\(\) says how many"),
        (Wide(), MERIT, r"contexts must be \(arms on offer, dimension\)"),
        (Short(), MERIT, "means must be as many as arms on offer"),
    ],
    ids=["judge, at once", "judge, late", "means", "arms", "contexts", "number of means"],
)  # fmt: skip
def test_what_goes_wrong_late_is_refused(environment: Any, judge: Any, words: str) -> None:
    told: list[int] = []
    with pytest.raises(ValueError, match=words):
        simulate(Uniform(), environment, judge, rounds=100, seed=1, runs=[1], progress=told.append)
    assert bool(told) is ("0.3" not in words)


def test_a_merit_must_hold_where_each_run_starts() -> None:
    """Positive at all means of the first run that is played, and not at all of the second."""
    sources = (np.random.SeedSequence(1, spawn_key=(run, 0)) for run in range(9))
    lows = [float(np.random.default_rng(source).random(3).min()) for source in sources]
    told: list[int] = []
    judge, runs = Affine(1, -max(lows) + 1e-3), [int(np.argmax(lows)), int(np.argmin(lows))]
    options: dict[str, Any] = {"rounds": 20, "seed": 1, "jobs": 1, "progress": told.append}
    with pytest.raises(ValueError, match="positive and finite"):
        simulate(Uniform(), Walk(0.0), judge, runs=runs, **options)
    assert not told
    assert simulate(Uniform(), Walk(0.0), judge, runs=runs[:1], **options).fairness_regret.min() > 0


def test_a_draw_that_does_not_take_the_state_is_told_so() -> None:
    class Stateless(Walk):
        def draw(self, rng: np.random.Generator) -> Any:  # type: ignore[override]
            return rng.random(3)

    words = r"draw must take \(state, t, rng\), not \(rng.*\).*start\(rng\), in Stateless"
    with pytest.raises(TypeError, match=words):
        played(Stateless())


COUNTS = np.zeros(1)


class ModuleCounter(Walk):
    """The number of draws in the module: the second run goes on where the first ended."""

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        COUNTS[0] += 1
        state[:] = 0.5 + 0.4 * np.sin(COUNTS[0])
        return state


class ClassCounter(Walk):
    """The same in the class."""

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        self.counts[0] += 1  # type: ignore[attr-defined]
        state[:] = 0.5 + 0.4 * np.sin(self.counts[0])  # type: ignore[attr-defined]
        return state


ClassCounter.counts = np.zeros(1)  # type: ignore[attr-defined]


class ClassGenerator(Walk):
    """A generator that all runs share."""

    def reward_of(self, example: Any, arm: int, rng: np.random.Generator) -> float:
        return float(example[arm] + self.own.standard_normal())  # type: ignore[attr-defined]


ClassGenerator.own = np.random.default_rng(0)  # type: ignore[attr-defined]


class SharedState(Restless):
    """A state that all starts share: an array of the environment."""

    def start(self, rng: np.random.Generator) -> Any:
        return self.means

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:  # type: ignore[override]
        state[:] = 1.0 - state
        return 0


class CountedStarts(Walk):
    """A start that knows how many there were: a dictionary is shared even by copies of a record."""

    def start(self, rng: np.random.Generator) -> Any:
        STARTS.append(0)
        return np.full(3, 1.0 / len(STARTS))


STARTS = [0]


class OwnNoise(Restless):
    """Noise of a generator of its own, the same in all runs."""

    def __init__(self) -> None:
        self.means, self.own = np.array([0.2, 0.8]), np.random.default_rng(0)

    def draw(self, rng: np.random.Generator) -> int:
        return 0

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return float(self.means[arm] + self.own.standard_normal())


class Stale(Walk):
    """The judge is told where the means began."""

    def start(self, rng: np.random.Generator) -> Any:
        return np.array([[0.2, 0.5, 0.8], [0.2, 0.5, 0.8]])

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        state[1] *= 0.98
        return state

    def means_of(self, example: Any) -> Any:
        return example[0]

    def reward_of(self, example: Any, arm: int, rng: np.random.Generator) -> float:
        return float(example[1, arm] + 0.1 * rng.standard_normal())


class Watched(Walk):
    """Who looks at the means moves them."""

    def means_of(self, example: Any) -> Any:
        example *= 0.999
        return example.copy()


@pytest.mark.parametrize(
    ("environment", "check", "words"),
    [
        (ModuleCounter(), "runs_leave_nothing_behind", "a run changes what its class or module keeps"),
        (ClassCounter(), "runs_leave_nothing_behind", "a run changes what its class or module keeps"),
        (CountedStarts(), "runs_leave_nothing_behind", "a run changes what its class or module keeps"),
        (SharedState(), "states_are_not_shared", "a run changes the state that another start gave"),
        (CountedStarts(), "start_is_a_function_of_its_generator", "start gives .*, by one seed"),
        (ClassGenerator(), "the_same_seed_gives_the_same_rewards", "two runs from the same seed differ"),
        (OwnNoise(), "another_seed_gives_other_rewards", "8 seeds give the same rewards"),
        (Watched(), "looking_changes_nothing", "asking for arms, contexts or means changes it"),
        (Restless(), "looking_changes_nothing", r"the means moved: what moves has start\(rng\)"),
        (Stale(), "rewards_average_to_the_means", r"arm 0 pays 0.0\d*, not 0.2.*, in round 59"),
        (Crowded(), "examples_fit_together", r"arms \[1 2 3\] of 3"),
    ],
)  # fmt: skip
def test_what_leaks_or_lies_is_found(environment: Any, check: str, words: str) -> None:
    (found,) = (each for each in ENVIRONMENT_CHECKS if each.__name__ == check)
    with pytest.raises(AssertionError, match=words):
        found(environment)
    with pytest.raises(AssertionError):
        check_environment(environment)
