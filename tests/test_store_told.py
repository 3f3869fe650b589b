"""The store with policies that are told what was played: folded in the order of the log, and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_store import Site

from fairx import Exponential
from fairx.slates import place_weights
from fairx.store import located
from fairx.store.settings import SERVED, checked, merit_of
from fairx.store.statistics import state_of
from fairx.store.told import arrays_of

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


MERIT = {"kind": "Exponential", "steepness": 4.0}
FORGETTING: list[tuple[dict[str, Any], int]] = [
    ({"kind": "Discounted", "policy": {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.1}, "discount": 0.8}, 0),
    ({"kind": "Windowed", "policy": {"kind": "FairXBetaTS", "merit": MERIT}, "window": 5}, 0),
    ({"kind": "DiscountedRidge", "policy": {"kind": "FairXLinEG", "merit": MERIT, "epsilon": 0.1, "ridge": 1.0},
      "discount": 0.8}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("about", "dimension"), FORGETTING, ids=lambda about: str(about)[:20])
def test_who_forgets_is_folded_in_the_order_of_the_log(
    tmp_path: Path, about: dict[str, Any], dimension: int
) -> None:
    database = located(f"sqlite:///{tmp_path}/store.db").writer()
    site = Site(database, ["a", "b"], policy=about, missing_reward=None, dimension=dimension)
    policy: Any = site.experiment.settings.policy
    state, contexts = policy.start(3, dimension), np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 2.0]])
    for i in range(20):
        if i == 6:
            site.arms(add=["c"])
        rows = contexts[: 2 + (i >= 6)] if dimension else None
        decision = site.decide(f"k{i}", None, rows).decision
        if i % 5:
            site.reward(f"k{i}", i % 2)
            context = contexts[decision.arm] if dimension else np.empty(0)
            policy.learn(state, decision.arm, context, i % 2)
        if i % 4 == 3:
            site.close_windows()
    found = state_of(site.experiment.settings, site.snapshot.sums, 3)
    pairs = zip(arrays_of(found), arrays_of(state), strict=True)
    assert all(np.array_equal(one, other) for one, other in pairs)
    assert site.verify().problems == ()
    database.close()


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (
            {"kind": "Discounted", "policy": {"kind": "FairXUCB", "merit": MERIT, "width": 1.0}, "discount": 0.9},
            "policy.policy must be one of FairXTS",
        ),
        (
            {"kind": "Discounted", "policy": {"kind": "FairXEG", "merit": 3, "epsilon": 0.1}, "discount": 0.9},
            "policy.merit must be one of",
        ),
        (FORGETTING[2][0], "dimension must be at least 1 for DiscountedRidge"),
    ],
)  # fmt: skip
def test_who_cannot_forget_is_refused(about: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked({"policy": about})


def test_the_merit_of_who_forgets_is_that_of_the_policy_within() -> None:
    assert merit_of(checked({"policy": FORGETTING[0][0]})) == Exponential(4.0)
    assert merit_of(checked({"policy": {"kind": "Uniform"}})) is None


def test_those_that_are_certain_are_not_served() -> None:
    assert not {"FairLearn", "NashUCB", "TS", "UCB", "DelayedFairXUCB"} & set(SERVED)
