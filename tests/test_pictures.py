"""Figures as files for a paper: text that is text, fonts that are embedded, bytes that stay."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from outcomes import Made, result

from fairx.pictures import FORMATS, new_figure, save, styles, write_picture
from fairx.simulation import Result

mpl.use("Agg")
LABEL = "FairX-TS & <mine>"
SVG = "{http://www.w3.org/2000/svg}"
DRAW = """
import sys
from fairx.pictures import FORMATS, new_figure, save
figure = new_figure(3, 2)
figure.subplots().set_title("regret after √T")
save(figure, sys.argv[1], FORMATS)
"""


@pytest.fixture
def played() -> Iterator[Result]:
    from matplotlib import pyplot as plt

    yield result(Made(100.0, reward=-5.0))
    plt.close("all")


def words(path: Path) -> str:
    return " ".join(text.text or "" for text in ElementTree.parse(path).iter(f"{SVG}text"))


def said(pdf: bytes) -> list[str]:
    """Return the Latin words of a PDF, each of whose letters has its number in Unicode."""
    streams = re.findall(rb"/FlateDecode.*?stream\n(.*?)\nendstream", pdf, re.DOTALL)
    shown = b"".join(zlib.decompress(stream) for stream in streams)
    texts = re.findall(rb"BT\n.*?\nET", shown, re.DOTALL)
    parts = [re.findall(rb"\(((?:[^()\\]|\\.)*)\)", text, re.DOTALL) for text in texts]
    return [
        re.sub(rb"\\(.)", rb"\1", b"".join(part), flags=re.DOTALL).decode("utf-16-be", "replace")
        for part in parts
    ]


def test_text_in_svg_is_text_in_fonts_that_others_have_too(played: Result, tmp_path: Path) -> None:
    played.plot(LABEL, save=tmp_path / "regret.svg")
    found = words(tmp_path / "regret.svg")
    for expected in (LABEL, "fairness regret", "reward regret", "rounds"):
        assert expected in found
    text = (tmp_path / "regret.svg").read_text("utf-8")
    assert "sans-serif" in text
    assert "<mine>" not in text


def test_text_in_pdf_is_text_in_truetype_fonts(played: Result, tmp_path: Path) -> None:
    played.plot(LABEL, save=tmp_path / "regret.pdf")
    contents = (tmp_path / "regret.pdf").read_bytes()
    assert contents.startswith(b"%PDF")
    assert b"/FontFile2" in contents  # TrueType, embedded
    assert b"/Type3" not in contents  # shapes, which journals refuse
    assert b"/ToUnicode" in contents  # what can be searched and copied
    assert {LABEL, "fairness regret", "reward regret", "rounds"} <= set(said(contents))
    for name in (b"CreationDate", b"Producer", b"Creator"):
        assert name not in contents


def test_pixels_are_three_hundred_to_the_inch(tmp_path: Path) -> None:
    contents = write_picture(new_figure(2, 1), tmp_path / "dots.PNG").read_bytes()
    assert struct.unpack(">II", contents[16:24]) == (600, 300)


def test_files_are_the_same_in_another_process(tmp_path: Path) -> None:
    """Whatever the seed of hashes and the day."""
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        moment = {"PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": f"{seed}00000000"}
        command = [sys.executable, "-c", DRAW, str(folder / "figure")]
        subprocess.run(command, check=True, env=os.environ | moment)
        found.append([(folder / f"figure.{kind}").read_bytes() for kind in FORMATS])
    assert found[0] == found[1]


def test_words_that_look_like_ids_are_left_alone(tmp_path: Path) -> None:
    figure = new_figure(4, 2)
    title = 'arm id="7" at url(#x) and href="#y"'
    figure.subplots().set_title(title)
    (path,) = save(figure, tmp_path / "odd", ["svg"])
    assert title in words(path)


def test_settings_of_others_are_left_alone(tmp_path: Path) -> None:
    before = dict(mpl.rcParams)
    figure = new_figure(2, 1)
    engine = figure.get_layout_engine()
    save(figure, tmp_path / "figure", FORMATS)
    assert dict(mpl.rcParams) == before
    assert figure.get_layout_engine() is engine


def test_a_single_panel_is_one_axis(played: Result) -> None:
    axis = played.plot("mine", measures="reward_regret", band="se")
    assert axis.get_ylabel() == "reward regret"
    assert len(axis.figure.axes) == 1
    assert played.plot("other", axis, measures="reward_regret") is axis
    assert len(axis.lines) == 2
    assert len(played.plot(measures=["reward_regret"])) == 1


@pytest.mark.parametrize("kind", ["std", "se", "interval"])
def test_the_band_is_the_one_asked_for(played: Result, kind: str) -> None:
    from fairx.simulation.bands import band

    axis = played.plot(measures="fairness_regret", band=kind)
    expected = band(played.fairness_regret, kind)
    corners = np.asarray(axis.collections[0].get_paths()[0].vertices)
    at_the_end = corners[corners[:, 0] == played.rounds[-1], 1]
    assert at_the_end.min() == pytest.approx(expected.low[-1])
    assert at_the_end.max() == pytest.approx(expected.high[-1])


def test_one_run_is_drawn_without_a_band() -> None:
    axis = result(Made(100.0), runs=1).plot(measures="fairness_regret", band="interval")
    corners = np.asarray(axis.collections[0].get_paths()[0].vertices)
    at_the_end = corners[corners[:, 0] == 2000, 1]
    assert np.ptp(at_the_end) == 0


def test_a_label_has_the_colour_it_has_in_reports(played: Result) -> None:
    axes = played.plot("mine")
    played.plot("FairX-TS", axes)
    played.plot("", axes)
    drawn = [line.get_color() for line in axes[0].lines]
    assert drawn[:2] == [styles(["mine"])["mine"].colour, styles(["FairX-TS"])["FairX-TS"].colour]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes[0].lines}) == 3


def test_axes_of_others_keep_their_looks(played: Result) -> None:
    from matplotlib import pyplot as plt

    _, axis = plt.subplots()
    played.plot("mine", axis, measures="fairness_regret")
    assert axis.spines["top"].get_visible()
    assert not played.plot(measures="fairness_regret").spines["top"].get_visible()


def test_what_is_saved_has_a_legend(played: Result, tmp_path: Path) -> None:
    axes = played.plot("first")
    assert axes[0].get_legend() is None
    played.plot("second", axes, save=tmp_path / "both.svg")
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["first", "second"]
    plain = played.plot(save=tmp_path / "plain.svg")
    assert plain[0].get_legend() is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "exposure"}, r"be curves \(fairness_regret, .*\), not 'exposure'"),
        ({"measures": ["reward_regrets"]}, r"did you mean 'reward_regret'\?"),
        ({"band": "sd"}, "band must be one of std, se, interval, not 'sd'"),
        ({"save": "figure.jpg"}, r"must end in .svg, .pdf or .png, not 'figure.jpg'"),
        ({"save": "figure"}, r"must end in .svg, .pdf or .png, not 'figure'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    played: Result, options: dict[str, Any], message: str
) -> None:
    from matplotlib import pyplot as plt

    with pytest.raises(ValueError, match=message):
        played.plot(**options)
    assert not plt.get_fignums()  # before a window was opened


def test_axes_are_one_for_each_measure(played: Result) -> None:
    axis = played.plot(measures="fairness_regret")
    with pytest.raises(ValueError, match="axes must be 2, one for each of fairness_regret, rew"):
        played.plot(axes=axis)


def test_the_extra_is_named_where_matplotlib_is_missing() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from fairx import Exponential, Uniform, environments, simulate\n"
        "world = environments.Bernoulli([0.5])\n"
        "result = simulate(Uniform(), world, Exponential(1), rounds=1, seed=1)\n"
        "try: result.plot()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "plot needs matplotlib: pip install 'fairx[plots]'\n"
