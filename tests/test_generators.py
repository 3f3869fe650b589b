"""The generators that policies and environments of others draw from, by seed and run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from fairx import Exponential, Uniform, simulate
from fairx.compiled import interpreted
from fairx.environments import NormalPrior
from fairx.replay import UniformLog, replay

DRAWN: dict[str, list[float]] = {}


class Restless(NamedTuple):
    """A policy of somebody's that draws a number in each round, and writes it down."""

    name: str

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        DRAWN.setdefault(self.name, []).append(float(rng.random()))
        return np.full(len(arms), 1 / len(arms))

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def numbers(seed: int, run: int, own: int) -> Any:
    """Return the generator of a run: its spawn key is the run, and whose it is."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, own)))


@pytest.mark.skipif(not interpreted(), reason="a list cannot be written to in compiled code")
@pytest.mark.parametrize("how", ["simulate", "replay"])
def test_a_policy_of_others_has_a_generator_of_its_own(how: str) -> None:
    DRAWN.clear()
    judge, policy = Exponential(1), Restless(how)
    if how == "simulate":
        simulate(policy, NormalPrior(2), judge, rounds=5, seed=3, runs=[7], jobs=1)
    else:
        log = UniformLog([[0, 1]], [0, 1] * 50, [0.0, 1.0] * 50)
        replay(policy, log, judge, rounds=3, seed=3, runs=[7], jobs=1)
    tried, played = np.split(np.array(DRAWN[how]), 2)  # code of others is tried out before
    assert tried.tolist() == played.tolist()
    assert played[0] == numbers(3, 7, 1).random()
    assert len(set(played.tolist())) == len(played)


def test_a_prior_is_drawn_by_seed_and_run() -> None:
    """The mean regret of the uniform policy tells the means: those of the generator of the run."""
    for run in (0, 4):
        found = simulate(Uniform(), NormalPrior(3), Exponential(1), rounds=10, seed=6, runs=[run])
        means = numbers(6, run, 0).standard_normal(3)
        fair = np.exp(means) / np.exp(means).sum()
        assert found.reward_regret[0, -1] == pytest.approx(10 * (fair - 1 / 3) @ means)
        assert found.fairness_regret[0, -1] == pytest.approx(10 * np.abs(fair - 1 / 3).sum())
