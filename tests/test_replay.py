from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import oracles
import pytest
from cases import name
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairx import (
    EG,
    TS,
    UCB,
    Affine,
    Custom,
    Exponential,
    FairXEG,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    FairXUCB,
    LinUCB,
    OptimalFair,
    Uniform,
    simulate,
)
from fairx.compiled import interpreted
from fairx.environments import Bernoulli
from fairx.numerics.streams import normals_of_round, streams, uniform
from fairx.replay import UniformLog, replay

MERIT = Exponential(4)
MEANS = np.array([0.2, 0.5, 0.6, 0.8, 0.3])
POOLS = [[0, 1, 2], [1, 3], [4, 0, 3, 2]]
BANDITS: list[Any] = [
    FairXUCB(MERIT, width=0.5),
    FairXUCB(MERIT, width=0.5, solver="gradient"),
    FairXTS(MERIT, prior_std=1, reward_std=0.5),
    FairXEG(MERIT, epsilon=0.1),
    UCB(width=0.5),
    TS(prior_std=1, reward_std=0.5),
    EG(epsilon=0.1),
]
LINEAR: list[Any] = [
    FairXLinUCB(MERIT, beta=0.5, ridge=1),
    FairXLinTS(MERIT, prior_std=1, reward_std=0.5),
    FairXLinEG(MERIT, epsilon=0.1, ridge=1),
    LinUCB(beta=0.5, ridge=1),
]
QUICK = [name(policy) for policy in (BANDITS[0], BANDITS[2], BANDITS[4], LINEAR[1])]


def each(policies: list[Any]) -> list[Any]:
    """Return them as parameters; those whose loop would take long to compile are slow."""
    slow = [not interpreted() and name(policy) not in QUICK for policy in policies]
    return [
        pytest.param(policy, id=name(policy), marks=pytest.mark.slow if takes_long else ())
        for policy, takes_long in zip(policies, slow, strict=True)
    ]


def is_linear(policy: Any) -> bool:
    return "Lin" in type(policy).__name__


def made(
    events: int, seed: int, *, features: bool = False, pools: Any = POOLS, **truth: Any
) -> Any:
    """Return a log with pools that change: each event has one of them."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(len(pools), size=events)
    displayed = np.array([rng.choice(pools[number]) for number in pool])
    rewards = (rng.random(events) < MEANS[displayed]).astype(float)
    known: dict[str, Any] = {}
    if features:
        known = {"users": rng.dirichlet(np.ones(3), events), "items": rng.random((5, 2))}
    elif not truth:
        truth = {"means": MEANS}
    return UniformLog(pools, displayed, rewards, pool, **known, **truth)


def by_hand(policy: Any, log: Any, judge: Any, rounds: int, seed: int) -> dict[str, Any]:
    """Replay with the public doors, the definitions and the documented random numbers."""
    keys, widest = streams(seed, 0), log.pools.shape[1]
    state = policy.start(log.arms, log.dimension)
    draws, work = policy.needs(widest, log.dimension)
    totals, exposure, pulls = np.zeros(2), np.zeros(log.arms), np.zeros(log.arms)
    for event in range(len(log.displayed)):
        arms = log.pools[log.pool[event]]
        arms = arms[arms >= 0]
        shown = np.array([np.outer(log.users[event], log.items[arm]).ravel() for arm in arms])
        deployed, normals = np.empty(arms.size), np.empty(draws)
        with np.errstate(all="ignore"):
            normals_of_round(keys.policy, event, draws, normals)
            policy.propose(state, arms, shown, normals, np.empty(work), deployed)
            chance = uniform(keys.choice, event)
        position = min(
            int(np.searchsorted(np.cumsum(deployed), chance, side="right")), arms.size - 1
        )
        if arms[position] != log.displayed[event]:
            continue
        policy.absorb(
            state, int(arms[position]), shown[position], log.rewards[event], np.empty(work)
        )
        means = log.means[arms] + shown @ log.parameter
        totals += oracles.regrets(oracles.fair(judge, means), deployed, means)
        exposure[arms] += deployed
        pulls[arms[position]] += 1
        if pulls.sum() == rounds:
            break
    return {"totals": totals, "exposure": exposure / rounds, "pulls": pulls, "events": event + 1}


@pytest.mark.parametrize("policy", each([*BANDITS, *LINEAR]))
def test_a_replay_is_that_of_the_definitions(policy: Any) -> None:
    log = made(300, seed=5, features=is_linear(policy))
    found = replay(policy, log, MERIT, seed=3, rounds=40)
    expected = by_hand(policy, log, MERIT, 40, 3)
    assert found.events.tolist() == [expected["events"]]
    np.testing.assert_array_equal(found.result.pulls[0], expected["pulls"])
    np.testing.assert_allclose(found.result.exposure[0], expected["exposure"], rtol=1e-12)
    regrets = [found.result.fairness_regret[0, -1], found.result.reward_regret[0, -1]]
    np.testing.assert_allclose(regrets, expected["totals"], rtol=1e-11, atol=1e-12)


@pytest.mark.skipif(interpreted(), reason="NUMBA_DISABLE_JIT is set: unset it")
@pytest.mark.parametrize("policy", each([*BANDITS, *LINEAR]))
def test_interpreted_equals_compiled(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = made(400, seed=6, features=is_linear(policy))
    compiled = replay(policy, log, MERIT, seed=3, runs=2), log.judged(MERIT)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    plain = replay(policy, log, MERIT, seed=3, runs=2), log.judged(MERIT)
    np.testing.assert_equal(compiled, plain)


@pytest.mark.parametrize("policy", each(BANDITS))
def test_the_first_event_is_accepted_for_exactly_one_display(policy: Any) -> None:
    """Whatever is drawn, one of the K displays is it: the chance of acceptance is exactly 1/K."""
    for seed in range(5):
        accepted = [
            _accepts(policy, UniformLog([[2, 0, 1]], [arm], [1.0]), seed) for arm in range(3)
        ]
        assert sum(accepted) == 1


def _accepts(policy: Any, log: UniformLog, seed: int) -> bool:
    try:
        return bool(replay(policy, log, MERIT, seed=seed).accepted == 1)
    except ValueError as error:
        return "at most 0, which run 0 accepted of 1 events, not 1" not in str(error)


@pytest.mark.parametrize("policy", each([BANDITS[2], BANDITS[3], BANDITS[4]]))
def test_replay_is_distributed_as_direct_simulation(policy: Any) -> None:
    """Final regrets of independent logs and of independent simulations.

    Their means within 5 standard errors of the difference (false alarm below 1e-6 each, as the sum of
    150 regrets is near normal), and a two-sample Kolmogorov-Smirnov test at the level of 1e-6.
    """
    arms, rounds, runs = 4, 30, 150 if interpreted() else 600
    means = MEANS[:arms]
    rng, found = np.random.default_rng(7), []
    for run in range(runs):
        displayed = rng.integers(
            arms, size=260
        )  # fewer than 30 are accepted once in 5 * 10**7 runs
        rewards = rng.random(260) < means[displayed]
        log = UniformLog([list(range(arms))], displayed, rewards, means=means)
        result = replay(policy, log, MERIT, seed=1, rounds=rounds, runs=[run], checkpoints=1).result
        found.append([result.fairness_regret[0, 0], result.reward_regret[0, 0]])
    direct = simulate(policy, Bernoulli(means), MERIT, rounds=rounds, seed=2, runs=runs)
    for column, regret in enumerate((direct.fairness_regret, direct.reward_regret)):
        left, right = np.array(found)[:, column], regret[:, -1]
        error = np.sqrt((left.var(ddof=1) + right.var(ddof=1)) / runs)
        assert abs(left.mean() - right.mean()) < 5 * error
        assert stats.ks_2samp(left, right).pvalue > 1e-6


@pytest.mark.parametrize("policy", each([Uniform(), *BANDITS[2:]]))
def test_the_acceptance_rate_is_one_in_the_size_of_the_pool(policy: Any) -> None:
    """The accepted less the expected events are a martingale of variance below E = sum 1/K.

    When n are accepted, n is within 5 sqrt(n) of that sum over the events read, but for one run in
    some 10**5 (Freedman).
    """
    log = made(4000, seed=8)
    found = replay(policy, log, MERIT, seed=1)
    sizes = (log.pools >= 0).sum(axis=1)[log.pool[: found.events[0]]]
    assert abs(found.accepted - (1 / sizes).sum()) < 5 * np.sqrt(found.accepted)
    assert found.accepted == log.horizon()
    np.testing.assert_allclose(found.acceptance, found.accepted / found.events)


def test_only_arms_on_offer_are_exposed() -> None:
    log = made(600, seed=9, pools=[[0, 1], [1, 2]])
    result = replay(FairXTS(MERIT, 1, 0.5), log, MERIT, seed=1, runs=2).result
    assert result.exposure.shape == (2, 5)
    assert (result.exposure[:, 3:] == 0).all()
    assert (result.exposure[:, :3] > 0).all()
    np.testing.assert_allclose(result.exposure.sum(axis=1), 1)
    np.testing.assert_array_equal(result.pulls.sum(axis=1), result.rounds[-1])
    assert (np.diff(result.fairness_regret) >= 0).all()


def test_the_optimal_policy_has_no_regret() -> None:
    """And is exposed as `judged` says: within 5 standard errors, of at most 1/2 a round."""
    log = made(4000, seed=10)
    found = replay(OptimalFair(MERIT, MEANS), log, MERIT, seed=1)
    assert found.result.fairness_regret[0, -1] < 1e-9
    means, fair = log.judged(MERIT)
    np.testing.assert_allclose(means, MEANS, rtol=1e-12)
    assert np.abs(found.result.exposure[0] - fair).max() < 5 * 0.5 / np.sqrt(found.accepted)


def test_judged_is_the_average_over_events() -> None:
    log = made(50, seed=11, features=True)
    total, fair, weights = np.zeros(5), np.zeros(5), np.zeros(5)
    for event in range(50):
        arms = log.pools[log.pool[event]]
        arms = arms[arms >= 0]
        means = [
            float(np.outer(log.users[event], log.items[a]).ravel() @ log.parameter) for a in arms
        ]
        total[arms] += np.array(means) / arms.size
        fair[arms] += oracles.fair(MERIT, means) / arms.size
        weights[arms] += 1 / arms.size
    found = log.judged(MERIT)
    np.testing.assert_allclose(found[0], total / weights, rtol=1e-9)
    np.testing.assert_allclose(found[1], fair / log.expected(), rtol=1e-9)
    np.testing.assert_allclose(fair.sum(), log.expected())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_a_run_depends_on_the_seed_and_its_number_alone(seed: int, jobs: int) -> None:
    log, policy = made(200, seed=12), FairXTS(MERIT, 1, 0.5)
    few = replay(policy, log, MERIT, seed=seed, rounds=20, runs=2, jobs=1)
    many = replay(policy, log, MERIT, seed=seed, rounds=20, runs=4, jobs=jobs)
    np.testing.assert_equal(few.result.fairness_regret, many.result.fairness_regret[:2])
    np.testing.assert_equal(few.events, many.events[:2])
    assert not np.array_equal(many.result.exposure[0], many.result.exposure[1])
    shorter = replay(policy, log, MERIT, seed=seed, rounds=20, runs=[3], checkpoints=[7])
    assert shorter.result.rounds.tolist() == [7, 20]
    np.testing.assert_equal(
        shorter.result.fairness_regret[0, -1], many.result.fairness_regret[3, -1]
    )


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    log, told = made(700, seed=13), list[int]()
    whole = replay(FairXUCB(MERIT, 0.5), log, MERIT, seed=1, progress=told.append)
    assert sum(told) == whole.accepted
    monkeypatch.setattr("fairx.simulation.runs.CHUNK_SECONDS", 1e-9)
    np.testing.assert_equal(replay(FairXUCB(MERIT, 0.5), log, MERIT, seed=1), whole)


class Somebodys(NamedTuple):
    """A policy with the public methods alone, which draws from the generator it is given."""

    steepness: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros((2, arms))

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        means = state[1][arms] / np.maximum(state[0][arms], 1.0)
        weights = np.exp(self.steepness * (means - means.max())) + 0.1 * rng.random()
        return weights / weights.sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[0, arm] += 1.0
        state[1, arm] += reward


def test_a_policy_of_others_replays() -> None:
    """It proposes anew at each event, as its draws are its own."""
    log = made(600, seed=14)
    found = replay(Somebodys(4.0), log, MERIT, seed=1, runs=2)
    np.testing.assert_allclose(found.result.exposure.sum(axis=1), 1)
    again = replay(Somebodys(4.0), log, MERIT, seed=1, runs=[1])
    np.testing.assert_equal(again.result.exposure[0], found.result.exposure[1])
    policy, rng = Somebodys(4.0), np.random.default_rng(np.random.SeedSequence(1, spawn_key=(0, 1)))
    state, pulls = policy.start(5, 0), np.zeros(5)
    for event, arms in enumerate(log.pools[log.pool[: found.events[0]]]):
        deployed = policy.probabilities(state, arms[arms >= 0], None, rng)
        with np.errstate(over="ignore"):
            chance = uniform(streams(1, 0).choice, event)
        arm = arms[int(np.searchsorted(np.cumsum(deployed), chance, side="right"))]
        if arm == log.displayed[event]:
            policy.learn(state, arm, None, log.rewards[event])
            pulls[arm] += 1
    np.testing.assert_array_equal(found.result.pulls[0], pulls)


def test_truth_from_the_log() -> None:
    log = made(3000, seed=15, means=None)
    for arm in range(5):
        shown = log.displayed == arm
        np.testing.assert_allclose(log.means[arm], log.rewards[shown].mean())
    few: Any = UniformLog([[0, 1, 2]], [0, 0, 1], [1.0, 0.0, 1.0])
    np.testing.assert_allclose(few.means, [0.5, 1, 2 / 3])  # the third was never displayed
    assert few.mean_range() == (0.5, 1)


def test_the_fit_cuts_off_what_features_that_sum_to_one_leave_open() -> None:
    """Six features of which five sum to the sixth: 36 products have 25 dimensions."""
    rng = np.random.default_rng(16)
    users, items = (np.round(rng.dirichlet(np.ones(5), n), 6) for n in (20_000, 30))
    users, items = (np.column_stack([np.ones(len(x)), x]) for x in (users, items))
    displayed, true = rng.integers(30, size=20_000), rng.normal(size=(6, 6))
    rewards = ((users @ true) * items[displayed]).sum(axis=1)
    log: Any = UniformLog([list(range(30))], displayed, rewards, users=users, items=items)
    products = (users[:, :, None] * items[displayed][:, None]).reshape(-1, 36)
    np.testing.assert_allclose(products @ log.parameter, rewards, atol=1e-4)
    assert np.linalg.matrix_rank(products, tol=1e-3) == 25
    least = np.linalg.lstsq(products, rewards, rcond=1e-5)[0]  # of all solutions the shortest
    np.testing.assert_allclose(log.parameter, least, atol=1e-4)
    low, high = log.mean_range()
    np.testing.assert_allclose([low, high], [rewards.min(), rewards.max()], atol=1e-4)
    single = log._replace(users=users.astype(np.float32), parameter=None, means=None)
    assert single.users.dtype == np.float32
    np.testing.assert_allclose(single.parameter, least, atol=1e-3)


def test_pools_by_default() -> None:
    own: Any = UniformLog([[0, 1], [2]], [1, 2], [0.0, 1.0])
    assert own.pool.tolist() == [0, 1]
    assert own.expected() == 1.5
    assert own._replace(means=[0, 1, 2]).means.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pools": []}, "each of the pools must be a list of at least one arm"),
        ({"pools": [[0, 1], []]}, "each of the pools must be a list of at least one arm"),
        ({"pools": [[0, 1], [2, 2]]}, r"must have an arm once, not \[2, 2\]"),
        ({"pools": [[0, 1], [0, -2]]}, "each of the pools must be from -1 to"),
        ({"pools": [[0.0, 1.0], [0.0, 2.0]]}, "must be whole numbers"),
        ({"displayed": []}, "the number of events must be"),
        (
            {"displayed": [0, 2, 1]},
            r"displayed\[1\] must be in the pool of its event, \[0, 1\], not 2",
        ),
        ({"displayed": [0, 1, 7]}, "displayed must be from 0 to 2, not 7"),
        ({"displayed": [0.0, 1.0, 1.0]}, "displayed must be whole numbers"),
        (
            {"pool": [0, 1]},
            r"pool must be whole numbers of shape \(3,\), not int64 of shape \(2,\)",
        ),
        ({"pool": [0, 1, 2]}, "pool must be from 0 to 1, not 2"),
        ({"pool": None}, r"pool must be whole numbers of shape \(3,\)"),
        ({"rewards": [0, 1]}, r"rewards must have shape \(3,\)"),
        ({"rewards": [0, 1, np.nan]}, "rewards must be finite"),
        ({"users": np.ones((3, 2))}, "users and items must be given together"),
        ({"users": np.ones((2, 2)), "items": np.ones((3, 2))}, r"users must have shape \(3, any\)"),
        ({"users": np.ones((3, 2)), "items": np.ones((2, 2))}, "pools must be from -1 to 1, not 2"),
        ({"means": [0.1, 0.2]}, "pools must be from -1 to 1, not 2"),
        ({"means": [0.1, 0.2, np.inf]}, "means must be finite"),
        ({"parameter": [1.0]}, r"parameter must have shape \(0,\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "pools": [[0, 1], [0, 2]], "displayed": [0, 1, 2], "rewards": [0, 1, 0], "pool": [0, 0, 1],
    }  # fmt: skip
    UniformLog(**good)
    with pytest.raises(ValueError, match=message):
        UniformLog(**(good | changes))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number of at least 1, not 0"),
        ({"rounds": 1000}, "the log is too short, or what it displayed was not drawn uniformly"),
        ({"seed": -1}, "seed must be"),
        ({"runs": 0}, "runs must be"),
        ({"jobs": 0}, "jobs must be"),
        ({"checkpoints": [5, 4]}, "checkpoints must increase"),
        ({"judge": Affine(1, -0.5)}, "merit must be positive"),
        ({"policy": FairXEG(Custom(lambda mean: 2.0 - mean), 0.1)}, "must not decrease"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    usual = {"policy": FairXEG(MERIT, 0.1), "log": made(200, seed=17), "judge": MERIT, "seed": 1}
    with pytest.raises(ValueError, match=message):
        replay(**(usual | options))


def test_a_log_can_be_made_of_its_own_fields() -> None:
    log = made(20, seed=18)
    plain = json.loads(json.dumps({k: np.asarray(v).tolist() for k, v in log._asdict().items()}))
    np.testing.assert_equal(UniformLog(**plain | {"users": None, "items": None}), log)
