from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import ENVIRONMENTS, contexts
from test_simulation import WEATHER

from fairx.checks import ENVIRONMENT_CHECKS, check_environment
from fairx.environments import Bernoulli, Linear, LinearPrior, Normal, NormalPrior


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
