"""The store with policies that are told what was played: folded in the order of the log, and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_store import Site

from fairx.slates import place_weights
from fairx.store import located
from fairx.store.settings import SERVED, checked
from fairx.store.statistics import state_of

POLICIES: list[dict[str, Any]] = [
    {"kind": "Exp3", "gamma": 0.2},
    {"kind": "FairXGradient", "steepness": 3.0, "rate": 0.3},
]


def told(policy: Any, state: Any, decision: Any) -> None:
    """Tell a policy of a decision as it is on record."""
    chances = np.frombuffer(decision.probabilities)
    named = decision.candidates
    arms = np.arange(len(chances)) if named is None else np.frombuffer(named, "<i4")
    policy.played(state, arms, decision.position, chances)


@pytest.mark.parametrize("about", POLICIES, ids=lambda about: str(about["kind"]))
def test_a_policy_is_told_in_the_fold(tmp_path: Path, about: dict[str, Any]) -> None:
    """When decisions mature, with what is on record, also where nothing is learned from them."""
    database = located(f"sqlite:///{tmp_path}/store.db").writer()
    site = Site(database, ["a", "b", "c"], policy=about, missing_reward=None, floor=0.05)
    policy: Any = checked({"policy": about}).policy
    state = policy.start(3, 0)
    for i in range(30):
        if i == 12:
            site.arms(add=["d"])
            wide = policy.start(4, 0)
            for new, old in zip(wide, state, strict=True):
                new[: len(old)] = old
            state = wide
        decision = site.decide(f"k{i}", [["a", "b"], None][i % 2]).decision
        assert np.frombuffer(decision.probabilities).min() >= 0.05
        if i % 5:
            site.reward(f"k{i}", i % 3 / 2)
        site.close_windows()
        told(policy, state, decision)
        if i % 5:
            policy.learn(state, decision.arm, np.empty(0), i % 3 / 2)
    found = state_of(site.experiment.settings, site.snapshot.sums, 4)
    assert all(np.array_equal(one, other) for one, other in zip(found, state, strict=True))
    done = site.verify()
    assert (done.problems, done.decisions, done.matured) == ((), 30, 30)
    database.rows("UPDATE decisions SET slot = 1 - slot WHERE slot < 2 AND sequence = 9")
    assert "differs from what the log gives" in " ".join(site.verify().problems)
    with pytest.raises(ValueError, match="policy must learn from rewards alone to fill several"):
        site.decider.decide_slate("x", site.decider.candidates(None, None), place_weights(2))
    database.close()


def test_those_that_are_certain_are_not_served() -> None:
    assert not {"FairLearn", "NashUCB", "TS", "UCB", "DelayedFairXUCB"} & set(SERVED)
