"""The files of an audit: each number of them is that of a field, in its place."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import audit_facts as facts
import numpy as np
import pandas as pd
import pytest
from audit_oracle import Setting
from test_audit_fields import COLUMNS, JUDGED, judged, made, with_problems

from fairx import Exponential
from fairx.auditing import Audit, audit
from fairx.auditing.page import write_audit
from fairx.auditing.tables import text


@pytest.fixture(scope="module", params=[("whole", 1), ("least", 0), ("candidates", 3)], ids=str)
def found(request: pytest.FixtureRequest) -> Audit:
    kind, how = request.param
    rows = made(how, 60, COLUMNS[kind])
    return judged(Setting(rows, **JUDGED[how]), with_problems(rows))


def plain(value: Any) -> Any:
    """Return a value as JSON holds it: what is not finite is null, tuples are lists."""
    if hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None


def test_json_has_every_field(found: Audit, tmp_path: Path) -> None:
    write_audit(found, tmp_path, {})
    held = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    nothing: list[Any] = [{}] * len(found.lines)
    parts = zip(found.lines, found.arms, plain(found.beside) or nothing, strict=True)
    groups = zip(found.groups, plain(found.groups_beside) or nothing, strict=False)
    expected = plain(found) | {
        "version": 1,
        "arms": [plain(line) | plain(arm) | beside for line, arm, beside in parts],
        "groups": [{"group": line.arm} | plain(line) | beside for line, beside in groups],
        "powers": [0.0, 0.25, 0.5, 1.0, 2.0, 4.0],
    }
    for name in ("lines", "beside", "groups_beside"):
        del expected[name]
    curves = held.pop("lorenz")
    assert held == expected
    arms = len(found.lines)
    assert curves.pop("arms") == pytest.approx([i / arms for i in range(arms + 1)])
    for name, curve in curves.items():
        shares = [getattr(line, name) for line in found.lines]
        assert curve == pytest.approx(facts.lorenz(shares, arms + 1), abs=1e-12)
    assert set(curves) == {"exposure", "fair_share"}


def test_csv_has_every_field_of_every_arm(found: Audit, tmp_path: Path) -> None:
    write_audit(found, tmp_path, {})
    with (tmp_path / "audit.csv").open(newline="", encoding="utf-8") as file:
        head, *table = csv.reader(file)
    besides = found.beside or [()] * len(found.lines)
    more = found.beside[0]._fields if found.beside else ()
    assert head == [*found.lines[0]._fields, *found.arms[0]._fields, *more]
    for cells, line, arm, beside in zip(table, found.lines, found.arms, besides, strict=True):
        expected = ["" if value is None else str(value) for value in (*line, *arm, *beside)]
        expected[0] = f"'{line.arm}" if line.arm.startswith("=") else line.arm
        expected[head.index("verdicts")] = " ".join(line.verdicts)
        assert cells == expected


@pytest.mark.parametrize("most", [2, 4, 5, 20])
def test_the_printed_table(found: Audit, most: int) -> None:
    """The arms farthest from their share, in columns; what is left out, and the floor."""
    head, *lines = text(found, most).splitlines()
    assert re.split(r"\s\s+", head) == [
        "arm", "shows", "exposure", "fair share", "always-valid", "ratio", "beside",
        "verdict",
    ]  # fmt: skip
    besides = [one.beside for one in found.beside] or [None] * len(found.lines)
    pairs = zip(found.lines, besides, strict=True)
    chosen = sorted(pairs, key=lambda pair: -abs(pair[0].difference))[:most]
    for printed, (line, beside) in zip(lines, chosen, strict=False):
        box = f"{line.fair_low:.4f} to {line.fair_high:.4f}"
        numbers = [f"{line.exposure:.4f}", f"{line.fair_share:.4f}", box, f"{line.ratio:.2f}"]
        told = "-" if beside is None else f"{beside:.2f}"
        cells = [line.arm, f"{line.shows:,}", *numbers, told, line.verdict]
        assert re.split(r"\s\s+", printed) == cells
        assert printed.index(box) == lines[0].index(" to ") - 6
    left = len(found.lines) - most
    expected = [f"... and {left} more"] if left > 0 else []
    said = (
        f"floor: each arm on offer is due {found.floor:g} of every decision, and merit shares out"
    )
    expected += [f"{said} the rest"] if found.floor else []
    assert lines[len(chosen) :] == expected


def test_curves_of_many_arms_have_as_many_points_as_the_eye_needs(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    arms = np.concatenate([np.arange(150), rng.integers(0, 150, 2000) ** 2 // 150])
    table = pd.DataFrame({"arm": arms, "reward": rng.integers(0, 2, len(arms)).astype(float)})
    found = audit(table, Exponential(2))
    write_audit(found, tmp_path, {})
    curves = json.loads((tmp_path / "audit.json").read_text("utf-8"))["lorenz"]
    assert curves["arms"] == pytest.approx([i / 100 for i in range(101)], abs=1e-12)
    for name in ("exposure", "fair_share"):
        shares = [getattr(line, name) for line in found.lines]
        assert curves[name] == pytest.approx(facts.lorenz(shares, 101), abs=1e-12)


def test_dates_are_seconds_since_1970() -> None:
    rows = made(0, 40, COLUMNS["whole"])
    table = pd.DataFrame(rows).astype({"reward": float})
    dated = table.drop(columns="reward_time")
    dated["time"] = pd.to_datetime(table["time"] + 1e9, unit="s")
    found, plain_ = audit(dated, Exponential(3)), audit(table, Exponential(3))
    assert found.dated
    assert not plain_.dated
    for one, other in zip(found.over_time, plain_.over_time, strict=True):
        assert one.start == pytest.approx(other.start + 1e9)
        assert one[2:] == pytest.approx(other[2:])


@pytest.mark.parametrize("rare", [(0.0, 0.0), (0.02, 0.0), (0.02, 0.01), (0.1, 0.05), (0.3, 0.2)])
def test_arms_that_are_rarely_expected_share_a_cell(rare: tuple[float, float]) -> None:
    """Of 30 shows, 5 are enough for a cell of its own; a cell that expects none is left out."""
    chances = [*rare, 0.4, 0.6 - sum(rare)]
    row: dict[str, Any] = {"candidates": list("abcd"), "probabilities": chances, "reward": 1.0}
    rows = [row | {"arm": "d" if i % 3 else "c"} for i in range(30)]
    setting = Setting(rows, Exponential(1))
    expected = facts.sample_ratio(setting)["p_value"]
    assert judged(setting, rows).sample_ratio.p_value == pytest.approx(expected, rel=1e-9)


def test_names_are_matched_by_what_they_read_as() -> None:
    """Groups may be named by numbers or texts; one name of many is enough, none is refused."""
    table = pd.DataFrame({"arm": [1, 2, 2, 3], "reward": [1.0, 0.0, 1.0, 0.0]})
    for groups in ({1: "x", 2: "y", 9: "z"}, {"1": "x", "2": "y"}):
        found = audit(table, Exponential(1), groups=groups)
        assert [arm.group for arm in found.arms] == ["x", "y", "(no group)"]
        assert [(line.arm, line.shows) for line in found.groups] == [
            ("(no group)", 1), ("x", 1), ("y", 2)
        ]  # fmt: skip
    assert audit(table, Exponential(1), groups={}).groups == ()
