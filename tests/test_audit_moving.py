"""The promise of the audit where the world moves: fair systems, and unfair ones that hide in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fair_systems as systems
import numpy as np
import pandas as pd
import pytest
from fair_systems import Maker, Played, cut, exponential, shifted
from scipy import stats

from fairx import Affine, Exponential
from fairx.auditing import Audit, audit, changes
from fairx.auditing.always_valid import always_valid
from fairx.auditing.beside import besides, once, trial
from fairx.auditing.chosen import Shown, nothing_shown
from fairx.auditing.decisions import part
from fairx.auditing.families import Family
from fairx.auditing.once import Look
from fairx.auditing.page import write_audit
from fairx.auditing.shares import Pools
from fairx.auditing.spread import means_within
from fairx.auditing.wealth import Evidence, nothing
from fairx.auditing.words import lead
from fairx.command.main import parser

EXP4, EXP10, NEARLY = (
    Family(4.0, 0.0, 1.0, 0.0),
    Family(10.0, 0.0, 1.0, 0.0),
    Family(0.0, 0.1, 1.0, 0.0),
)
FAIR: dict[str, tuple[Maker, Family, int]] = {
    "daily": (systems.daily(exponential(4)), EXP4, 2),
    "contexts": (systems.contexts(exponential(4)), EXP4, 2),
    "walking": (systems.walking(10, exponential(10)), EXP10, 10),
    "affine": (systems.waves(10, shifted(0.1)), NEARLY, 10),
    "pools": (systems.pools(10, exponential(10)), EXP10, 10),
    "floor": (systems.floored(10, exponential(4), 0.02), EXP4._replace(floor=0.02), 10),
}


def table_of(some: Played) -> pd.DataFrame:
    """Return what was played as a log."""
    names = np.array([f"arm-{i}" for i in range(some.chances.shape[1])])
    offered = [row > 0 for row in some.chances]
    return pd.DataFrame(
        {
            "time": np.arange(float(some.arms.size)),
            "arm": names[some.arms],
            "candidates": [names[there].tolist() for there in offered],
            "probabilities": [row[row > 0].tolist() for row in some.chances],
            "reward": some.rewards,
        }
    )


def played(maker: Maker, decisions: int, seed: int) -> Played:
    rng = np.random.default_rng(seed)
    return systems.played(rng, *maker(rng, decisions))


def evidence_of(some: Played, merit: Family, size: int = 200) -> Evidence:
    whole, found = systems.decisions(some), nothing(some.chances.shape[1])
    for first in range(0, some.arms.size, size):
        found = found.add(part(whole, first, min(first + size, some.arms.size)), merit)
    return found.evidence()


@pytest.mark.parametrize("name", ["daily", "contexts"])
def test_a_fair_system_in_a_world_that_moves_is_not_accused(name: str) -> None:
    """The box accuses both: a fair system shows an arm more where it is good."""
    found = audit(table_of(played(FAIR[name][0], 5000, 1)), Exponential(4))
    assert [line.box for line in found.lines] == ["under", "over"]
    assert [line.verdict for line in found.lines] == ["unclear", "unclear"]
    assert {line.judged_by for line in found.lines} == {found.judged_by} == {"pseudo-rewards"}
    assert found.impossible == 0
    assert any("drawn with its logged probability" in words for words in found.conditions)


@pytest.mark.parametrize("name", list(FAIR))
def test_fair_systems_are_accused_as_rarely_as_promised(name: str) -> None:
    """At most alpha of runs, at any of 5 looks: at most the 1e-6 quantile of 40 runs.

    `python benchmarks/audit_levels.py levels` has 400 runs of each, at 25 looks.
    """
    maker, merit, arms = FAIR[name]
    accused, rng = 0, np.random.default_rng(3)
    for _ in range(40):
        whole, found = systems.decisions(systems.played(rng, *maker(rng, 1000))), nothing(arms)
        runs = []
        for first in range(0, 1000, 200):
            found = found.add(part(whole, first, first + 200), merit)
            runs.append(found)
        test = trial(merit, 0.05, arms)
        accused += any(
            one.accused != "unclear" for run in runs for one in besides([run.evidence()], test)
        )
    assert accused <= stats.binom.ppf(1 - 1e-6, 40, 0.05)


@pytest.mark.parametrize("name", ["daily", "contexts", "floor", "affine"])
def test_unfair_systems_that_hide_are_found(name: str) -> None:
    """An arm at half of its share at every decision, behind drift, contexts, floors."""
    maker, merit, arms = FAIR[name]
    short = (
        cut(maker, 0, 0.5) if name != "floor" else cut(systems.steady(10, exponential(4)), 0, 0.5)
    )
    found = besides(
        [evidence_of(played(short, 12_000, 4), merit._replace(floor=0.0))], trial(merit, 0.05, arms)
    )
    assert found[0].accused == "under"
    assert found[0].of_share == pytest.approx(0.5, abs=0.1)
    assert found[0].beside_high is not None
    assert found[0].beside_high < 1


def test_an_arm_at_four_fifths_of_its_share_is_found_soon() -> None:
    """10 arms, exp4: the median of `benchmarks/audit_levels.py power` is 5,310 decisions; the box needs 30,000."""
    short = cut(systems.spaced(10, exponential(4)), 9, 0.8)
    found = [
        besides([evidence_of(played(short, 10_000, s), EXP4, 500)], trial(EXP4, 0.05, 10))
        for s in range(5)
    ]
    assert sum(one[9].accused == "under" for one in found) >= 4
    for one in found:
        assert {other.accused for other in one[:9]} == {"unclear"}


def test_parts_of_a_log_add_up() -> None:
    """Sums of two parts with the same level are those of the whole: the service adds decisions."""
    some = systems.decisions(played(FAIR["pools"][0], 300, 5))
    whole = nothing(10).add(some, EXP10)
    first, second = (
        nothing(10).add(part(some, *ends), EXP10).known for ends in ((0, 100), (100, 300))
    )
    for one, other in zip(first.merged(second), whole.known, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_decisions_out_of_order_are_put_in_order() -> None:
    table = table_of(played(FAIR["daily"][0], 2000, 6))
    mixed = table.sample(frac=1.0, random_state=1)
    assert audit(mixed, Exponential(4)).beside == audit(table, Exponential(4)).beside


def lossy(seed: int) -> Audit:
    """Audit a fair log that lost a fifth of one arm's zeros, as an empty reward."""
    some = played(systems.steady(2, exponential(4)), 6000, seed)
    rng = np.random.default_rng(seed)
    lost = (some.arms == 0) & (some.rewards == 0) & (rng.random(6000) < 0.2)
    table = table_of(some)
    table.loc[lost, "reward"] = None
    return audit(table, Exponential(4))


def test_rewards_missing_because_of_what_they_are_have_bounds() -> None:
    """Fair logs are accused then, which is said; the bounds whatever was lost hold 1."""
    found = [lossy(seed) for seed in range(2)]
    assert any(line.verdict != "unclear" for one in found for line in one.lines)
    for one in found:
        for arm in one.beside:
            assert arm.beside_least is not None
            assert arm.beside_most is not None
            assert arm.beside_least < 1 < arm.beside_most
            assert arm.beside_least < arm.beside_low < arm.beside_high < arm.beside_most  # type: ignore[operator]


def test_decisions_that_cannot_be_fair_are_counted() -> None:
    """exp(2) is 7.4: chances of 0.9 and 0.1 are farther apart than any merits."""
    table = pd.DataFrame(
        {
            "candidates": [["a", "b"]] * 200,
            "probabilities": [[0.9, 0.1], [0.5, 0.5]] * 100,
            "arm": ["a", "b"] * 100,
            "reward": [1.0, 0.0] * 100,
        }
    )
    assert audit(table, Exponential(2)).impossible == 100
    assert audit(table, Exponential(2.1972)).impossible == 0  # log 9, but for what was rounded
    assert audit(table, Affine(1, 0.1)).impossible == 0
    assert audit(table, Affine(1, 0.2)).impossible == 100


@pytest.mark.parametrize(("merit", "speaks"), [("exponential", True), ("flat", False)])
def test_who_speaks(merit: str, speaks: bool) -> None:
    table = table_of(played(FAIR["daily"][0], 100, 1))
    merits: dict[str, Any] = {"exponential": Exponential(4), "flat": Exponential(0)}
    found = audit(table, merits[merit])
    assert (found.judged_by == "pseudo-rewards") == speaks
    assert bool(found.beside) == speaks
    assert any("does not vary" in words for words in found.conditions) != speaks


def test_an_arm_is_fair_where_nothing_worse_is_left_open() -> None:
    """Rewards that hardly vary say it soon; a small log leaves it open, and says what it could show."""
    rng = np.random.default_rng(1)
    maker = systems.steady(2, exponential(4))
    exact = systems.played(rng, *maker(rng, 6000), deviation=0.02)
    found = audit(table_of(exact), Exponential(4))
    assert {line.verdict for line in found.lines} == {"fair"}
    assert {
        line.verdict for line in audit(table_of(exact), Exponential(4), tolerance=0.001).lines
    } == {"unclear"}
    small = audit(table_of(played(maker, 200, 1)), Exponential(4))
    for line, one in zip(small.lines, small.beside, strict=True):
        assert line.verdict == "unclear"
        assert line.shown_below == pytest.approx(one.beside / one.beside_high)  # type: ignore[operator]
        assert line.shown_below is not None
        assert line.shown_below < 0.7


# Only the propensities of the arms shown are known


def weakly(some: Played) -> Any:
    """Return what the weaker form says of decisions among all arms."""
    arms = some.chances.shape[1]
    pools = Pools(np.zeros(arms, np.int64), np.arange(arms), np.array([float(some.arms.size)]))
    found = nothing_shown(arms, 1)
    propensities = some.chances[np.arange(some.arms.size), some.arms]
    whole = Shown(some.rewards, some.arms, np.zeros(some.arms.size, np.int64), propensities)
    for first in range(0, some.arms.size, 250):
        found = found.add(whole.rows(slice(first, first + 250)), EXP4, np.array([float(arms)]))
    shows = np.bincount(some.arms, minlength=arms).astype(float)
    return besides([found.evidence(pools, shows)], trial(EXP4, 0.05, arms, among_all=True))


@pytest.mark.parametrize("name", ["daily", "contexts"])
def test_propensities_alone_accuse_fair_systems_as_rarely_as_promised(name: str) -> None:
    """At one look: at most the 1e-6 quantile of 40 runs."""
    found = [weakly(played(FAIR[name][0], 2000, seed)) for seed in range(40)]
    accused = sum(any(arm.accused != "unclear" for arm in one) for one in found)
    assert accused <= stats.binom.ppf(1 - 1e-6, 40, 0.05)


def test_propensities_alone_find_too_little_and_too_much() -> None:
    """10 arms, exp4: medians are 6,900 decisions for an arm at 80 %, 9,300 for one at 150 %."""
    for share, verdict, decisions in ((0.8, "under", 14_000), (1.5, "over", 20_000)):
        short = cut(systems.spaced(10, exponential(4)), 9, share)
        found = [weakly(played(short, decisions, seed))[9] for seed in range(3)]
        assert sum(one.accused == verdict for one in found) >= 2
        for one in found:
            assert one.of_share == pytest.approx(share, rel=0.1)


def test_a_log_of_propensities_is_judged_by_them() -> None:
    some = played(FAIR["daily"][0], 4000, 1)
    table = table_of(some).drop(columns=["probabilities", "candidates"])
    table["propensity"] = some.chances[np.arange(4000), some.arms]
    found = audit(table, Exponential(4))
    assert found.judged_by == "pseudo-rewards of the arms shown"
    assert {line.verdict for line in found.lines} == {"unclear"}
    assert any("had a chance at every decision" in words for words in found.conditions)
    assert audit(table, Affine(1, 0.1)).judged_by == "box"


# Users who return


def by_user(seed: int, returns: int = 20) -> pd.DataFrame:
    """Return a fair log in which the arm is drawn once for each user, who rewards it alike."""
    some = played(systems.spaced(2, exponential(4)), 100, seed)
    table = table_of(some).loc[np.repeat(np.arange(100), returns)]
    user = np.repeat(np.arange(100), returns)
    return table.assign(time=np.arange(len(table), dtype=float), user_id=user)


def test_decisions_of_one_user_count_once() -> None:
    """40 alike rows for each of 100 users: half of fair logs are accused, by users at most one of 4."""
    tables = [by_user(seed, 40) for seed in range(4)]
    plain = [audit(table, Exponential(4)) for table in tables]
    units = [audit(table, Exponential(4), columns={"unit": "user_id"}) for table in tables]
    accused = [sum(any(line.verdict in ("under", "over") for line in one.lines) for one in found)
               for found in (plain, units)]  # fmt: skip
    assert accused[0] >= 2
    assert accused[1] <= 1
    assert any("give --unit user_id" in note for note in plain[0].notes)
    assert "100 units have 4,000 decisions" in units[0].notes[0]
    assert units[0].decisions == 100


def test_the_first_decision_of_a_unit_is_the_earliest() -> None:
    table = by_user(1).sample(frac=1.0, random_state=2)
    alone = by_user(1, returns=1).assign(time=lambda one: one["time"] * 20)
    found, expected = (
        audit(table, Exponential(4), columns={"unit": "user_id"}),
        audit(alone, Exponential(4)),
    )
    assert found.beside == expected.beside
    assert found.lines == expected.lines


def test_an_arm_that_has_all_at_times_does_not_lack_by_propensities_alone() -> None:
    """It has 0.9 of every fifth decision and 0.02 of others, 0.196 in all, where 0.1 is fair."""
    rng, names = np.random.default_rng(1), np.array([f"a{i}" for i in range(10)])
    first = np.where(np.arange(20_000) % 5 == 0, 0.9, 0.02)
    chances = np.column_stack([first, *[(1 - first) / 9] * 9])
    some = systems.played(rng, chances, np.full((20_000, 10), 0.5))
    table = pd.DataFrame({"arm": names[some.arms], "reward": some.rewards})
    found = audit(table.assign(propensity=chances[np.arange(20_000), some.arms]), Exponential(4))
    assert found.beside[0].accused == "under"
    assert found.lines[0].ratio > 1.5
    assert found.lines[0].verdict == "unclear"


# Arms that come late, and arms that are never shown


def test_an_arm_that_comes_late_is_on_offer_from_then_on() -> None:
    """Three arms of equal merit, the third from half-way: fair, and not accused."""
    rng, half = np.random.default_rng(1), 4000
    arms = np.concatenate([rng.choice(["a", "b"], half), rng.choice(["a", "b", "late"], half)])
    rewards = (rng.random(2 * half) < 0.5).astype(float)
    table = pd.DataFrame({"arm": arms, "reward": rewards, "time": np.arange(2.0 * half)})
    found = audit(table, Exponential(4))
    assert {line.verdict for line in found.lines} <= {"unclear", "fair"}
    assert [line.fair_share for line in found.lines] == pytest.approx(
        [5 / 12, 5 / 12, 1 / 6], abs=0.05
    )
    assert any("1 arm first appears later" in note for note in found.notes)
    propensity = np.where(np.arange(2 * half) < half, 1 / 2, 1 / 3)
    weakly_ = audit(table.assign(propensity=propensity), Exponential(4))
    assert {line.verdict for line in weakly_.lines} <= {"unclear", "fair"}
    assert weakly_.fairness_regret_per_decision < 0.1
    unknown = audit(table.drop(columns="time"), Exponential(4))
    assert [line.verdict for line in unknown.lines][2] == "under"
    assert audit(table, Exponential(4), by=None).decisions == 2 * half


def test_arms_that_were_never_shown_can_be_named(tmp_path: Path) -> None:
    table = pd.DataFrame({"arm": ["a", "b"] * 300, "reward": [1.0, 0.0] * 300})
    found = audit(table, Exponential(1), arms=["a", "never"])
    assert [(line.arm, line.shows) for line in found.lines] == [
        ("a", 300),
        ("b", 300),
        ("never", 0),
    ]
    assert found.lines[2].verdict == "under"
    numbers = audit(table.assign(arm=[1, 2] * 300), Exponential(1), arms=[7])
    assert [line.arm for line in numbers.lines] == [1, 2, 7]
    with pytest.raises(ValueError, match="arms must not be given where the log has candidates"):
        audit(table.assign(candidates=[["a", "b"]] * 600), Exponential(1), arms=["c"])


# The box where rewards hardly vary


def test_intervals_of_rewards_that_hardly_vary_are_narrow_and_hold() -> None:
    """At any of 25 looks: at most the 1e-6 quantile of 60 runs, half of them of coins."""
    rng, missed = np.random.default_rng(1), 0
    looks = np.unique(np.geomspace(5, 3000, 25).astype(int))
    for run in range(60):
        coin, calm = (rng.random(3000) < 0.37).astype(float), 0.37 + rng.uniform(-0.1, 0.1, 3000)
        values = calm if run % 2 else coin
        sums, squares = np.cumsum(values)[looks - 1], np.cumsum(values**2)[looks - 1]
        found = means_within(sums, squares, looks.astype(float), 0.05, 0.0, 1.0)
        missed += bool(((found.low > 0.37) | (found.high < 0.37)).any())
        plain = always_valid(sums[-1:], looks[-1:], 0.05)
        wide = (plain.high - plain.low)[0]
        assert (found.high - found.low)[-1] < (0.4 if run % 2 else 1.05) * wide
    assert missed <= stats.binom.ppf(1 - 1e-6, 60, 0.05)


# Strata for the box


def shown_alone(some: Played, **columns: Any) -> pd.DataFrame:
    """Return a log that only the box can judge: no probabilities, dates by the minute."""
    start = pd.Timestamp("2026-01-01")
    return pd.DataFrame(
        {
            "arm": np.array(["a", "b"])[some.arms],
            "reward": some.rewards,
            "time": start + pd.to_timedelta(np.arange(some.arms.size) * 86.4, unit="s"),
            **columns,
        }
    )


def test_strata_hold_means_that_vary_between_them() -> None:
    """A day is 1,000 decisions here: a fair daily cycle is accused, but not hour by hour."""
    table = shown_alone(played(systems.daily(exponential(4)), 40_000, 1))
    plain, strict = (audit(table, Exponential(4), by=by) for by in (None, "time:hour"))
    assert {line.verdict for line in plain.lines} == {"under", "over"}
    assert {line.verdict for line in strict.lines} == {"unclear"}
    assert strict.by == "time:hour"
    assert {line.judged_by for line in plain.lines} == {"box"}


def test_strata_are_separate_audits_that_are_averaged() -> None:
    """fair(a) = sum over strata of T_s / T f(mean of a in s) / sum of f in s; its box likewise."""
    some = played(systems.contexts(exponential(4)), 3000, 2)
    page = np.where(some.chances[:, 0] > 0.5, "x", "y")
    table = shown_alone(some, page=page)
    found = audit(table, Exponential(4), by="page", columns={"stratum": "page"})
    each = [audit(part, Exponential(4), alpha=0.05 / 2) for _, part in table.groupby("page")]
    weights = [len(part) / len(table) for _, part in table.groupby("page")]
    for i, line in enumerate(found.lines):
        for name in ("fair_share", "fair_low", "fair_high", "exposure"):
            whole = sum(
                w * getattr(one.lines[i], name) for w, one in zip(weights, each, strict=True)
            )
            assert getattr(line, name) == pytest.approx(whole, abs=1e-9)
    assert {line.verdict for line in found.lines} == {"unclear"}


def test_a_log_whose_means_vary_says_so() -> None:
    some = played(systems.contexts(exponential(4)), 3000, 2)
    kinds = [[1.0] if chance > 0.5 else [0.0] for chance in some.chances[:, 0]]
    found = audit(shown_alone(some, context=kinds), Exponential(4))
    assert "differ between contexts" in found.warnings[0]
    assert "--by COLUMN" in found.warnings[0]
    late = some.rewards * (np.arange(3000) > 1500)
    assert (
        "differ between thirds of the log"
        in audit(shown_alone(some._replace(rewards=late)), Exponential(4)).warnings[0]
    )
    steady = played(systems.steady(2, exponential(4)), 3000, 2)
    assert audit(shown_alone(steady), Exponential(4)).warnings == ()


def test_wrong_strata_are_refused() -> None:
    table = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 0.0], "time": [1.0, 2.0]})
    with pytest.raises(ValueError, match="by must be of dates"):
        audit(table, Exponential(4), by="time:day")
    with pytest.raises(ValueError, match="by must be time:hour, time:day or the column of strata"):
        audit(table, Exponential(4), by="page")


# Words


def test_the_strongest_finding_is_said_first(tmp_path: Path) -> None:
    short = cut(systems.daily(exponential(4)), 0, 0.5)
    found = audit(table_of(played(short, 4000, 1)), Exponential(4))
    one = found.beside[0]
    words = lead(found)
    assert " of its share, between " in words
    assert "if the others were treated alike. Beside the others, it was shown" in words
    named = words.split()[0]
    assert found.lines[[line.arm for line in found.lines].index(named)].verdict != "unclear"
    assert f"{one.beside:.2g} times" in words or f"{found.beside[1].beside:.2g} times" in words
    assert "95 % at any time" in words
    assert words.endswith("One arm more is accused.")
    page = write_audit(found, tmp_path, {}).read_text("utf-8")
    assert f'id="lead">{words}<' in page


def test_no_finding_says_what_could_have_been_shown() -> None:
    found = audit(table_of(played(FAIR["daily"][0], 3000, 1)), Exponential(4))
    below = sorted(line.shown_below or 0.0 for line in found.lines)[1]
    assert "No arm is shown to have had too little or too much." in lead(found)
    assert f"below {100 * below:,.0f} % of what it earns" in lead(found)


def test_the_box_says_its_condition() -> None:
    table = pd.DataFrame({"arm": ["a"] * 900 + ["b"] * 100, "reward": [0.0, 1.0] * 500})
    words = lead(audit(table, Exponential(1)))
    assert words.startswith(("a got 180 % of the share", "b got 20 % of the share"))
    assert "if means do not vary" in words


# A single look


def test_one_declared_look_accuses_fair_systems_as_rarely_as_promised() -> None:
    """40 fair runs: at most the 1e-6 quantile."""
    accused = 0
    for seed in range(40):
        found = evidence_of(played(FAIR["daily"][0], 2000, seed), EXP4)
        test = once(found, trial(EXP4, 0.05, 2), 0.05, Look(True))
        accused += any(one.accused != "unclear" for one in besides([found], test))
    assert accused <= stats.binom.ppf(1 - 1e-6, 40, 0.05)


def test_one_declared_look_is_sharper_and_says_what_it_does_not_cover() -> None:
    short = cut(systems.spaced(2, exponential(4)), 0, 0.9)
    table = table_of(played(short, 4000, 3))
    always, once_ = (audit(table, Exponential(4), look=look) for look in ("always", "once"))
    for one, other in zip(always.beside, once_.beside, strict=True):
        assert one.beside == other.beside
        assert one.beside_low < other.beside_low < other.beside_high < one.beside_high  # type: ignore[operator]
    assert once_.look == "once, with Bonferroni's correction"
    assert any("second look" in words for words in once_.conditions)
    assert not once_.courses
    assert audit(table, Exponential(4), look="once", correction="bh").look.endswith("Hochberg's")
    alone = table.drop(columns=["probabilities", "candidates"])
    assert audit(alone, Exponential(4), look="once").judged_by == "box"


def test_wrong_looks_are_refused() -> None:
    table = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 0.0]})
    for words, message in (
        ({"look": "twice"}, "look must be 'always' or 'once', not 'twice'"),
        (
            {"look": "once", "correction": "holm"},
            "correction must be one of bonferroni, bh, not 'holm'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            audit(table, Exponential(4), **words)  # type: ignore[arg-type]


# Two logs


def test_who_gained_and_who_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first of two arms had half of its share before, and has all of it now; means moved too."""
    now = systems.daily(exponential(4))
    tables = [table_of(played(maker, 5000, 1)) for maker in (cut(now, 0, 0.5), now)]
    before, after = (audit(table, Exponential(4), alpha=0.025) for table in tables)
    found = changes(before, after)
    assert [one.verdict for one in found] == ["gained", "lost"]
    for one, ours, theirs in zip(found, before.beside, after.beside, strict=True):
        assert one.by == "beside"
        assert one.change == pytest.approx(theirs.beside / ours.beside)  # type: ignore[operator]
        assert one.change_low == pytest.approx(theirs.beside_low / ours.beside_high)  # type: ignore[operator]
        assert one.change_high == pytest.approx(theirs.beside_high / ours.beside_low)  # type: ignore[operator]
    assert {one.verdict for one in changes(after, after)} == {"unclear"}
    for name, table in zip(("old", "new"), tables, strict=True):
        table.to_parquet(tmp_path / f"{name}.parquet")
    words = ["audit", str(tmp_path / "new.parquet"), "--against", str(tmp_path / "old.parquet")]
    options = parser().parse_args(
        [*words, "--merit", "exponential:4", "--out", str(tmp_path / "out")]
    )
    assert options.run(options) == 0
    assert "arm-0" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "out" / "changes.csv")
    assert table["verdict"].tolist() == ["gained", "lost"]
    assert "Who gained, who lost" in (tmp_path / "out" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("wide", [1e200, 1e-200, 1.0])
def test_ranges_of_any_size_have_intervals(wide: float) -> None:
    """Squares that are lost or infinite tell nothing: rewards may then vary as those of a coin."""
    counts = np.array([0.0, 1.0, 400.0])
    sums = np.array([0.0, wide, 100 * wide])
    with np.errstate(over="ignore"):
        squares = sums * wide
    with np.errstate(all="raise", under="ignore"):
        found = means_within(sums, squares, counts, 0.05, 0.0, wide)
    assert (found.low <= found.high).all()
    assert found.low[2] / wide < 0.25 < found.high[2] / wide
