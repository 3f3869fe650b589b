"""What a hostile reader found in the audit: fair logs that it accused, options that it passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairx import Exponential, Logistic
from fairx.auditing import audit, changes
from fairx.auditing.page import write_audit
from fairx.auditing.speaking import OF_THE_BOX
from fairx.auditing.tables import text
from fairx.auditing.words import lead
from fairx.command.main import parser
from fairx.logs import read
from fairx.types import Matrix


def played(
    chances: Matrix, means: Matrix, rng: np.random.Generator, offers: Matrix | None = None
) -> pd.DataFrame:
    """Return the log of arms that were drawn with these chances, 0 and 1 for rewards."""
    names = np.array([f"arm-{i}" for i in range(chances.shape[1])])
    arms = (rng.random((len(chances), 1)) > chances.cumsum(axis=1)).sum(axis=1)
    there = np.ones(chances.shape, bool) if offers is None else offers.astype(bool)
    return pd.DataFrame({
        "arm": names[arms],
        "reward": (rng.random(len(arms)) < means[np.arange(len(arms)), arms]).astype(float),
        "candidates": [names[some].tolist() for some in there],
        "probabilities": [one[some].tolist() for one, some in zip(chances, there, strict=True)],
    })  # fmt: skip


def softmax(logs: Matrix) -> Matrix:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def test_the_box_accuses_no_arm_whose_rewards_were_all_lost() -> None:
    """The third arm is on offer in an hour in which the others are bad, and no reward is kept."""
    rng, hour = np.random.default_rng(1), np.arange(4000) // 600 == 5
    means = np.where(hour[:, None], [0.1, 0.1, 0.5], [0.9, 0.9, 0.5])
    offers = np.column_stack([np.ones((4000, 2)), hour])
    table = played(softmax(np.where(offers > 0, 4 * means, -np.inf)), means, rng, offers)
    found = audit(table.assign(reward=table["reward"].where(~hour)), Exponential(4))
    assert found.lines[2].box == "over"  # if means did not vary, it would be
    assert {line.verdict for line in found.lines} <= {"fair", "unclear"}
    assert OF_THE_BOX not in found.conditions


def test_the_condition_of_the_box_is_said_where_it_judged_one_arm() -> None:
    """An arm without a chance is judged by the box, among others that pseudo-rewards judge."""
    rng = np.random.default_rng(1)
    found = audit(
        played(np.tile([0.5, 0.5, 0.0], (2000, 1)), np.full((2000, 3), 0.5), rng), Exponential(4)
    )
    assert [line.judged_by for line in found.lines][1:] == ["box", "box"]
    assert found.judged_by == "pseudo-rewards"
    assert found.conditions[-1] == OF_THE_BOX


@pytest.mark.parametrize("names", [["a", "b", "late", "never"], [1, 2, 3, 4]])
def test_arms_that_were_never_shown_are_on_offer_also_where_others_came_late(
    names: list[Any],
) -> None:
    rng, half = np.random.default_rng(1), 4000
    arms = np.concatenate([rng.choice(names[:2], half), rng.choice(names[:3], half)])
    rewards = (rng.random(2 * half) < 0.5).astype(float)
    table = pd.DataFrame({"arm": arms, "reward": rewards, "time": np.arange(2.0 * half)})
    found = audit(table, Exponential(1), arms=[str(name) for name in names])
    assert [line.arm for line in found.lines] == names
    assert found.lines[3].verdict == "under"
    assert any("1 arm first appears later" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"correction": "bh"},
            "correction must be 'bonferroni', not 'bh': others need look='once'",
        ),
        (
            {"feedback": "examined"},
            "feedback must be 'each', not 'examined', for a log without places",
        ),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    table = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 0.0]})
    with pytest.raises(ValueError, match=message):
        audit(table, Exponential(1), **options)


def test_late_rewards_cannot_be_told_without_their_times(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\na,1\nb,0\n", "utf-8")
    options = parser().parse_args(["audit", str(path), "--merit", "exponential:1", "--late", "5"])
    with pytest.raises(ValueError, match="--late must be left out where the log lacks time"):
        options.run(options)


def test_given_ratings_have_a_range_of_their_own() -> None:
    """Rewards are of 0 and 1, ratings from 1 to 5: a log need not lose its rewards to be rated."""
    table = pd.DataFrame({"arm": ["a", "b"] * 500, "reward": [0.0, 1.0] * 500})
    stars = {"a": 4.5, "b": 3.5}
    rated = audit(table, Exponential(1), ratings=stars, reward_range=(1, 5))
    without = audit(table[["arm"]], Exponential(1), ratings=stars, reward_range=(1, 5))
    assert rated.lines == without.lines


def test_an_arm_that_lacks_beside_others_and_has_more_than_its_share_is_explained() -> None:
    """Shares are 0.6, 0.3, 0.1 where 0.07, 0.22, 0.72 are fair: the second lacks beside the first."""
    rng, means = np.random.default_rng(1), np.tile([0.2, 0.5, 0.8], (3000, 1))
    found = audit(played(np.tile([0.6, 0.3, 0.1], (3000, 1)), means, rng), Exponential(4))
    second = found.lines[1]
    assert (second.verdict, second.ratio > 1.2) == ("under", True)
    notes = [note for note in found.notes if "beside the others of the contrary" in note]
    assert notes[0].startswith("1 arm is accused beside the others of the contrary")
    assert f"arm-1 is under, with {second.ratio:.2f} times the share" in notes[0]
    assert f"{second.ratio:.2f}    {found.beside[1].beside:.2f}  under" in text(found)
    alone = found._replace(lines=(*found.lines[1:2],), beside=found.beside[1:2])
    assert "of its share" not in lead(alone)  # it had more than that
    assert lead(found).startswith("arm-2 got ")


def test_ranges_of_benjamini_and_hochberg_are_not_said_to_hold_together(tmp_path: Path) -> None:
    rng, means = np.random.default_rng(1), np.tile([0.2, 0.8], (1000, 1))
    found = audit(
        played(softmax(4 * means), means, rng), Exponential(4), look="once", correction="bh"
    )
    page = write_audit(found, tmp_path, {}).read_text("utf-8")
    assert "of the arms accused at most 0.05 are treated fairly" in page
    assert "for all arms together" not in page
    with pytest.raises(ValueError, match="correction must be 'bonferroni', not 'bh', where two"):
        changes(found, found)


def test_one_look_does_not_take_a_few_rewards_that_are_alike_for_certain() -> None:
    """The second arm has some 40 rewards, mostly all 0: 16 of 40 such fair logs were accused."""
    merit, accused = Logistic(8, 0.5), 0
    means = np.tile([0.95, 0.02], (2000, 1))
    chances = softmax(np.tile([merit.log(0.95), merit.log(0.02)], (2000, 1)))
    for seed in range(10):
        table = played(chances, means, np.random.default_rng(seed))
        found = audit(table, merit, look="once")
        assert found.judged_by == "box"
        accused += found.lines[0].verdict in ("under", "over")
    assert accused == 0


@pytest.mark.parametrize("alone", [False, True])
def test_a_floor_under_steep_merits_does_not_make_a_fair_system_unfair(alone: bool) -> None:
    """exp(-38) beside a floor of 0.1 is lost to rounding: all such logs were accused."""
    rng, means = np.random.default_rng(1), np.tile([0.02, 0.3, 0.6, 0.97], (4000, 1))
    table = played(0.1 + 0.6 * softmax(40 * means), means, rng)
    if alone:
        chosen = [
            one[int(arm[-1])] for arm, one in zip(table["arm"], table["probabilities"], strict=True)
        ]
        table = table.drop(columns="probabilities").assign(propensity=chosen)
    found = audit(table, Exponential(40), floor=0.1)
    assert {line.verdict for line in found.lines} <= {"fair", "unclear"}
    assert found.judged_by == "box"
    assert audit(table, Exponential(20), floor=0.1).judged_by.startswith("pseudo-rewards")


def test_problems_of_text_are_written_before_anything_was_read(tmp_path: Path) -> None:
    """It ended in a traceback: DuckDB has no table of rejected lines before it reads the first."""
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\na,1\nb,zz\nc,1,2\n", "utf-8")
    assert read(path).write_problems(tmp_path / "problems.csv") == 2
    written = (tmp_path / "problems.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[1] for line in written] == ["line", "3", "4"]


@pytest.mark.parametrize("memory", ["lots", "", "1XB"])
def test_wrong_memory_is_refused(memory: str) -> None:
    with pytest.raises(ValueError, match=f"memory must be like 1GB, not '{memory}'"):
        read(pd.DataFrame({"arm": ["a"], "reward": [1.0]}), memory=memory)


def test_a_list_that_is_missing_everywhere_is_missing(tmp_path: Path) -> None:
    """Pandas gives such a column no type: it was refused as no list, also in a file without rows."""
    table = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 0.0], "context": [None, None]})
    table.to_parquet(tmp_path / "log.parquet")
    assert audit(tmp_path / "log.parquet", Exponential(1)).decisions == 2
    table.assign(candidates=None)[:0].astype(object).to_parquet(tmp_path / "log.parquet")
    empty = r"the log must have a valid row, but .* has none: it has no rows$"
    with pytest.raises(ValueError, match=empty):
        audit(tmp_path / "log.parquet", Exponential(1))


def test_a_log_of_one_row_could_have_shown_next_to_nothing() -> None:
    table = played(np.array([[0.6, 0.3, 0.1]]), np.full((1, 3), 0.5), np.random.default_rng(1))
    assert lead(audit(table, Exponential(4))).endswith(
        "could at most have shown it of one that got next to nothing."
    )


def test_one_of_a_kind_is_told_in_the_singular(tmp_path: Path) -> None:
    rows = ["ann,1", "bob,0", ",1", "eve,"] + ["ann,1", "bob,0"] * 20
    (tmp_path / "log.csv").write_text("arm,reward\n" + "\n".join(rows) + "\n", "utf-8")
    found = audit(tmp_path / "log.csv", Exponential(1), groups={"ann": "a", "bob": "b"})
    words = " ".join(found.notes)
    for part in ("1 of 44 rows has a problem and takes no part", "1 decision has no reward",
                 "1 arm has no reward", "1 arm has no group"):  # fmt: skip
        assert part in words
    (tmp_path / "none.csv").write_text("arm,reward\n,1\n,yes\n", "utf-8")
    rule = (
        "none.csv has none: missing arm in 2 rows, reward not finite in 1 row: a reward is a number"
    )
    with pytest.raises(ValueError, match=rule):
        audit(tmp_path / "none.csv", Exponential(1))


def test_an_arm_that_came_late_is_told_in_the_singular() -> None:
    rng = np.random.default_rng(1)
    offered = np.where(np.arange(4000) < 2000, 2, 3)
    table = pd.DataFrame({"arm": rng.integers(offered), "time": np.arange(4000.0), "reward": 1.0})
    assert any("1 arm first appears later" in words for words in audit(table, Exponential(1)).notes)


def test_lines_are_unreadable_before_any_pass(tmp_path: Path) -> None:
    """DuckDB has no table of what it could not split before it has read anything: it raised."""
    (tmp_path / "log.csv").write_text("arm,reward\na,1\nb\n", "utf-8")
    log = read(tmp_path / "log.csv")
    assert log.unreadable() == {}
    assert log.problems() == log.unreadable() == {"unreadable line": 1}
