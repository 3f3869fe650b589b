"""Properties of an environment."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from fairx.compiled import Key, own_copy
from fairx.environments.base import is_moving, world_of

ROUNDS, REWARDS, SEEDS = 60, 400, 8


def check_environment(environment: Any) -> None:
    """Raise an AssertionError that names the first property that `environment` lacks."""
    for check in ENVIRONMENT_CHECKS:
        check(environment)


def examples_fit_together(environment: Any) -> None:
    """Arms are distinct and not more than there are, with a row of contexts and a finite mean each."""
    most, width = world_of(environment, np.random.default_rng(0)).features.shape[1:]
    run = _Run(environment, seed=0)
    for _ in range(ROUNDS):
        arms, contexts, means = run.look(run.draw())
        assert arms.ndim == 1, f"{environment}: arms of shape {arms.shape}"
        assert 0 < len(set(arms.tolist())) == arms.size, f"{environment}: arms {arms}"
        assert 0 <= arms.min() <= arms.max() < most, f"{environment}: arms {arms} of {most}"
        assert contexts.shape == (arms.size, width), (
            f"{environment}: contexts of shape {contexts.shape} for {arms.size} arms"
        )
        assert means.shape == arms.shape, f"{environment}: means of shape {means.shape}"
        assert np.isfinite(means).all(), f"{environment}: means {means}"
        assert np.isfinite(contexts).all(), f"{environment}: contexts are not finite"


def runs_leave_nothing_behind(environment: Any) -> None:
    """What can change is the run's own: nothing in the class, and no global that its methods read."""
    before = _contents(type(environment))
    if before != _contents(type(environment)):
        return  # it reads what nobody can look into
    _Run(environment, seed=3).play()
    assert before == _contents(type(environment)), (
        f"{environment}: a run changes what its class or module keeps, and so the next run: "
        "keep it in a state, which start(rng) returns"
    )


def states_are_not_shared(environment: Any) -> None:
    """Each start gives a state of its own."""
    if not is_moving(environment):
        return
    run = _Run(environment, seed=3)
    other = run.environment.start(np.random.default_rng(4))
    before = copy.deepcopy(other)
    run.play()
    assert _same(before, other), f"{environment}: a run changes the state that another start gave"


def start_is_a_function_of_its_generator(environment: Any) -> None:
    """The same seed gives the same state, whatever was played before."""
    if not is_moving(environment):
        return
    run = _Run(environment, seed=3)
    before = copy.deepcopy(run.state[0])
    run.play()
    again = run.environment.start(np.random.default_rng(3))
    assert _same(before, again), f"{environment}: start gives {before}, then {again}, by one seed"


def the_same_seed_gives_the_same_rewards(environment: Any) -> None:
    """Nothing but the generator is random, and no run knows of another."""
    first, second = (_Run(environment, seed=3).play() for _ in range(2))
    assert first == second, f"{environment}: two runs from the same seed differ"


def another_seed_gives_other_rewards(environment: Any) -> None:
    """Noise, where there is any, is that of the generator."""
    found = [_Run(environment, seed).noise() for seed in range(SEEDS)]
    if np.ptp(found[0]) > 1e-9:
        assert len(set(map(tuple, found))) > 1, (
            f"{environment}: {SEEDS} seeds give the same rewards: draw them from rng"
        )


def looking_changes_nothing(environment: Any) -> None:
    """A run is the same however often it is looked at, and means stay, where there is no state."""
    alone, looked_at = (_Run(environment, seed=3).play(looks) for looks in (0, 3))
    assert alone == looked_at, f"{environment}: asking for arms, contexts or means changes it"
    if not is_moving(environment):
        run = _Run(environment, seed=0)
        example = run.draw()
        before = run.look(example)[2].copy()
        run.play()
        assert np.array_equal(before, run.look(example)[2]), (
            f"{environment}: the means moved: what moves has start(rng) and draw(state, t, rng)"
        )


def rewards_average_to_the_means(environment: Any) -> None:
    """The judge is told the truth, in the first round and in a later one.

    Within six standard errors: false alarm below 1e-8 an arm.
    """
    for rounds in (1, ROUNDS):
        run = _Run(environment, seed=1)
        example = [run.draw() for _ in range(rounds)][-1]
        arms, _, means = run.look(example)
        for arm, mean in zip(arms.tolist(), means.tolist(), strict=True):
            rewards = [run.pay_once(example, arm) for _ in range(REWARDS)]
            error = max(np.std(rewards), 0.05) / np.sqrt(REWARDS)
            assert abs(np.mean(rewards) - mean) < 6 * error, (
                f"{environment}: arm {arm} pays {np.mean(rewards)}, not {mean}, in round {rounds - 1}"
            )


ENVIRONMENT_CHECKS: list[Callable[[Any], None]] = [
    examples_fit_together,
    runs_leave_nothing_behind,
    states_are_not_shared,
    start_is_a_function_of_its_generator,
    the_same_seed_gives_the_same_rewards,
    another_seed_gives_other_rewards,
    looking_changes_nothing,
    rewards_average_to_the_means,
]


def _contents(kind: type) -> str:
    """Return a digest of a class and of all that its methods read."""
    key = Key(contents=True)
    key.add_class(kind)
    return key.text()


class _Run:
    """A run by the public methods, as `simulate` has it: a copy, a state and a generator of its own."""

    def __init__(self, environment: Any, seed: int) -> None:
        ours = hasattr(environment, "world")  # immutable, and can be large
        self.environment = environment if ours else own_copy(environment)
        self.rng, self.t = np.random.default_rng(seed), 0
        self.state = [self.environment.start(self.rng)] if is_moving(environment) else []

    def draw(self) -> Any:
        self.t += 1
        moving = (*self.state, self.t - 1) if self.state else ()
        return self.environment.draw(*moving, self.rng)

    def look(self, example: Any) -> tuple[Any, Any, Any]:
        doors = (self.environment.arms_of, self.environment.contexts_of, self.environment.means_of)
        arms, contexts, means = (door(example) for door in doors)
        return np.asarray(arms), np.asarray(contexts), np.asarray(means)

    def pay_once(self, example: Any, arm: int) -> float:
        """Return a reward; leave a state as it was, which paying may change."""
        world = self.environment
        if self.state:
            world, example = copy.deepcopy((world, example))
        return float(world.reward_of(example, arm, self.rng))

    def play(self, looks: int = 0) -> list[float]:
        """Return the rewards of some rounds, and the means after them."""
        rewards = []
        for _ in range(ROUNDS):
            example = self.draw()
            for _ in range(looks):
                self.look(example)
            arm = int(self.environment.arms_of(example)[-1])
            rewards.append(float(self.environment.reward_of(example, arm, self.rng)))
        return [*rewards, *self.look(self.draw())[2].tolist()]

    def noise(self) -> list[float]:
        """Return by how much the rewards of some rounds are off their means."""
        found = []
        for _ in range(ROUNDS):
            example = self.draw()
            mean, arm = float(self.look(example)[2][0]), int(self.look(example)[0][0])
            found.append(float(self.environment.reward_of(example, arm, self.rng)) - mean)
        return found


def _same(left: Any, right: Any) -> bool:
    """Tell whether two states are equal, of whatever arrays, tuples or attributes they are."""
    try:
        np.testing.assert_equal(
            *(getattr(state, "__dict__", None) or state for state in (left, right))
        )
    except AssertionError:
        return False
    return True
