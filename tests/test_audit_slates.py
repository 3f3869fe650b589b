"""The audit of slates: against sums that are written out; fair logs are not accused, others are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairx import Exponential, fair_exposure
from fairx.auditing import audit
from fairx.auditing.always_valid import Intervals
from fairx.auditing.slates import audit_slates
from fairx.auditing.slates.shares import PageKind, exposure_box, exposures_of
from fairx.slates import draw_slate

MERIT = Exponential(2)
MEANS = np.array([0.2, 0.3, 0.5, 0.6, 0.8])
PAGES = [(np.arange(5), np.array([1.0, 0.6, 0.5])), (np.array([0, 2, 3, 4]), np.array([1.0, 0.5]))]


def made(decisions: int, seed: int, favour: float = 1.0) -> pd.DataFrame:
    """A log of a system that is fair, but for the merit of arm 0, which is `favour` times as much."""
    rng, rows = np.random.default_rng(seed), []
    for decision in range(decisions):
        arms, weights = PAGES[decision % 3 == 2]
        means = MEANS + np.log(favour) / 2 * (np.arange(5) == 0)
        exposures = fair_exposure(MERIT, means[arms], weights)
        slate = draw_slate(exposures, weights, rng)
        for place, position in enumerate(slate.arms.tolist()):
            arm = arms[position]
            about = (decision, place + 1, arm, slate.propensities[place], weights[place])
            reward = float(rng.random() < MEANS[arm])
            rows.append((*about, arms.tolist(), exposures.tolist(), reward))
    names = "decision place arm propensity weight candidates exposures reward"
    return pd.DataFrame(rows, columns=names.split())


@pytest.fixture(scope="module")
def fair() -> pd.DataFrame:
    return made(900, 1)


def test_sums_that_are_written_out(fair: pd.DataFrame) -> None:
    found = audit_slates(fair, MERIT)
    total, had, earned, regret = 0.0, np.zeros(5), np.zeros(5), 0.0
    means = fair.groupby("arm")["reward"].mean().to_numpy()
    for _, page in fair.groupby("decision"):
        arms, weights = page["candidates"].iloc[0], page["weight"].to_numpy()
        target = fair_exposure(MERIT, means[arms], weights)
        total += weights.sum()
        had[arms] += page["exposures"].iloc[0]
        earned[arms] += target
        regret += np.abs(target - page["exposures"].iloc[0]).sum() / weights.sum()
    np.testing.assert_allclose([line.exposure for line in found.lines], had / total, rtol=1e-12)
    np.testing.assert_allclose([line.fair_share for line in found.lines], earned / total)
    assert found.fairness_regret_per_decision == pytest.approx(regret / 900, rel=1e-12)
    assert found.decisions == 900
    assert sum(line.shows for line in found.lines) == len(fair)
    assert found.exposure_from == "exposures"
    assert found.mismatched == ()


def test_the_regret_over_time_is_written_out(fair: pd.DataFrame) -> None:
    """40 stretches; none in which there was no decision, and none where all is one."""
    some = fair[fair["decision"] % 100 < 60].assign(time=fair["decision"].astype(float))
    found, means = audit_slates(some, MERIT), some.groupby("arm")["reward"].mean().to_numpy()
    each: dict[int, list[float]] = {}
    for decision, page in some.groupby("decision"):
        target = fair_exposure(MERIT, means[page["candidates"].iloc[0]], page["weight"].to_numpy())
        regret = np.abs(target - page["exposures"].iloc[0]).sum() / page["weight"].sum()
        each.setdefault(min(int(decision / (859 / 40)), 39), []).append(regret)
    assert 20 < len(each) < 40
    for moment, number in zip(found.over_time, sorted(each), strict=True):
        assert (moment.start, moment.stop) == pytest.approx(
            (number * 859 / 40, (number + 1) * 859 / 40)
        )
        assert moment.decisions == len(each[number])
        assert moment.fairness_regret_per_decision == pytest.approx(np.mean(each[number]))
    again = {audit(some, MERIT).over_time for _ in range(4)}  # threads add in orders of their own
    assert again == {found.over_time}
    assert audit_slates(some.drop(columns="exposures"), MERIT).over_time == ()
    assert audit_slates(some.assign(time=7.0), MERIT).over_time == ()
    assert audit_slates(some.drop(columns="time"), MERIT).over_time == ()


def test_the_box_has_all_fair_exposures_and_reaches_its_ends() -> None:
    """At a corner each end is met; 200 points inside the box, and all corners, are within."""
    rng = np.random.default_rng(2)
    for (arms, weights), floor in zip(PAGES, (0.0, 0.1), strict=True):
        kind = PageKind(arms, weights, 1.0, floor)
        for groups in (np.arange(5), np.array([0, 1, 0, 1, 0])):
            middle, half = rng.normal(0, 2, 5), rng.random(5) * 2
            box = Intervals(middle - half, middle + half)
            low, high = exposure_box(kind, box, groups)
            bits = (np.arange(32)[:, None] >> np.arange(5)) & 1 == 1
            corners = [np.where(bit, *box) for bit in bits]
            points = corners + [rng.uniform(*box) for _ in range(200)]
            sums = np.array(
                [np.bincount(groups[arms], exposures_of(kind, one), len(low)) for one in points]
            )
            assert (sums >= low - 1e-12).all()
            assert (sums <= high + 1e-12).all()
            np.testing.assert_allclose(sums[:32].min(axis=0), low, atol=1e-12)
            np.testing.assert_allclose(sums[:32].max(axis=0), high, atol=1e-12)


@pytest.mark.parametrize("left_out", [[], ["exposures"], ["exposures", "candidates", "propensity"]])
def test_a_fair_log_is_not_accused(fair: pd.DataFrame, left_out: list[str]) -> None:
    """The promise is one log in 20, at all looks; three looks at one log, which is what it costs here."""
    table = fair if len(left_out) < 3 else fair[fair["decision"] % 3 < 2]
    for decisions in (100, 300, 900):
        some = table[table["decision"] < decisions].drop(columns=left_out)
        found = audit_slates(some, MERIT)
        assert {line.verdict for line in found.lines} == {"unclear"}


def test_an_arm_with_more_than_its_merit_is_accused() -> None:
    log = made(2000, 3, favour=8.0)
    groups = {0: "first", 1: "others", 2: "others", 3: "others", 4: "others"}
    for table in (log, log.drop(columns="exposures")):
        found = audit_slates(table, MERIT, groups=groups)
        assert found.lines[0].verdict == "over"
        verdicts = {line.arm: line.verdict for line in found.groups}
        assert verdicts == {"first": "over", "others": "under"}
        assert sum(line.exposure for line in found.groups) == pytest.approx(1)


def test_a_floor_that_not_all_can_have(fair: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"floor must be at most 1 / 5, not 0\.3"):
        audit_slates(fair[:30], MERIT, floor=0.3)


def test_exposures_that_were_made_up_are_noticed(fair: pd.DataFrame) -> None:
    """All arms are said to have had the same, among all five."""
    some = fair[fair["decision"] % 3 < 2].copy()
    some["exposures"] = [[0.42] * 5] * len(some)
    assert set(audit_slates(some.drop(columns="propensity"), MERIT).mismatched) >= {0, 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["weight", "exposures"]}, "weight must be a column of the log"),
        ({"columns": ["decision", "exposures"]}, "decision must be a column of the log"),
        ({"reward": 2.0}, "rewards must be from 0 to 1, not 2 to 2"),
        ({"reward": None}, "the log must have a reward, but all are missing"),
        ({"place": 0}, "the log must have a valid slate"),
    ],
)
def test_refusals(fair: pd.DataFrame, change: dict[str, Any], message: str) -> None:
    given = {name: value for name, value in change.items() if name != "columns"}
    table = fair[:30].drop(columns=change.get("columns", [])).assign(**given)
    with pytest.raises(ValueError, match=message):
        audit_slates(table, MERIT)


@pytest.mark.parametrize("ends", [(1.0, 1.0), (1.0, 0.0), (0.0, 5e-324), (-1e308, 1e308)])
def test_a_range_that_is_none_is_refused(fair: pd.DataFrame, ends: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="reward_range must rise, not be"):
        audit_slates(fair, MERIT, reward_range=ends)
