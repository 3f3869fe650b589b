"""Figures: what they show, that files do not change, that pyplot is left alone."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from outcomes import MEANS, RUNS, Made, exposures, panel, played, regrets

from fairx import Affine, OptimalFair, fair_probabilities
from fairx.experiments.outcome import Outcome
from fairx.plots import draw, exposure_figure, panels, regret_figure, save, styles
from fairx.simulation.bands import band

PAPER = {
    "UCB": Made(50_000, 1, -900),
    "TS": Made(40_000, 1, -800),
    "FairX-UCB (gradient)": Made(900, reward=-20),
    "FairX-UCB (exact)": Made(800, reward=-10),
    "FairX-TS": Made(1000, reward=10),
}


def outcome(*steepness: float) -> Outcome:
    return regrets("fig2", *(panel(PAPER, c) for c in steepness))


def shares(arms: int) -> Outcome:
    means = np.linspace(0.1, 0.9, arms)
    one, even = np.eye(arms)[[0] * RUNS], np.full((RUNS, arms), 1 / arms)
    return exposures({"UCB": (even, one), "FairX-TS": (even, even)}, means)


def legend_words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_column_for_each_merit_and_three_rows() -> None:
    assert len(regret_figure(outcome(6, 8)).axes) == 6
    assert regret_figure(outcome(6, 8)).axes[0].get_title().startswith("c = 6")


def test_a_single_panel_lies_down() -> None:
    width, height = regret_figure(outcome(10)).get_size_inches()
    assert width > height


def test_conventional_policies_do_not_squash_the_fair_ones() -> None:
    fairness, reward, logarithmic = regret_figure(outcome(10)).axes
    assert 1000 < fairness.get_ylim()[1] < 1100
    assert fairness.get_title() == "c = 10\noff the axis: UCB 50k, TS 40k"
    assert reward.get_title() == "c = 10\noff the axis: UCB \N{MINUS SIGN}900, TS \N{MINUS SIGN}800"
    assert reward.get_ylim()[0] > -30
    assert logarithmic.get_ylim()[1] > 50_000


def test_nobody_is_off_the_axis_when_all_are_near() -> None:
    near = {"UCB": Made(1200), "FairX-TS": Made(1000)}
    axis = regret_figure(regrets("fig2", panel(near))).axes[0]
    assert axis.get_title() == "c = 10"
    assert axis.get_ylim()[1] > 1200


def test_lines_are_means_and_bands_one_standard_deviation() -> None:
    found = outcome(10)
    axis = regret_figure(found).axes[0]
    result = found.panels[0].curves[2].result
    assert axis.lines[2].get_ydata() == pytest.approx(result.summary().fairness_mean)
    top = np.asarray(axis.collections[0].get_paths()[0].vertices)[:, 1].max()
    assert top == pytest.approx(
        result.summary().fairness_mean[-1] + result.summary().fairness_std[-1]
    )


@pytest.mark.parametrize("kind", ["se", "interval"])
def test_bands_can_be_chosen(kind: str) -> None:
    found = outcome(10)
    regret = found.panels[0].curves[2].result.fairness_regret
    axis = draw(found, kind).axes[0]
    top = np.asarray(axis.collections[0].get_paths()[0].vertices)[:, 1].max()
    assert top == pytest.approx(band(regret, kind).high[-1])
    with pytest.raises(ValueError, match="band must be one of std, se, interval, not 'sd'"):
        draw(found, "sd")


def test_each_panel_can_stand_alone() -> None:
    found = outcome(6, 8)
    alone = panels(found, "se")
    assert list(alone) == [
        f"{view}-c{c}" for c in (6, 8) for view in ("fairness", "reward", "fairness-log")
    ]
    together = draw(found, "se").axes
    for place, figure in zip((0, 2, 4, 1, 3, 5), alone.values(), strict=True):
        (axis,) = figure.axes
        assert axis.get_title() == together[place].get_title()
        assert axis.get_ylim() == together[place].get_ylim()
        assert legend_words(figure) == list(PAPER)
        for one, other in zip(axis.lines, together[place].lines, strict=True):
            np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())


def test_each_horizon_can_stand_alone() -> None:
    alone = panels(shares(14))
    assert list(alone) == ["20-rounds-c4", "2000-rounds-c4"]
    assert all("optimal fair" in legend_words(figure) for figure in alone.values())


def test_panels_that_would_share_a_name_are_numbered() -> None:
    twins = [panel(PAPER)._replace(merit=Affine(1.0, 1e-9)) for _ in range(2)]
    names = list(panels(regrets("fig2", *twins)))
    assert names[0] == "fairness-affine-slope1.0-intercept1e-09-1"
    assert len(set(names)) == 6


def test_the_guide_has_slope_one_half_on_logarithmic_axes() -> None:
    axis = regret_figure(outcome(10)).axes[2]
    assert axis.get_xscale() == axis.get_yscale() == "log"
    x, y = (np.log(np.asarray(part, float)) for part in axis.lines[-1].get_data())
    assert np.diff(y) / np.diff(x) == pytest.approx(0.5)


def test_a_regret_of_zero_has_no_logarithm() -> None:
    nothing = panel({"FairX-best": Made(0)})
    curve = nothing.curves[0]._replace(policy=OptimalFair(nothing.merit, MEANS))
    figure = regret_figure(regrets("fig2", nothing._replace(curves=(curve,))))
    assert figure.axes[2].get_yscale() == "linear"


def test_other_merits_have_a_title() -> None:
    found = panel(PAPER)._replace(merit=Affine(1.0, 0.5))
    title = regret_figure(regrets("fig2", found)).axes[2].get_title()
    assert title == "Affine(slope=1.0, intercept=0.5)"


def test_few_arms_have_bars_of_the_first_run() -> None:
    found = shares(14)
    early, late = exposure_figure(found).axes
    assert early.get_title() == "after 20 rounds, c = 4"
    heights = [bar.get_height() for bar in late.patches]  # type: ignore[attr-defined]
    fair = fair_probabilities(found.panels[0].merit, found.panels[0].means)
    assert heights == pytest.approx([1, *[0] * 13, *[1 / 14] * 14, *fair])


def test_many_arms_are_steps_by_fair_share() -> None:
    axis = exposure_figure(shares(101)).axes[1]
    assert len(axis.patches) == 3
    fair = axis.patches[-1].get_data().values  # type: ignore[attr-defined]
    assert (np.diff(fair) < 0).all()
    assert axis.get_yscale() == "log"


def test_the_figure_is_the_one_asked_for() -> None:
    assert "optimal fair" in legend_words(draw(shares(3)))
    assert "UCB" in legend_words(draw(outcome(10)))
    found = outcome(10)
    with pytest.raises(
        ValueError, match="figure must be one of regret, exposure, sweep, frontier, not 'pie'"
    ):
        draw(found._replace(experiment=found.experiment._replace(figure="pie")))


def test_twins_share_a_colour_and_ours_has_a_line_of_its_own() -> None:
    names = ["UCB", "LinUCB", "FairX-UCB (gradient)", "FairX-LinUCB (gradient)"]
    plain, linear, gradient, linear_gradient = styles(names).values()
    assert (plain, gradient) == (linear, linear_gradient)
    ours, ascent = styles(["FairX-UCB (exact)", "FairX-LinUCB (ascent)"]).values()
    assert ours == ascent
    assert ours.line != gradient.line
    assert ours.colour != gradient.colour


def test_other_policies_have_stable_styles_of_their_own() -> None:
    labels = [f"mine {i}" for i in range(18)]
    found = styles([*PAPER, *labels])
    assert len(set(found.values())) == len(found)
    assert styles(["mine 3"]) == {"mine 3": styles(["FairX-TS", "mine 3"])["mine 3"]}
    assert len(styles([*labels, "one more"])) == 19


def test_lines_have_the_colours_of_the_palette() -> None:
    axis = regret_figure(outcome(10)).axes[0]
    drawn = [to_hex(line.get_color()).upper() for line in axis.lines]
    assert drawn == [style.colour for style in styles(PAPER).values()]


def test_labels_are_taken_literally(tmp_path: Path) -> None:
    labels = ["_hidden", "$x_", r"$\frac$", "<script>-->&", "a\nb", "FairX-TS"]
    makes = {label: Made(9 - 4 * label.startswith("FairX")) for label in labels}
    figure = regret_figure(regrets("fig2", panel(makes)))
    assert legend_words(figure) == labels
    svg, _ = save(figure, tmp_path / "odd")
    assert "<script" not in svg.read_text()


def test_files_are_the_same_each_time(tmp_path: Path) -> None:
    found = outcome(10)
    first = [path.read_bytes() for path in save(draw(found), tmp_path / "fig.2")]
    assert (tmp_path / "fig.2.svg").exists()
    assert first == [path.read_bytes() for path in save(draw(found), tmp_path / "fig.2")]
    assert b"date" not in first[0].lower()


def test_ids_are_unique_and_those_of_the_figure(tmp_path: Path) -> None:
    texts = [save(draw(shares(3)), tmp_path / name)[0].read_text() for name in ("a", "b")]
    ids = [re.findall(r'\bid="([^"]+)"', text) for text in texts]
    assert len(ids[0]) == len(set(ids[0]))
    assert not set(ids[0]) & set(ids[1])
    references = re.findall(r'(?:href="#|url\(#)([^")]+)', texts[0])
    assert references
    assert set(references) <= set(ids[0])


def test_pyplot_is_left_alone() -> None:
    from matplotlib import pyplot as plt

    before = dict(mpl.rcParams), plt.get_fignums()
    draw(played())
    assert (dict(mpl.rcParams), plt.get_fignums()) == before
