from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ENVIRONMENTS, contexts
from test_simulation import WEATHER, Weather

from fairx.checks import ENVIRONMENT_CHECKS, check_environment
from fairx.environments import Bernoulli, Linear, LinearPrior, Normal, NormalPrior
from fairx.environments.base import world_of


@pytest.mark.parametrize("check", ENVIRONMENT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("environment", [*ENVIRONMENTS, WEATHER], ids=lambda e: type(e).__name__)
def test_environment(environment: Any, check: Any) -> None:
    check(environment)


def test_the_checks_can_fail() -> None:
    class Liar(Bernoulli):
        def means_of(self, example: int) -> Any:
            return np.asarray(self.means) + 0.5

    with pytest.raises(AssertionError, match="arm 0 pays"):
        check_environment(Liar([0.1, 0.2]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli([0.5, 1.5]), r"means\[1\] must be a number from 0 to 1, not 1.5"),
        (lambda: Bernoulli([]), "the number of means must be"),
        (lambda: Bernoulli([[0.5]]), r"means must have shape \(any,\), not \(1, 1\)"),
        (lambda: Bernoulli(["a"]), "means must be an array of numbers"),
        (lambda: Normal([np.nan]), "means must be finite, not nan"),
        (lambda: Normal([0.5], std=-1), "std must be at least 0"),
        (lambda: NormalPrior(0), "arms must be"),
        (lambda: NormalPrior(2, prior_std=0), "prior_std must be positive"),
        (lambda: Linear(np.ones((2, 3)), [1], 0.1), r"contexts must have shape \(any, any, any\)"),
        (lambda: Linear(np.ones((0, 3, 1)), [1], 0.1), "contexts must not be empty"),
        (lambda: Linear(contexts(), [1, 2], 0.1), r"parameter must have shape \(5,\), not \(2,\)"),
        (lambda: Linear(contexts(), np.ones(5), -0.1), "noise_std must be at least 0"),
        (lambda: LinearPrior(np.ones((2, 3))), "contexts must have shape"),
        (lambda: LinearPrior(contexts(), prior_std=-1), "prior_std must be positive"),
    ],
)
def test_bad_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def truth(environment: Any) -> Any:
    """Return the mean of each arm in each example, by definition."""
    if hasattr(environment, "parameter"):
        return np.einsum("eai,i->ea", environment.contexts, environment.parameter)
    return np.asarray(environment.means)[None]


def paid(environment: Any, example: int, arm: int, uniform: float, normal: float) -> float:
    """Return the reward that given numbers lead to, by definition."""
    mean = truth(environment)[example, arm]
    if isinstance(environment, Bernoulli):
        return float(uniform < mean)
    if hasattr(environment, "labels"):
        return float(environment.labels[example, arm])
    std = environment.std if isinstance(environment, Normal) else environment.noise_std
    return float(mean + std * normal)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: type(e).__name__)
def test_everything_that_a_world_says(environment: Any) -> None:
    world, means = environment.world(None), truth(environment)
    examples, arms = means.shape
    assert world.mean_range() == pytest.approx((means.min(), means.max()), abs=1e-15)
    rng = np.random.default_rng(5)
    for example in range(examples):
        middle = (example + rng.random()) / examples
        assert world.pick(middle, 0) == example
        assert list(world.candidates(example)) == list(range(arms))
        features = world.features[world.row(example)]
        if hasattr(environment, "contexts"):
            np.testing.assert_array_equal(features, environment.contexts[example])
        else:
            assert features.shape == (arms, 0)
        out = np.empty(arms)
        world.fill_means(example, out)
        np.testing.assert_allclose(out, means[example], atol=1e-15)
        for arm in range(arms):
            for uniform in (0.0, means[example, arm], rng.random()):
                numbers = (example, arm, float(uniform), float(rng.standard_normal()))
                assert world.pay(*numbers) == pytest.approx(paid(environment, *numbers), abs=1e-12)


def test_a_world_of_others_has_a_size_or_that_of_its_first_example() -> None:
    class Unsized:
        """What `Weather` is, less its size."""

        def __getattr__(self, name: str) -> Any:
            if name in ("size", "world"):
                raise AttributeError(name)
            return getattr(WEATHER, name)

    rng = np.random.default_rng(0)
    assert world_of(WEATHER, rng).features.shape == (1, 3, 0)
    assert world_of(Unsized(), rng).features.shape == (1, 3, 0)
    assert world_of(Weather(np.full((2, 7), 0.5)), rng).features.shape == (1, 7, 0)
