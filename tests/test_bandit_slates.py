"""Slates of a bandit: exact propensities, a reward for each place, late, in any order, once each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_simulation import Softmax

from fairx import (
    TS,
    Bandit,
    Exponential,
    FairXLinEG,
    FairXTS,
    FairXUCB,
    RewardGiven,
    SlateDecision,
    UnknownDecision,
    fair_exposure,
    logs,
    simulate,
)
from fairx.compiled.entries import interpreted
from fairx.environments import Bernoulli
from fairx.numerics.streams import streams, unit, word

MERIT = Exponential(4)
WEIGHTS = [1, 0.6, 0.5]
SAVED_BEFORE_SLATES = Path(__file__).parent / "data" / "bandit-1.npz"


def bandit(policy: Any = None, **options: Any) -> Bandit:
    chosen: dict[str, Any] = {"arms": list("abcdef"), "seed": 1} | options
    return Bandit(FairXTS(MERIT, 1, 0.5) if policy is None else policy, **chosen)


def taught(policy: Any = None) -> Bandit:
    """A bandit that knows means, and whose policy does not move as long as nothing is learned."""
    playing = bandit(policy)
    for arm, reward in zip("abcdef", (0.1, 0.2, 0.3, 0.5, 0.6, 0.9), strict=True):
        playing.learn(playing.act(candidates=[arm]), reward)
    return playing


def test_a_slate_says_all_that_is_needed() -> None:
    slate = bandit().act(candidates=list("fdbac"), weights=WEIGHTS)
    assert isinstance(slate, SlateDecision)
    assert len(set(slate.arms)) == 3
    assert set(slate.arms) <= set(slate.candidates) == set("fdbac")
    assert slate.candidates == tuple("fdbac")
    assert slate.exposures.shape == (5,)
    assert slate.exposures.sum() == pytest.approx(2.1, abs=1e-12)
    assert (slate.propensities > 0).all()
    assert (slate.propensities <= 1).all()
    np.testing.assert_array_equal(slate.weights, WEIGHTS)
    assert slate.contexts.shape == (3, 0)
    assert repr(slate).startswith("SlateDecision(0: [")
    assert "3. " in slate._repr_html_()  # type: ignore[attr-defined]


@pytest.mark.parametrize("policy", [None, Softmax(4.0)], ids=["ours", "of others"])
def test_exposures_are_those_that_the_probabilities_earn(policy: Any) -> None:
    """One place gives the probabilities of a decision; three give `fair_exposure` of such merits."""
    single, one, three = (taught(policy) for _ in range(3))
    chances = single.act().probabilities
    np.testing.assert_allclose(one.act(weights=1).exposures, chances, rtol=1e-13)
    wanted = fair_exposure(Exponential(1), np.log(chances), WEIGHTS)
    np.testing.assert_allclose(three.act(weights=WEIGHTS).exposures, wanted, rtol=1e-12)


def test_each_arm_is_at_each_place_as_often_as_it_says() -> None:
    """Without learning and ties one law draws 4,000 slates: counts are within 5 standard errors.

    Of 18 numbers, false alarm below 2e-5. What was never shown is unlikely: sums hold to 0.01.
    """
    contexts = np.array([[1.0, 0.1 * i] for i in range(6)])
    playing = bandit(FairXLinEG(MERIT, 0.1, 1.0), dimension=2)
    playing.learn(playing.act(contexts[5:], candidates=["f"]), 1.0)
    shown, chance = np.zeros((6, 3)), np.zeros((6, 3))
    for _ in range(4000):
        slate = playing.act(contexts, weights=WEIGHTS)
        for place, arm in enumerate(slate.arms):
            shown["abcdef".index(arm), place] += 1
            chance["abcdef".index(arm), place] = slate.propensities[place]
    error = np.sqrt(4000 * chance * (1 - chance))
    assert (np.abs(shown - 4000 * chance) <= 5 * error + 1e-6).all()
    np.testing.assert_allclose(chance.sum(axis=0), 1, atol=0.01)
    np.testing.assert_allclose(chance @ WEIGHTS, slate.exposures, atol=0.01)


def test_a_bandit_plays_the_run_of_the_simulation() -> None:
    """Slate n of a bandit is round n of run 0, to the last bit."""
    policy, means, keys = FairXTS(MERIT, 1, 0.5), np.array([0.2, 0.4, 0.5, 0.8]), streams(5, 0)
    playing = bandit(policy, arms=4, seed=5)
    exposures, pulls = np.zeros(4), np.zeros(4, int)
    with np.errstate(over="ignore"):
        for t in range(60):
            slate = playing.act(weights=WEIGHTS)
            lucks = [unit(word(keys.reward[0], 3 * t + place)) for place in range(3)]
            arms = list(slate.arms)
            playing.learn(
                slate, [float(luck < m) for luck, m in zip(lucks, means[arms], strict=True)]
            )
            exposures += slate.exposures
            pulls[arms] += 1
    result = simulate(policy, Bernoulli(means), MERIT, rounds=60, seed=5, weights=WEIGHTS)
    np.testing.assert_array_equal(result.pulls[0], pulls)
    np.testing.assert_array_equal(result.exposure[0], exposures / 60)


LOOKS = [0.9, 0.4, 0.0]  # how likely places are looked at: the last one never


def clicked(slate: SlateDecision, t: int, keys: Any, means: Any) -> list[float]:
    """The clicks of round t of a simulation, at each place."""
    found = []
    for place, arm in enumerate(slate.arms):
        luck, look = (unit(word(keys.reward[i], 3 * t + place)) for i in (0, 1))
        found.append(float(luck < means[arm] and look < LOOKS[place]))
    return found


@pytest.mark.parametrize("kind", ["ts", "ucb"] if interpreted() else ["ts"])
def test_clicks_teach_what_they_teach_in_a_simulation(kind: str, tmp_path: Path) -> None:
    """Slate n is round n of run 0, to the last bit; saved and loaded on the way; an oracle of the sums."""
    policy = FairXTS(MERIT, 1, 0.5) if kind == "ts" else FairXUCB(MERIT, 0.5)
    means, keys = np.array([0.2, 0.4, 0.5, 0.8]), streams(5, 0)
    playing = bandit(policy, arms=4, seed=5, feedback="examined")
    exposures, sums = np.zeros(4), np.zeros((4, 4))  # by arm: shows, looks, their squares, clicks
    with np.errstate(over="ignore"):
        for t in range(50):
            slate = playing.act(weights=WEIGHTS, examination=LOOKS)
            np.testing.assert_array_equal(slate.examination, LOOKS)
            clicks = clicked(slate, t, keys, means)
            if t == 25:
                playing.learn(slate, clicks[0], place=1)
                playing.save(tmp_path / "bandit.npz")
                playing = Bandit.load(tmp_path / "bandit.npz")
                playing.learn(slate.id, clicks[1], place=2)
                playing.learn(slate.id, clicks[2], place=3)
            else:
                playing.learn(slate, clicks)
            exposures += slate.exposures
            for arm, look, click in zip(slate.arms[:2], LOOKS, clicks, strict=False):
                sums[:, arm] += 1, look, look**2, click
    examined: Any = {"feedback": "examined", "examination": LOOKS, "weights": WEIGHTS}
    result = simulate(policy, Bernoulli(means), MERIT, rounds=50, seed=5, **examined)
    np.testing.assert_array_equal(result.exposure[0], exposures / 50)
    shows, looks, squares, total = sums
    mean = total / looks
    worth = (
        looks**2 / shows if kind == "ucb" else looks / (1 + mean**2 / 0.25 * (1 - squares / looks))
    )
    np.testing.assert_allclose(playing.state.pulls, worth, rtol=1e-12)
    np.testing.assert_allclose(playing.state.reward_sums / playing.state.pulls, mean, rtol=1e-12)
    assert "feedback: examined" in repr(playing)


@pytest.mark.skipif(not interpreted(), reason="compiling more policies tells nothing new")
def test_clicks_teach_linear_policies_and_those_of_others() -> None:
    contexts = np.random.default_rng(1).normal(size=(6, 2))
    linear = bandit(FairXLinEG(MERIT, 0.1, 1.0), dimension=2, feedback="examined")
    slate = linear.act(contexts, weights=WEIGHTS)  # looked at as often as it weighs
    linear.learn(slate, [1.0, 0.0, 1.0])
    linear.learn(linear.act(contexts[:1], ["a"]), 1.0)  # no slate: seen for sure
    seen = np.array(WEIGHTS)[:, None] * slate.contexts
    np.testing.assert_allclose(linear.state.target, seen[0] + seen[2] + contexts[0], rtol=1e-12)
    theirs = bandit(Softmax(4.0), feedback="examined")
    slate = theirs.act(weights=[1, 0.5, 0.25])
    theirs.learn(slate, [1.0, 1.0, 0.0])
    shown = ["abcdef".index(arm) for arm in slate.arms]
    assert theirs.state[1, shown].tolist() == [1.0, 2.0, 0.0]  # the click over the chance of a look


def test_an_arm_that_is_added_keeps_what_was_clicked() -> None:
    playing = bandit(feedback="examined")
    playing.learn(playing.act(weights=WEIGHTS), [1.0, 0.0, 1.0])
    before = playing.state.pulls.copy()
    playing.add_arm("new")
    np.testing.assert_array_equal(playing.state.pulls, [*before, 0.0])
    slate = playing.act(candidates=["a", "new"], weights=WEIGHTS)  # the first two places
    playing.learn(slate, [0.0, 0.0])
    np.testing.assert_array_equal(slate.examination, WEIGHTS[:2])
    assert playing.state.pulls[6] > 0


@pytest.mark.parametrize(
    ("options", "asked", "message"),
    [
        ({"feedback": "examine"}, {}, "feedback must be one of each, examined.*did you mean 'examined'"),
        ({}, {"weights": 2, "examination": [1, 1]}, "examination must be left out for feedback='each'"),
        ({"feedback": "examined"}, {"examination": [1]}, "examination must be left out where there are no w"),
        ({"feedback": "examined"}, {"weights": [2, 1]}, "examination must be chances from 0 to 1, not 2.0"),
        ({"feedback": "examined"}, {"weights": 2, "examination": [1]}, r"examination must have shape \(2"),
        ({"feedback": "examined"}, {"weights": 2, "examination": [0, 0]}, "be positive for some place"),
        ({"feedback": "examined", "policy": FairXUCB(MERIT, 0.5, bounds=(0, 1), interval="kl")}, {}, "interval must be 'hoeff"),
        ({"feedback": "examined"}, {"weights": [1e-300]}, "examination must be 0 or at least 1e-100"),
        ({"reward_range": (1, 0)}, {}, r"reward_range must rise, not be \(1, 0\)"),
    ],
)  # fmt: skip
def test_clicks_that_cannot_be(
    options: dict[str, Any], asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bandit(**options).act(**asked)


@pytest.mark.skipif(not interpreted(), reason="compiling one more policy tells nothing new")
def test_a_conventional_policy_shows_its_best() -> None:
    playing = taught(TS(1, 1e-9))
    slate = playing.act(weights=3)
    assert set(slate.arms) == {"d", "e", "f"}
    np.testing.assert_array_equal(
        slate.propensities, [1 / 3] * 3
    )  # places of one weight are shuffled
    assert taught(TS(1, 1e-9)).act(weights=WEIGHTS).arms == ("f", "e", "d")


def test_fewer_candidates_than_places() -> None:
    slate = bandit().act(candidates=["c", "a"], weights=WEIGHTS)
    assert sorted(slate.arms) == ["a", "c"]
    np.testing.assert_array_equal(slate.weights, [1, 0.6])
    assert slate.exposures.sum() == pytest.approx(1.6, abs=1e-12)


def test_decisions_and_slates_take_turns() -> None:
    """Decision n is a function of the seed, n and what was learned: not of the pages before."""
    one, other = bandit(), bandit()
    one.act(weights=2)
    other.act(weights=WEIGHTS)
    assert one.act().arm == other.act().arm
    ours, theirs = one.act(weights=WEIGHTS), other.act(weights=WEIGHTS)
    assert ours.arms == theirs.arms
    np.testing.assert_array_equal(ours.propensities, theirs.propensities)


def test_rewards_of_places_come_in_any_order() -> None:
    playing = bandit(FairXLinEG(MERIT, 0.1, 1.0), dimension=2)
    contexts = np.random.default_rng(1).normal(size=(6, 2))
    first, second = (playing.act(contexts, weights=WEIGHTS) for _ in range(2))
    np.testing.assert_array_equal(
        first.contexts, contexts[["abcdef".index(arm) for arm in first.arms]]
    )
    playing.learn(second.id, 0.5, place=3)
    playing.learn(first, [1.0, 0.0, 0.25])
    playing.learn(second, 0.75, place=1)
    assert list(playing.pending) == [1]
    playing.learn(1, 1.0, place=2)
    assert list(playing.pending) == []
    seen, rewards = np.concatenate([first.contexts, second.contexts]), [1, 0, 0.25, 0.75, 1, 0.5]
    np.testing.assert_allclose(playing.state.target, seen.T @ rewards, rtol=1e-12)
    np.testing.assert_allclose(playing.state.precision, np.eye(2) + seen.T @ seen, rtol=1e-12)


def test_several_slates_and_decisions_at_once() -> None:
    playing = bandit()
    slate, decision = playing.act(weights=2), playing.act()
    playing.learn([slate, decision], [[1.0, 0.0], 1.0])
    assert playing.pending == ()
    assert playing.state.pulls.sum() == 3


def test_each_place_is_learned_from_once() -> None:
    playing = bandit()
    slate, decision = playing.act(weights=3), playing.act()
    playing.learn(slate, 1.0, place=2)
    with pytest.raises(
        RewardGiven, match="place 2 of decision 0 was rewarded or forgotten already"
    ):
        playing.learn(slate, 1.0, place=2)
    with pytest.raises(RewardGiven, match="place 2 of decision 0"):
        playing.learn(slate, [1.0, 1.0, 1.0])
    assert playing.state.pulls.sum() == 1  # not even place 1 was taken in
    playing.forget(slate, place=1)
    with pytest.raises(RewardGiven, match="place 1 of decision 0"):
        playing.learn(slate, 1.0, place=1)
    playing.forget(slate)
    with pytest.raises(RewardGiven, match="decision 0 was rewarded or forgotten already"):
        playing.learn(slate, 1.0, place=3)
    assert playing.pending == (decision.id,)


@pytest.mark.parametrize(
    ("rewards", "options", "message"),
    [
        (1.0, {}, "rewards must be one for each of the 3 places of decision 0, not 1.0"),
        ([1.0, 0.0], {}, "one for each of the 3 places"),
        ([1.0, 0.0, np.nan], {}, "reward must be finite, not nan"),
        (1.0, {"place": 0}, "place must be a whole number of at least 1, not 0"),
        (1.0, {"place": 4}, "place must be from 1 to 3, not 4: the first place is 1"),
        (1.0, {"place": 1.5}, "place must be a whole number"),
        ([1.0], {"place": 1}, "reward must be finite"),
        ({1: 1.0, 2: 0.0, 3: 0.0}, {}, "rewards must be in an order, not {1: 1.0, 2: 0.0"),
        ({0.0, 0.5, 1.0}, {}, "rewards must be in an order"),
    ],
)
def test_bad_rewards_are_refused_and_change_nothing(
    rewards: Any, options: dict[str, Any], message: str
) -> None:
    playing = bandit()
    with pytest.raises(ValueError, match=message):
        playing.learn(playing.act(weights=3), rewards, **options)
    assert playing.state.pulls.sum() == 0
    assert playing.pending == (0,)


def test_rewards_without_an_order_are_of_no_decisions() -> None:
    """The keys of a mapping, which are its decisions or places, were learned as if they were rewards."""
    playing = bandit()
    slates = [playing.act(weights=2) for _ in range(2)]
    with pytest.raises(ValueError, match="rewards must be in an order"):
        playing.learn(slates, {0: [1.0, 0.0], 1: [0.0, 0.0]})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rewards must be in an order"):
        logs.rows(slates[0], {1: 1.0, 2: 0.0})  # type: ignore[arg-type]
    assert playing.pending == (0, 1)


def test_places_are_of_slates() -> None:
    playing = bandit()
    decision = playing.act()
    with pytest.raises(
        ValueError, match="place must be left out, not 1: decision 0 is not a slate"
    ):
        playing.learn(decision, 1.0, place=1)
    with pytest.raises(ValueError, match="place must be given with one decision"):
        playing.learn([decision], [1.0], place=1)
    with pytest.raises(UnknownDecision):
        playing.learn(7, 1.0, place=1)
    with pytest.raises(ValueError, match="weights must be not increasing"):
        playing.act(weights=[0.5, 1])
    assert playing.decisions == 1


def test_a_saved_bandit_waits_for_the_places_that_are_left(tmp_path: Path) -> None:
    playing = bandit(FairXLinEG(MERIT, 0.1, 1.0), dimension=2)
    contexts = np.random.default_rng(1).normal(size=(6, 2))
    slate, decision = playing.act(contexts, weights=WEIGHTS), playing.act(contexts)
    playing.learn(slate, 1.0, place=2)
    playing.save(tmp_path / "bandit.npz")
    loaded = Bandit.load(tmp_path / "bandit.npz")
    assert loaded.pending == playing.pending == (0, 1)
    with pytest.raises(RewardGiven, match="place 2 of decision 0"):
        loaded.learn(0, 1.0, place=2)
    for one in (playing, loaded):
        one.learn([decision.id], [0.5])
        one.learn(0, 0.25, place=3)
        one.learn(0, 0.75, place=1)
    for ours, theirs in zip(playing.state, loaded.state, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    ours, theirs = (one.act(contexts, weights=WEIGHTS) for one in (playing, loaded))
    assert ours.arms == theirs.arms
    np.testing.assert_array_equal(ours.exposures, theirs.exposures)


def test_a_file_of_before_slates_is_loaded(tmp_path: Path) -> None:
    old = Bandit.load(SAVED_BEFORE_SLATES)
    assert len(old.pending) > 1
    old.forget(old.pending[0])
    old.save(tmp_path / "again.npz")
    assert Bandit.load(tmp_path / "again.npz").pending == old.pending
    with np.load(SAVED_BEFORE_SLATES) as before, np.load(tmp_path / "again.npz") as after:
        assert sorted(before.files) == sorted(after.files)  # no slate waits: as before slates
