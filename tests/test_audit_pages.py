"""Pseudo-rewards of slates: fair pages are not accused while the world moves, others are; the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fair_systems as systems
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import stats

from fairx import Affine, Exponential, Power, fair_exposure
from fairx.auditing import audit
from fairx.auditing.beside import Trial, besides
from fairx.auditing.decisions import Look
from fairx.auditing.families import family
from fairx.auditing.slates import audit_slates
from fairx.auditing.slates.pages import Slates, blocks
from fairx.auditing.slates.pseudo import grouped, told_by, values_of
from fairx.auditing.slates.running import SlateJudge, no_slates
from fairx.command.main import parser
from fairx.slates import slate_propensities

FOUR = Exponential(4)
STEEP = np.array(
    [0.95, 0.9, 0.4, 0.3, 0.2, 0.1]
)  # the first two have the first places to themselves
WEIGHTS = np.array([1.0, 0.6, 0.5])


def one_page(exposures: Any, weights: Any, shown: Any, rewards: Any) -> Slates:
    first = np.zeros(1, np.int64)
    parts = [np.asarray(part, float) for part in (exposures, weights, rewards)]
    return Slates(first, np.arange(parts[0].size), parts[0], first, np.asarray(shown), *parts[1:])


@pytest.mark.parametrize("clicks", [False, True])
@pytest.mark.parametrize("merit", [FOUR, Affine(1, 0.1), Power(2, 0.2)])
@pytest.mark.parametrize(
    ("weights", "floor"), [(WEIGHTS, 0.0), (np.ones(3), 0.05), (np.array([1.0, 0.98, 0.97]), 0.0)]
)
def test_a_fair_page_has_mean_0_exactly(
    merit: Any, weights: Any, floor: float, clicks: bool
) -> None:
    """The mean is linear in what each arm brings at each place: added up over the exact chances of all.

    Rewards of the other places are missing, so that one place speaks at a time. Where a place is worth
    almost as much as another the first arms fill them, and only parts of the page are a contrast.
    """
    earned, form = fair_exposure(merit, STEEP, weights), family(merit, (0.0, 1.0), floor)
    exposures = floor * weights.sum() + (1 - 6 * floor) * earned
    assert form is not None
    chances = slate_propensities(exposures, weights)
    for level in (0.2, 0.5, 0.9):
        mean, size = np.zeros(6), np.zeros(6)
        for arm in range(6):
            for place, weight in enumerate(weights):
                shown = np.delete(np.arange(6), arm)[:3]
                shown[place] = arm
                rewards = np.full(3, np.nan)
                rewards[place] = STEEP[arm] * (weight if clicks else 1.0)
                one = one_page(exposures, weights, shown, rewards)
                points = told_by(one, form, np.full(4, level), clicks).points
                values = np.zeros(6)
                values[points.arms] = values_of(points._replace(bound=np.ones(6)), True).value
                mean += chances[arm, place] * values
                size += chances[arm, place] * np.abs(values)
        np.testing.assert_allclose(mean, 0.0, atol=1e-9)
        assert size.max() > 0.01


def test_blocks_are_where_arms_fill_the_first_places() -> None:
    """As many as there are blocks of fair exposures, here where two have 1.6 and four the rest."""
    exposures = fair_exposure(Exponential(8), STEEP, WEIGHTS)
    found = blocks(one_page(exposures, WEIGHTS, [0, 1, 2], np.ones(3)), exposures)
    assert exposures[:2].sum() == pytest.approx(1.6)
    assert found.order[found.block == 0].tolist() == [0, 1]
    assert sorted(found.order[found.block == 1].tolist()) == [2, 3, 4, 5]
    alike = np.full(6, 0.35)
    even = blocks(one_page(alike, WEIGHTS, [0, 1, 2], np.ones(3)), alike)
    assert set(even.block.tolist()) == {0}


def test_values_are_bounded_whatever_is_shown() -> None:
    """From -1 to 1 for all rewards at either end, all orders of what is shown, groups too."""
    rng, groups = np.random.default_rng(1), np.array([0, 1, 0, 1, 0, 1])
    for merit in (FOUR, Affine(1, 0.1)):
        form = family(merit, (0.0, 1.0), 0.0)
        assert form is not None
        for _ in range(200):
            exposures = fair_exposure(merit, rng.uniform(0, 1, 6), WEIGHTS)
            shown, rewards = rng.permutation(6)[:3], rng.integers(0, 2, 3).astype(float)
            clicks = bool(rng.integers(0, 2))
            one = one_page(exposures, WEIGHTS, shown, rewards)
            points, exact = told_by(one, form, rng.uniform(0, 1, 4), clicks).points, merit is FOUR
            for values in (values_of(points, exact), grouped(points, groups, 2, exact)):
                assert (np.abs(values.value) <= 1 + 1e-12).all()
                assert (values.counter >= -1e-12).all()
                assert (values.counter <= 1 + 2 * form.offset + 1e-12).all()


def test_groups_of_one_arm_are_arms() -> None:
    """And what one of two groups lacks the other has too much; a group of all has no contrast."""
    rng = np.random.default_rng(2)
    some = systems.paged(rng, np.tile(STEEP, (20, 1)), WEIGHTS, FOUR)
    form = family(FOUR, (0.0, 1.0), 0.0)
    assert form is not None
    points = told_by(some, form, np.full(4, 0.5), False).points
    alone, arms = grouped(points, np.arange(6), 6, True), values_of(points, True)
    order = np.lexsort((points.arms, points.row))
    for one, other in zip(alone, arms, strict=True):
        np.testing.assert_allclose(one, other[order], atol=1e-12)
    two = grouped(points, np.array([0, 0, 0, 1, 1, 1]), 2, True)
    np.testing.assert_allclose(
        two.counter[::2] / two.counter[1::2], two.value[::2] / -two.value[1::2]
    )
    whole = grouped(points, np.zeros(6, np.int64), 1, True)
    np.testing.assert_allclose([whole.value, whole.counter], 0.0, atol=1e-12)
    assert whole.contrasted.max() == 0


def waves(rng: np.random.Generator, rounds: int, height: float) -> npt.NDArray[np.float64]:
    phase = np.arange(6) * rng.uniform(0, 6)
    found: npt.NDArray[np.float64] = 0.5 + height * np.sin(np.arange(rounds)[:, None] / 30 + phase)
    return found


def accused(some: Slates, merit: Any, clicks: bool, size: int = 60) -> list[list[str]]:
    """Return the verdicts of all arms at each look."""
    form = family(merit, (0.0, 1.0), 0.0)
    assert form is not None
    judge = SlateJudge(form, 0.0, 1.0, np.zeros(6, np.int64), 0, clicks)
    found, test = Look(no_slates(6, 3), None, 0.0), Trial(form, 0.05 / 2 / 6)
    verdicts = []
    for first in range(0, some.starts.size, size):
        found = judge.add(found, some.part(first, min(first + size, some.starts.size)), 0.0)
        verdicts.append([one.accused for one in besides([found.arms.evidence()], test)])
    return verdicts


@pytest.mark.parametrize(("height", "clicks"), [(0.1, True), (0.4, False)])
def test_fair_pages_are_accused_as_rarely_as_promised(height: float, clicks: bool) -> None:
    """At most alpha of runs, at any of 5 looks: at most the 1e-6 quantile of 10. Caps bind where waves are high.

    `python benchmarks/audit_levels.py slates` has 400 runs of each, at 25 looks.
    """
    rng = np.random.default_rng(5)
    found = [
        accused(
            systems.paged(rng, waves(rng, 300, height), WEIGHTS, FOUR, 0.0, clicks), FOUR, clicks
        )
        for _ in range(10)
    ]
    wrong = sum(any(one != "unclear" for look in run for one in look) for run in found)
    assert wrong <= stats.binom.ppf(1 - 1e-6, 10, 0.05)


def table_of(some: Slates, **columns: Any) -> pd.DataFrame:
    """Return pages of six arms and three places as a log."""
    pages, names = some.starts.size, np.array([f"arm-{i}" for i in range(6)])
    decision = np.repeat(np.arange(pages), 3)
    return pd.DataFrame({
        "decision": decision, "place": np.tile([1, 2, 3], pages), "time": decision.astype(float),
        "arm": names[some.shown % 6], "weight": some.weights, "reward": some.rewards,
        "candidates": [names.tolist()] * (3 * pages),
        "exposures": some.exposures.reshape(-1, 6)[decision].tolist(), **columns,
    })  # fmt: skip


@pytest.fixture(scope="module")
def pages() -> dict[str, pd.DataFrame]:
    """Fair pages, and those that show the first arm as if it were worth .3 less, while means move."""
    rng = np.random.default_rng(6)
    means = waves(rng, 900, 0.3)
    return {
        name: table_of(systems.paged(rng, means, WEIGHTS, FOUR, lacks))
        for name, lacks in (("fair", 0.0), ("unfair", 0.3))
    }


def test_the_box_accuses_fair_pages_that_move_and_pseudo_rewards_do_not(
    pages: dict[str, pd.DataFrame],
) -> None:
    found = audit(pages["fair"], FOUR)
    assert {line.verdict for line in found.lines} <= {"unclear", "fair"}
    assert {line.judged_by for line in found.lines} == {found.judged_by} == {"pseudo-rewards"}
    assert found.impossible == 0
    assert found.sample_ratio.mismatched == ()
    assert any("share places with them" in words for words in found.conditions)
    other = audit_slates(pages["fair"], FOUR)
    for line, one in zip(found.lines, other.lines, strict=True):
        assert one._asdict().items() - {("offered", 900)} <= line._asdict().items()
    assert other.beside == found.beside
    assert other.conditions == found.conditions
    assert 0 < found.regret_floor < found.regret_high


def test_pages_that_hide_an_arm_are_found(pages: dict[str, pd.DataFrame]) -> None:
    """It has exp(-4 0.3) = 0.30 of what others have for their merit, where no place is full."""
    groups = {"arm-0": "first", **{f"arm-{i}": "others" for i in range(1, 6)}}
    found = audit(pages["unfair"], FOUR, groups=groups)
    assert found.lines[0].verdict == "under"
    assert found.beside[0].beside == pytest.approx(0.3, abs=0.08)
    assert found.beside[0].beside_high is not None
    assert found.beside[0].beside_high < 1
    assert found.groups[0].verdict == "under"
    assert found.courses[0].arm == "arm-0"


def test_an_arm_with_places_of_its_own_is_judged_by_the_box() -> None:
    """The first of six has the first place always, which it earns: no other arm is a contrast."""
    rng = np.random.default_rng(7)
    means = np.tile([0.9, 0.2, 0.2, 0.2, 0.2, 0.2], (300, 1))
    table = table_of(systems.paged(rng, means, WEIGHTS, FOUR))
    found = audit(table, FOUR)
    assert found.lines[0].judged_by == "box"
    assert {line.judged_by for line in found.lines[1:]} == {"pseudo-rewards"}
    assert {line.verdict for line in found.lines} <= {"unclear", "fair"}
    alone = audit(table.drop(columns="exposures"), FOUR)
    assert alone.judged_by == "box"
    assert any("no exposures" in note for note in alone.notes)


def test_missing_rewards_have_bounds_and_units_count_once(pages: dict[str, pd.DataFrame]) -> None:
    table = pages["fair"][:900].copy()
    table.loc[table.index % 7 == 0, "reward"] = None
    found = audit(table, FOUR)
    for one in found.beside:
        assert one.beside_least < one.beside_low < one.beside_high < one.beside_most  # type: ignore[operator]
    assert any("places have no reward" in note for note in found.notes)
    users = table.assign(user_id=table["decision"] // 2)
    assert any("give --unit user_id" in note for note in audit(users, FOUR).notes)
    units = audit(users, FOUR, columns={"unit": "user_id"})
    assert units.beside == audit(table[table["decision"] % 2 == 0], FOUR).beside
    assert any("150 units have 300 decisions" in note for note in units.notes)


def test_slates_by_the_command(pages: dict[str, pd.DataFrame], tmp_path: Path, capsys: Any) -> None:
    for name, table in pages.items():
        table.to_parquet(tmp_path / f"{name}.parquet")
    words = ["audit", str(tmp_path / "unfair.parquet"), "--merit", "exponential:4"]
    words += ["--against", str(tmp_path / "fair.parquet"), "--out", str(tmp_path / "out")]
    options = parser().parse_args(words)
    assert options.run(options) == 0
    said = capsys.readouterr().out
    assert "arm-0 got" in said
    assert "Beside the others, it was shown" in said
    changed = pd.read_csv(tmp_path / "out" / "changes.csv").set_index("arm")
    assert changed["change"]["arm-0"] < 0.5
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "shares are of the weight of all places" in page
    held = json.loads((tmp_path / "out" / "audit.json").read_text("utf-8"))
    assert held["arms"][0]["verdict"] == "under"
    assert held["regret_from"] == "exposures"


def test_clicks_and_refusals(pages: dict[str, pd.DataFrame]) -> None:
    """A click has the mean of its arm times the weight: `each` would take the last place's for worse arms."""
    rng = np.random.default_rng(8)
    means = np.tile([0.5, 0.4, 0.6, 0.5, 0.4, 0.6], (200, 1))
    table = table_of(systems.paged(rng, means, WEIGHTS, FOUR, 0.0, clicks=True))
    found = audit(table, FOUR, feedback="examined")
    sums = table.groupby("arm")[["reward", "weight"]].sum()
    expected = (sums["reward"] / sums["weight"]).clip(0, 1).tolist()
    assert [arm.mean for arm in found.arms] == pytest.approx(expected)
    assert any("times the weight of the place" in words for words in found.conditions)
    for words, message in (
        ({"feedback": "cascade"}, "feedback must be one of each, examined, not 'cascade'"),
        (
            {"feedback": "examined", "reward_range": (-1, 1)},
            "reward_range must begin at 0 for clicks",
        ),
        ({"floor": 0.3}, "floor must be at most 1 / 6"),
        ({"look": "once"}, "look must be left out for a log of slates, not 'once': slates are"),
        ({"by": "time:day"}, "by must be left out for a log of slates, not 'time:day': pseudo"),
        ({"ratings": {"a": 1.0}}, "ratings must be left out for a log of slates, not 'given': on"),
        ({"late": 5.0}, "late must be left out for a log of slates, not 5.0: late rewards"),
        ({"arms": ["a"]}, "arms must be left out for a log of slates, not 1: log the candidates"),
    ):
        with pytest.raises(ValueError, match=message):
            audit(table, FOUR, **words)
    with pytest.raises(ValueError, match="weights must be chances that a place is looked at"):
        audit(
            table.assign(weight=2 * table["weight"]).drop(columns="exposures"),
            FOUR,
            feedback="examined",
        )
