"""A bandit with many arms: the decisions of one that looks at all of them, and what they tell later."""

import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairx import (
    Affine,
    Bandit,
    Exponential,
    FairXEG,
    FairXTS,
    FairXUCB,
    OptimalFair,
    Uniform,
    simulate,
)
from fairx.bandit import chances as keeping
from fairx.bandit import engine
from fairx.bandit.chances import Chances
from fairx.environments import Bernoulli
from fairx.simulation import catalogue_run

MERIT = Exponential(4.0)
ARMS = 37
MEANS = np.random.default_rng(3).uniform(size=ARMS).round(1)  # ties
POLICIES: dict[str, Any] = {
    "greedy": FairXEG(MERIT, 0.0),
    "explores": FairXEG(MERIT, 0.3),
    "optimist": FairXUCB(MERIT, 0.3),
    "wide": FairXUCB(MERIT, 2.0),
    "affine": FairXUCB(Affine(1.0, 0.2), 0.5, bounds=(0, 1)),
    "fair": OptimalFair(MERIT, MEANS),
    "uniform": Uniform(),
}


def many(monkeypatch: pytest.MonkeyPatch, arms: int) -> None:
    monkeypatch.setattr(engine, "MANY", arms)


def play(bandit: Bandit, rounds: int, *, ask: bool) -> list[Any]:
    """Decide and learn late and out of order, as arms go and come back; ask at once, or not."""
    rng, made = np.random.default_rng(8), []
    for t in range(rounds):
        named = (
            [int(arm) for arm in rng.choice(ARMS // 2, 5, replace=False)] if t % 7 == 6 else None
        )
        decision = bandit.act(candidates=named)
        made.append((decision, decision.probabilities.copy() if ask else None))
        if t == rounds // 2:
            bandit.remove_arm(ARMS - 1)
        if t == rounds * 3 // 4:
            bandit.add_arm(ARMS - 1)
        if t % 5 == 4:
            for late in rng.permutation(bandit.pending).tolist()[:6]:
                bandit.learn(late, float(rng.random() < MEANS[made[late][0].arm]))
    return made


@pytest.mark.parametrize("name", POLICIES)
def test_it_decides_as_one_that_looks_at_all_arms(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(monkeypatch, 2)
    tree = play(Bandit(POLICIES[name], ARMS, seed=4), 300, ask=False)
    many(monkeypatch, 10**9)
    row = play(Bandit(POLICIES[name], ARMS, seed=4), 300, ask=True)
    assert isinstance(tree[0][0].chances, Chances)
    for (one, _), (other, at_once) in zip(tree, row, strict=True):
        assert (one.id, one.arm, one.arms) == (other.id, other.arm, other.arms)
        assert one.probability == pytest.approx(other.probability, rel=1e-12)
        # Asked for at the end, when all was learned: what was so when it was decided.
        np.testing.assert_allclose(one.probabilities, at_once, rtol=1e-12)


@pytest.mark.parametrize("name", ["explores", "optimist"])
def test_what_is_asked_late_is_what_was_so_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(monkeypatch, 2)
    monkeypatch.setattr(keeping, "SPARE", 3)  # notes are full after few rewards
    now = play(Bandit(POLICIES[name], ARMS, seed=4), 200, ask=True)
    later = play(Bandit(POLICIES[name], ARMS, seed=4), 200, ask=False)
    for (_, at_once), (decision, _) in zip(now, later, strict=True):
        assert decision.probabilities.tobytes() == at_once.tobytes()
        assert decision.probability == decision.probabilities[decision.arms.index(decision.arm)]
        assert decision.probabilities.sum() == pytest.approx(1.0)


def test_notes_go_with_the_decisions_that_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 2)
    monkeypatch.setattr(keeping, "SPARE", 1)
    bandit = Bandit(POLICIES["explores"], ARMS, seed=4)
    held: Any = bandit.act()
    first: Any = weakref.ref(held.chances._notes)
    for _ in range(50):
        bandit.learn(bandit.act(), 1.0)
    gc.collect()
    assert first().next is not None
    del held
    gc.collect()
    assert first() is None


@pytest.mark.parametrize("name", POLICIES)
def test_saved_and_loaded_it_goes_on_to_the_last_bit(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    many(monkeypatch, 2)
    bandit = Bandit(POLICIES[name], ARMS, seed=4)
    play(bandit, 150, ask=False)
    bandit.save(tmp_path / "bandit.npz")
    again = Bandit.load(tmp_path / "bandit.npz")
    for t in range(60):
        one, other = bandit.act(), again.act()
        assert (one.arm, one.probability) == (other.arm, other.probability)
        for each, decision in ((bandit, one), (again, other)):
            each.learn(decision, float(t % 3 == 0))


def test_a_decision_is_pickled_with_its_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 2)
    decision: Any = Bandit(POLICIES["explores"], ARMS, seed=4).act()
    again = pickle.loads(pickle.dumps(decision))
    assert again.probabilities.tobytes() == decision.probabilities.tobytes()
    assert again.arm == decision.arm
    assert "among 37 arms" in repr(decision)
    assert "<table" in decision._repr_html_()


def test_merits_that_cannot_be_added_up_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for arms in (2, 10**9):
        many(monkeypatch, arms)
        bandit = Bandit(FairXEG(MERIT, 0.1), ARMS, seed=4)
        made = []
        for t in range(40):
            decision = bandit.act()
            made.append((decision.arm, round(decision.probability, 12)))
            bandit.learn(decision, 1000.0 if t == 10 else 0.5)  # far beyond the range it was told
        found.append(made)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["explores", "optimist"])
def test_it_decides_as_a_simulation_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 2)
    monkeypatch.setattr(catalogue_run, "MANY", 2)
    paid = np.where(MEANS > 0.5, 1.0, 0.0)  # rewards are known
    result = simulate(POLICIES[name], Bernoulli(paid), MERIT, rounds=200, seed=4)
    bandit, pulls = Bandit(POLICIES[name], ARMS, seed=4), np.zeros(ARMS, int)
    for _ in range(200):
        decision = bandit.act()
        pulls[decision.arm] += 1
        bandit.learn(decision, float(paid[decision.arm]))
    assert pulls.tolist() == result.pulls[0].tolist()


def test_others_look_at_all_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 2)
    assert not isinstance(Bandit(FairXTS(MERIT, 1, 1), ARMS, seed=4).act().chances, Chances)
    few = Bandit(POLICIES["explores"], ARMS, seed=4)
    assert not isinstance(few.act(candidates=[1, 2, 3]).chances, Chances)
    clicks = Bandit(FairXEG(MERIT, 0.1), ARMS, seed=4, feedback="examined")
    assert not isinstance(clicks.act().chances, Chances)
