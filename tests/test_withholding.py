"""Intervals that cover or are withheld, on hostile logs; benchmarks/hostile_logs.py is the long form."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_evaluation_coverage import FAIR, adaptive
from test_evaluation_coverage import MEANS as COINS

from fairx import Exponential, Power, Uniform
from fairx.evaluation import (
    Logged,
    confidence_sequence,
    evaluate,
    logged,
    looking,
    self_normalised_sequence,
)
from fairx.evaluation.withholding import HEAVY, deciding, tail_index

MEANS = np.array([0.1, 0.3, 0.5, 0.6])
EVEN = np.full(4, 0.25)
LOGS = 60
MOST = stats.binom.ppf(1 - 1e-4, LOGS, 0.07)  # misses of intervals that hold in 93 %
SOME = np.array([0.3, 0.3, 0.35, 0.05])
Floats = np.ndarray[Any, Any]


def log_of(rng: np.random.Generator, rows: int, shares: Floats, heavy: bool = False) -> Logged:
    arms = rng.choice(4, p=shares, size=rows)
    rewards = (rng.random(rows) < MEANS[arms]).astype(float)
    if heavy:
        rewards = MEANS[arms] * (1 + rng.pareto(2.1, rows)) * 1.1 / 2.1
    return Logged(arms, rewards, shares[arms], names=("a", "b", "c", "d"))


def learned(rng: np.random.Generator, rows: int = 1000) -> Logged:
    """Return a log that shows the best arm so far, but for 0.02; all probabilities are in it."""
    shows, sums, chances = np.zeros(4), np.zeros(4), np.full((rows, 4), 0.005)
    arms, rewards = np.empty(rows, int), np.empty(rows)
    for row, (draw, luck) in enumerate(rng.random((rows, 2))):
        chances[row, np.argmax(np.where(shows > 0, sums / np.maximum(shows, 1), 1.0))] += 0.98
        arm = min(int(np.searchsorted(np.cumsum(chances[row]), draw)), 3)
        arms[row], rewards[row] = arm, luck < MEANS[arm]
        shows[arm] += 1
        sums[arm] += rewards[row]
    given = chances[np.arange(rows), arms]
    return Logged(arms, rewards, given, probabilities=chances, names=("a", "b", "c", "d"))


def rare(chance: float) -> Floats:
    return np.array([0.4, 0.3, 0.3 - chance, chance])


def rates(
    logs: list[Logged], policy: Floats, estimator: str
) -> tuple[int, int]:  # missed, withheld
    truth, missed, withheld = float(policy @ MEANS), 0, 0
    for log in logs:
        try:
            found = evaluate(log, policy, estimator)
        except ValueError:  # an arm that was never shown: refused
            assert np.bincount(log.arms, minlength=4).min() == 0
            continue
        withheld += bool(found.withheld)
        missed += not found.withheld and not found.low <= truth <= found.high
    return missed, withheld


@pytest.fixture(scope="module")
def scenes() -> dict[str, tuple[list[Logged], Floats]]:
    """Return logs of every row of AUDIT.md's table."""
    made: dict[str, tuple[Any, Floats]] = {
        "500": (lambda rng: log_of(rng, 500, np.array([0.4, 0.3, 0.2, 0.1])), EVEN),
        ".0005": (lambda rng: log_of(rng, 5000, rare(0.0005)), SOME),
        ".0001": (lambda rng: log_of(rng, 5000, rare(0.0001)), SOME),
        "heavy": (lambda rng: log_of(rng, 500, np.array([0.4, 0.3, 0.2, 0.1]), True), EVEN),
        "learned": (learned, EVEN),
    }
    return {
        name: ([make(np.random.default_rng([7, seed])) for seed in range(LOGS)], policy)
        for name, (make, policy) in made.items()
    }


@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr"])
@pytest.mark.parametrize("scene", ["500", ".0005", ".0001", "heavy", "learned"])
def test_intervals_hold_or_are_withheld(scenes: Any, scene: str, estimator: str) -> None:
    logs, policy = scenes[scene]
    missed, withheld = rates(logs, policy, estimator)
    assert missed <= MOST
    assert withheld == 0 if scene == "500" else withheld > 0.2 * LOGS


@pytest.mark.parametrize(("scene", "estimator"), [(".0005", "dm"), (".0005", "dr")])
def test_without_that_they_would_miss(
    scenes: Any, scene: str, estimator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "reasons", lambda *_: ())
    logs, policy = scenes[scene]
    missed, _ = rates(logs, policy, estimator)
    assert missed > MOST


def test_few_shows_of_many_arms_are_enough_for_the_direct_method() -> None:
    """Two or three rewards an arm, 300 arms: residuals about an arm's own mean would be too small."""
    held = 0
    for seed in range(LOGS):
        rng = np.random.default_rng([8, seed])
        means, arms = rng.uniform(0.2, 0.8, 300), np.repeat(np.arange(300), rng.integers(2, 4, 300))
        rewards = (rng.random(arms.size) < means[arms]).astype(float)
        order = rng.permutation(arms.size)
        log = Logged(arms[order], rewards[order], np.full(arms.size, 1 / 300))
        found = evaluate(log, Uniform(), "dm")
        assert not found.withheld
        held += found.low <= means.mean() <= found.high
    assert held >= stats.binom.ppf(1e-4, LOGS, 0.94)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_an_arm_that_was_shown_too_seldom_by_chance_does_not_let_the_others_be_enough(
    estimator: str,
) -> None:
    """Of 60 decisions 22 rewards decide; where the rarest arm was shown once, 30 seem to.

    Intervals that were given in such a log, 1 of 160, held in 41 to 73 % of them (ips and dr).
    """
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    for counts, withheld in (((27, 19, 13, 1), True), ((48, 36, 24, 12), False)):
        arms = np.repeat(np.arange(4), counts)
        rewards = np.arange(arms.size) % 3 == 0
        log = Logged(arms, rewards.astype(float), shares[arms], names=("a", "b", "c", "d"))
        found = evaluate(log, EVEN, estimator)
        assert bool(found.withheld) == withheld
        assert deciding(np.square(0.25 / shares[arms])) > 30  # by the shows there are


def test_weights_that_do_not_average_to_one_leave_no_interval_of_ips() -> None:
    """A policy that follows its rewards: where weights averaged to something else, 62 of 96 held."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(2000, 3))
    arms, chances = scores.argmax(axis=1), np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    rewards = (rng.random(2000) < 0.3).astype(float)
    made_up = Logged(arms, rewards, chances[np.arange(2000), arms], names=("a", "b", "c"))
    found = evaluate(made_up, Uniform(), "ips")
    assert found.withheld[-1].startswith("the mean weight is 0.")
    assert not evaluate(made_up, Uniform(), "snips").withheld
    drawn = (rng.random((2000, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    right = Logged(drawn, rewards, chances[np.arange(2000), drawn], names=("a", "b", "c"))
    assert not evaluate(right, Uniform(), "ips").withheld


# The words


def test_an_arm_hardly_shown_is_named() -> None:
    log = log_of(np.random.default_rng(2), 5000, rare(0.0005))
    found = evaluate(log, SOME, "dr")
    shows = int((log.arms == 3).sum())
    assert (
        f"is up to arm d, shown {shows} times: leave it out, or the interval 'se"
        in found.withheld[0]
    )
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    plain = found.to_dict()
    assert (plain["low"], plain["high"]) == (None, None)
    assert plain["withheld"] == [*found.withheld]
    json.dumps(plain, allow_nan=False)
    again = evaluate(log, SOME, "ips", interval="sequence")
    assert not again.withheld
    assert again.low < float(SOME @ MEANS) < again.high


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr"])
def test_constant_rewards_tell_nothing_of_how_they_vary(estimator: str, interval: str) -> None:
    rng = np.random.default_rng(3)
    log = log_of(rng, 500, EVEN)
    for value in (0.0, 0.1, 7.0):
        same = log._replace(rewards=np.full(500, value))
        found = evaluate(same, EVEN, estimator, interval=interval, seed=1)
        assert found.reward == pytest.approx(value)
        assert "all rewards that count are alike" in found.withheld[0]


def test_rewards_with_a_heavy_tail_are_told() -> None:
    log = log_of(np.random.default_rng(4), 5000, EVEN, heavy=True)
    assert any(
        "their tail may fall with a power of" in words for words in evaluate(log, EVEN).withheld
    )
    tame = log._replace(rewards=np.random.default_rng(5).normal(size=5000))
    assert not evaluate(tame, EVEN).withheld


def test_a_heavy_tail_that_looks_light_is_not_trusted() -> None:
    """Of 500 rewards of Pareto's index 2.1, 6 in 100 samples have a Hill index above 2.5."""
    rng = np.random.default_rng(40)
    heavy = [tail_index(1 + rng.pareto(2.1, 500)) for _ in range(400)]
    assert np.mean(np.array(heavy) >= HEAVY) <= 0.01
    light = [tail_index(rng.exponential(size=5000)) for _ in range(100)]
    assert np.mean(np.array(light) >= HEAVY) >= 0.9


def test_the_direct_method_is_not_trusted_on_a_policy_that_changed() -> None:
    log = learned(np.random.default_rng(6))
    told = evaluate(log, EVEN, "dm", max_unsupported=1).withheld
    assert any("it may have learned from these rewards" in words for words in told)
    halves = [log_of(np.random.default_rng(6), 500, shares) for shares in (EVEN, SOME)]
    arms, rewards, given = (np.concatenate([one[i] for one in halves]) for i in range(3))
    both = Logged(arms, rewards, given, contexts=np.ones((1000, 1)))  # propensities may be theirs
    assert any("it may have learned" in words for words in evaluate(both, EVEN, "dm").withheld)
    same = log_of(np.random.default_rng(6), 1000, EVEN)
    assert not evaluate(same._replace(contexts=np.ones((1000, 1))), EVEN, "dm").withheld


def test_what_has_no_support_widens_the_interval() -> None:
    log = log_of(np.random.default_rng(7), 2000, np.array([0.5, 0.3, 0.2, 0.0]))
    shares = np.array([0.4, 0.3, 0.29, 0.01])
    inner = shares / (1 - shares[3])
    inner[3] = 0
    for estimator, low, high in (("ips", 0.0, 0.01), ("snips", -0.01, 0.01)):
        found = evaluate(log, shares, estimator)
        plain = evaluate(log, inner, estimator)
        width = plain.high - plain.low
        wanted = width * (0.99 if estimator == "ips" else 1) + high - low
        assert found.high - found.low == pytest.approx(wanted)
        assert any("allows for anything" in words for words in found.cautions)


@pytest.mark.parametrize(("estimator", "mean"), [("ips", 0.05), ("dm", 0.95), ("dr", 0.05)])
def test_an_arm_whose_few_rewards_are_alike_is_not_taken_for_certain(
    estimator: str, mean: float
) -> None:
    """Of 40 shows none brings anything in one log of eight: 14 to 16 % of intervals missed."""
    shares, policy = np.array([0.6, 0.395, 0.005]), np.array([0.2, 0.3, 0.5])
    means, missed = np.array([0.2, 0.5, mean]), 0
    words: list[str] = []
    for seed in range(LOGS):
        rng = np.random.default_rng([18, seed])
        arms = rng.choice(3, p=shares, size=8000)
        log = Logged(arms, (rng.random(8000) < means[arms]).astype(float), shares[arms])
        found = evaluate(log, policy, estimator)
        missed += not found.withheld and not found.low <= policy @ means <= found.high
        words += found.withheld
    assert missed <= stats.binom.ppf(0.95, LOGS, 0.05)
    assert any(said.startswith("one more reward of arm 2, as low or as high") for said in words)


def test_how_many_decide() -> None:
    assert deciding(np.array([2.0] * 7 + [0.0])) == pytest.approx(7)
    assert deciding(np.zeros(3)) == 0


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_intervals_are_wider_by_what_is_clipped(estimator: str) -> None:
    """The best arm has weights of 20: cut to 5, all intervals of ips and snips missed, and half of dr."""
    rng = np.random.default_rng(22)
    shares, policy = np.array([0.6, 0.38, 0.02]), np.array([0.3, 0.3, 0.4])
    means, arms = np.array([0.2, 0.4, 0.8]), rng.choice(3, p=shares, size=2500)
    log = Logged(arms, (rng.random(2500) < means[arms]).astype(float), shares[arms])
    whole, idle, cut = (evaluate(log, policy, estimator, clip=clip) for clip in (None, 30, 5))
    assert (whole.low, whole.high) == (idle.low, idle.high)
    assert cut.low < policy @ means < cut.high
    assert cut.high - cut.low > whole.high - whole.low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "uniform"}, "policy must be probabilities, a mapping by name"),
        ({"policy": None}, "policy must be probabilities, a mapping by name"),
        ({"merit": "exponential:4"}, "merit must be a merit such as"),
        ({"merit": Exponential}, "merit must be a merit such as"),
        ({"interval": "bootstrap", "seed": 1, "resamples": 39}, "resamples must be .* at least 40"),
    ],
)
def test_what_is_no_policy_merit_or_number_is_refused_in_words(
    options: dict[str, Any], message: str
) -> None:
    log = log_of(np.random.default_rng(23), 400, EVEN)
    with pytest.raises((TypeError, ValueError), match=message):
        evaluate(log, **({"policy": EVEN} | options))
    none, tiny = np.full(400, None), np.full(400, 5e-324)
    with pytest.raises(TypeError, match="units must be numbers, or texts"):
        Logged(log.arms, log.rewards, log.propensities, units=none)
    with pytest.raises(ValueError, match="propensities must be above 0"):
        Logged(log.arms, log.rewards, tiny)


# Time and memory by rows


@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr", "replay"])
@pytest.mark.parametrize("width", [0, 2])
def test_one_row_for_all_decisions_is_as_a_row_for_each(estimator: str, width: int) -> None:
    rng = np.random.default_rng(8)
    log = log_of(rng, 600, EVEN)._replace(probabilities=np.tile(EVEN, (600, 1)))
    if width:
        log = log._replace(contexts=rng.normal(size=(600, width)))
    log = log._replace(propensities=np.where(np.arange(600) == 5, 1.0, 0.25), probabilities=None)
    if estimator == "replay":
        log = log._replace(propensities=EVEN[log.arms], probabilities=np.tile(EVEN, (600, 1)))
    one = evaluate(log, SOME, estimator, max_unsupported=1, merit=Exponential(2))
    each = evaluate(
        log, np.tile(SOME, (600, 1)), estimator, max_unsupported=1, merit=Exponential(2)
    )
    assert (one.reward, one.low) == pytest.approx((each.reward, each.low), abs=1e-12, nan_ok=True)
    assert one.exposures == pytest.approx(each.exposures)
    assert one.diagnostics == pytest.approx(each.diagnostics)
    assert one.fairness is not None
    assert each.fairness is not None
    assert one.fairness.summary() == pytest.approx(each.fairness.summary())


def test_memory_is_by_rows() -> None:
    """Rows times arms would be 800 MB."""
    rng = np.random.default_rng(9)
    arms = rng.integers(1000, size=100_000)
    log = Logged(arms, (rng.random(arms.size) < 0.5).astype(float), np.full(arms.size, 0.001))
    for estimator in ("snips", "dm", "dr"):
        tracemalloc.start()
        evaluate(log, Uniform(), estimator, merit=Exponential(1))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6


# Sequences of the self-normalised and the doubly robust estimate


def test_self_normalised_sequences_hold_at_every_look() -> None:
    weights, rewards, values = adaptive(100, 1000, 15, 0.0)
    missed, looks = 0, np.arange(20, 1001, 20)
    for w, r, value in zip(weights, rewards, values, strict=True):
        found = self_normalised_sequence(w, r, max(FAIR) / 0.02, looks=looks)
        missed += bool(((value[0] < found.lows) | (value[0] > found.highs)).any())
    assert missed <= stats.binom.ppf(1 - 1e-4, 100, 0.05)


def test_self_normalised_sequences_are_narrow_where_rewards_are_far_from_0() -> None:
    rng = np.random.default_rng(21)
    weights, rewards = 20.0 * (rng.random(10_000) < 0.05), 0.9 + 0.1 * rng.random(10_000)
    plain = confidence_sequence(weights, rewards, looks=[10_000])
    found = self_normalised_sequence(weights, rewards, 20, looks=[10_000])
    assert (found.highs - found.lows)[0] < 0.2 * (plain.highs - plain.lows)[0]
    assert found.lows[0] < 0.95 < found.highs[0]


def test_self_normalised_sequences_are_mirrored_and_scaled() -> None:
    rng = np.random.default_rng(10)
    weights, rewards = 2 * rng.random(300), rng.random(300)
    one = self_normalised_sequence(weights, rewards, 2)
    other = self_normalised_sequence(weights, 1 - rewards, 2)
    assert other.lows == pytest.approx(1 - one.highs, abs=1e-9)
    scaled = self_normalised_sequence(weights, 10 * rewards - 3, 2, reward_range=(-3, 7))
    assert scaled.lows == pytest.approx(10 * one.lows - 3, abs=1e-9)
    centre = np.cumsum(weights * rewards) / np.cumsum(weights)
    assert (one.lows < centre[one.decisions - 1]).all()


def test_doubly_robust_sequences_hold_at_every_look_and_do_not_see_ahead() -> None:
    truth, missed, logs = float(EVEN @ MEANS), 0, [learned(np.random.default_rng([11, s]), 600) for s in range(40)]  # fmt: skip
    asked: dict[str, Any] = {"estimator": "dr", "interval": "sequence", "weight_bound": 50}
    for log in logs:
        looks = evaluate(log, EVEN, **asked).looks
        assert looks is not None
        missed += bool(((truth < looks.lows) | (truth > looks.highs)).any())
    assert missed <= stats.binom.ppf(1 - 1e-4, 40, 0.05)
    late = np.where(np.arange(600) < 300, log.rewards, 1 - log.rewards)
    other = evaluate(log._replace(rewards=late), EVEN, **asked).looks
    assert looks is not None
    assert other is not None
    before = looks.decisions <= 300
    assert other.lows[before] == pytest.approx(looks.lows[before])
    assert other.highs[~before] != pytest.approx(looks.highs[~before])
    with pytest.raises(ValueError, match="weight_bound must be at least 50 and finite, not 2"):
        evaluate(log, EVEN, **(asked | {"weight_bound": 2}))


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_sequences_hold_at_looks_where_support_was_missing(estimator: str) -> None:
    """The second arm, of 0.9, cannot be shown in the first 150 decisions; the third never is, and brings 1."""
    rng = np.random.default_rng(16)
    chances = np.where(np.arange(6000)[:, None] < 150, [1.0, 0, 0], [0.5, 0.5, 0])
    arms = (rng.random(6000) > chances[:, 0]).astype(int)
    rewards = (rng.random(6000) < np.array([0.1, 0.9])[arms]).astype(float)
    given = chances[np.arange(6000), arms]
    log = Logged(arms, rewards, given, probabilities=chances, names=(0, 1, 2))
    asked: dict[str, Any] = {"weight_bound": 2, "max_unsupported": 0.5, "interval": "sequence"}
    looks = evaluate(log, [0.0, 0.8, 0.2], estimator, **asked).looks
    assert looks is not None
    assert (looks.lows < 0.92).all()
    assert (looks.highs > 0.92).all()
    assert looks.highs[-1] - looks.lows[-1] < 0.65
    by_arm = log._replace(probabilities=None)
    again = evaluate(by_arm, [0.0, 0.8, 0.2], estimator, **asked).looks
    assert again is not None
    assert again.highs == pytest.approx(looks.highs)


def test_a_sequence_with_a_bound_is_not_of_clipped_weights() -> None:
    """Its upper end is of w r itself: with rare weights cut it was .11 where the value is .26."""
    log = log_of(np.random.default_rng(17), 100, EVEN)
    asked: dict[str, Any] = {"interval": "sequence", "clip": 0.5, "weight_bound": 2}
    with pytest.raises(ValueError, match="with 'ips' and no weight_bound they may be clipped"):
        evaluate(log, SOME, "ips", **asked)


def test_stabilised_by_loops() -> None:
    """The model of a decision is of the 64, then 192, 448 ... decisions before."""
    log = learned(np.random.default_rng(12), 300)
    assert log.probabilities is not None
    top = bottom = 0.0
    for row in range(300):
        known = slice(0, max(end for end in (0, 64, 192) if end <= row))
        arms, rewards = log.arms[known], log.rewards[known]
        mean = float(rewards.mean()) if rewards.size else 0.0
        model = [float(rewards[arms == a].mean()) if (arms == a).any() else mean for a in range(4)]
        arm, weight = log.arms[row], 0.25 / log.propensities[row]
        term = float(np.mean(model)) + weight * (log.rewards[row] - model[arm])
        calm = 1 / math.sqrt(sum(0.0625 / p for p in log.probabilities[row]))
        top, bottom = top + calm * term, bottom + calm
    found = evaluate(log, EVEN, "stabilised", max_unsupported=1)
    assert found.reward == pytest.approx(top / bottom, rel=1e-12)


def test_stabilised_is_narrower_and_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that keeps to one arm for a while, then to another: most is known from the first part."""
    monkeypatch.setattr(looking, "reasons", lambda *_: ())
    widths, held = [], 0
    for seed in range(LOGS):
        rng = np.random.default_rng([13, seed])
        early = np.arange(1000)[:, None] < 300
        chances = np.where(early, [0.9, 0.05, 0.03, 0.02], [0.02, 0.9, 0.05, 0.03])
        arms = (rng.random((1000, 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
        rewards = (rng.random(1000) < MEANS[arms]).astype(float)
        given = chances[np.arange(1000), arms]
        log = Logged(arms, rewards, given, probabilities=chances)
        policy = np.array([1.0, 0, 0, 0])
        both = [evaluate(log, policy, kind) for kind in ("dr", "stabilised")]
        held += both[1].low <= MEANS[0] <= both[1].high
        widths.append([one.high - one.low for one in both])
    dr, calm = np.mean(widths, axis=0)
    assert calm < 0.7 * dr
    assert held >= LOGS - MOST


def test_stabilised_is_refused_where_calm_decisions_are_others() -> None:
    """Both policies follow the context: 10 % of logs missed, as contexts where they agree count more."""
    rng = np.random.default_rng(14)
    log = log_of(rng, 200, EVEN)._replace(probabilities=np.tile(EVEN, (200, 1)))
    every = np.tile(np.arange(4), (200, 1))
    named = evaluate(log._replace(candidates=every), SOME, "stabilised")
    assert named.reward == evaluate(log, SOME, "stabilised").reward
    fewer = np.where((every == 3) & (log.arms != 3)[:, None], -1, every)
    offered = np.where(fewer < 0, 0.0, 1.0)
    offered /= offered.sum(axis=1, keepdims=True)
    given = offered[np.arange(200), log.arms]
    pools = log._replace(candidates=fewer, probabilities=offered, propensities=given)
    contexts = log._replace(contexts=rng.normal(size=(200, 2)))
    for other, policy in ((pools, SOME), (contexts, SOME), (log, np.tile(SOME, (200, 1)))):
        with pytest.raises(ValueError, match="decisions must be alike for estimator='stabilised'"):
            evaluate(other, policy, "stabilised")


def test_a_policy_that_learned_is_noticed_where_candidates_name_all_arms() -> None:
    log = learned(np.random.default_rng(15))
    named = log._replace(candidates=np.tile(np.arange(4), (1000, 1)))
    for one in (log, named):
        said = evaluate(one, EVEN, "dm", max_unsupported=1).withheld
        assert "the logging policy changed on the way" in said[-1]


# Fairness of the target


def test_fairness_by_hand() -> None:
    """Corners of the box, found by trying all of them; pools of two and three arms."""
    rng = np.random.default_rng(14)
    candidates = np.where(np.arange(400)[:, None] % 2, [0, 1, -1], [0, 1, 2])
    arms = np.where(np.arange(400) % 2, rng.integers(2, size=400), rng.integers(3, size=400))
    rewards = (rng.random(400) < np.array([0.2, 0.5, 0.8])[arms]).astype(float)
    log = Logged(arms, rewards, np.where(np.arange(400) % 2, 0.5, 1 / 3), candidates=candidates)
    found = evaluate(log, {0: 0.5, 1: 0.3, 2: 0.2}, merit=Exponential(2)).fairness
    assert found is not None
    corners = [
        np.exp(2 * np.array(corner))
        for corner in np.array(np.meshgrid(*zip(found.means.lows, found.means.highs, strict=True))).T.reshape(-1, 3)
    ]  # fmt: skip
    shares = np.array([[(f / f.sum()), np.append(f[:2] / f[:2].sum(), 0)] for f in corners]).mean(
        axis=1
    )
    assert found.fair_lows == pytest.approx(shares.min(axis=0))
    assert found.fair_highs == pytest.approx(shares.max(axis=0))
    merit = np.exp(2 * np.array([rewards[arms == arm].mean() for arm in range(3)]))
    wanted = np.array([0.5, 0.3, 0.2])
    whole = np.abs(wanted - merit / merit.sum()).sum()
    part = np.abs(wanted[:2] / 0.8 - merit[:2] / merit[:2].sum()).sum()
    assert found.regret == pytest.approx((whole + part) / 2)
    assert found.regret_low <= found.regret <= found.regret_high
    assert found.verdicts == ("over", "unclear", "under")
    assert found.ratios[0] == pytest.approx((0.5 + 0.625) / 2 / found.fair[0])


def test_fair_shares_of_steep_merits_are_exact() -> None:
    """An arm of 4 shows, whose merit may be 1e18 times that of all others: it was said to earn all."""
    rng = np.random.default_rng(19)
    arms = np.append([0, 0, 0, 0], rng.integers(1, 3, size=20_000))
    rewards = np.append([1, 1, 0, 1], rng.random(20_000) < 0.05).astype(float)
    log = Logged(arms, rewards, np.full(arms.size, 1 / 3))
    for steepness in (40, 800):
        found = evaluate(log, [0.2, 0.4, 0.4], "ips", merit=Exponential(steepness)).fairness
        assert found is not None
        others = np.logaddexp(*(steepness * found.means.highs[1:]))
        exact = 1 / (1 + np.exp(others - steepness * found.means.lows[0]))
        assert found.fair_lows[0] == pytest.approx(exact, rel=1e-9)
        assert found.verdicts[0] == "unclear"
        assert found.regret_low == 0


def test_fairness_where_no_arm_has_merit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All rewards are 0, and so is merit: nobody has a share, and the ends are those of anything."""
    log = log_of(np.random.default_rng(20), 400, EVEN)._replace(rewards=np.zeros(400))
    found = evaluate(log, SOME, "ips", merit=Power(1, 0)).fairness
    assert found is not None
    assert (found.regret_low, found.regret_high) == (0, 2)
    assert np.isnan(found.regret)
    pytest.importorskip("duckdb")
    from fairx.command.main import parser

    path, policy = tmp_path / "log.csv", tmp_path / "policy.csv"
    path.write_text("arm,reward,propensity,user\n" + "a,0,0.5,1\nb,0,0.5,2\n" * 40)
    policy.write_text("a,0.3\nb,0.7\n")
    words = ["evaluate", str(path), "--policy", str(policy), "--merit", "power:1,0"]
    options = parser().parse_args([*words, "--unit", "user", "--out", str(tmp_path / "out")])
    assert options.run(options) == 0
    printed = capsys.readouterr().out
    assert "fairness regret      unknown" in printed
    assert "unknown (0.0000 to 1.0000)" in printed


def test_intervals_of_fairness_hold_by_unit() -> None:
    """Fifty decisions of a user with a taste: 23 % of boxes missed a mean."""
    missed, means, share = 0, np.array([0.3, 0.5, 0.7]), np.array([0.5, 0.3, 0.2])
    users = np.arange(2000) // 50
    for seed in range(LOGS):
        rng = np.random.default_rng([21, seed])
        arms = rng.choice(3, p=share, size=2000)
        tastes = rng.choice([-0.3, 0.3], size=40)[users]
        rewards = (rng.random(2000) < means[arms] + tastes).astype(float)
        log = Logged(arms, rewards, share[arms], units=users)
        found = evaluate(log, share, merit=Exponential(4)).fairness
        assert found is not None
        missed += not ((found.means.lows <= means) & (means <= found.means.highs)).all()
    assert missed <= stats.binom.ppf(0.999, LOGS, 0.05)


def test_intervals_of_fairness_hold_and_a_fair_policy_shows_the_floor() -> None:
    fair = np.exp(4 * COINS) / np.exp(4 * COINS).sum()
    regrets, floors, missed = [], [], 0
    for seed in range(40):
        rng = np.random.default_rng([16, seed])
        arms = rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=2000)
        rewards = (rng.random(2000) < COINS[arms]).astype(float)
        log = Logged(arms, rewards, np.array([0.4, 0.3, 0.2, 0.1])[arms])
        found, other = (evaluate(log, p, merit=Exponential(4)).fairness for p in (fair, EVEN))
        assert found is not None
        assert other is not None
        regrets.append(found.regret)
        floors.append(found.regret_floor)
        true = float(np.abs(EVEN - fair).sum())
        missed += not (found.regret_low == 0 and other.regret_low <= true <= other.regret_high)
        missed += not ((found.fair_lows <= fair) & (fair <= found.fair_highs)).all()
    assert missed <= stats.binom.ppf(1 - 1e-4, 40, 0.05)
    assert np.mean(regrets) == pytest.approx(np.mean(floors), rel=0.3)


# Hostile logs


def table_of(**columns: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table({"arm": ["a", "b"], "reward": [1.0, 0.0], "propensity": [0.5, 0.5]} | columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"reward": ["yes", "no"]}, "reward must be a column of numbers, not of string"),
        ({"propensity": ["1/2", "1/2"]}, "propensity must be a column of numbers, not of string"),
        ({"reward": [None, None]}, "reward must be given, not missing in 2 of 2 decisions: give"),
        (
            {"propensity": [0.5, 1.5]},
            "propensities must be above 0 and at most 1, not 1.5 at 1: leave",
        ),
        ({"reward": [1.0, math.inf]}, "rewards must be finite, not inf"),
        ({"propensity": [1.0, 1.0]}, "the policy must have support in the log, not 0.5"),
        (
            {"propensity": [0.0, 0.5]},
            "propensities must be above 0 and at most 1, not 0 at 0: leave",
        ),
    ],
)
def test_hostile_tables_are_refused_in_words(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(table_of(**columns), {"a": 0.5, "b": 0.5})


def test_one_arm_is_what_it_was() -> None:
    rewards = (np.random.default_rng(17).random(500) < 0.3).astype(float)
    log = Logged(np.zeros(500, int), rewards, np.ones(500))
    for estimator in ("ips", "snips", "dm", "dr", "replay"):
        found = evaluate(log, [1.0], estimator, merit=Exponential(1))
        assert found.reward == pytest.approx(rewards.mean())
        assert found.low < 0.3 < found.high
        assert found.fairness is not None
        assert (found.fairness.regret, found.fairness.regret_high) == (0, 0)


def test_huge_weights_and_huge_rewards() -> None:
    rng = np.random.default_rng(18)
    log = log_of(rng, 500, EVEN)
    tiny = log._replace(propensities=np.where(np.arange(500) == 3, 1e-300, 0.25))
    assert evaluate(tiny, EVEN, "snips").withheld
    assert evaluate(tiny, EVEN, "ips").withheld
    found = evaluate(log._replace(rewards=1e200 * log.rewards), EVEN)
    assert found.withheld or found.low < found.reward < found.high
    with pytest.raises(ValueError, match=r"rewards must be from 0 to 1, not .*: give the range"):
        evaluate(log._replace(rewards=2 * log.rewards), EVEN, merit=Exponential(1))


# The command


def test_the_command_and_its_page_say_what_was_withheld(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    from fairx.command.main import parser

    log = log_of(np.random.default_rng(19), 3000, rare(0.001))
    rows = zip([log.names[a] for a in log.arms], log.rewards, log.propensities, strict=True)
    path, policy = tmp_path / "log.csv", tmp_path / "policy.csv"
    path.write_text("arm,reward,propensity\n" + "\n".join(f"{a},{r},{p}" for a, r, p in rows))
    policy.write_text("arm,probability\na,0.3\nb,0.3\nc,0.3\nd,0.1\n")
    words = ["evaluate", str(path), "--policy", str(policy), "--out", str(tmp_path / "out")]
    options = parser().parse_args([*words, "--merit", "exponential:4"])
    assert options.run(options) == 0
    printed, page = capsys.readouterr().out, (tmp_path / "out" / "index.html").read_text()
    told = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert "(the interval is withheld)" in printed
    assert f"withheld: {told['withheld'][0]}" in printed
    assert "The interval is withheld: about" in page
    for text in (printed, page):
        assert "would get less than they earn" in text
        assert "of mean rewards that do not vary" in text
    assert told["low"] is None
    assert told["fairness"]["regret_low"] <= told["fairness"]["regret"]
    assert {"verdict", "fair_low", "ratio_high"} <= set(told["arms"][0])
    bound = [*words, "--interval", "sequence", "--weight-bound", "200", "--reward-range", "0", "1"]
    options = parser().parse_args(bound)
    assert options.run(options) == 0
    assert "withheld" not in capsys.readouterr().out
    for text, message in (
        ("a,0.5,1\n", "a line must be ARM,PROBABILITY"),
        ("a,1\na,0\n", "once, not 'a'"),
    ):
        policy.write_text(text)
        with pytest.raises(ValueError, match=message):
            options.run(options)


def test_pieces_are_cut_where_every_arm_has_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged, "PIECE", 4)
    log = log_of(np.random.default_rng(20), 100, EVEN)
    assert [len(piece.arms) for piece in logged.narrow(log)] == [64, 36]
