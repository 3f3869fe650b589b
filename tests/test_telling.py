"""Policies that are told what was played: by the loop, by a replay, by a bandit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fairx import Bandit, Exponential, FairXTS, UniformLog, environments, replay, simulate
from fairx.policies.telling import Nobody, is_told, teller_of

MERIT = Exponential(4)
WORLD = environments.Bernoulli([0.2, 0.5, 0.8])


class Least(NamedTuple):
    """Play the arm with the least sum of probabilities with which it was played."""

    share: float = 0.9

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        out = np.full(len(arms), (1.0 - self.share) / len(arms))
        out[np.argmin(state[arms])] += self.share
        return out

    def played(self, state: Any, arms: Any, position: int, probabilities: Any) -> None:
        state[arms[position]] += probabilities[position]

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        pass


def turns(pulls: Any) -> bool:
    """Tell whether each arm had its turn, which no policy of rewards that are not learned has."""
    return bool(pulls.min() > 0.2 * pulls.sum())


def test_a_simulation_tells_what_was_played() -> None:
    result = simulate(Least(), WORLD, MERIT, rounds=300, seed=1)
    assert turns(result.pulls[0])


def test_a_replay_tells_of_what_was_accepted() -> None:
    rng = np.random.default_rng(1)
    log = UniformLog([[0, 1, 2]], rng.integers(3, size=900), rng.random(900))
    assert turns(replay(Least(), log, MERIT, seed=1, rounds=200).result.pulls[0])


def test_a_bandit_tells_of_decisions_without_rewards(tmp_path: Path) -> None:
    bandit = Bandit(Least(), ["a", "b", "c"], seed=1)
    for _ in range(20):
        bandit.act(candidates=["c", "a"])
    assert bandit.state[1] == 0.0
    assert bandit.state[[0, 2]].min() > 5.0
    bandit.save(tmp_path / "kept.npz")
    again = Bandit.load(tmp_path / "kept.npz", Least())
    assert [bandit.act().arm for _ in range(5)] == [again.act().arm for _ in range(5)]


def test_others_are_told_nothing() -> None:
    policy = FairXTS(MERIT, 1, 0.5)
    assert not is_told(policy)
    assert isinstance(teller_of(policy), Nobody)


def test_slates_are_refused_to_who_counts_decisions() -> None:
    with pytest.raises(ValueError, match="policy must learn from rewards alone to fill several"):
        simulate(Least(), WORLD, MERIT, rounds=10, seed=1, weights=2)
    with pytest.raises(ValueError, match="policy must learn from rewards alone to fill several"):
        Bandit(Least(), 3, seed=1).act(weights=2)
