"""What a log says against its own audit: the promise is that each broken condition is pointed out."""

from __future__ import annotations

from pathlib import Path

import fair_systems as systems
import numpy as np
import pandas as pd
import pytest
from fair_systems import Played, exponential
from test_audit_moving import table_of

from fairx import Exponential
from fairx.auditing import Audit, audit
from fairx.auditing.page import write_audit
from fairx.auditing.words import lead
from fairx.command import main

pytestmark = pytest.mark.once  # nothing here is compiled

MERIT = Exponential(4)


def steady(decisions: int = 6000, seed: int = 1) -> Played:
    rng = np.random.default_rng(seed)
    return systems.played(rng, *systems.steady(2, exponential(4))(rng, decisions))


def daily(decisions: int = 6000) -> pd.DataFrame:
    """Return a log that is fair at every decision, over six days of 1,000 decisions."""
    rng = np.random.default_rng(2)
    table = table_of(systems.played(rng, *systems.daily(exponential(4))(rng, decisions)))
    seconds = pd.to_timedelta(np.arange(decisions) * 86.4, unit="s")
    return table.assign(time=pd.Timestamp("2026-01-01") + seconds)


def lost(some: Played, seed: int = 3) -> np.ndarray:
    """Tell half of the zeros of the first arm."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(some.arms.size) < 0.5
    return np.asarray((some.arms == 0) & (some.rewards == 0) & drawn)


def test_rows_that_are_lacking_are_noticed() -> None:
    some = steady()
    assert audit(table_of(some), MERIT).warnings == ()
    found = audit(table_of(some)[~lost(some)], MERIT)
    assert {line.verdict for line in found.lines} == {"under", "over"}  # which is false
    (warning,) = found.warnings
    assert "do not fit what the log says of their chances (arm-0, arm-1)" in warning
    assert warning.endswith("no verdict holds.")


def test_rewards_that_are_missing_of_one_arm_are_noticed() -> None:
    some = steady()
    gone = lost(some)
    found = audit(table_of(some._replace(rewards=np.where(gone, np.nan, some.rewards))), MERIT)
    (warning,) = found.warnings
    parts = [gone[some.arms == arm].mean() for arm in (0, 1)]
    assert f"missing for {parts[0]:.0%} of the shows of arm-0, and for 0% of those" in warning
    assert found.notes[-1] == (
        "Whatever the missing rewards were, 0 of 2 arms that are accused would be."
    )


def test_rewards_that_are_missing_at_random_are_no_reason_to_warn() -> None:
    rng, warned = np.random.default_rng(4), 0
    for seed in range(20):
        some = steady(1500, seed)
        gone = rng.random(1500) < 0.3
        table = table_of(some._replace(rewards=np.where(gone, np.nan, some.rewards)))
        warned += bool(audit(table, MERIT).warnings)
    assert warned == 0  # always-valid intervals of two parts rarely exclude each other


def test_verdicts_that_hold_whatever_is_missing_are_counted() -> None:
    rng = np.random.default_rng(5)
    chances = np.tile([0.95, 0.05], (4000, 1))
    some = systems.played(rng, chances, np.full((4000, 2), 0.5))
    gone = rng.random(4000) < 0.02
    table = table_of(some._replace(rewards=np.where(gone, np.nan, some.rewards)))
    assert audit(table, MERIT).notes[-1].startswith("Whatever the missing rewards were, 2 of 2")
    shows = audit(table.drop(columns="probabilities"), MERIT)
    assert shows.judged_by == "box"
    assert shows.notes[-1].startswith("Whatever the missing rewards were, 2 of 2")
    assert not any("Whatever" in note for note in audit(table_of(some), MERIT).notes)


def test_a_daily_cycle_is_noticed_by_its_hours() -> None:
    """Thirds of six days are alike; hours are not. The box needs that, pseudo-rewards do not."""
    table = daily()
    known = audit(table, MERIT)
    assert known.warnings == ()
    assert "differ between hours of the day" in known.notes[0]
    assert "fairness regret suppose that they do not" in known.notes[0]
    shown = audit(table.drop(columns="probabilities"), MERIT)
    assert {line.verdict for line in shown.lines} == {"under", "over"}  # which is false
    (warning,) = shown.warnings
    assert "differ between hours of the day" in warning
    assert warning.endswith("by --by time:hour.")
    strata = audit(table.drop(columns="probabilities"), MERIT, by="time:hour")
    assert strata.warnings == ()
    assert {line.verdict for line in strata.lines} == {"unclear"}


def test_steady_means_do_not_differ_by_hours() -> None:
    for seed in range(10):
        table = table_of(steady(1200, seed)).drop(columns="probabilities")
        seconds = pd.to_timedelta(np.arange(1200) * 432.0, unit="s")
        assert audit(table.assign(time=pd.Timestamp("2026-01-01") + seconds), MERIT).warnings == ()


def test_ratings_are_in_no_need_of_rewards() -> None:
    some = steady(2000)
    table = table_of(some)[~lost(some)]
    assert audit(table, MERIT, ratings={"arm-0": 0.5, "arm-1": 0.5}).warnings == ()


def test_slates_are_asked_too() -> None:
    """Two places, three arms, shown in order of their number: exposures are not those that are logged."""
    rows = [
        {
            "decision": i, "place": place + 1, "weight": 1.0 - place / 2, "arm": f"arm-{place}",
            "candidates": ["arm-0", "arm-1", "arm-2"], "exposures": [0.5, 0.5, 0.5],
            "reward": None if place else float(i % 2),
        }
        for i in range(500)
        for place in (0, 1)
    ]  # fmt: skip
    found = audit(pd.DataFrame(rows), Exponential(1))
    assert "do not fit what the log says of their chances" in found.warnings[0]
    assert "Rewards are missing for 100% of the shows of arm-1" in found.warnings[1]


def written(folder: Path, found: Audit) -> str:
    return write_audit(found, folder, {}).read_text("utf-8")


def test_warnings_stand_before_the_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = steady(3000)
    table = table_of(some)[~lost(some)]
    table.to_parquet(tmp_path / "log.parquet")
    found = audit(table, MERIT)
    page = written(tmp_path, found)
    assert page.index(found.warnings[0]) < page.index(lead(found))
    options = ["--merit", "exponential:4", "--out", str(tmp_path / "out")]
    assert main(["audit", str(tmp_path / "log.parquet"), *options]) == 0
    printed = capsys.readouterr().out
    assert printed.index(f"warning: {found.warnings[0]}") < printed.index(lead(found))
    assert "(by probabilities, if means do not vary)" in printed
