from __future__ import annotations

import json
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pytest
from cases import POLICIES, name
from hypothesis import given, settings
from hypothesis import strategies as st
from test_simulation import Softmax

from fairx import (
    EG,
    Bandit,
    BrokenFile,
    Custom,
    Exponential,
    FairXEG,
    FairXLinEG,
    FairXLinTS,
    FairXTS,
    FairXUCB,
    RewardGiven,
    UnknownArm,
    UnknownDecision,
    simulate,
)
from fairx.environments import Bernoulli
from fairx.numerics.streams import streams, uniform

MERIT = Exponential(4)


def bandit(**options: Any) -> Bandit:
    policy = options.pop("policy", FairXTS(MERIT, 1, 0.5))
    settings: dict[str, Any] = {"arms": ["a", "b", "c"], "seed": 1} | options
    return Bandit(policy, **settings)


def test_a_decision_carries_its_exact_propensity() -> None:
    decision = bandit().act()
    assert decision.arms == ("a", "b", "c")
    assert decision.probabilities.sum() == pytest.approx(1)
    assert decision.probability == decision.probabilities[decision.arms.index(decision.arm)]


def test_a_bandit_plays_the_run_of_the_simulation() -> None:
    """Decision n of a bandit is round n of run 0, to the last bit."""
    means = np.array([0.2, 0.5, 0.8])
    for policy in (FairXTS(MERIT, 1, 0.5), FairXUCB(MERIT, 0.1), FairXEG(MERIT, 0.1)):
        playing, keys = Bandit(policy, arms=3, seed=5), streams(5, 0)
        exposure, pulls = np.zeros(3), np.zeros(3, int)
        with np.errstate(over="ignore"):
            for t in range(100):
                decision = playing.act()
                exposure += decision.probabilities
                pulls[decision.arm] += 1
                playing.learn(decision, float(uniform(keys.reward, t) < means[decision.arm]))
        result = simulate(policy, Bernoulli(means), MERIT, rounds=100, seed=5)
        np.testing.assert_array_equal(result.pulls[0], pulls)
        np.testing.assert_array_equal(result.exposure[0], exposure / 100)


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_rewards_may_come_in_any_order(random: Any, linear: bool) -> None:
    policy = FairXLinEG(MERIT, 0.1, 1.0) if linear else FairXEG(MERIT, 0.1)
    dimension = 3 if linear else 0
    playing = Bandit(policy, arms=4, dimension=dimension, seed=2)
    rng = np.random.default_rng(0)
    decisions = [playing.act(rng.normal(size=(4, dimension))) for _ in range(30)]
    rewards = rng.random(30)
    order = list(range(30))
    random.shuffle(order)
    for i in order[:10]:
        playing.learn(decisions[i], rewards[i])
    playing.learn([decisions[i].id for i in order[10:]], [rewards[i] for i in order[10:]])
    if linear:
        seen = np.array([decision.context for decision in decisions])
        precision, estimate = oracles.ridge(seen, rewards, 1.0)
        np.testing.assert_allclose(playing.state.precision, precision, rtol=1e-12)
        np.testing.assert_allclose(playing.state.estimate, estimate, rtol=1e-9, atol=1e-12)
    else:
        arms = np.array([decision.arm for decision in decisions])
        np.testing.assert_array_equal(playing.state.pulls, np.bincount(arms, minlength=4))
        sums = np.bincount(arms, weights=rewards, minlength=4)
        np.testing.assert_allclose(playing.state.reward_sums, sums, rtol=1e-12)
    assert playing.pending == ()


def test_each_decision_is_learned_from_once() -> None:
    playing = bandit()
    first, second = playing.act(), playing.act()
    playing.learn(first.id, 1.0)
    with pytest.raises(RewardGiven, match="decision 0 was rewarded or forgotten already"):
        playing.learn(first, 1.0)
    with pytest.raises(UnknownDecision, match="decision 7 does not exist: this bandit made 2"):
        playing.learn(7, 1.0)
    with pytest.raises(UnknownDecision, match="decision 'x'"):
        playing.learn(["x"], [1.0])  # type: ignore[list-item]
    with pytest.raises(RewardGiven, match="once each"):
        playing.learn([second, second], [1.0, 0.0])
    assert playing.state.pulls.sum() == 1


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -float("inf"), "x", None])
def test_a_bad_reward_is_refused_and_changes_nothing(reward: Any) -> None:
    playing = bandit()
    good, bad = playing.act(), playing.act()
    with pytest.raises(ValueError, match="reward must be finite"):
        playing.learn([good, bad], [1.0, reward])
    assert playing.state.pulls.sum() == 0
    assert playing.pending == (0, 1)
    playing.learn(bad, 0.5)


def test_batches_must_be_of_one_length() -> None:
    playing = bandit()
    with pytest.raises(ValueError, match="rewards must be as many as decisions, 1, not 2"):
        playing.learn([playing.act()], [1.0, 2.0])


def test_forgetting() -> None:
    playing = bandit()
    decision = playing.act()
    playing.forget(decision)
    assert playing.pending == ()
    with pytest.raises(RewardGiven):
        playing.forget(decision)


def test_only_available_arms_are_played() -> None:
    playing = bandit()
    for _ in range(20):
        decision = playing.act(candidates=["c", "a"])
        assert decision.arm in ("a", "c")
        assert decision.arms == ("c", "a")
        assert decision.probabilities.size == 2
    with pytest.raises(UnknownArm, match="arm 'x' does not exist: this bandit has 'a', 'b', 'c'"):
        playing.act(candidates=["x"])
    for wrong in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="candidates must name at least one arm, each once"):
            playing.act(candidates=wrong)


@pytest.mark.parametrize("policy", POLICIES[:7] + POLICIES[-8:-2], ids=name)
def test_arms_come_and_go(policy: Any) -> None:
    playing = Bandit(policy, arms=["a", "b"], dimension=2, seed=1)
    rng = np.random.default_rng(0)
    late = playing.act(rng.normal(size=(2, 2)))
    for _ in range(5):
        playing.learn(playing.act(rng.normal(size=(2, 2))), 0.5)
    before = [part.copy() for part in playing.state]
    playing.add_arm("new")
    assert list(playing.arms) == ["a", "b", "new"]
    for old, part in zip(before, playing.state, strict=True):
        np.testing.assert_array_equal(part[tuple(slice(0, n) for n in old.shape)], old)
    playing.learn(playing.act(rng.normal(size=(3, 2))), 1.0)
    playing.remove_arm("a")
    assert list(playing.arms) == ["b", "new"]
    playing.learn(late, 1.0)  # a reward of a removed arm still counts
    for _ in range(5):
        assert playing.act(rng.normal(size=(2, 2))).arm != "a"
    playing.add_arm("a")
    assert set(playing.act(rng.normal(size=(3, 2))).arms) == {"a", "b", "new"}


def test_arms_that_cannot_be_added_or_removed() -> None:
    playing = bandit(arms=["a", "b"])
    with pytest.raises(ValueError, match="arm 'a' exists already"):
        playing.add_arm("a")
    playing.remove_arm("a")
    with pytest.raises(UnknownArm, match="arm 'a' does not exist"):
        playing.remove_arm("a")
    with pytest.raises(ValueError, match="arm 'b' is the last one"):
        playing.remove_arm("b")
    with pytest.raises(UnknownArm):
        playing.act(candidates=["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arms": np.int64(0)}, "arms must be a whole number of at least 1"),
        ({"arms": 0}, "arms must be a whole number of at least 1, not 0"),
        ({"arms": []}, "the number of arms must be"),
        ({"arms": ["a", "a"]}, "arms must be distinct"),
        ({"dimension": -1}, "dimension must be"),
        ({"seed": -1}, "seed must be"),
        (
            {"policy": FairXLinTS(MERIT, 1, 1)},
            "dimension must be a whole number of at least 1, not 0",
        ),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bandit(**options)


def test_bad_contexts_are_refused_and_change_nothing() -> None:
    playing = bandit(policy=FairXLinTS(MERIT, 1, 1), dimension=2)
    with pytest.raises(
        ValueError, match=r"contexts must have shape \(3, 2\), not \(2, 3\): one row"
    ):
        playing.act(np.ones((2, 3)))
    with pytest.raises(ValueError, match="contexts must be finite, not inf"):
        playing.act(np.array([[1, 2], [3, 4], [5, np.inf]]))
    with pytest.raises(ValueError, match="contexts must be given: this bandit has dimension 2"):
        playing.act()
    assert playing.decisions == 0


def test_arms_must_be_numbers_or_texts_to_be_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"arms must be numbers or texts to be saved, not \(1, 2\)"):
        bandit(arms=[(1, 2), "b"]).save(tmp_path / "bandit.npz")


def test_a_decision_changed_by_the_caller_changes_nothing_here() -> None:
    playing = bandit(policy=FairXLinEG(MERIT, 0.1, 1), dimension=2)
    decision = playing.act(np.ones((3, 2)))
    decision.context[:] = 100.0
    playing.learn(decision, 1.0)
    np.testing.assert_array_equal(playing.state.target, [1.0, 1.0])


def test_contexts_may_be_given_in_any_form() -> None:
    """Compiled code takes contiguous doubles without a look: the door must make them so."""
    plain = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32).astype(np.float64)
    frozen = plain.copy()
    frozen.flags.writeable = False
    forms: list[Any] = [plain, plain.tolist(), np.asfortranarray(plain), plain.astype(np.float32)]
    forms += [np.repeat(plain, 2, axis=1)[:, ::2], plain.astype(">f8"), frozen]
    found = []
    for form in forms:
        playing = bandit(policy=FairXLinTS(MERIT, 1, 1), dimension=4)
        decision = playing.act(form)
        playing.learn(decision, 0.5)
        found.append(
            (decision.arm, decision.probabilities.tobytes(), playing.state.estimate.tobytes())
        )
    assert len(set(found)) == 1


def test_a_context_given_is_copied() -> None:
    playing = bandit(policy=FairXLinEG(MERIT, 0.1, 1), dimension=2)
    shown = np.ones((3, 2))
    decision = playing.act(shown)
    shown[:] = 100.0
    playing.learn(decision, 1.0)
    np.testing.assert_array_equal(playing.state.target, [1.0, 1.0])


@pytest.mark.parametrize("policy", POLICIES[:7] + POLICIES[-8:-2], ids=name)
def test_a_saved_bandit_goes_on_as_if_nothing_had_happened(policy: Any, tmp_path: Path) -> None:
    playing = Bandit(policy, arms=["a", "b", 3], dimension=2, seed=4)
    rng = np.random.default_rng(0)
    for _ in range(8):
        playing.learn(playing.act(rng.normal(size=(3, 2))), float(rng.random()))
    late = playing.act(rng.normal(size=(3, 2)))
    playing.remove_arm("b")
    playing.save(tmp_path / "bandit.npz")
    loaded = Bandit.load(tmp_path / "bandit.npz")
    assert repr(loaded.policy) == repr(playing.policy)
    for one in (playing, loaded):
        one.learn(late.id, 0.25)
    for _ in range(5):
        shown = rng.normal(size=(2, 2))
        ours, theirs = playing.act(shown), loaded.act(shown)
        assert (ours.id, ours.arm, ours.arms) == (theirs.id, theirs.arm, theirs.arms)
        np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)
        for one in (playing, loaded):
            one.learn(ours.id, 1.0)
    with pytest.raises(RewardGiven):
        loaded.learn(late.id, 0.25)


def test_saving_replaces_the_file_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, playing = tmp_path / "bandit.npz", bandit()
    playing.save(path)
    before = path.read_bytes()
    playing.act()

    def crash(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="no space left"):
        playing.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_every_truncation_is_recognised(tmp_path: Path) -> None:
    path, playing = tmp_path / "bandit.npz", bandit()
    playing.learn(playing.act(), 1.0)
    playing.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(BrokenFile, match="not a saved bandit"):
            Bandit.load(path)


def rewrite(path: Path, change: Any) -> None:
    """Save a bandit, then change its header."""
    bandit().save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    text = json.dumps(header).encode()
    np.savez(path, **(arrays | {"header": np.frombuffer(text, np.uint8)}))


def test_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "bandit.npz"
    path.write_text("hello")
    with pytest.raises(BrokenFile, match=r"bandit\.npz is not a saved bandit"):
        Bandit.load(path)
    np.savez(path, numbers=np.arange(3))
    with pytest.raises(BrokenFile, match="is not a saved bandit"):
        Bandit.load(path)
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BrokenFile, match="is not a saved bandit"):
        Bandit.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(BrokenFile, match="is not a saved bandit"):
        Bandit.load(path)
    rewrite(path, lambda header, arrays: header.update(format="other"))
    with pytest.raises(BrokenFile, match="is not a saved bandit"):
        Bandit.load(path)
    rewrite(path, lambda header, arrays: header.update(version=99))
    with pytest.raises(BrokenFile, match="has version 99, but this fairx reads version 1"):
        Bandit.load(path)
    rewrite(path, lambda header, arrays: header.pop("arms"))
    with pytest.raises(BrokenFile, match="lacks a part of a saved bandit"):
        Bandit.load(path)
    rewrite(path, lambda header, arrays: arrays.update(state_pulls=np.zeros(9)))
    with pytest.raises(BrokenFile, match=r"the saved pulls has shape \(9,\), not \(3,\)"):
        Bandit.load(path)
    with pytest.raises(FileNotFoundError):
        Bandit.load(tmp_path / "none.npz")


def test_functions_are_not_saved_but_can_be_given_again(tmp_path: Path) -> None:
    path, policy = tmp_path / "bandit.npz", FairXEG(Custom(lambda mean: 1.0 + mean), 0.1)
    playing = bandit(policy=policy)
    playing.learn(playing.act(), 1.0)
    playing.save(path)
    with pytest.raises(ValueError, match="is not ours or holds a function"):
        Bandit.load(path)
    loaded = Bandit.load(path, policy)
    np.testing.assert_array_equal(loaded.act().probabilities, playing.act().probabilities)
    plain = bandit(policy=EG(0.1))
    plain.learn(plain.act(), 1.0)
    plain.save(tmp_path / "bandit.npz")
    again = Bandit.load(tmp_path / "bandit.npz", policy=EG(0.5))
    assert again.policy == EG(0.5)
    np.testing.assert_array_equal(again.state.pulls, plain.state.pulls)


def test_a_policy_of_others_at_work(tmp_path: Path) -> None:
    first, second = (Bandit(Softmax(4.0), arms=3, seed=1) for _ in range(2))
    for _ in range(30):
        ours, theirs = first.act(), second.act()
        assert ours.arm == theirs.arm
        for one in (first, second):
            one.learn(ours.id, float(ours.arm))
    assert first.act().probabilities.argmax() == 2
    first.add_arm("new")
    assert first.act().arms == (0, 1, 2, "new")
    first.save(tmp_path / "bandit.npz")
    with pytest.raises(ValueError, match="is not ours or holds a function"):
        Bandit.load(tmp_path / "bandit.npz")
    again = Bandit.load(tmp_path / "bandit.npz", policy=Softmax(4.0))
    np.testing.assert_array_equal(again.act().probabilities, first.act().probabilities)


def test_many_threads_lose_nothing() -> None:
    playing = bandit(policy=FairXEG(MERIT, 0.2))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(200):
                playing.learn(playing.act(), 1.0)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert playing.decisions == 1600
    assert playing.state.pulls.sum() == playing.state.reward_sums.sum() == 1600


def test_drawn_frequencies_match_the_propensities() -> None:
    """One fixed policy, 5,000 decisions: within 5 standard errors (false alarm below 1e-5)."""
    playing = bandit(policy=FairXEG(MERIT, 0.1))
    for reward in (1.0, 0.5, 0.0):
        playing.learn(playing.act(), reward)
    decisions = [playing.act() for _ in range(5000)]
    chances = decisions[0].probabilities
    counts = np.array([sum(d.arm == arm for d in decisions) for arm in "abc"])
    error = np.sqrt(chances * (1 - chances) / 5000)
    assert (np.abs(counts / 5000 - chances) < 5 * error + 1e-12).all()


def test_the_old_name_of_candidates_still_works() -> None:
    one, other = (Bandit(FairXTS(MERIT, 1, 0.5), ["a", "b", "c"], seed=1) for _ in range(2))
    with pytest.warns(DeprecationWarning, match="available is now candidates"):
        found = one.act(available=["c", "a"])
    assert found.arms == other.act(candidates=["c", "a"]).arms == ("c", "a")
