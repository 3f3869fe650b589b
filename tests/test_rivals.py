"""The fair bandits of others, and ours beyond the paper: the checks of all policies, and one told in compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import CHECKS, RIVALS, name

from fairx import Bandit, Exponential, Floor, environments, simulate
from fairx.policies import Exp3


@pytest.mark.parametrize("policy", RIVALS, ids=name)
def test_rival(policy: Any) -> None:
    for check in CHECKS:
        check(policy)


def test_a_bandit_plays_as_a_simulation() -> None:
    """Both tell what was played, the policy within another one too."""
    policy, paid = Floor(Exp3(gamma=0.1), share=0.02), environments.Normal([0.25] * 4, std=0)
    result = simulate(policy, paid, Exponential(4), rounds=40, seed=7)
    reached, pulls = Bandit(policy, 4, seed=7), np.zeros(4)
    for _ in range(40):
        decision = reached.act()
        pulls[decision.arm] += 1
        reached.learn(decision, 0.25)
    assert np.array_equal(result.pulls[0], pulls)
