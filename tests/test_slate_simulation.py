"""Simulations of pages with several places."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import ENVIRONMENTS, YEAST

from fairx import (
    UCB,
    Affine,
    Bandit,
    Exponential,
    FairXEG,
    FairXLinEG,
    FairXLinTS,
    FairXTS,
    FairXUCB,
    OptimalFair,
    PiecewiseLinear,
    Result,
    Round,
    Uniform,
    compare,
    fair_exposure,
    fair_probabilities,
    simulate,
)
from fairx.compiled import interpreted
from fairx.environments import Bernoulli, Labelled, Normal
from fairx.numerics.streams import normals_of_round, streams, uniform, unit, word
from fairx.policies.clicks import FromContexts, bounded_pulls, learner_of, no_clicks, normal_pulls
from fairx.slates.drawing import draw, fill_propensities
from fairx.slates.places import new_page

MERIT = Exponential(4)
MEANS = np.array([0.2, 0.5, 0.45, 0.8])
WORLD = Bernoulli(MEANS)
WEIGHTS = [1.0, 0.6, 0.3]
THOMPSON = FairXTS(MERIT, 1, 0.5)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play interpreted in the compiled pass too: other tests compare the two."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")


def table_of(exposures: Any, weights: Any, bits: np.uint64) -> tuple[Any, Any]:
    """Return the positions shown by place, and all propensities."""
    page, table = new_page(np.array(weights), len(exposures)), np.zeros((len(exposures), 3))
    page.exposures[:] = exposures
    draw(page, len(exposures), bits)
    fill_propensities(page, len(exposures), table)
    return page.shown.copy(), table


def by_hand(rounds: int, seed: int, chances: Any) -> dict[str, Any]:
    """Play FairX-TS from its definition, with the documented random numbers and learning of its own."""
    keys, sums = streams(seed, 0), np.zeros((4, 4))  # by arm: shows, looks, squares, clicks
    totals, exposure, placements = np.zeros(4), np.zeros(4), np.zeros((4, 3))
    normals, noise = np.empty(4), np.empty(3)
    fair = fair_exposure(MERIT, MEANS, WEIGHTS)
    with np.errstate(all="ignore"):
        for t in range(rounds):
            normals_of_round(keys.policy, t, 4, normals)
            _, looks, squares, clicks = sums
            means = np.clip(np.divide(clicks, looks, where=looks > 0, out=np.zeros(4)), 0, 1)
            spread = np.divide(squares, looks, where=looks > 0, out=np.ones(4))
            precision = looks / (0.25 + means**2 * (1 - spread))
            estimate = np.divide(clicks, looks, where=looks > 0, out=np.zeros(4))
            variance = 1 / (1 + precision)
            drawn = precision * estimate * variance + np.sqrt(variance) * normals
            deployed = fair_exposure(MERIT, drawn, WEIGHTS)
            bits = word(keys.choice[1], t)
            shown, table = table_of(deployed, WEIGHTS, bits)
            _, target = table_of(fair, WEIGHTS, bits)
            totals[0] += np.abs(fair - deployed).sum() / sum(WEIGHTS)
            totals[1] += ((target - table) @ chances) @ MEANS
            totals[2] += np.sort(chances)[::-1] @ np.sort(MEANS)[::-1][:3] - table @ chances @ MEANS
            normals_of_round(keys.reward_noise, t, 3, noise)
            for place, arm in enumerate(shown):
                paid = WORLD.world(None).pay(
                    0, arm, uniform(keys.reward, 3 * t + place), noise[place]
                )
                click = paid if unit(word(keys.reward[1], 3 * t + place)) < chances[place] else 0.0
                sums[:, arm] += 1, chances[place], chances[place] ** 2, click
                totals[3] += click
            exposure += deployed
            placements += table
    return {"totals": totals, "exposure": exposure, "placements": placements, "shows": sums[0]}


@pytest.mark.parametrize("examination", [None, WEIGHTS, [0.5, 0.9, 0.1]], ids=str)
def test_regret_is_that_of_the_definitions(examination: Any) -> None:
    feedback: Any = {} if examination is None else {"feedback": "examined"}
    feedback |= {"examination": examination} if examination not in (None, WEIGHTS) else {}
    found = simulate(THOMPSON, WORLD, MERIT, rounds=60, seed=3, weights=WEIGHTS, **feedback)
    expected = by_hand(60, 3, np.array(examination or [1.0, 1.0, 1.0]))
    ends = [curve[0, -1] for curve in found.curves().values()]
    np.testing.assert_allclose(ends, expected["totals"], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.pulls[0], expected["shows"])
    np.testing.assert_allclose(found.exposure[0], expected["exposure"] / 60, rtol=1e-9)
    assert found.placements is not None
    np.testing.assert_allclose(found.placements[0], expected["placements"] / 60, atol=1e-9)
    np.testing.assert_allclose(found.placements[0] @ WEIGHTS, found.exposure[0], rtol=1e-12)


@pytest.mark.parametrize(
    "world", [WORLD, Normal(MEANS, 0.3)], ids=lambda world: type(world).__name__
)
@pytest.mark.usefixtures("slowly")
def test_one_place_is_the_paper_s(world: Any) -> None:
    """Where nothing is left to the draw, to the last bit; and with clicks that are always seen."""
    plain = simulate(UCB(0.5), world, MERIT, rounds=300, seed=1, runs=2)
    for feedback in ("each", "examined"):
        placed = simulate(
            UCB(0.5), world, MERIT, rounds=300, seed=1, runs=2, weights=[1], feedback=feedback
        )
        for name in (
            "fairness_regret",
            "reward_regret",
            "best_arm_regret",
            "reward_earned",
            "pulls",
        ):
            found, expected = getattr(placed, name), getattr(plain, name)
            exact = feedback == "each" or world is WORLD
            np.testing.assert_allclose(found, expected, rtol=0 if exact else 1e-9, atol=1e-9)
        np.testing.assert_array_equal(placed.exposure, placed.placements[:, :, 0])  # type: ignore[index]


@pytest.mark.parametrize("policy", [THOMPSON, FairXUCB(MERIT, 0.3), FairXEG(MERIT, 0.1)], ids=str)
@pytest.mark.usefixtures("slowly")
def test_clicks_that_are_always_seen_are_rewards(policy: Any) -> None:
    settings: Any = {"rounds": 200, "seed": 2, "weights": [1, 1]}
    each = simulate(policy, WORLD, MERIT, **settings)
    examined = simulate(policy, WORLD, MERIT, feedback="examined", **settings)
    np.testing.assert_array_equal(each.fairness_regret, examined.fairness_regret)
    np.testing.assert_array_equal(each.reward_earned, examined.reward_earned)


@pytest.mark.parametrize("feedback", ["each", "examined"])
@pytest.mark.usefixtures("slowly")
def test_the_optimal_policy_has_no_regret_and_is_drawn_as_it_says(feedback: str) -> None:
    """Frequencies of 1,500 draws within 5 standard errors: false alarm below 1e-5 for 14 arms."""
    merit, rounds = Exponential(10), 1500
    result = simulate(
        OptimalFair(merit, YEAST), Bernoulli(YEAST), merit, rounds=rounds, seed=1, weights=WEIGHTS,
        feedback=feedback,
    )  # fmt: skip
    assert abs(result.fairness_regret[0, -1]) < 1e-9
    assert abs(result.reward_regret[0, -1]) < 1e-9
    assert result.best_arm_regret[0, -1] > 0
    fair = fair_exposure(merit, YEAST, WEIGHTS)
    np.testing.assert_allclose(result.exposure[0], fair, rtol=1e-9)
    shown = result.placements[0].sum(axis=1)  # type: ignore[index]
    error = np.sqrt(np.maximum(shown * (1 - shown), 1e-12) / rounds)
    assert (np.abs(result.pulls[0] / rounds - shown) <= 5 * error).all()
    chances = WEIGHTS if feedback == "examined" else [1, 1, 1]
    best = np.sort(YEAST)[::-1][:3] @ chances
    earned = best * rounds - result.best_arm_regret[0, -1]
    assert abs(result.reward_earned[0, -1] - earned) < 5 * np.sqrt(3 * rounds / 4)


@pytest.mark.usefixtures("slowly")
def test_ties_do_not_cost_the_optimal_policy_anything() -> None:
    """A merit that is flat: who of equals is shown is drawn, and so for the fair page."""
    flat = PiecewiseLinear((0, 0.5, 1), (1, 1, 2))
    means = [0.1, 0.2, 0.3, 0.4, 0.9]
    result = simulate(
        OptimalFair(flat, means), Bernoulli(means), flat, rounds=100, seed=1, weights=[1, 0.4]
    )
    assert abs(result.reward_regret[0, -1]) < 1e-9


def test_a_run_depends_on_the_seed_and_its_number_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = {"rounds": 300, "seed": 5, "weights": WEIGHTS, "feedback": "examined"}
    many = simulate(THOMPSON, WORLD, MERIT, runs=3, jobs=2, **settings)
    few = simulate(THOMPSON, WORLD, MERIT, runs=[2, 0], jobs=1, **settings)
    assert few.merge() == simulate(THOMPSON, WORLD, MERIT, runs=[0, 2], **settings)
    np.testing.assert_array_equal(few.fairness_regret, many.fairness_regret[[2, 0]])
    monkeypatch.setattr("fairx.simulation.runs.CHUNK_SECONDS", 1e-9)
    assert simulate(THOMPSON, WORLD, MERIT, runs=3, **settings) == many
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert simulate(THOMPSON, WORLD, MERIT, runs=3, **settings) == many


def test_results_are_pinned() -> None:
    """Interpreted and compiled, on all machines: a change of these bits is to be on purpose."""
    found = simulate(
        THOMPSON, WORLD, MERIT, rounds=300, seed=5, weights=WEIGHTS, feedback="examined"
    )
    parts = [*found.curves().values(), found.exposure, found.pulls.astype(float), found.placements]
    digest = hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest()
    assert digest[:16] == "cbe3190150a90e47"


def shown_often(seed: int) -> tuple[Any, ...]:
    """Return means, rewards and looks of 4,000 arms that were shown 100 times on five places."""
    rng, places = np.random.default_rng(seed), np.array([1, 0.5, 0.3, 0.2, 0.1])
    chances = places[rng.integers(0, 5, (4000, 100))]
    return rng.random((4000, 1)), rng, chances, rng.random(chances.shape) < chances


def test_hoeffding_s_interval_for_clicks_covers() -> None:
    """95 % and more: 4,000 arms, and 1/sqrt(shows), which does not, covers less than 93 %."""
    means, rng, chances, looks = shown_often(1)
    clicks = looks * (rng.random(looks.shape) < means)
    wrong = np.abs(clicks.sum(1) / chances.sum(1) - means[:, 0])
    width = np.sqrt(np.log(2 / 0.05) / 2)
    assert (wrong <= width / np.sqrt(bounded_pulls(100.0, chances.sum(1)))).mean() >= 0.95
    assert (wrong <= width / np.sqrt(100)).mean() < 0.93


def test_the_posterior_for_clicks_covers() -> None:
    """Of normal rewards 90 %, within four standard errors of 4,000 arms."""
    means, rng, chances, looks = shown_often(2)
    clicks = looks * (means + 0.5 * rng.standard_normal(looks.shape))
    estimates = clicks.sum(1) / chances.sum(1)
    squares = (chances**2).sum(1)
    pulls = normal_pulls(0.5, chances.sum(1), squares, np.clip(estimates, 0, 1))
    covered = np.abs(estimates - means[:, 0]) < 1.645 * 0.5 / np.sqrt(pulls)
    assert abs(covered.mean() - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 4000)


@pytest.mark.parametrize("policy", [THOMPSON, UCB(0.5), FairXUCB(MERIT, 0.5)], ids=str)
def test_counts_are_those_of_effective_pulls(policy: Any) -> None:
    state, clicks, work = policy.start(2, 0), no_clicks(2, 0), np.empty(20)
    learner = learner_of(policy, state, 0.0, 1.0)
    for click, chance in ((1.0, 0.4), (0.0, 1.0), (1.0, 0.7)):
        learner.learn_place(policy, state, 1, np.empty(0), click, chance, clicks, work)
    mean, squares = 2 / 2.1, 0.4**2 + 1 + 0.7**2
    worth = 2.1**2 / 3
    if policy is THOMPSON:
        worth = 0.25 * 2.1 / (0.25 + mean**2 * (1 - squares / 2.1))
        np.testing.assert_allclose(state.stds[1], np.sqrt(1 / (1 + worth / 0.25)))
    np.testing.assert_allclose(state.pulls, [0, worth])
    np.testing.assert_allclose(state.reward_sums, [0, worth * mean])


def test_linear_policies_learn_clicks_of_smaller_contexts() -> None:
    policy = FairXLinTS(MERIT, 1, 0.5)
    state, other, clicks, work = (
        policy.start(1, 3),
        policy.start(1, 3),
        no_clicks(1, 3),
        np.empty(6),
    )
    learner = learner_of(policy, state, 0.0, 1.0)
    assert isinstance(learner, FromContexts)
    context = np.array([0.2, -0.4, 1.0])
    learner.learn_place(policy, state, 0, context, 1.0, 0.5, clicks, work)
    policy.learn(other, 0, context / 2, 1.0)
    np.testing.assert_array_equal(state.estimate, other.estimate)
    np.testing.assert_array_equal(state.precision, other.precision)


def test_a_floor_is_a_share_of_exposure() -> None:
    """Not of probabilities, which caps would turn into merits."""
    merit, arms = Exponential(10), np.arange(4)
    page, out = new_page(np.array(WEIGHTS), 4), np.empty(4)
    policies: list[Any] = [FairXEG(merit, 0.1), FairXLinEG(merit, 0.1, ridge=1)]
    for policy in policies:
        state = policy.start(4, 4)
        for arm in (*arms, *arms):
            policy.learn(state, arm, np.eye(4)[arm], MEANS[arm])
        means = MEANS * (2 / 3 if type(policy) is FairXLinEG else 1)
        policy.propose_slate(state, arms, np.eye(4), np.empty(0), np.empty(8), page, out)
        fair = fair_exposure(merit, means, WEIGHTS)
        np.testing.assert_allclose(out, 0.9 * fair + 0.1 * sum(WEIGHTS) / 4, rtol=1e-12)


class Noting(NamedTuple):
    """A policy of somebody's that keeps the sums of what it learns."""

    scale: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        return np.full(arms.size, 1 / arms.size)

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        if reward not in (0.0, self.scale, 2 * self.scale):
            raise ValueError(f"learned {reward}")


@pytest.mark.usefixtures("slowly")
def test_policies_of_others_learn_clicks_over_their_chance() -> None:
    settings: Any = {"rounds": 60, "seed": 1, "weights": 2, "feedback": "examined"}
    result = simulate(Noting(2.0), WORLD, MERIT, examination=[0.5, 0.25], **settings)
    np.testing.assert_allclose(result.exposure[0], 0.5)
    with pytest.raises(ValueError, match=r"learned 1\.25"):
        simulate(Noting(2.0), WORLD, MERIT, examination=[0.8, 0.25], **settings)


class Greedy(NamedTuple):
    """A policy of somebody's with an inner form, that gives the first arm this exposure."""

    first: float

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        out[:] = 1 / len(arms)

    def propose_slate(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, page: Any, out: Any
    ) -> None:
        out[:] = (page.weights.sum() - self.first) / (len(arms) - 1)
        out[0] = self.first

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward


@pytest.mark.usefixtures("slowly")
def test_exposures_of_others_are_tried_before_any_run() -> None:
    settings: Any = {"rounds": 20, "seed": 1, "weights": [1, 0.5]}
    policies: list[Any] = [Greedy(0.9), Greedy(1.2)]
    result = simulate(policies[0], WORLD, MERIT, **settings)
    np.testing.assert_allclose(result.exposure[0], [0.9, 0.2, 0.2, 0.2])
    with pytest.raises(
        ValueError, match=r"exposures must be at most 1 for 1 arms together, not 1\.2"
    ):
        simulate(policies[1], WORLD, MERIT, **settings)


class Pools(NamedTuple):
    """An environment of somebody's, with one, two or three arms on offer."""

    means: Any

    def size(self) -> tuple[int, int]:
        return 3, 0

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(1, 4))

    def arms_of(self, example: int) -> Any:
        return np.arange(3 - example, 3)

    def contexts_of(self, example: int) -> Any:
        return np.zeros((example, 0))

    def means_of(self, example: int) -> Any:
        return self.means[3 - example :]

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return float(self.means[arm])


@pytest.mark.usefixtures("slowly")
def test_fewer_candidates_than_places_use_the_first() -> None:
    means = np.array([0.2, 0.5, 0.8])
    policy, rounds = OptimalFair(MERIT, means), 200
    result = simulate(policy, Pools(means), MERIT, rounds=rounds, seed=1, weights=[1, 0.5])
    assert abs(result.fairness_regret[0, -1]) < 1e-12
    both = int(rounds - (2 * rounds - result.pulls.sum()))  # rounds with two places
    np.testing.assert_allclose(result.exposure.sum() * rounds, rounds + 0.5 * both)
    used = result.placements[0].sum(axis=0)  # type: ignore[index]
    np.testing.assert_allclose(used, np.array([1, both / rounds]))
    uniform = simulate(Uniform(), Pools(means), MERIT, rounds=rounds, seed=1, weights=[1, 0.5])
    assert 0 < uniform.fairness_regret[0, -1] < 2 * rounds
    np.testing.assert_allclose(
        uniform.reward_earned[0, -1] + uniform.best_arm_regret[0, -1],
        policy_best(result), atol=20,
    )  # fmt: skip


def policy_best(result: Any) -> float:
    """Return what the best rankings earn: what was earned, and lost to them."""
    return float(result.reward_earned[0, -1] + result.best_arm_regret[0, -1])


def first_place(seen: Round) -> float:
    return float(seen.deployed.sum()) + 10.0 * seen.position


@pytest.mark.usefixtures("slowly")
def test_measures_see_exposures_and_the_first_place() -> None:
    result = simulate(
        UCB(0.1), WORLD, MERIT, rounds=50, seed=1, weights=[1, 0.5], measures={"seen": first_place}
    )
    on_first = result.placements[0, :, 0] * 50  # type: ignore[index]
    np.testing.assert_allclose(result.measures["seen"][0, -1], 75 + 10 * on_first @ np.arange(4))


@pytest.mark.usefixtures("slowly")
def test_contexts_and_places() -> None:
    world, policy = ENVIRONMENTS[3], FairXLinTS(MERIT, 1, 0.5)
    assert isinstance(world, Labelled)
    for feedback in ("each", "examined"):
        result = simulate(
            policy, world, MERIT, rounds=60, seed=1, weights=[1, 0.5], feedback=feedback
        )
        np.testing.assert_allclose(result.exposure.sum(), 1.5)
        assert 0 < result.fairness_regret[0, -1] < 2 * 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": 5}, "weights must be at most one for each arm, not 5 for 4 arms"),
        ({"weights": [0.5, 1]}, "weights must be not increasing"),
        ({"feedback": "examined"}, "weights must be given for feedback='examined'"),
        ({"weights": 2, "feedback": "seen"}, "feedback must be one of each, examined, not 'seen'"),
        ({"weights": 2, "examination": [1, 1]}, "examination must be left out for feedback='each'"),
        ({"weights": [2, 1], "feedback": "examined"}, r"examination must be chances .*not 2\.0"),
        (
            {"weights": [2, 1], "feedback": "examined", "examination": [1]},
            r"examination must have shape \(2,\), not \(1,\): one per place",
        ),
        (
            {"weights": 2, "feedback": "examined", "examination": [0, 0]},
            "examination must be positive for some place, not all 0",
        ),
    ],
)
def test_bad_places_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(THOMPSON, WORLD, MERIT, rounds=10, seed=1, **options)


def test_intervals_that_clicks_do_not_have_are_refused() -> None:
    policy = FairXUCB(MERIT, 0.1, bounds=(0, 1), interval="kl")
    settings: Any = {"rounds": 10, "seed": 1, "weights": [1, 0.5], "feedback": "examined"}
    with pytest.raises(ValueError, match="interval must be 'hoeffding' for clicks, not Kullback"):
        simulate(policy, WORLD, MERIT, **settings)
    policy = FairXUCB(Affine(1, 0.15), 0.1)
    policy.check_reach(0.0, 1.0)
    with pytest.raises(ValueError, match=r"but Affine.* is not at mean -0\.2"):
        simulate(policy, WORLD, MERIT, **settings)


@pytest.mark.usefixtures("slowly")
def test_results_know_their_places(tmp_path: Path) -> None:
    settings: Any = {"rounds": 40, "seed": 1, "weights": [1, 0.5], "checkpoints": 2}
    one = simulate(Uniform(), WORLD, MERIT, feedback="examined", **settings)
    one.save(tmp_path / "one.npz")
    assert Result.load(tmp_path / "one.npz") == one
    other = simulate(Uniform(), WORLD, MERIT, feedback="examined", runs=[1], **settings)
    assert one.merge(other).placements.shape == (2, 4, 2)  # type: ignore[union-attr]
    each = simulate(Uniform(), WORLD, MERIT, **settings)
    assert one != each
    assert one != one._replace(placements=None) != one
    with pytest.raises(ValueError, match="feedback differs: 'examined' and 'each'"):
        one.merge(each)
    with pytest.raises(ValueError, match="cannot be compared run by run: their feedback differs"):
        compare(one=one, other=each)
    thompson = simulate(THOMPSON, WORLD, MERIT, feedback="examined", **settings)
    assert len(compare(one, thompson).differences) == 3
    frame = one.to_frame()
    assert set(frame["weights"]) == set(frame["examination"]) == {"1, 0.5"}
    assert set(frame["feedback"]) == {"examined"}
    plain = simulate(Uniform(), WORLD, MERIT, rounds=40, seed=1)
    assert plain.placements is None
    assert not {"weights", "feedback", "examination"} & set(plain.to_frame())
    assert "places: weights 1, 0.5; feedback examined (1, 0.5)" in repr(one)
    assert "places" not in repr(plain)


@pytest.mark.usefixtures("slowly")
def test_results_saved_before_there_were_places_are_read(tmp_path: Path) -> None:
    plain = simulate(Uniform(), WORLD, MERIT, rounds=40, seed=1)
    plain.save(tmp_path / "plain.npz")
    with zipfile.ZipFile(tmp_path / "plain.npz") as archive:
        names = archive.namelist()
    assert "placements.npy" not in names
    texts = json.loads(json.dumps(plain.provenance._asdict()))
    old = {
        name: texts[name] for name in texts if name not in ("weights", "feedback", "examination")
    }
    from fairx.simulation.keeping import _provenance

    assert _provenance(**old) == plain.provenance


@pytest.mark.usefixtures("slowly")
def test_results_say_how_many_optimistic_steps_were_proved(tmp_path: Path) -> None:
    """Counted again step by step: here most are, and not all. What takes none says nothing."""
    policy, weights = FairXUCB(Exponential(4), 1.0), (1 / np.log2(np.arange(2, 7))).tolist()
    world, settings = Bernoulli(YEAST), dict[str, Any](rounds=60, seed=3, weights=weights)
    found = simulate(policy, world, MERIT, runs=2, **settings)
    bandit, page = Bandit(policy, 14, seed=3), new_page(np.array(weights), 14)
    with np.errstate(all="ignore"):
        for t in range(60):
            if (bandit.state.pulls > 0).all():
                work, out = np.empty(policy.needs(14, 0)[1]), np.empty(14)
                rest = np.empty((14, 0)), np.empty(0), work, page, out
                policy.propose_slate(bandit.state, np.arange(14), *rest)
            slate, keys = bandit.act(weights=weights), streams(3, 0)
            luck = [unit(word(keys.reward[0], 5 * t + place)) for place in range(5)]
            bandit.learn(
                slate, [float(one < YEAST[arm]) for one, arm in zip(luck, slate.arms, strict=True)]
            )
    shares = page.steps[1] / page.steps[0]
    assert found.proved is not None
    assert found.proved[0] == shares
    assert 0 < shares < 1
    found.save(tmp_path / "found.npz")
    assert Result.load(tmp_path / "found.npz") == found != found._replace(proved=None)
    one = simulate(policy, world, MERIT, runs=[1], **settings)
    assert simulate(policy, world, MERIT, runs=[0], **settings).merge(one) == found
    assert simulate(THOMPSON, world, MERIT, **settings).proved is None


@pytest.mark.skipif(interpreted(), reason="100,000 rounds")
@pytest.mark.parametrize("kind", [FairXTS, FairXUCB])
def test_fairness_regret_grows_like_the_root_where_caps_bind(kind: Any) -> None:
    """From 2,500 to 40,000 rounds by an exponent below 0.6; the full form is benchmarks/slates.py."""
    merit, weights = Exponential(10), 1 / np.log2(np.arange(2, 7))
    shares = fair_exposure(merit, YEAST, weights)
    assert not np.allclose(shares, weights.sum() * fair_probabilities(merit, YEAST), atol=0.1)
    policy = FairXUCB(merit, 0.1) if kind is FairXUCB else FairXTS(merit, 1, 0.5)
    result = simulate(
        policy, Bernoulli(YEAST), merit, rounds=40_000, runs=4, seed=1,
        checkpoints=[2500, 40_000], weights=weights,
    )  # fmt: skip
    early, late = result.fairness_regret.mean(axis=0)
    assert np.log(late / early) / np.log(16) < 0.6
