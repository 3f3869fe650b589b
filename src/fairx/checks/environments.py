"""Properties of an environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

EXAMPLES, REWARDS = 5, 400


def check_environment(environment: Any) -> None:
    """Raise an AssertionError that names the first property that `environment` lacks."""
    for check in ENVIRONMENT_CHECKS:
        check(environment)


def examples_fit_together(environment: Any) -> None:
    """Arms are distinct, with one row of contexts and one finite mean each."""
    for example in _examples(environment):
        arms = np.asarray(environment.arms_of(example))
        contexts, means = environment.contexts_of(example), environment.means_of(example)
        assert arms.ndim == 1, f"{environment}: arms of shape {arms.shape}"
        assert 0 < len(set(arms.tolist())) == arms.size, f"{environment}: arms {arms}"
        assert contexts.ndim == 2, f"{environment}: contexts of shape {contexts.shape}"
        assert contexts.shape[0] == arms.size, (
            f"{environment}: {contexts.shape} for {arms.size} arms"
        )
        assert means.shape == arms.shape, f"{environment}: means of shape {means.shape}"
        assert np.isfinite(means).all(), f"{environment}: means {means}"
        assert np.isfinite(contexts).all(), f"{environment}: contexts are not finite"


def the_same_seed_gives_the_same_rewards(environment: Any) -> None:
    """Nothing but the generator is random."""
    first, second = (_rewards(environment, 5, np.random.default_rng(3)) for _ in range(2))
    assert first == second, f"{environment}: two draws from the same seed differ"


def looking_changes_nothing(environment: Any) -> None:
    """The means of an example stay what they are."""
    example = _examples(environment)[0]
    before = environment.means_of(example).copy()
    _rewards(environment, 5, np.random.default_rng(0))
    assert np.array_equal(before, environment.means_of(example)), f"{environment}: the means moved"


def rewards_average_to_the_means(environment: Any) -> None:
    """The judge is told the truth: within six standard errors (false alarm below 1e-8 an arm)."""
    rng = np.random.default_rng(1)
    example = _examples(environment)[0]
    means = environment.means_of(example)
    for position, arm in enumerate(np.asarray(environment.arms_of(example)).tolist()):
        rewards = [environment.reward_of(example, arm, rng) for _ in range(REWARDS)]
        error = max(np.std(rewards), 0.05) / np.sqrt(REWARDS)
        gap = abs(np.mean(rewards) - means[position])
        assert gap < 6 * error, (
            f"{environment}: arm {arm} pays {np.mean(rewards)}, not {means[position]}"
        )


ENVIRONMENT_CHECKS: list[Callable[[Any], None]] = [
    examples_fit_together,
    the_same_seed_gives_the_same_rewards,
    looking_changes_nothing,
    rewards_average_to_the_means,
]


def _examples(environment: Any) -> list[int]:
    rng = np.random.default_rng(0)
    return [environment.draw(rng) for _ in range(EXAMPLES)]


def _rewards(environment: Any, count: int, rng: np.random.Generator) -> list[float]:
    found = []
    for _ in range(count):
        example = environment.draw(rng)
        arms = np.asarray(environment.arms_of(example)).tolist()
        found.append(environment.reward_of(example, arms[-1], rng))
    return found
