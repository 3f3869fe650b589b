"""Worlds that move, arms that sleep, rewards that come late: against plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from fairx import Bandit, Exponential, FairXTS, Uniform, environments, simulate
from fairx.environments.late import delays_of
from fairx.numerics.streams import streams
from fairx.policies import FairLearn
from fairx.simulation.arrivals import arrivals_by

MERIT, ARMS, ROUNDS = Exponential(4), 4, 500
MEANS = np.array([0.2, 0.5, 0.6, 0.8])


class Notes(NamedTuple):
    """Plays arms in turns and notes in which round each reward came, and of which decision."""

    arms: int

    def start(self, arms: int, dimension: int) -> Any:
        return {"round": -1, "learned": [], "offers": []}

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return np.eye(len(arms))[(state["round"] + 1) % len(arms)]

    def played(self, state: Any, arms: Any, position: int, probabilities: Any) -> None:
        state["round"] += 1
        state["offers"].append(tuple(arms))

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state["learned"].append((state["round"], arm, reward))


def noted(environment: Any, rounds: int = ROUNDS, run: int = 0) -> Any:
    """Return what a policy was offered and learned in one run."""
    states: list[Any] = []

    class Kept(Notes):
        def start(self, arms: int, dimension: int) -> Any:
            states.append(Notes.start(self, arms, dimension))
            return states[-1]

    simulate(Kept(ARMS), environment, MERIT, rounds=rounds, seed=3, runs=[run])
    return states[-1]


def fairness_regret(path: Any) -> float:
    """Return that of the uniform policy, given the means of all arms on offer in each round."""
    total = 0.0
    for means in path:
        merits = np.exp(4 * np.asarray(means))
        total += np.abs(merits / merits.sum() - 1 / len(means)).sum()
    return total


def walk_of(world: Any) -> Any:
    """Return the means of all rounds."""
    inner, path = world.world(np.random.default_rng(3)), []
    with np.errstate(over="ignore"):
        for t in range(ROUNDS):
            inner.pick(0.5, t)
            path.append(inner.means.copy())
    return np.array(path)


ROUND, OF_ARM = np.arange(ROUNDS)[:, None], np.arange(ARMS) / ARMS
PATHS: list[Any] = [
    (environments.Cycle(ARMS, 70), 0.5 + 0.4 * np.sin(2 * np.pi * (ROUND / 70 + OF_ARM))),
    (
        environments.Cycle(ARMS, 70, 0.3, 0.5, every=9),
        0.4 + 0.1 * np.sin(2 * np.pi * (ROUND // 9 * 9 / 70 + OF_ARM)),
    ),
    (
        environments.Switching([MEANS, MEANS[::-1], 1 - MEANS], every=60),
        np.array([MEANS, MEANS[::-1], 1 - MEANS])[np.arange(ROUNDS) // 60 % 3],
    ),
]


@pytest.mark.parametrize(("world", "path"), PATHS, ids=["cycle", "steps", "switching"])
def test_regret_is_against_the_means_of_each_round(world: Any, path: Any) -> None:
    np.testing.assert_allclose(walk_of(world), path, atol=1e-12)
    result = simulate(Uniform(), world, MERIT, rounds=ROUNDS, seed=1)
    assert result.fairness_regret[0, -1] == pytest.approx(fairness_regret(path), rel=1e-9)
    merits = np.exp(4 * path)
    fair = (merits * path).sum(axis=1) / merits.sum(axis=1)
    assert result.reward_regret[0, -1] == pytest.approx((fair - path.mean(axis=1)).sum(), rel=1e-9)
    rewards = np.mean(
        simulate(Uniform(), world, MERIT, rounds=ROUNDS, runs=8, seed=1).reward_earned[:, -1]
    )
    assert abs(rewards - path.mean(axis=1).sum()) < 6 * np.sqrt(0.25 * ROUNDS / 8)


def test_a_walk_takes_normal_steps_and_stays_within() -> None:
    path = walk_of(environments.RandomWalk(MEANS, step=0.02, every=2))
    assert np.array_equal(path[::2], path[1::2])
    steps, inside = np.diff(path[::2], axis=0), (path[:-2:2] > 0.1) & (path[:-2:2] < 0.9)
    assert stats.kstest(steps[inside], stats.norm(0, 0.02).cdf).pvalue > 1e-6
    narrow = walk_of(environments.RandomWalk(MEANS, step=0.3, low=0.1, high=0.9))
    assert narrow.min() >= 0.1
    assert narrow.max() <= 0.9
    world = environments.RandomWalk(MEANS, step=0.02)
    keys = [world.world(np.random.default_rng(run)).path for run in (1, 2)]
    assert keys[0] != keys[1]


def test_sleeping_arms_are_not_on_offer_and_regret_is_among_the_others() -> None:
    pools = [(0, 1), (3, 1, 2), (2,)]
    world = environments.Sleeping(environments.Bernoulli(MEANS), pools, every=5)
    offers = noted(world)["offers"]
    assert set(offers) == set(pools)
    assert all(len(set(offers[t : t + 5])) == 1 for t in range(0, ROUNDS, 5))
    counts = np.unique([pools.index(offer) for offer in offers[::5]], return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > 1e-6
    result = simulate(Uniform(), world, MERIT, rounds=ROUNDS, seed=3)
    expected = fairness_regret([MEANS[list(offer)] for offer in offers])
    assert result.fairness_regret[0, -1] == pytest.approx(expected, rel=1e-9)


def test_who_is_awake_keeps_its_context() -> None:
    rows = np.random.default_rng(1).random((3, ARMS, 2))
    world = environments.Sleeping(environments.Linear(rows, [0.5, 0.2]), [[3, 1]])
    inner = world.world(np.random.default_rng(1))
    with np.errstate(over="ignore"):
        example = inner.pick(0.5, 0)
    assert inner.candidates(example).tolist() == [3, 1]
    np.testing.assert_array_equal(inner.features[inner.row(example)][:2], rows[1, [3, 1]])
    means = np.empty(2)
    inner.fill_means(example, means)
    np.testing.assert_allclose(means, rows[1, [3, 1]] @ [0.5, 0.2])


def test_a_fixed_delay_is_as_long() -> None:
    now = noted(environments.Bernoulli(MEANS))["learned"]
    late = noted(environments.Late(environments.Bernoulli(MEANS), 30))["learned"]
    assert [(t + 30, arm, reward) for t, arm, reward in now[: ROUNDS - 30]] == late
    assert noted(environments.Late(environments.Bernoulli(MEANS), 0))["learned"] == now


def test_slower_arms_come_after_others_and_in_order() -> None:
    world = environments.Late(environments.Bernoulli(MEANS), [0, 3, 1, 200])
    found = noted(world)["learned"]
    decided = [(t + [0, 3, 1, 200][t % ARMS], t) for t in range(ROUNDS)]
    expected = sorted(each for each in decided if each[0] < ROUNDS)
    assert [(t, arm) for t, arm, _ in found] == [(t, made % ARMS) for t, made in expected]


def test_geometric_delays_have_their_mean_and_the_lost_never_come() -> None:
    world = environments.Late(
        environments.Bernoulli(MEANS), [0, 5, 20, 5], "geometric", [0, 0, 0, 0.4]
    )
    rounds = 4_000
    found = noted(world, rounds)["learned"]
    come = np.bincount([arm for _, arm, _ in found], minlength=ARMS)
    assert come[0] == rounds / ARMS
    assert rounds / ARMS - come[1] < 10
    assert abs(come[3] - 0.6 * rounds / ARMS) < 6 * np.sqrt(0.24 * rounds / ARMS)
    queue = arrivals_by(
        delays_of(environments.Late(environments.Bernoulli(MEANS), 5, "geometric")), 0
    )
    waits = waiting_times(queue, 3_000)
    assert stats.chisquare(*binned(waits, 1 / 6)).pvalue > 1e-6


def waiting_times(queue: Any, number: int) -> Any:
    """Return how long each reward waited: it is paid the number of its round."""

    class Clock(NamedTuple):
        waits: list[int]

        def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
            self.waits.append(state[0] - int(reward))

    clock, now, keys = Clock([]), [0], streams(1, 0)
    with np.errstate(over="ignore"):
        for now[0] in range(number):
            queue.take(clock, now, 0, np.empty(0), float(now[0]), now[0], keys, np.empty(0))
    return np.array(clock.waits)


def binned(waits: Any, chance: float) -> Any:
    """Return counts of waiting times, and those of a geometric distribution."""
    counts = np.bincount(np.minimum(waits, 15), minlength=16)
    chances = chance * (1 - chance) ** np.arange(16)
    chances[15] = (1 - chance) ** 15
    return counts, chances * counts.sum()


def test_told_at_once_and_learned_late() -> None:
    """What counts decisions is right while rewards are on their way; what learns knows nothing."""
    late = environments.Late(environments.Bernoulli(MEANS), 100)
    held = FairLearn(FairXTS(MERIT, 1, 0.5), rates=np.full(ARMS, 0.25), tolerance=1)
    assert simulate(held, late, MERIT, rounds=100, seed=1).pulls.min() >= 23
    fair = simulate(FairXTS(MERIT, 1, 0.5), late, MERIT, rounds=100, seed=1)
    bandit = Bandit(FairXTS(MERIT, 1, 0.5), ARMS, seed=1)  # which learns nothing
    shown = np.mean([bandit.act().probabilities for _ in range(100)], axis=0)
    np.testing.assert_allclose(fair.exposure[0], shown, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: environments.Cycle(0, 5), "arms must be"),
        (lambda: environments.Cycle(2, 5, low=0.5, high=0.4), "high must be"),
        (lambda: environments.RandomWalk([0.5, 2], 0.1), r"means\[1\] must be"),
        (lambda: environments.RandomWalk([0.5], 0.1, low=0.6), "low must be"),
        (lambda: environments.Switching([0.5], 3), "means must"),
        (lambda: environments.Sleeping(environments.Cycle(2, 5), [[0, 2]]), r"pools\[0\] must be"),
        (lambda: environments.Sleeping(environments.Cycle(2, 5), []), "the number of pools must"),
        (lambda: environments.Late(environments.Cycle(2, 5), -1), "the lowest mean must be"),
        (lambda: environments.Late(environments.Cycle(2, 5), 1.5), "mean must be whole rounds"),
        (lambda: environments.Late(environments.Cycle(2, 5), [1, 2, 3]), "mean must"),
        (lambda: environments.Late(environments.Cycle(2, 5), 1, "slow"), "kind must be"),
        (lambda: environments.Late(environments.Cycle(2, 5), 1, lost=2), "lost must be at most 1"),
        (
            lambda: environments.Late(environments.Late(environments.Cycle(2, 5), 1), 1),
            "environment must be one whose rewards are not late",
        ),
        (
            lambda: simulate(
                Uniform(), environments.Late(environments.Cycle(3, 5), 1), MERIT, rounds=9, seed=1,
                weights=2,
            ),
            "weights must be left out where rewards are late",
        ),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
