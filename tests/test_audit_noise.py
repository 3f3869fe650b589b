"""What is not known of the fairness regret, and how a single look shares alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from test_audit import tally_of

from fairx import Exponential, fair_probabilities
from fairx.auditing import audit
from fairx.auditing.always_valid import Intervals
from fairx.auditing.merits import Merits, logs_of
from fairx.auditing.noise import Known, noise
from fairx.auditing.once import SHARED
from fairx.types import Vector

RUNS = 40
NOTHING = Intervals(np.zeros(0), np.zeros(0))


def known(shows: Vector, sums: Vector, exposure: Vector | None, merit: Any, looked: float) -> Known:
    """Return what a log tells, without the box."""
    tally = tally_of(shows, sums, exposure)
    overall = sums.sum() / shows.sum()
    means = np.where(shows > 0, sums / np.maximum(shows, 1), overall) / looked
    merits = Merits(means, NOTHING, logs_of(merit, means), NOTHING, None)
    return Known(tally, merit, merits, (0.0, 1.0), looked)


def one_log(
    rng: np.random.Generator, arms: int, decisions: int, steepness: float,
    ends: tuple[float, float], fairly: bool, exact: bool,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the true regret, what the log shows, its floor and its reach."""
    merit, means = Exponential(steepness), rng.uniform(*ends, arms)
    fair = fair_probabilities(merit, means)
    chances = fair if fairly else rng.dirichlet(np.full(arms, 2.0))
    shows = rng.multinomial(decisions, chances).astype(float)
    sums = rng.binomial(shows.astype(int), means).astype(float)
    told = known(shows, sums, chances * decisions if exact else None, merit, 1.0)
    estimated = fair_probabilities(merit, told.merits.means)
    shown = np.abs(estimated - (chances if exact else shows / decisions)).sum()
    found = noise(told.sums, told, shown)  # type: ignore[arg-type]
    return float(np.abs(fair - chances).sum()), float(shown), found.floor, found.reach


@pytest.mark.parametrize("fairly", [True, False])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("arms", "decisions", "steepness", "ends", "before"),
    [
        (5, 30, 4.0, (0.0, 0.05), 0.49),  # hardly any success
        (20, 60, 4.0, (0.8, 1.0), 0.0),  # hardly any failure
        (3, 15, 1.0, (0.0, 1.0), 0.69),  # few
        (10, 100, 4.0, (0.2, 0.8), 0.69),
        (2, 200, 4.0, (0.2, 0.8), 0.92),
    ],
)
def test_few_rewards_or_equal_ones_are_not_certain(
    fairly: bool, exact: bool, arms: int, decisions: int, steepness: float,
    ends: tuple[float, float], before: float,
) -> None:  # fmt: skip
    """A regret is in its interval in 95 % of logs: misses up to the 1e-6 quantile.

    `before` is what was covered of fair logs with probabilities, before few rewards had their say
    (0 to 92 %). The floor is what fair logs show, between half and 1.5 times of it.
    """
    rng = np.random.default_rng(3)
    found = np.array([
        one_log(rng, arms, decisions, steepness, ends, fairly, exact) for _ in range(RUNS)
    ])  # fmt: skip
    true, shown, floors, reaches = found.T
    missed = int((np.abs(shown - true) > reaches + 1e-12).sum())
    assert missed <= stats.binom.ppf(1 - 1e-6, RUNS, 0.05)
    if fairly:
        assert 0.5 < floors.mean() / shown.mean() < 1.5
    if before < 0.5:
        assert missed < RUNS * (1 - before) / 4


def test_an_arm_without_rewards_may_be_anything() -> None:
    shows, sums = np.array([500.0, 500.0, 0.0]), np.array([250.0, 250.0, 0.0])
    told = known(shows, sums, shows, Exponential(4), 1.0)
    without = known(shows[:2], sums[:2], shows[:2], Exponential(4), 1.0)
    reach, other = (noise(one.sums, one, 0.1).reach for one in (told, without))  # type: ignore[arg-type]
    assert reach > 0.9 > 3 * other


def test_clicks_that_are_seldom_looked_at_tell_less() -> None:
    """A quarter of 400 shows, all at places that are looked at half of the time: twice the error."""
    shows, sums = np.full(2, 400.0), np.full(2, 100.0)
    at_half = known(shows, sums, shows, Exponential(1), 0.5)
    always = known(shows, sums, shows, Exponential(1), 1.0)
    wide, narrow = (noise(one.sums, one, 0.1) for one in (at_half, always))  # type: ignore[arg-type]
    assert wide.floor == pytest.approx(2 * narrow.floor, rel=0.05)
    assert wide.reach == pytest.approx(2 * narrow.reach, rel=0.1)


def test_rewards_that_vary_little_tell_more_than_coins() -> None:
    shows = np.full(3, 1000.0)
    coins = known(shows, shows / 2, shows, Exponential(4), 1.0)
    sums: Any = coins.sums
    sure = coins._replace(sums=sums._replace(squares=(0.25 + 0.01) * shows))
    reaches = [noise(one.sums, one, 0.1).reach for one in (sure, coins)]  # type: ignore[arg-type]
    assert reaches[0] == pytest.approx(0.2 * reaches[1], rel=0.1)  # 0.1 over 0.5


def test_propensities_have_the_noise_of_their_average() -> None:
    told = known(np.full(2, 50.0), np.full(2, 25.0), np.full(2, 50.0), Exponential(1), 1.0)
    sums: Any = told.sums
    weak = told._replace(sums=sums._replace(exposure=None, inverse=np.full(2, 100.0)))
    reaches = [noise(one.sums, one, 0.5).reach for one in (told, weak)]  # type: ignore[arg-type]
    assert reaches[1] - reaches[0] == pytest.approx(1.96 * (0.5 * 1.5 / 100) ** 0.5)


def even_log(kind: str, better: float) -> pd.DataFrame:
    """Return a log of two arms that are shown as often, one of them better."""
    shown = np.repeat([0, 1], 3000)
    rewards = np.concatenate([np.arange(3000) < 3000 * mean for mean in (0.5, 0.5 + better)])
    table = pd.DataFrame({"arm": np.array(["a", "b"])[shown], "reward": rewards.astype(float)})
    if kind == "probabilities":
        table["candidates"] = [["a", "b"]] * 6000
        table["probabilities"] = [[0.5, 0.5]] * 6000
    return table.sample(frac=1, random_state=1)


@pytest.mark.parametrize(("kind", "better"), [("probabilities", 0.035), ("shows", 0.078)])
def test_one_look_shares_alpha_between_arms_and_groups(kind: str, better: float) -> None:
    """2.7 standard errors, p = .007: two arms are accused at .02, with two groups at .04."""
    table, groups = even_log(kind, better), {"a": "first", "b": "second"}
    accused = []
    for alpha, named in ((0.02, None), (0.02, groups), (0.04, groups)):
        found = audit(table, Exponential(1), look="once", alpha=alpha, groups=named)
        accused.append([line.verdict in ("under", "over") for line in found.lines])
        assert (SHARED in found.conditions) == (named is not None)
    assert accused == [[True, True], [False, False], [True, True]]


def test_propensities_alone_share_alpha_with_groups_that_the_box_judges() -> None:
    rng = np.random.default_rng(5)
    rows = 3000
    table = pd.DataFrame({"arm": rng.integers(0, 2, rows), "propensity": 0.5})
    table["reward"] = (rng.random(rows) < 0.5).astype(float)
    groups = {"0": "first", "1": "second"}
    both = audit(table, Exponential(1), groups=groups)
    half = audit(table, Exponential(1), alpha=0.025)
    assert both.beside == half.beside
    # The box of two means at a quarter of alpha, one of the exposure of two groups at another.
    assert both.groups[0].exposure_low == pytest.approx(
        audit(table, Exponential(1), alpha=0.025, groups=None).lines[0].exposure_low
    )
    assert both.groups[0].fair_low == pytest.approx(half.lines[0].fair_low)
