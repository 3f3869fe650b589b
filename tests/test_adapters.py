"""Adapters, each against the package that it is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import contexts
from conftest import imported

from fairx import Bandit, Exponential, FairXLogisticTS, FairXTS, simulate
from fairx.adapters.for_open_bandit import bandit_feedback
from fairx.environments import Bernoulli, Late, LinearPrior, LogisticLinear, Sleeping
from fairx.features import Category, Features, Number

MERIT = Exponential(4)
POLICY = FairXTS(MERIT, prior_std=1, reward_std=0.5)
REMEDY = "pip install 'fairx[adapters]'"
FEATURES = Features({"hour": Number(12, 6)}, {"arm": Category([0, 1])}, [("hour", "arm")])
WORLD = LogisticLinear(contexts(), parameter=np.ones(5))


@pytest.fixture
def gymnasium() -> Any:
    imported("gymnasium", REMEDY)
    from fairx.adapters import for_gymnasium

    return for_gymnasium


# Gymnasium would have observations bounded; contexts may be any.
@pytest.mark.filterwarnings("ignore:.*observation space m:UserWarning")
@pytest.mark.parametrize("environment", [Bernoulli([0.2, 0.8]), WORLD, LinearPrior(contexts())])
def test_gymnasium_finds_no_fault_with_an_environment(gymnasium: Any, environment: Any) -> None:
    from gymnasium.utils.env_checker import check_env

    made = gymnasium.GymnasiumEnvironment(environment, rounds=20)
    check_env(made, skip_render_check=True)
    observation, _ = made.reset(seed=3)
    assert made.observation_space.contains(observation)
    steps = [made.step(0) for _ in range(20)]
    assert [step[3] for step in steps] == [False] * 19 + [True]
    again = gymnasium.GymnasiumEnvironment(environment, rounds=20)
    again.reset(seed=3)
    assert [again.step(0)[1] for _ in range(20)] == [step[1] for step in steps]


def test_gymnasium_pays_by_the_means(gymnasium: Any) -> None:
    """500 rewards of one arm, within six standard errors."""
    made = gymnasium.GymnasiumEnvironment(Bernoulli([0.2, 0.8]), rounds=500)
    _, info = made.reset(seed=1)
    assert info["means"].tolist() == [0.2, 0.8]
    rewards = [made.step(1)[1] for _ in range(500)]
    assert abs(np.mean(rewards) - 0.8) < 6 * 0.4 / np.sqrt(500)


def test_gymnasium_is_told_which_arms_sleep(gymnasium: Any) -> None:
    asleep = Sleeping(Bernoulli([0.2, 0.5, 0.8]), [[0, 2], [1]])
    made = gymnasium.GymnasiumEnvironment(asleep, rounds=50)
    observation, info = made.reset(seed=1)
    for _ in range(10):
        offered = np.flatnonzero(info["action_mask"])
        assert offered.tolist() in ([0, 2], [1])
        assert observation.nonzero()[0].tolist() == offered.tolist()
        off = next(arm for arm in range(3) if arm not in offered)
        with pytest.raises(ValueError, match="action must be an arm on offer, one of"):
            made.step(off)
        observation, _, _, _, info = made.step(offered[0])
    with pytest.raises(ValueError, match="environment must pay at once, not late"):
        gymnasium.GymnasiumEnvironment(Late(Bernoulli([0.5]), 3), rounds=5)


def test_river_evaluates_a_policy(gymnasium: Any) -> None:
    """It decides as a bandit does, in an environment of ours."""
    river = imported("river.bandit", REMEDY)
    from fairx.adapters.for_river import RiverPolicy

    environment = gymnasium.GymnasiumEnvironment(Bernoulli([0.2, 0.5, 0.8]), rounds=100)
    policy = RiverPolicy(POLICY, arms=[0, 1, 2], seed=5)
    trace = list(river.evaluate(policies=[policy], env=environment, n_episodes=2, seed=1))
    assert len(trace) == 200
    assert {step["arm"] for step in trace} == {0, 1, 2}
    twin = policy.clone()
    twin.pull([0, 1])
    assert 0 < twin.propensity < 1


def test_river_pulls_what_a_bandit_would() -> None:
    imported("river.bandit", REMEDY)
    from fairx.adapters.for_river import RiverContextualPolicy, RiverPolicy

    inner = FairXLogisticTS(MERIT, prior_std=1)
    plain, bandit = RiverPolicy(POLICY, ["a", "b"], 3), Bandit(POLICY, ["a", "b"], seed=3)
    named = RiverContextualPolicy(inner, [0, 1], 3, FEATURES)
    other = Bandit(inner, [0, 1], seed=3, features=FEATURES)
    for hour in range(6):
        decision = bandit.act()
        assert (plain.pull(["a", "b"]), plain.propensity) == (decision.arm, decision.probability)
        plain.update(decision.arm, hour / 6)
        bandit.learn(decision, hour / 6)
        decision = other.act({"visit": {"hour": hour}})
        assert named.pull([0, 1], {"hour": hour}) == decision.arm
        assert named.propensity == decision.probability
        named.update(decision.arm, {"hour": hour}, 1.0)
        other.learn(decision, 1.0)
    assert plain._counts.total() == 6
    plain.pull(["a", "b"])
    plain.pull(["a", "b"])
    with pytest.raises(ValueError, match="was not pulled since its last reward"):
        RiverPolicy(POLICY, ["a", "b"], 3).update("a", 1.0)
    with pytest.raises(ValueError, match="propensity must be asked for after a pull"):
        _ = RiverPolicy(POLICY, ["a", "b"], 3).propensity


def test_coba_runs_an_experiment() -> None:
    """All rewards of an experiment come to the bandit."""
    coba = imported("coba", REMEDY)
    from fairx.adapters.for_coba import CobaLearner

    world = coba.Environments.from_linear_synthetic(
        100, n_actions=3, n_context_features=2, n_action_features=0, seed=1
    )
    actions = next(iter(world[0].read()))["actions"]
    features = Features(
        {"0": Number(), "1": Number()}, {"arm": Category(list(range(3)))},
        [("0", "arm"), ("1", "arm")],
    )  # fmt: skip
    assert len(actions) == 3
    learners = [CobaLearner(POLICY, actions, seed=1)]
    coba.CobaContext.logger = coba.NullLogger()
    found = coba.Experiment(world, learners).run(quiet=True)
    rewards = found.interactions.to_pandas()["reward"]
    state = learners[0]._started().state
    assert state.pulls.sum() == len(rewards) == 100
    assert state.reward_sums.sum() == pytest.approx(rewards.sum(), abs=1e-3)  # it rounds to 1e-5
    assert learners[0].params["family"] == "fairx"
    named = CobaLearner(FairXLogisticTS(MERIT, 1), range(3), seed=1, features=features)
    action, probability, about = named.predict((0.5, -1.0), [0, 1, 2])
    named.learn((0.5, -1.0), action, 1.0, probability, **about)
    assert 0 < probability < 1


@pytest.mark.parametrize(
    ("policy", "environment"),
    [(POLICY, Bernoulli([0.2, 0.5, 0.8])), (FairXLogisticTS(MERIT, 1), WORLD)],
    ids=["plain", "contexts"],
)
def test_feedback_is_that_of_the_simulation(policy: Any, environment: Any) -> None:
    found = bandit_feedback(policy, environment, rounds=60, seed=4)
    result = simulate(policy, environment, MERIT, rounds=60, seed=4, checkpoints=1, jobs=1)
    arms = found["n_actions"]
    assert np.bincount(found["action"], minlength=arms).tolist() == result.pulls[0].tolist()
    assert found["reward"].sum() == pytest.approx(result.reward_earned[0, -1], abs=1e-9)
    np.testing.assert_allclose(found["pi_b"][:, :, 0].mean(axis=0), result.exposure[0], atol=1e-12)
    rows = np.arange(60)
    np.testing.assert_array_equal(found["pscore"], found["pi_b"][rows, found["action"], 0])
    assert found["expected_reward"].shape == (60, arms)
    with pytest.raises(ValueError, match="environment must pay at once"):
        bandit_feedback(policy, Late(environment, 3), rounds=5, seed=1)


def test_obp_estimates_from_feedback() -> None:
    """The real package, where it is installed: it needs torch, which is no light weight."""
    ope = pytest.importorskip("obp.ope", reason="needs obp: pip install obp")
    found = bandit_feedback(POLICY, Bernoulli([0.2, 0.5, 0.8]), rounds=2000, seed=4)
    even = np.full((2000, 3, 1), 1 / 3)
    estimator = ope.OffPolicyEvaluation(found, [ope.InverseProbabilityWeighting()])
    assert estimator.estimate_policy_values(even)["ipw"] == pytest.approx(0.5, abs=0.3)
