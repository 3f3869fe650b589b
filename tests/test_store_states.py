"""The state that follows from a store's sums is the one that learns the rewards one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import POLICIES, RIVALS, name

from fairx import settings as plain
from fairx.store.settings import checked
from fairx.store.statistics import empty, learn, state_of

KINDS = ("EG", "LinEG", "FairXEG", "FairXTS", "FairXUCB", "FairXLinEG", "FairXLinTS",
         "FairXBetaTS", "FairXGammaTS")  # fmt: skip
SERVED = [
    policy
    for policy in POLICIES + RIVALS
    if type(policy).__name__ in KINDS
    and "Custom" not in name(policy)
    and "Bernstein" not in name(policy)  # needs squares, which are not kept
]


@pytest.mark.parametrize("policy", SERVED, ids=name)
@pytest.mark.parametrize("pulls", [(1, 1, 1), (1, 3, 7), (4, 0, 2), (0, 0, 5), (0, 0, 0)], ids=str)
def test_the_state_of_sums(policy: Any, pulls: tuple[int, ...]) -> None:
    """An arm without rewards is, for the optimistic, as after one reward: the mean of all."""
    dimension = 3 if "Lin" in type(policy).__name__ else 0
    rng = np.random.default_rng(sum(pulls))
    arms = [arm for arm, number in enumerate(pulls) for _ in range(number)]
    contexts, rewards = rng.normal(size=(len(arms), dimension)), rng.random(len(arms))
    settings = checked({"policy": plain.describe(policy), "dimension": dimension})
    sums = empty(settings, 3)
    assert sums.shape == (1 + 3 * 3 + 3 if dimension else 2 * 3,)
    learn(settings, sums, arms, contexts, rewards)
    found, expected = state_of(settings, sums, 3), policy.start(3, dimension)
    for each in zip(arms, contexts, rewards.tolist(), strict=True):
        policy.learn(expected, *each)
    if type(policy).__name__.endswith("UCB") and not dimension:
        overall = float(rewards.mean()) if arms else 0.0
        for arm in {0, 1, 2} - set(arms):
            policy.learn(expected, arm, np.empty(0), overall)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
