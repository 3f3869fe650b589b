"""Every option of `fairx audit` from the command: it does what it says, and the files say that it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fair_systems as systems
import numpy as np
import pandas as pd
import pytest
from fair_systems import cut, exponential
from matplotlib.colors import to_hex

from fairx import Exponential
from fairx.auditing import Audit, audit, beside_figures
from fairx.auditing import page as page_of
from fairx.auditing.card import card
from fairx.auditing.figures import COLOURS
from fairx.auditing.words import lead
from fairx.command.main import parser

NAMES = np.array(["ann", "bob"])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Two arms over 20 days of 200 decisions, the first at half of its share, one in ten without a reward."""
    rng = np.random.default_rng(3)
    some = systems.played(rng, *cut(systems.daily(exponential(4)), 0, 0.5)(rng, 4000))
    start = pd.Timestamp("2026-01-01")
    rewards = np.where(rng.random(4000) < 0.1, np.nan, some.rewards)
    return pd.DataFrame({
        "arm": NAMES[some.arms], "reward": rewards, "candidates": [NAMES.tolist()] * 4000,
        "probabilities": some.chances.tolist(), "visitor": np.arange(4000) // 2,
        "time": start + pd.to_timedelta(np.arange(4000) * 432, unit="s"),
        "stars": np.where(some.arms == 0, 4.5, 4.0), "hall": np.where(np.arange(4000) % 2, "x", "y"),
    })  # fmt: skip


@pytest.fixture
def told(
    table: pd.DataFrame,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Return what runs the command; figures, which take most of the time, have tests of their own."""
    names = ("beside", "exposure", "lorenz", "sensitivity")
    nothing = {name: {"svg": "", "caption": ""} for name in names}
    monkeypatch.setattr(page_of, "_drawn", lambda audit, folder: nothing)

    def run(*options: str, left_out: tuple[str, ...] = ()) -> tuple[dict[str, Any], str, str]:
        table.drop(columns=list(left_out)).to_parquet(tmp_path / "log.parquet")
        words = ["audit", str(tmp_path / "log.parquet"), "--out", str(tmp_path / "out")]
        given = parser().parse_args([*words, "--merit", "exponential:4", *options])
        assert given.run(given) == 0
        held = json.loads((tmp_path / "out" / "audit.json").read_text("utf-8"))
        return held, capsys.readouterr().out, (tmp_path / "out" / "index.html").read_text("utf-8")

    return run


ALONE = ("candidates", "probabilities")


def test_pseudo_rewards_and_what_is_missing(told: Any) -> None:
    held, said, page = told()
    ann = held["arms"][0]
    assert ann["verdict"] == "under"
    assert ann["beside_least"] < ann["beside_low"] < ann["beside_high"] < ann["beside_most"]
    assert ann["shown_below"] == pytest.approx(ann["beside"] / ann["beside_high"])
    assert "give --unit visitor" in said
    assert (
        said.index("note:") < said.index("of its share") < said.index("judged by: pseudo-rewards")
    )
    assert held["regret_low"] < held["fairness_regret_per_decision"] < held["regret_high"]
    assert 0 < held["regret_floor"] < 0.2
    for words in (
        "Unclear</em> is neither accused nor cleared",
        "What was set and given",
        "courses",
    ):
        assert words in page or words == "courses"
    assert held["courses"][0]["decisions"][-1] == 4000


def test_strata_and_what_the_log_is_asked(told: Any) -> None:
    held, said, _ = told(left_out=(*ALONE, "visitor"))
    assert held["judged_by"] == "box"
    assert "means do not vary" in said
    by = {what: told("--by", what, left_out=ALONE)[0] for what in ("time:hour", "time:day", "hall")}
    for what, other in by.items():
        assert other["by"] == what
        assert other["arms"][0]["fair_low"] < held["arms"][0]["fair_low"]


@pytest.mark.parametrize("correction", ["bonferroni", "bh"])
def test_a_single_look(told: Any, correction: str) -> None:
    held, said, page = told("--look", "once", "--correction", correction)
    assert held["look"].startswith("once, with")
    assert "a second look, at a log that has grown, is not covered" in said
    assert f"<dd>{held['look'].split('with ')[1]}</dd>" in page.replace("&#39;", "'")


def test_tolerance_and_units(told: Any) -> None:
    held, _, _ = told("--tolerance", "0.9", "--unit", "visitor")
    assert held["decisions"] == 2000
    assert "2,000 units have 4,000 decisions" in " ".join(held["notes"])
    assert {arm["verdict"] for arm in held["arms"]} <= {"fair", "under", "over"}


def test_arms_that_were_on_offer(told: Any, tmp_path: Path) -> None:
    (tmp_path / "arms.txt").write_text("ann\nbob\ncyd\n", "utf-8")
    held, _, _ = told("--arms", str(tmp_path / "arms.txt"), left_out=ALONE)
    assert [arm["arm"] for arm in held["arms"]] == ["ann", "bob", "cyd"]
    assert held["arms"][2]["verdict"] == "under"


# Merit from outside


@pytest.mark.parametrize("kind", ["csv", "json", "column"])
def test_ratings_in_place_of_rewards(
    told: Any, table: pd.DataFrame, tmp_path: Path, kind: str
) -> None:
    """Exposure is compared with exp(4 rating) exactly, whatever rewards were."""
    known = {"ann": 4.5, "bob": 4.0}
    path = tmp_path / f"stars.{kind}"
    if kind == "csv":
        path.write_text("arm,rating\n" + "".join(f"{a},{r}\n" for a, r in known.items()), "utf-8")
    elif kind == "json":
        path.write_text(json.dumps(known), "utf-8")
    what = "stars" if kind == "column" else str(path)
    left_out = () if kind == "column" else ("reward",)
    held, said, page = told("--ratings", what, "--reward-range", "1", "5", left_out=left_out)
    fair = np.exp([4 * 4.5, 4 * 4.0])
    shares = np.mean(table["probabilities"].tolist(), axis=0)
    ratios = shares / (fair / fair.sum())
    assert [arm["ratio"] for arm in held["arms"]] == pytest.approx(ratios)
    assert [arm["verdict"] for arm in held["arms"]] == ["under", "over"]
    assert held["judged_by"] == "ratings"
    assert "got" in said
    assert "of the share that its rating earns" in said
    assert "of the rating of an arm" in page
    assert held["regret_low"] == held["regret_high"]


def test_ratings_from_shows_have_an_interval_and_near_is_fair() -> None:
    shown = pd.DataFrame({"arm": ["a", "b"] * 4000})
    found = audit(shown, Exponential(1), ratings={"a": 1.0, "b": 1.0})
    assert [line.verdict for line in found.lines] == ["fair", "fair"]
    assert found.lines[0].ratio_low < 1 < found.lines[0].ratio_high
    assert (
        audit(shown[:20], Exponential(1), ratings={"a": 1.0, "b": 1.0}).lines[0].verdict
        == "unclear"
    )
    uneven = audit(shown, Exponential(1), ratings={"a": 1.0, "b": 0.0})
    assert [line.verdict for line in uneven.lines] == ["under", "over"]
    assert "between" in lead(uneven)
    vary = audit(
        shown.assign(reward=[0.2, 0.4] * 3000 + [0.3, 0.3] * 1000), Exponential(1), ratings=True
    )
    assert "ratings of 2 arms vary" in vary.notes[0]


def test_wrong_ratings_are_refused(tmp_path: Path) -> None:
    shown = pd.DataFrame({"arm": ["a", "b"] * 4})
    for ratings, message in (
        ({"a": 1.0}, "ratings must have a number for each arm, but 'b' has none"),
        ({"a": 1.0, "b": 4.0}, "the rating of 'b' must be from 0 to 1, not 4"),
    ):
        with pytest.raises(ValueError, match=message):
            audit(shown, Exponential(1), ratings=ratings)
    with pytest.raises(ValueError, match="look must be left out for merit that is from ratings"):
        audit(shown, Exponential(1), ratings={"a": 1.0, "b": 1.0}, look="once")
    with pytest.raises(ValueError, match="the log has no column 'reward'"):
        audit(shown, Exponential(1))


# The card and the figures


@pytest.fixture(scope="module")
def found(table: pd.DataFrame) -> Audit:
    return audit(table, Exponential(4))


def test_the_card_says_what_was_set_and_given(found: Audit, table: pd.DataFrame) -> None:
    said = card(found)
    assert said["merit"] == "Exponential(steepness=4.0) of the mean reward"
    assert said["range of rewards"] == "0 to 1"
    assert said["period"] == "2026-01-01 00:00 to 2026-01-20 23:52 UTC"
    missing = int(table["reward"].isna().sum())
    assert said["rewards"] == f"{4000 - missing:,}, and {missing:,} missing"
    assert said["candidates"] == "logged"
    assert said["exposure"] == "known: from logged probabilities"
    assert said["units"] == "none: each decision"


def test_each_arm_is_drawn_beside_the_others(found: Audit) -> None:
    figure = beside_figures.beside_figure(found)
    (axis,) = figure.axes
    _, *drawn = axis.lines
    names = [label.get_text() for label in axis.get_yticklabels()]
    for row, name in enumerate(names):
        bar, dot = drawn[2 * row : 2 * row + 2]
        i = [line.arm for line in found.lines].index(name)
        one, line = found.beside[i], found.lines[i]
        assert np.asarray(bar.get_xdata()).tolist() == [one.beside_low, one.beside_high]
        assert np.asarray(dot.get_xdata()).tolist() == [one.beside]
        assert to_hex(dot.get_color()).upper() == COLOURS[line.verdict].upper()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["under", "over", "as its rewards earn"]


def test_arms_are_followed_over_time(found: Audit) -> None:
    figure = beside_figures.course_figure(found)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [c.arm for c in found.courses]
    for axis, course in zip(figure.axes, found.courses, strict=True):
        assert np.asarray(axis.lines[0].get_ydata()).tolist() == list(course.beside)
    assert figure.axes[-1].get_xlabel() == "time, UTC"
    plain = found._replace(start=None, stop=None)
    assert beside_figures.course_figure(plain).axes[-1].get_xlabel() == "decisions"
