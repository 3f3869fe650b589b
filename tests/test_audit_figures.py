"""The figures of an audit: what is drawn is what the audit says."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from audit_oracle import Setting
from test_audit_fields import COLUMNS, JUDGED, judged, made

from fairx import Exponential
from fairx.auditing import Audit, audit, beside_figures, figures
from fairx.auditing.tables import contents

COLOURS = {"under": "#D55E00", "over": "#0072B2", "unclear": "#999999"}


@pytest.fixture(scope="module")
def found() -> Audit:
    rows = made(3, 150, COLUMNS["whole"])
    return judged(Setting(rows, **JUDGED[3] | {"alpha": 0.05}), rows)


@pytest.fixture(scope="module")
def crowd() -> Audit:
    """Return an audit of more arms than have a row each; some are never shown."""
    rng = np.random.default_rng(1)
    pool = [f"a{i}" for i in range(60)]
    chances = np.array([0.0] * 3 + [1 / 78] * 50 + [4 / 78] * 7)
    arms = rng.choice(pool, 3000, p=chances)
    table = pd.DataFrame({"arm": arms, "reward": rng.integers(0, 2, 3000).astype(float)})
    return audit(
        table.assign(candidates=[pool] * 3000, probabilities=[chances.tolist()] * 3000),
        Exponential(1),
    )


def drawn(axis: Any) -> list[tuple[Any, Any, str]]:
    """Return the points and the colour of each line."""
    return [
        (line.get_xdata().tolist(), line.get_ydata().tolist(), line.get_color())
        for line in axis.lines
    ]


def legend(of: Any) -> list[str]:
    return [text.get_text() for text in of.get_legend().get_texts()]


def test_a_row_for_each_arm(found: Audit) -> None:
    (axis,) = figures.exposure_figure(found).axes
    order = sorted(range(len(found.lines)), key=lambda i: found.lines[i].fair_share)
    expected: list[Any] = []
    for place, i in enumerate(order):
        line, arm = found.lines[i], found.arms[i]
        expected.append(([line.fair_low, line.fair_high], [place, place]))
        if arm.delta_low is not None:
            expected.append(([arm.delta_low, arm.delta_high], [place, place]))
        expected += [
            ([line.fair_share], [place]),
            ([line.exposure], [place], COLOURS[line.verdict]),
        ]
    for one, other in zip(drawn(axis), expected, strict=True):
        assert one[: len(other)] == other
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == [found.lines[i].arm for i in order]
    assert axis.get_ylim() == (-0.7, len(order) - 0.3)
    assert axis.get_xlim()[0] == 0
    assert axis.get_xlabel() == "share of decisions"


def test_a_dot_for_each_of_many_arms(crowd: Audit) -> None:
    """Where an arm was never shown, a tenth of a decision is drawn: the axes are logarithmic."""
    (axis,) = figures.exposure_figure(crowd).axes
    *dots, (ends, same, _) = drawn(axis)
    for (fair, shown, colour), verdict in zip(dots, ("unclear", "over", "under"), strict=True):
        some = [line for line in crowd.lines if line.verdict == verdict]
        assert some
        assert colour == COLOURS[verdict]
        assert fair == [line.fair_share for line in some]
        assert shown == [max(line.exposure, 0.1 / crowd.decisions) for line in some]
    every = [value for fair, shown, _ in dots for value in (*fair, *shown)]
    assert ends == same == [min(every), max(every)]
    counts = [sum(line.verdict == verdict for line in crowd.lines) for verdict in COLOURS]
    labels = legend(axis)
    assert labels == [f"{v}: {n}" for v, n in zip(COLOURS, counts, strict=True)][::-1]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("fair share", "exposure")
    assert axis.get_xscale() == axis.get_yscale() == "log"


def test_the_curves(found: Audit) -> None:
    (axis,) = figures.lorenz_figure(found).axes
    curves = contents(found)["lorenz"]
    diagonal, fair, shown = drawn(axis)
    assert diagonal[:2] == ([0, 1], [0, 1])
    assert fair[:2] == (curves["arms"], curves["fair_share"])
    assert shown[:2] == (curves["arms"], curves["exposure"])
    labels = legend(axis)
    assert labels == [
        f"fair share: Gini {found.gini_fair_share:.3f}", f"exposure: Gini {found.gini_exposure:.3f}"
    ]  # fmt: skip
    assert axis.get_ylabel() == "share of exposure"


@pytest.mark.parametrize("dated", [False, True])
def test_the_regret_over_time(found: Audit, dated: bool) -> None:
    (axis,) = figures.time_figure(found._replace(dated=dated)).axes
    ((times, values, _),) = drawn(axis)
    edges = [moment.start for moment in found.over_time] + [found.over_time[-1].stop]
    assert times == ([datetime.fromtimestamp(edge, UTC) for edge in edges] if dated else edges)
    regrets = [moment.fairness_regret_per_decision for moment in found.over_time]
    assert values == [*regrets, regrets[-1]]
    assert axis.get_ylim()[0] == 0
    assert axis.get_xlabel() == ("time, UTC" if dated else "time")
    assert axis.get_ylabel() == "fairness regret per decision"


@pytest.mark.parametrize("hours", [0.05, 1.5, 30, 71, 100, 150, 24 * 40, 24 * 500, 24 * 365 * 5])
def test_dates_fit_a_log_of_any_length(found: Audit, hours: float) -> None:
    """A log of four days had no ticks by the hour that would fit, and a warning each time it was drawn."""
    start, each = 1_767_225_600.0, 3600 * hours / len(found.over_time)
    moments = tuple(
        one._replace(start=start + i * each, stop=start + (i + 1) * each)
        for i, one in enumerate(found.over_time)
    )
    figure = figures.time_figure(found._replace(dated=True, over_time=moments))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.draw_without_rendering()
    assert 2 <= len(figure.axes[0].get_xticks()) <= 9


def test_the_verdicts_for_each_power(found: Audit) -> None:
    figure = figures.sensitivity_figure(found)
    (axis,) = figure.axes
    bars = [
        (bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_height())
        for container in axis.containers
        for bar in container
    ]
    expected = []
    for verdict in ("under", "over", "unclear"):
        for i, one in enumerate(found.sensitivity):
            below = {"under": 0, "over": one.under, "unclear": one.under + one.over}[verdict]
            expected.append((i, below, getattr(one, verdict)))
    np.testing.assert_allclose(bars, expected, atol=1e-12)
    assert [text.get_text() for text in axis.get_xticklabels()] == [
        "0",
        "0.25",
        "0.5",
        "1",
        "2",
        "4",
    ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(COLOURS)
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("power of the merit", "arms")


def test_long_names_leave_room_for_all_words() -> None:
    """Names of 80 letters that differ at their ends: no label leaves the picture, and none is like another."""
    names = [f"{'This Video Should Help Anyone Who Is Worried About ' * 2} #{i}" for i in range(9)]
    rng = np.random.default_rng(3)
    log = pd.DataFrame(
        {
            "arm": rng.choice(names, 400),
            "candidates": [names] * 400,
            "probabilities": [[1 / 9] * 9] * 400,
            "reward": rng.integers(2, size=400).astype(float),
        }
    )
    audited = audit(log, Exponential(2))
    figure = beside_figures.beside_figure(audited)
    figure.draw_without_rendering()
    (axis,) = figure.axes
    whole, words = figure.bbox, axis.xaxis.label.get_window_extent()
    assert words.x0 >= whole.x0
    assert words.x1 <= whole.x1
    rows = [label.get_text() for label in axis.get_yticklabels()]
    assert len(set(rows)) == len(names)
    assert all(label.get_window_extent().x0 >= whole.x0 for label in axis.get_yticklabels())
    marks = [label.get_window_extent() for label in axis.get_xticklabels() if label.get_text()]
    shown = [mark for mark in marks if whole.x0 <= mark.x0 and mark.x1 <= whole.x1]
    assert all(one.x1 < other.x0 for one, other in pairwise(shown))
