"""The fair bandits of others, and ours beyond the paper: against oracles, and by their own notions.

Their sources, that is: `test_rivals` has the checks, where what is compiled is compared with them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rival_oracles
from cases import MERITS, name
from scipy import stats

from fairx import (
    EG,
    TS,
    UCB,
    Bandit,
    BetaTS,
    Discounted,
    Exponential,
    FairXBetaTS,
    FairXEG,
    FairXGammaTS,
    FairXGradient,
    FairXTS,
    FairXUCB,
    Floor,
    Groups,
    LinTS,
    Windowed,
    environments,
    simulate,
)
from fairx.numerics.gamma import gamma, quick_gamma, spread_of
from fairx.policies import (
    SDTS,
    Boltzmann,
    Chaining,
    DelayedFairXTS,
    DelayedFairXUCB,
    Exp3,
    FairLearn,
    FairSDTS,
    GuaranteedRevenue,
    NashUCB,
)
from fairx.policies.fair_beta_ts import draw_chances
from fairx.policies.groups import bound
from fairx.policies.rivals.calibrated import be_best
from fairx.policies.rivals.delayed_ts import draw_between

NONE, MERIT = np.empty(0), Exponential(4)


def shown(policy: Any, state: Any, arms: Any = (0, 1, 2, 3)) -> Any:
    """Return what a policy deploys for some arms."""
    found = np.array(arms)
    return policy.probabilities(state, found, np.empty((found.size, 0)), np.random.default_rng(0))


def after(policy: Any, rewards: Any) -> Any:
    """Return the state after these rewards of each arm."""
    state = policy.start(len(rewards), 0)
    for arm, those in enumerate(rewards):
        for reward in those:
            policy.learn(state, arm, NONE, reward)
    return state


REWARDS: list[Any] = [[0, 0, 1, 0], [1, 0, 1], [1, 1, 0, 1, 1, 0, 1], [1, 1, 0.5]]
PULLS = np.array([len(those) for those in REWARDS])
SUMS = np.array([sum(those) for those in REWARDS])


@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 40.0])
def test_gamma_numbers_have_their_distribution(shape: float) -> None:
    normals = np.random.default_rng(1).standard_normal(5_000)
    spread = spread_of(shape)
    with np.errstate(over="ignore"):
        found = [gamma(shape, spread, normal) for normal in normals.tolist()]
        quick = [quick_gamma(shape, spread, normal) for normal in normals.tolist()]
    # Of a right sampler, one seed of a million fails.
    assert stats.kstest(found, stats.gamma(shape).cdf).pvalue > 1e-6
    taken = [pair for pair in zip(found, quick, strict=True) if pair[1] >= 0]
    assert all(slow == fast for slow, fast in taken)
    assert len(taken) > 4_500 if shape >= 1 else not taken


def test_beta_draws_are_those_of_the_posterior() -> None:
    state, normals = after(FairXBetaTS(MERIT, 2, 1), REWARDS), np.random.default_rng(2)
    draws, work = np.empty((2_000, 4)), np.empty(4)
    with np.errstate(over="ignore"):
        for row in draws:
            draw_chances(state, np.arange(4), normals.standard_normal(8), work, row)
    for arm in range(4):
        posterior = stats.beta(2 + SUMS[arm], 1 + PULLS[arm] - SUMS[arm])
        assert stats.kstest(draws[:, arm], posterior.cdf).pvalue > 1e-6


def test_posteriors_follow_from_sums() -> None:
    coins, counts = after(BetaTS(2, 1), REWARDS), after(FairXGammaTS(MERIT, 2, 3), REWARDS)
    assert np.array_equal(coins.successes, 2 + SUMS)
    assert np.array_equal(coins.failures, 1 + PULLS - SUMS)
    assert np.array_equal(counts.shapes, 2 + SUMS)
    assert np.array_equal(counts.rates, 3 + PULLS)


@pytest.mark.parametrize("arms", [1, 2, 5, 9])
def test_chances_of_the_best_are_those_of_all_outcomes(arms: int) -> None:
    rng = np.random.default_rng(arms)
    for means in (rng.random(arms), rng.random(arms) ** 8, 1 - rng.random(arms) ** 8):
        out = np.empty(arms)
        be_best(means, np.empty(arms + 1), out)
        assert np.abs(out - rival_oracles.best_chances(means)).max() < 1e-12


def test_chances_of_the_best_hold_for_many_arms() -> None:
    means, out = np.random.default_rng(3).random(300), np.empty(300)
    be_best(means, np.empty(301), out)
    assert abs(out.sum() - 1) < 1e-12
    assert out.min() >= 0


def test_calibrated_policies_play_their_posterior() -> None:
    expected = rival_oracles.best_chances((1 + SUMS) / (2 + PULLS))
    assert np.abs(shown(SDTS(), after(SDTS(), REWARDS)) - expected).max() < 1e-12
    late, early = FairSDTS(epsilon=3, delta=0.5), FairSDTS(epsilon=2.0, delta=0.5)
    assert np.abs(shown(late, after(late, REWARDS)) - expected).max() < 1e-12  # after 0.7 pulls
    first = FairSDTS(epsilon=1.4, delta=0.5)  # after 3.2 pulls: the second arm has 3
    assert np.array_equal(shown(first, after(first, REWARDS)), np.full(4, 0.25))
    assert np.abs(shown(early, after(early, REWARDS)) - expected).max() < 1e-12  # after 1.6


@pytest.mark.parametrize("width", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_chains_are_overlaps(width: float) -> None:
    policy = Chaining(width)
    state, half = after(policy, REWARDS), width / np.sqrt(PULLS)
    means = SUMS / PULLS
    expected = rival_oracles.chained(means - half, means + half)
    assert np.allclose(shown(policy, state), expected, atol=1e-15)


@pytest.mark.parametrize("missing", [False, True])
def test_delayed_boxes_are_those_of_the_authors(missing: bool) -> None:
    policy = DelayedFairXUCB(MERITS[0], 0.5, missing)
    state, arms, even = after(policy, [those * 20 for those in REWARDS]), np.arange(4), np.ones(4)
    for position in np.repeat(arms, 20 * PULLS + np.array([0, 30, 5, 0])).tolist():
        policy.played(state, arms, position, even / 4)
    expected = rival_oracles.delayed(policy, state.plays, 20 * PULLS, 20 * SUMS)
    assert np.abs(shown(policy, state) - expected).max() < 1e-9


def test_delayed_draws_lie_between_hope_and_fear() -> None:
    state, rng = after(DelayedFairXTS(MERIT), REWARDS), np.random.default_rng(9)
    missing = np.array([0, 3, 0, 8])
    state.plays[:] = PULLS + missing
    draws, work = np.empty((2_000, 4)), np.empty(16)
    with np.errstate(over="ignore"):
        for row in draws:
            draw_between(state, np.arange(4), 1.0, 1.0, rng.standard_normal(16), work, row)
    won, lost = 1 + SUMS, 1 + PULLS - SUMS
    hope = rng.beta(won + missing, lost, size=(20_000, 4))
    fear = rng.beta(won, lost + missing, size=(20_000, 4))
    for arm in range(4):
        expected = 0.5 * (hope + fear)[:, arm]
        assert stats.ks_2samp(draws[:, arm], expected).pvalue > 1e-6


def test_exp3_weighs_rewards_by_propensities() -> None:
    policy, scores = Exp3(gamma=0.2), np.zeros(4)
    state, rng = policy.start(4), np.random.default_rng(5)
    for _ in range(30):
        chances = shown(policy, state)
        weights = np.exp(0.2 / 4 * scores)
        assert np.abs(chances - (0.8 * weights / weights.sum() + 0.05)).max() < 1e-12
        arm, reward = int(rng.integers(4)), float(rng.random())
        policy.played(state, np.arange(4), arm, chances)
        policy.learn(state, arm, NONE, reward)
        scores[arm] += reward / chances[arm]


@pytest.mark.parametrize("optimism", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("factor", [0.3, 1.0])
def test_revenues_are_a_linear_program(optimism: float, factor: float) -> None:
    revenues = factor * np.array([0.1, 0.3, 0.2, 0.3])
    policy = GuaranteedRevenue(revenues, optimism)
    half, means = np.sqrt(2 * np.log(PULLS.sum()) / PULLS), SUMS / PULLS
    least = revenues / np.clip(means + optimism * half, revenues, 1)
    upper = np.clip(means + half, revenues, 1) - 1e-6 * np.arange(4)  # ties go to the lowest
    expected = rival_oracles.revenue_program(least, upper)
    assert np.abs(shown(policy, after(policy, REWARDS)) - expected).max() < 1e-9


def test_the_nash_bound_comes_after_turns() -> None:
    policy = NashUCB(rounds=100, constant=0.05)  # turns until a sum is above 4.84
    assert shown(policy, after(policy, [[1], [1, 1], [1, 0], [1] * 4])).argmax() == 0
    state = after(policy, REWARDS)  # the third arm has 5
    bounds = SUMS / PULLS + 0.1 * np.sqrt(2 * SUMS / PULLS * np.log(100) / PULLS)
    assert shown(policy, state).argmax() == bounds.argmax()
    assert shown(policy, state, [0, 1]).argmax() == 1  # whose sums are small: 3 pulls, not 4


def test_fair_learn_owes_no_arm_more_than_it_tolerates() -> None:
    rates = [0.3, 0.05, 0.2, 0.1]
    policy = FairLearn(UCB(width=0.2), rates, tolerance=2)
    state, rng = policy.start(4), np.random.default_rng(6)
    for t in range(300):
        chances = shown(policy, state)
        owed = np.array(rates) * t - state.plays
        if owed.max() > 2:
            assert chances[owed.argmax()] == 1
        assert owed.max() <= 2 + 0.3 * 4  # each of the others may come first
        arm = int(chances.argmax())
        policy.played(state, np.arange(4), arm, chances)
        policy.learn(state, arm, NONE, float(rng.random() < 0.2 * arm))
    assert state.plays.argmax() == 3


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_the_nearest_within_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, low = [0, 1, 1, 2, 2, 2], rng.dirichlet(np.ones(3)) * 0.8
    high = np.minimum(low + rng.random(3) * 0.6 + 0.1, 1)
    merit = Exponential(6)
    inner = FairXEG(merit, epsilon=0)
    policy = Groups(inner, groups, low, high)
    state = after(policy, rng.random((6, 3)))
    given, found = shown(inner, state, range(6)), shown(policy, state, range(6))
    masses = found @ np.eye(3)[groups]
    assert abs(found.sum() - 1) < 1e-12
    assert (masses >= low - 1e-12).all()
    assert (masses <= high + 1e-12).all()
    nearest = rival_oracles.nearest_in_groups(given, groups, low, high)
    assert np.abs(found - nearest).max() < 1e-4
    assert np.sum(found * np.log(found / given)) <= np.sum(nearest * np.log(nearest / given)) + 1e-9


def test_groups_keep_their_bounds_whatever_the_rounding() -> None:
    """(low / mass) * mass is a little less than low for some masses: 3 of 100 passed their bounds, by a tenth."""
    low, high, out = np.array([0.4, 0.1]), np.array([1.0, 0.5]), np.empty(2)
    for mass in np.random.default_rng(1).random(2000):
        bound(np.array([mass, 1.0 - mass]), low, high, out)
        factor = max(0.5, mass)  # the other has at most a half, and at least a tenth
        assert np.allclose(out, [min(factor, 0.9), max(1.0 - factor, 0.1)], rtol=0, atol=1e-12)


def test_bounds_that_masses_cannot_keep() -> None:
    out = np.empty(2)
    bound(np.array([1.0, 0.0]), np.array([0.0, 0.1]), np.array([0.4, 1.0]), out)
    assert np.allclose(out, [0.4, 0.6], atol=1e-8)  # the other group is raised from nothing
    bound(np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.array([0.4, 0.0]), out)
    assert np.array_equal(out, [1.0, 0.0])  # it is not on offer


def test_a_floor_is_under_each_arm() -> None:
    policy = Floor(UCB(width=0.1), share=0.1)
    assert np.allclose(shown(policy, policy.start(4)), [0.7, 0.1, 0.1, 0.1])
    assert np.allclose(shown(Floor(UCB(0.1), 0.5), policy.start(4)), np.full(4, 0.25))


def test_a_step_has_the_slope_of_reward_and_entropy_for_its_mean() -> None:
    policy, means = FairXGradient(steepness=4, rate=0.1), np.array([0.2, 0.5, 0.6])
    logits, arms = np.array([0.3, -0.2, 0.5]), np.arange(3)
    even, mean_step, slope = np.full(3, 1 / 3), np.zeros(3), np.zeros(3)
    for arm in range(3):  # drawn uniformly, and so weighed
        state = policy.start(3)
        state.logits[:], state.level[0] = logits, 0.3
        policy.played(state, arms, arm, even)
        policy.learn(state, arm, NONE, means[arm])
        mean_step += (state.logits - logits) / 3
        ends = [
            rival_oracles.reward_and_entropy(logits + h * (arms == arm), means, 4)
            for h in (1e-5, -1e-5)
        ]
        slope[arm] = (ends[0] - ends[1]) / 2e-5
    assert np.abs(mean_step - 0.1 * slope).max() < 1e-8


@pytest.mark.parametrize("policy", [FairXEG(Exponential(4), epsilon=0), Boltzmann(0.25)], ids=name)
def test_boltzmann_is_fair_without_epsilon(policy: Any) -> None:
    weights = np.exp(4 * SUMS / PULLS)
    assert np.allclose(shown(policy, after(policy, REWARDS)), weights / weights.sum(), atol=1e-14)
    assert np.allclose(shown(policy, policy.start(4)), 0.25)
    some = weights[[3, 1]] / weights[[3, 1]].sum()
    assert np.allclose(shown(policy, after(policy, REWARDS), [3, 1]), some, atol=1e-14)


def test_a_cold_boltzmann_is_greedy() -> None:
    state = after(Boltzmann(1e-300), REWARDS)
    assert np.array_equal(shown(Boltzmann(1e-300), state), np.eye(4)[(SUMS / PULLS).argmax()])
    assert np.allclose(shown(Boltzmann(1e300), state), 0.25)


@pytest.mark.parametrize(
    ("one", "each"),
    [
        (FairLearn(UCB(0.2), 0.2, 1), FairLearn(UCB(0.2), [0.2] * 4, 1)),
        (GuaranteedRevenue(0.1), GuaranteedRevenue([0.1] * 4)),
    ],
    ids=["rates", "revenues"],
)
def test_one_number_is_for_all_arms(one: Any, each: Any) -> None:
    paid = environments.Bernoulli([0.2, 0.5, 0.5, 0.8])
    alike = [simulate(policy, paid, MERIT, rounds=200, seed=4) for policy in (one, each)]
    assert np.array_equal(alike[0].exposure, alike[1].exposure)
    bandit = Bandit(one, ["a", "b"], seed=1)
    bandit.learn(bandit.act(), 1.0)
    bandit.add_arm("c")
    assert len(bandit.act().probabilities) == 3


COUNTING = [
    FairXTS(MERIT, 1, 0.5), FairXUCB(MERIT, 0.3), UCB(0.3), FairXEG(MERIT, 0.1),
    FairXBetaTS(MERIT), FairXGammaTS(MERIT), SDTS(), Floor(EG(0.1), 0.05),
]  # fmt: skip


def some_rewards(number: int = 60, seed: int = 8) -> list[tuple[int, float]]:
    """Return rewards of three arms, of which the last has none of late."""
    rng = np.random.default_rng(seed)
    arms = np.where(
        np.arange(number) < 20, rng.integers(3, size=number), rng.integers(2, size=number)
    )
    return list(
        zip(arms.tolist(), rng.integers(2, size=number).astype(float).tolist(), strict=True)
    )


def take(policy: Any, state: Any, arm: int, reward: float) -> None:
    """Let the source learn, without compiling it: the checks compare the two."""
    policy.absorb(state, arm, NONE, reward, np.empty(policy.needs(3, 0)[1]))


@pytest.mark.parametrize("within", COUNTING, ids=name)
def test_discounted_counts_are_sums_of_powers(within: Any) -> None:
    policy, rewards = Discounted(within, discount=0.9), some_rewards()
    state, expected = policy.start(3), within.start(3)
    for arm, reward in rewards:
        take(policy, state, arm, reward)
    powers = 0.9 ** np.arange(len(rewards))[::-1]
    for arm in range(3):
        mine = [i for i, one in enumerate(rewards) if one[0] == arm]
        expected.pulls[arm] = powers[mine].sum() - 1
        expected.reward_sums[arm] = sum(powers[i] * rewards[i][1] for i in mine)
        take(within, expected, arm, 0.0)  # all else follows from the counts
    for one, other in zip(state, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_nothing_winds_up_where_an_arm_is_forgotten() -> None:
    policy = Discounted(FairXUCB(MERIT, 0.3, bounds=(0, 1)), discount=0.5)
    state = after(policy, [[1.0], [0.5]])
    for _ in range(3_000):
        policy.learn(state, 0, NONE, 1.0)
    assert state.pulls[1] == pytest.approx(1e-6)
    assert state.reward_sums[1] / state.pulls[1] == pytest.approx(0.5)
    assert (state.low[1], state.high[1]) == (0.0, 1.0)
    assert np.isfinite(shown(policy, state, [0, 1])).all()


@pytest.mark.parametrize("within", COUNTING, ids=name)
def test_a_window_is_what_the_last_rewards_teach(within: Any) -> None:
    policy, rewards, expected = Windowed(within, window=15), some_rewards(), within.start(3)
    state = policy.start(3)
    for arm, reward in rewards:
        take(policy, state, arm, reward)
    for arm, reward in rewards[-15:]:
        take(within, expected, arm, reward)
    assert expected.pulls[2] == 0
    for one, other in zip(state.inner, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_window_is_saved_with_its_bandit(tmp_path: Path) -> None:
    bandit = Bandit(Windowed(TS(1, 0.5), window=4), ["a", "b"], seed=3)
    for _ in range(7):
        bandit.learn(bandit.act(), 0.5)
    bandit.add_arm("c")
    bandit.save(tmp_path / "kept.npz")
    again = Bandit.load(tmp_path / "kept.npz")
    assert again.state.inner.pulls.sum() == 4
    assert again.state.arms.tolist() == bandit.state.arms.tolist()
    assert np.array_equal(bandit.act().probabilities, again.act().probabilities)


@pytest.mark.parametrize(
    "policy",
    [
        Floor(Exp3(gamma=0.1), share=0.02),
        FairLearn(TS(1, 0.5), rates=(0.1, 0.2, 0.2, 0.1), tolerance=1),
        FairXGradient(steepness=4, rate=0.2),
    ],
    ids=name,
)
def test_a_bandit_plays_as_a_simulation(policy: Any, tmp_path: Path) -> None:
    """Both tell what was played; and what a bandit was told is saved with it."""
    paid = environments.Normal([0.25] * 4, std=0)
    result = simulate(policy, paid, MERIT, rounds=40, seed=7)
    reached, exposure, pulls = Bandit(policy, 4, seed=7), np.zeros(4), np.zeros(4)
    for _ in range(40):
        decision = reached.act()
        exposure += decision.probabilities
        pulls[decision.arm] += 1
        reached.learn(decision, 0.25)
    assert np.array_equal(result.pulls[0], pulls)
    assert np.abs(result.exposure[0] - exposure / 40).max() < 1e-12
    reached.save(tmp_path / "kept.npz")
    again = Bandit.load(tmp_path / "kept.npz")
    assert pickle.dumps(reached.state) == pickle.dumps(again.state)
    assert np.array_equal(reached.act().probabilities, again.act().probabilities)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FairXBetaTS(MERIT, 0), "successes must be positive"),
        (lambda: Floor(3, 0.1), "policy must be a policy of fairx, not 3"),
        (lambda: Floor(UCB(0.1), 2), "share must be a number from 0 to 1"),
        (lambda: Groups(UCB(0.1), [0, 1], [0.6, 0.6], [1, 1]), "low and high must be shares"),
        (lambda: Groups(UCB(0.1), [0, 1], [0.1], [1]), "low and high must be one for each group"),
        (lambda: Groups(UCB(0.1), [0], [0], [1]).start(2), "groups must be one for each of the 2"),
        (lambda: FairLearn(UCB(0.1), [0.7, 0.7]), "the sum of the rates must be"),
        (lambda: FairLearn(Exp3(0.1), [0.1]), "policy must learn from rewards alone"),
        (lambda: FairLearn(UCB(0.1), [0.1]).start(2), "rates must be one for each of the 2 arms"),
        (lambda: FairLearn(UCB(0.1), 0.4).start(3), "rates must be at most 1 in all, not 1.2: 0.4"),
        (lambda: FairLearn(UCB(0.1), "much"), "rates must be a number from 0 to 1, not 'much'"),
        (lambda: GuaranteedRevenue(1.5), "revenues must be a number from 0 to 1"),
        (lambda: Boltzmann(0), "temperature must be positive, not 0"),
        (lambda: Boltzmann(1e-310), "1 / temperature must be finite"),
        (lambda: GuaranteedRevenue([0.7, 0.7]), "the sum of the revenues must be"),
        (lambda: GuaranteedRevenue([0.1]).start(2), "revenues must be one for each of the 2 arms"),
        (lambda: Discounted(TS(1, 1), 1), "discount must be below 1, not 1"),
        (lambda: Discounted(LinTS(1, 1), 0.9), "policy must follow from counts and sums"),
        (lambda: Windowed(Exp3(0.1), 9), "policy must follow from counts and sums"),
        (
            lambda: Windowed(FairXUCB(MERIT, 1, bounds=(0, 1), interval="bernstein"), 9),
            "policy must follow from counts and sums",
        ),
        (lambda: Windowed(TS(1, 1), 0), "window must be"),
        (lambda: NashUCB(0), "rounds must be"),
        (lambda: FairXGradient(0, 0.1), "steepness must be positive"),
        (lambda: FairXGradient(4, 2), "rate must be"),
        (lambda: Exp3(2), "gamma must be"),
        (lambda: FairSDTS(0, 0.1), "epsilon must be positive"),
        (lambda: DelayedFairXUCB(MERIT, 0), "delta must be positive"),
        (lambda: Chaining(-1), "width must be"),
        (lambda: SDTS().check_reach(0, 2), "rewards must be from 0 to 1, not 0 to 2"),
    ],
)
def test_bad_settings_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
