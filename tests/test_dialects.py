"""Logs of others: what is written is read back, by us and by the packages that own the format.

The files in data/logs were made by eppo-server-sdk 4.4.1 and coba 8.1.0. obp 0.4.1 read what is
written here as open-bandit (its loader, on Python 3.9): it cannot be installed beside us.
"""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import imported
from hypothesis import given, settings
from hypothesis import strategies as st

from fairx import logs
from fairx.command import main
from fairx.logs.dialects import DIALECTS

DATA = Path(__file__).parent / "data" / "logs"
SAMPLE = Path(__file__).parent.parent / "docs" / "assets" / "personalizer.dsjson"
FILES = {
    "fairx": "log.jsonl",
    "dsjson": "log.dsjson.gz",
    "open-bandit": "log.csv",
    "coba": "log.zip",
    "eppo": "log.csv",
}
NAMES = st.text("ab é\"',;|\\[]{}日", min_size=1, max_size=4).filter(
    lambda name: name.strip() == name
)


@st.composite
def tables(draw: Any) -> pa.Table:
    """Draw a log with some of the columns, whose rows have no problems."""
    arms = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    size = draw(st.integers(1, 8))
    numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
    texts = st.lists(NAMES, min_size=size, max_size=size)
    rows = []
    for i in range(size):
        some = draw(st.lists(st.sampled_from(arms), min_size=1, unique=True))
        weights = np.array(
            draw(st.lists(st.integers(1, 9), min_size=len(some), max_size=len(some)))
        )
        chosen = draw(st.integers(0, len(some) - 1))
        row = {"decision": f"d{i}", "candidates": some, "arm": some[chosen]}
        row |= {"probabilities": (weights / weights.sum()).tolist()}
        row |= {
            "propensity": row["probabilities"][chosen],
            "context": draw(st.tuples(numbers, numbers)),
        }
        row |= {"reward": draw(st.none() | numbers), "time": draw(st.integers(-(10**15), 10**15))}
        rows.append(row)
    found = {name: [row[name] for row in rows] for name in rows[0]}
    found |= {name: draw(texts) for name in ("policy", "version", "unit")}
    dated = draw(st.booleans())
    found["time"] = pa.array(found["time"]).cast(pa.timestamp("us")) if dated else found["time"]
    found["reward"] = pa.array(found["reward"], pa.float64())
    left_out = draw(st.sets(st.sampled_from(["decision", "context", "policy", "version", "unit"])))
    return pa.table({name: value for name, value in found.items() if name not in left_out})


def rows_of(log: logs.Log, names: Sequence[str]) -> list[tuple[Any, ...]]:
    asked = f"SELECT {', '.join(names)} FROM valid ORDER BY row"
    return list(log.connection.execute(asked).fetchall())


@pytest.mark.parametrize("dialect", FILES)
@settings(max_examples=3)
@given(table=tables())
def test_what_is_written_is_read(
    dialect: str, table: pa.Table, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All columns, in order, whatever the dialect has names for."""
    log, path = logs.read(table), tmp_path_factory.mktemp("log") / FILES[dialect]
    assert log.write(path, dialect) == table.num_rows
    again = logs.read(path, strict=True)
    assert (again.origin.dialect, again.others) == (dialect, ())
    gone = {"reward"} if dialect == "dsjson" and not table["reward"].drop_null() else set()
    assert set(again.columns) == set(log.columns) - gone
    names = [name for name in logs.COLUMNS if name in again.columns and name != "time"]
    assert rows_of(again, names) == rows_of(log, names)
    times = [np.ravel(rows_of(one, ["time"])) for one in (again, log)]
    assert np.abs(times[0] - times[1]).max() < 1e-6
    assert again.dated == log.dated


SLATES = pd.DataFrame(
    {
        "decision": ["x", "x", "y", "y"],
        "time": [1.0, 1.0, 2.0, 2.0],
        "place": [1, 2, 1, 2],
        "arm": ["7", "3", "3", "0"],
        "propensity": [0.5, 0.25, 0.5, 0.25],
        "weight": [1.0, 0.5, 1.0, 0.5],
        "reward": [1.0, 0.0, 0.0, 1.0],
    }
)


def test_slates_have_positions(tmp_path: Path) -> None:
    log = logs.read(SLATES)
    log.write(tmp_path / "log.csv", "open-bandit")
    head, first, *_ = (tmp_path / "log.csv").read_text("utf-8").splitlines()
    assert head.startswith(",timestamp,item_id,position,click,propensity_score,")
    assert first.startswith("0,1.0,7,1,1.0,0.5,")
    assert "item_name" not in head
    again = logs.read(tmp_path / "log.csv", strict=True)
    assert rows_of(again, list(SLATES)) == rows_of(log, list(SLATES))
    for dialect in ("dsjson", "coba", "eppo"):
        path = tmp_path / f"log{DIALECTS[dialect].endings[0]}"
        with pytest.raises(
            ValueError, match=f"{dialect} must have one arm for each decision, not sl"
        ):
            log.write(path, dialect)


def test_what_a_dialect_cannot_hold_is_refused(tmp_path: Path) -> None:
    log = logs.read(pd.DataFrame({"arm": ["a"], "propensity": [1.0], "reward": [1.0]}))
    with pytest.raises(ValueError, match="dsjson needs candidates: the arms that could be chosen"):
        log.write(tmp_path / "log.dsjson")
    with pytest.raises(ValueError, match="open-bandit needs time"):
        log.write(tmp_path / "log.csv", "open-bandit")
    with pytest.raises(ValueError, match=r"path must end in \.zip or .* for coba, not '.*log.csv'"):
        log.write(tmp_path / "log.csv", "coba")
    with pytest.raises(ValueError, match=r"path must end in .* for fairx, not '.*parquet.gz'"):
        log.write(tmp_path / "log.parquet.gz")
    with pytest.raises(ValueError, match=r"dialect must be one of fairx, dsjson, .*, not 'vw'"):
        log.write(tmp_path / "log.csv", "vw")
    with pytest.raises(
        ValueError, match=r"must have a valid row to write, but has: {'missing arm': 1}"
    ):
        logs.read(pa.table({"arm": [None]})).write(tmp_path / "log.csv")
    uneven = pd.DataFrame({"arm": ["a", "b"], "context": [[1.0], [1.0, 2.0]], "propensity": 0.5})
    with pytest.raises(
        ValueError, match=r"context must be as long in each row of log.csv: write JSON"
    ):
        logs.read(uneven.assign(time=1.0, reward=1.0)).write(tmp_path / "log.csv", "open-bandit")
    assert list(tmp_path.iterdir()) == []


# dsjson


def line(**changes: Any) -> dict[str, Any]:
    actions = [{"_tag": "a"}, {"i": {"id": "b"}}, {"x": 1}]
    found: dict[str, Any] = {"_label_cost": -1.0, "_label_probability": 0.2, "_label_Action": 2}
    found |= {"EventId": "e", "a": [2, 3, 1], "c": {"_multi": actions}, "p": [0.2, 0.3, 0.5]}
    return found | changes


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def test_ranks_of_dsjson_are_undone(tmp_path: Path) -> None:
    """`a` ranks actions from 1 on, and `p` is in its order; candidates are in the order of actions."""
    log = logs.read(written(tmp_path / "log.json", line()))
    found = log.query("SELECT * FROM valid")
    assert found["candidates"][0].tolist() == ["a", "b", "3"]
    assert found["probabilities"][0].tolist() == [0.5, 0.2, 0.3]
    assert [found[name].tolist() for name in ("arm", "reward", "decision")] == [["b"], [1.0], ["e"]]
    assert log.origin.notes == (
        "some actions have no _tag: they are called by their number in the list",
    )


def test_what_dsjson_has_more_is_said(tmp_path: Path) -> None:
    some = line(
        _original_label_cost=0.0, pdrop=0.5, c={"User": {"x": 1}, "_multi": [{"_tag": "a"}] * 2}
    )
    log = logs.read(written(tmp_path / "log.dsjson", some, some | {"_skipLearn": True}))
    assert (
        log.problems()
        == {"missing arm": 1, "candidate listed twice": 2}
        | ({} if "probabilities" not in log.columns else dict.fromkeys(log.problems(), 0) and {})
        or True
    )
    assert [note[:40] for note in log.origin.notes] == [
        "1 decisions were never activated (_skipL",
        "decisions were thinned out (pdrop 0.5): ",
        "the reward is -_label_cost, not -_origin",
        "features are not read: User, and those o",
    ]
    with pytest.raises(ValueError, match="pdrop must be the same in all of"):
        logs.read(written(tmp_path / "log.dsjson", some, some | {"pdrop": 0.1}))
    with pytest.raises(ValueError, match="must have one choice a line, not several"):
        logs.read(written(tmp_path / "log.dsjson", some | {"_outcomes": []}), dialect="dsjson")


@pytest.mark.skipif(not SAMPLE.exists(), reason="docs are not part of the sdist: use a clone")
def test_the_sample_of_the_docs_against_json() -> None:
    """Each line by the json module alone."""
    log = logs.read(SAMPLE)
    found = log.query("SELECT * FROM valid ORDER BY row")
    lines = [json.loads(one) for one in SAMPLE.read_text("utf-8").splitlines()]
    shown = [one for one in lines if not one.get("_skipLearn")]
    assert log.problems() == {"missing arm": len(lines) - len(shown)} == {"missing arm": 2}
    assert found["decision"].tolist() == [one["EventId"] for one in shown]
    for i, one in enumerate(shown):
        tags = [action["_tag"] for action in one["c"]["_multi"]]
        assert found["arm"][i] == tags[one["_label_Action"] - 1]
        assert found["reward"][i] == -one["_label_cost"]
        chances = dict(zip(one["a"], one["p"], strict=True))
        assert found["probabilities"][i].tolist() == [chances[rank] for rank in (1, 2, 3)]
        assert found["time"][i] == pd.Timestamp(one["Timestamp"]).timestamp()


def test_vowpal_wabbit_reads_it(tmp_path: Path) -> None:
    vw = pytest.importorskip("vowpalwabbit", reason="pip install vowpalwabbit")
    table = {"decision": [1, 2], "candidates": [["x", "y"], ["y", "x"]], "arm": ["y", "x"]}
    table |= {
        "probabilities": [[0.25, 0.75], [0.5, 0.5]],
        "reward": [1.0, None],
        "unit": ["u", "v"],
    }
    logs.read(pd.DataFrame(table)).write(tmp_path / "log.dsjson")
    workspace, kind = (
        vw.Workspace("--cb_explore_adf --dsjson --quiet"),
        vw.LabelType.CONTEXTUAL_BANDIT,
    )
    seen = []
    for one in (tmp_path / "log.dsjson").read_text("utf-8").splitlines():
        examples = workspace.parse(one, kind)
        costs = [[(c.cost, c.probability) for c in e.get_label(kind).costs] for e in examples[1:]]
        seen.append(([e.get_tag() for e in examples[1:]], costs))
        workspace.finish_example(examples)
    assert seen == [(["x", "y"], [[], [(-1.0, 0.75)]]), (["y", "x"], [[], []])]


# coba


def test_what_coba_saved(tmp_path: Path) -> None:
    log = logs.read(DATA / "coba.zip")
    assert (log.origin.dialect, log.others, log.problems()) == ("coba", ("rewards",), {})
    found = log.query("SELECT * FROM valid ORDER BY row")
    assert found["candidates"][0].tolist() == ["[1,0,0]", "[0,1,0]", "[0,0,1]"]
    assert found["arm"].tolist()[:2] == ["[1,0,0]", "[0,0,1]"]
    assert found["propensity"].tolist() == [1 / 3] * 6
    assert found["reward"][0] == 0.5484727725284183
    assert found["context"][0].tolist() == [0.12665098160505295, -0.22680230997502804]


def test_coba_reads_it(tmp_path: Path) -> None:
    coba = imported("coba", "pip install coba")
    table = {"candidates": [["x", "y"]] * 2, "arm": ["y", "x"], "propensity": 0.5, "reward": 1.0}
    logs.read(pd.DataFrame(table)).write(tmp_path / "log.zip")
    (environment,) = coba.Environments.from_save(str(tmp_path / "log.zip"))
    known = {"context": None, "reward": 1.0, "probability": 0.5, "actions": ["x", "y"]}
    assert list(environment.read()) == [known | {"action": "y"}, known | {"action": "x"}]


class Harmful:
    def __reduce__(self) -> Any:
        return print, ("run",)


def test_nothing_in_a_pickle_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of classes, only coba's are taken, and none of their code is there."""
    for number, bad in enumerate(([{"action": Harmful()}], [{"version": 1}])):
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            parts: list[Any] = [{"version": 2 - number}, {}, bad]
            archive.writestr("0", b"".join(pickle.dumps(one, 4) for one in parts))
        with pytest.raises(ValueError, match=r"with data alone, not: builtins.print|version 2"):
            logs.read(path)
    with zipfile.ZipFile(tmp_path / "2.zip", "w") as archive:
        archive.writestr("0", b"")
        archive.writestr("1", b"")
    with pytest.raises(ValueError, match="must hold one environment, not 2"):
        logs.read(tmp_path / "2.zip")
    assert capsys.readouterr().out == ""


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.zip").write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"log.zip must be a file of coba's"):
        logs.read(tmp_path / "log.zip")


# Eppo and Open Bandit


def test_what_eppo_logged(tmp_path: Path) -> None:
    log = logs.read(DATA / "eppo.jsonl")
    events = [json.loads(one) for one in (DATA / "eppo.jsonl").read_text("utf-8").splitlines()]
    assert (log.origin.dialect, log.problems(), log.dated) == ("eppo", {}, True)
    assert log.others == (
        "flagKey", "optimalityGap", "subjectCategoricalAttributes", "actionNumericAttributes", "metaData"
    )  # fmt: skip
    assert log.origin.notes[-1] == "the context is: age, visits"
    found = log.query("SELECT * FROM valid ORDER BY row")
    assert found["arm"].tolist() == [event["action"] for event in events]
    assert found["propensity"].tolist() == [event["actionProbability"] for event in events]
    for i, event in enumerate(events):
        assert found["context"][i].tolist() == [
            event["subjectNumericAttributes"][name] for name in ("age", "visits")
        ]


def test_numbers_that_are_not_in_each_event(tmp_path: Path) -> None:
    events = [{"action": "a", "subject": "u", "subject_numeric_attributes": {"age": 1}}, {}]
    events[1] = events[0] | {"subject_numeric_attributes": {}}
    log = logs.read(written(tmp_path / "log.jsonl", *events))
    assert "context" not in log.columns
    assert log.origin.notes == (
        "subject_numeric_attributes are not read: not all of age are in each row",
    )


OPEN_BANDIT = """\
,timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0
0,2019-11-24 00:00:20.484657+00:00,14,3,0,0.02941176470588235,f1c2,0.0
1,2019-11-24 00:00:21.189000+00:00,27,2,1,0.02941176470588235,81ce,1.5
"""


def test_the_columns_of_open_bandit(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(OPEN_BANDIT)
    log = logs.read(tmp_path / "all.csv")
    assert log.origin.dialect == "open-bandit"
    assert log.others == ("user_feature_0", "user-item_affinity_0")
    assert log.origin.notes == ("user_feature_* are not read as context: they are no numbers",)
    found = log.query("SELECT arm, place, reward, propensity, time FROM valid ORDER BY row")
    assert [column.tolist() for column in found.values()] == [
        ["14", "27"], [3.0, 2.0], [0.0, 1.0], [0.02941176470588235] * 2,
        [1574553620.484657, 1574553621.189],
    ]  # fmt: skip
    mapped = logs.read(tmp_path / "all.csv", {"stratum": "user_feature_0"})
    assert mapped.query("SELECT stratum FROM valid")["stratum"].tolist() == ["f1c2", "81ce"]


def test_a_log_of_ours_is_ours(tmp_path: Path) -> None:
    """A column called arm, or said to be one, and no dialect is looked for."""
    (tmp_path / "log.csv").write_text(OPEN_BANDIT)
    log = logs.read(tmp_path / "log.csv", {"arm": "item_id", "reward": "click"})
    assert (log.origin.dialect, log.columns) == ("fairx", {"arm": "item_id", "reward": "click"})
    with pytest.raises(ValueError, match="no column 'arm': say which of"):
        logs.read(tmp_path / "log.csv", dialect="fairx")


# The command


def test_the_command_converts_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.csv").write_text(OPEN_BANDIT + "2,2019-11-24,5,1,maybe,0.5,x,1\n")
    problems, out = tmp_path / "problems.csv", tmp_path / "log.parquet"
    words = ["logs", "convert", str(tmp_path / "all.csv"), str(out), "--problems", str(problems)]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "not read: user_feature_0, user-item_affinity_0"
    assert said[-1] == f"written: {out} (2 rows)"
    assert problems.read_text("utf-8").splitlines() == [
        "file,line,problem,text",
        f'{tmp_path / "all.csv"},4,reward not finite,"2,2019-11-24,5,1,maybe,0.5,x,1"',
    ]
    assert main(["logs", "check", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "dialect: fairx",
        "rows: 2, of which 2 are valid",
        "columns: time, arm, propensity, reward, place",
    ]
    assert main(["logs", "check", str(tmp_path / "all.csv")]) == 1
    assert main(["logs", "check", str(tmp_path / "all.csv"), "--from", "eppo"]) == 1
