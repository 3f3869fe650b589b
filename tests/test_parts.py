"""The problems of experiments, and uniform logs, against loops over their examples and events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import oracles
import pytest

from fairx import Exponential, Power, Uniform
from fairx.environments import Labelled
from fairx.experiments.parts import LoggedPart, Part, marks
from fairx.replay import UniformLog

MERIT = Power(2, 1.5)
POOLS = [[0, 1, 2], [3, 1], [2]]


def log_of(events: int, contexts: bool) -> Any:
    """Return a log of changing pools; the fifth arm is never on offer."""
    rng = np.random.default_rng(events)
    pool = rng.integers(0, 3, events)
    displayed = np.array([rng.choice(POOLS[at]) for at in pool])
    users, items = rng.random((events, 2)), rng.random((5, 3))
    given: dict[str, Any] = {"means": [0.1, 0.9, 0.4, 0.6, 5.0]}
    if contexts:
        given |= {"users": users, "items": items, "parameter": rng.normal(0, 0.2, 6)}
    return UniformLog(POOLS, displayed, rng.random(events), pool=pool, **given)


def truth(log: Any, event: int, arm: int) -> float:
    """Return the true mean of an arm in an event."""
    context = np.outer(log.users[event], log.items[arm]).ravel() if log.dimension else np.empty(0)
    return float(log.means[arm] + context @ log.parameter)


@pytest.mark.parametrize("contexts", [False, True])
def test_a_log_is_judged_as_often_as_its_events_are_accepted(contexts: bool) -> None:
    log = log_of(50, contexts)
    offered, means, shares = np.zeros(5), np.zeros(5), np.zeros(5)
    seen = []
    for event, at in enumerate(log.pool):
        arms = POOLS[at]
        each = [truth(log, event, arm) for arm in arms]
        seen += [truth(log, event, log.displayed[event])] if contexts else each
        for arm, mean, share in zip(arms, each, oracles.fair(MERIT, each), strict=True):
            offered[arm] += 1 / len(arms)
            means[arm] += mean / len(arms)
            shares[arm] += share / len(arms)
    expected = sum(1 / len(POOLS[at]) for at in log.pool)
    assert log.expected() == pytest.approx(expected)
    assert log.horizon() == math.floor(expected - 5 * math.sqrt(expected))
    assert log.mean_range() == pytest.approx((min(seen), max(seen)), abs=1e-12)
    found = log.judged(MERIT)
    np.testing.assert_allclose(found[0], means / np.where(offered > 0, offered, 1), atol=1e-12)
    np.testing.assert_allclose(found[1], shares / expected, atol=1e-12)
    part = LoggedPart(log)
    assert (part.arms, part.dimension) == (5, 6 if contexts else 0)
    assert part.mean_range() == log.mean_range()
    np.testing.assert_allclose(part.fair(MERIT), found[1], atol=1e-15)
    np.testing.assert_allclose(part.arm_means(), found[0], atol=1e-12)


def test_a_log_with_few_events_has_a_round() -> None:
    assert log_of(3, False).horizon() == 1


@pytest.mark.parametrize("rounds", [5, 40, 10_000])
def test_a_log_is_played_for_the_rounds_it_has(rounds: int) -> None:
    log = log_of(400, False)
    played = min(rounds, log.horizon())
    found = LoggedPart(log).result(Uniform(), MERIT, rounds, seed=3, runs=2)
    assert found.rounds.tolist() == marks(played).tolist()
    assert found.pulls.sum(axis=1).tolist() == [played, played]


def test_a_part_by_the_means_of_its_examples() -> None:
    rng = np.random.default_rng(2)
    contexts, labels = rng.random((7, 3, 2)), rng.integers(0, 2, (7, 3)).astype(float)
    parameter = np.array([0.3, -0.6])
    part = Part(Labelled(contexts, labels, parameter), contexts @ parameter, 2)
    means = np.array([[x @ parameter for x in example] for example in contexts])
    assert (part.arms, part.dimension) == (3, 2)
    assert part.mean_range() == pytest.approx((means.min(), means.max()))
    np.testing.assert_allclose(part.arm_means(), means.mean(axis=0))
    fair = np.mean([oracles.fair(Exponential(9), example) for example in means], axis=0)
    np.testing.assert_allclose(part.fair(Exponential(9)), fair, atol=1e-12)
    found = part.result(
        Uniform(), Exponential(1), 30, seed=1, runs=[0], jobs=1, progress=lambda rounds: None
    )
    assert found.rounds.tolist() == marks(30).tolist()


@pytest.mark.parametrize("rounds", [1, 7, 99, 100, 101, 12_345, 2_000_000])
def test_marks_are_each_hundredth_and_25_for_each_factor_of_ten(rounds: int) -> None:
    even = {i * rounds // 100 for i in range(1, 101)}
    powers = {math.floor(10 ** (i / 25)) for i in range(1, 200) if 10 ** (i / 25) <= rounds}
    assert set(marks(rounds).tolist()) == (even | powers) - {0}
