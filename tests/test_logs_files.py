"""Files as they come: what is odd is read rightly, or refused by file, line, column and remedy."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

from fairx import Exponential, logs
from fairx.auditing import audit
from fairx.command import main
from fairx.command.audit import _columns as columns_of
from fairx.command.main import parser
from fairx.logs.locating import located, torn

TWO = [("a", 1.0), ("b", 0.0)]
LINES = '{"arm": "a", "reward": 1}\n{"arm": "b", "reward": 0}\n'


def given(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def pairs(log: logs.Log) -> list[tuple[Any, ...]]:
    return list(log.connection.execute("SELECT arm, reward FROM valid ORDER BY row").fetchall())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bom.csv", b"\xef\xbb\xbfarm,reward\na,1\nb,0\n"),
        ("crlf.csv", "arm,reward\r\na,1\r\nb,0\r\n"),
        ("spaces.csv", "arm, reward\na, 1\nb, 0\n"),
        ("blank.csv", "\narm,reward\na,1\n\nb,0\n"),
        ("semicolons.csv", "arm;reward\na;1\nb;0\n"),
        ("tabs.tsv", "arm\treward\na\t1\nb\t0\n"),
        ("PACKED.CSV.GZ", gzip.compress(b"arm,reward\na,1\nb,0\n", mtime=0)),
        ("truths.csv", "arm,reward\na,t\nb,F\n"),
        ("TRUTHS.csv", "arm,reward\na,TRUE\nb,false\n"),
        ("truths.jsonl", '{"arm": "a", "reward": true}\n{"arm": "b", "reward": false}\n'),
        ("crlf.jsonl", LINES.replace("\n", "\r\n")),
    ],
)
def test_what_is_odd_is_read(name: str, content: str | bytes, tmp_path: Path) -> None:
    log = logs.read(given(tmp_path, name, content), strict=True)
    assert pairs(log) == TWO


def test_quotes_that_come_late_are_quotes(tmp_path: Path) -> None:
    """DuckDB guesses from the first lines that there are none: 'q' would be two arms."""
    early = "arm,reward\n" + "q,1\n" * 30_000
    log = logs.read(given(tmp_path, "log.csv", early + '"q",0\n"two\nlines",1\n"a, b",0\n'))
    assert pairs(log)[-3:] == [("q", 0.0), ("two\nlines", 1.0), ("a, b", 0.0)]
    assert log.problems() == {}
    log = logs.read(given(tmp_path, "log.csv", early + '"q,1\n' + "b,0\n" * 9))
    with pytest.raises(ValueError, match=r"line 30002 of .*log.csv must close the quote that it"):
        log.problems()


LATIN = "convert it by: iconv -f latin1 -t utf-8"
UTF8 = {
    "log.csv": (
        "arm,reward\na,1\ncafé,1\ncafé,0\n",
        f"line 3 of .*log.csv.* must be in UTF-8: {LATIN}",
    ),
    "late.csv": ("arm,reward\n" + "a,1\n" * 9999 + "é,1\n", "line 10001 of .* must be in UTF-8"),
    "head.csv": ("armé,reward\na,1\n", f"line 1 of .*head.csv.* must be in UTF-8: {LATIN}"),
    "log.jsonl": (
        LINES + '{"arm": "é", "reward": 1}\n',
        "line 3 of .*log.jsonl.* must be in UTF-8",
    ),
}


@pytest.mark.parametrize("name", UTF8)
@pytest.mark.parametrize("packed", [False, True])
def test_no_arm_is_lost_to_its_letters(name: str, packed: bool, tmp_path: Path) -> None:
    content, message = UTF8[name]
    raw = content.encode("latin1")
    path = given(tmp_path, name + ".gz" * packed, gzip.compress(raw, mtime=0) if packed else raw)
    for strict in (False, True):
        with pytest.raises(ValueError, match=message):
            logs.read(path, strict=strict).problems()
    with pytest.raises(ValueError, match=message):
        audit(path, Exponential(1))


COMMA = "a reward is a number with a point .0.5, not 0,5.*pandas.read_csv.*decimal=','"
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "wide.csv": ("arm\na\n".encode("utf-16"), "must be in UTF-8, not in UTF-16: .*iconv -f utf-16"),
    "wide.jsonl": (LINES.encode("utf-16"), "must be in UTF-8, not in UTF-16"),
    "mark.jsonl": (b"\xef\xbb\xbf" + LINES.encode(), "not with a byte order mark: .*tail -c"),
    "no.csv.gz": ("arm\na\n", "no.csv.gz must be readable to its end, not: .*GZIP.*: copy it anew"),
    "cut.jsonl.gz": (
        gzip.compress(LINES.encode() * 9999)[:-99],
        "cut.jsonl.gz must be readable to",
    ),
    "noise.csv.gz": (gzip.compress(bytes(range(128, 256)) * 9), "line 1 of .* must be in UTF-8"),
    "open.csv": ('arm,reward\n"a,1\nb,0\n', r"no table \(is a quote left open\?\)"),
    "long.csv": ("arm\n" + "a" * 3_000_000 + "\nb\n", "a line of more than 2 MB"),
    "empty.csv": ("", "empty.csv must have rows, but is empty"),
    "blank.csv": ("\n\n", "must have rows, but is empty"),
    "empty.jsonl": ("", "must have rows, but is empty"),
    "empty.parquet": ("", "empty.parquet must be readable to its end, not: .* too small"),
    "text.parquet": ("arm,reward\na,1\n" * 9, "text.parquet must be readable to its end, not: "),
    "twice.csv": ("arm,reward,arm\na,1,b\n", "must have one column 'arm', not 2"),
    "array.json": ('[{"arm": "a"}]', "an object on each line|JSON object on each line: .*jq -c"),
    "words.jsonl": ("hello\n", "must have a JSON object on each line"),
    "log.arrow": ("", r"another format than Arrow's: read it by pyarrow.feather.read_table"),
    "place.csv": ("arm,place\na,Bern\n", "whole numbers from 1 on, not 'Bern': .*--place ''"),
    "comma.csv": (
        "arm;reward\na;1\nb;0,5\n",
        f"line 3 of .*column 'reward', which says '0,5': {COMMA}",
    ),
    "day.csv": (
        "arm,time\na,31/12/2026\n",
        "line 2 of .*'time', which says '31/12/2026': .*dayfirst",
    ),
    "year.csv": (
        "arm,time\na,2026-01-01\na,01/02/26\n",
        "line 3 of .*'time', which says '01/02/26'",
    ),
    "broken.jsonl": (
        '{"arm": "a"}\n{"arm": "b',
        "line 2 of .* must be valid, not: missing arm in c",
    ),
    "long.jsonl": (
        '{"arm": "a"}\n\n{"arm": null}\n',
        "line 3 of .* must be valid, not: missing arm",
    ),
    "places.csv": ("arm,place\na,0\nb,1\n", "which says '0': places are whole numbers from 1 on"),
    "short.csv": (
        'arm,reward\n"a\nb",1\n\nc\n',
        "line 5 of .* must be readable, not 'c': unreadable",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its name and a remedy, and in one line of the command."""
    content, message = REFUSED[name]
    path = given(tmp_path, name, content)
    with pytest.raises(ValueError, match=message):
        logs.read(path, strict=True)
    assert main(["logs", "check", str(path), "--strict"]) == 1
    assert capsys.readouterr().err.startswith("fairx: error: ")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("reward", pa.array([{"v": 1}])),
        ("reward", pa.array([[1.0]])),
        ("reward", pa.array([1]).cast(pa.timestamp("us"))),
        ("time", pa.array([1]).cast(pa.time64("us"))),
    ],
)
def test_types_that_are_no_numbers(name: str, values: Any) -> None:
    with pytest.raises(ValueError, match=f'column "{name}" must hold numbers.*, not '):
        logs.read(pa.table({"arm": ["a"], name: values}))


@pytest.mark.parametrize("table", [None, {"arm": ["a"]}, [{"arm": "a"}], 7])
def test_what_is_no_table(table: Any) -> None:
    with pytest.raises(TypeError, match="log must be a path, or a table of pandas, pyarrow or pol"):
        logs.read(table)


def test_what_programs_leave_behind_is_passed_over(tmp_path: Path) -> None:
    given(tmp_path, "a.csv", "arm,reward\na,1\n")
    given(tmp_path, "b.csv", "reward,arm,more\n0,b,x\n")
    for name in (".DS_Store", "_SUCCESS", ".a.csv.crc"):
        given(tmp_path, name, "x")
    assert pairs(logs.read(tmp_path)) == TWO
    pf.write_feather(pa.table({"arm": ["a"]}), tmp_path / "c.feather")
    with pytest.raises(ValueError, match="another format than Arrow's"):
        logs.read(tmp_path)


def test_a_column_may_be_said_to_be_none(tmp_path: Path) -> None:
    path = given(tmp_path, "log.csv", "arm,reward,place\na,1,Bern\nb,0,Rome\n")
    log = logs.read(path, {"place": ""})
    assert (log.columns, log.others) == ({"arm": "arm", "reward": "reward"}, ("place",))
    options = parser("audit").parse_args(
        ["audit", str(path), "--merit", "exponential:1", "--place", ""]
    )
    assert columns_of(options) == {"place": ""}


def test_a_candidate_that_is_missing_is_not_one_that_is_there_twice() -> None:
    table = pa.table({"arm": ["a", "b", "b"], "candidates": [["a", None], ["b", "b"], ["b"]]})
    assert logs.read(table).problems() == {"missing candidates": 1, "candidate listed twice": 1}


# Where a row is


def test_rows_are_found_in_their_lines(tmp_path: Path) -> None:
    """Against physical lines, with rows over several of them, blank lines, and lines that do not fit."""
    made = random.Random(3)
    kinds = [
        "{0},1,x",
        '"{0}\nz",1,"a ""b"","',
        '{0},1,"two\n\nlines"',
        "",
        "{0},1,2,3",
        "{0}",
        "{0},1,x,",
    ]
    for name in ("1.csv", "2.csv.gz"):
        rows = [made.choice(kinds).format(f"{name}-{i}") for i in range(40)]
        text = "\n".join(["arm,reward,note", "first,1,x", *rows, "last,0,y"]).encode()
        given(tmp_path, name, gzip.compress(text, mtime=0) if name.endswith("gz") else text)
    log = logs.read(tmp_path)
    arms = log.query("SELECT arm FROM checked ORDER BY row")["arm"].tolist()
    found = list(located(log.connection, log.origin, range(1, len(arms) + 1)))
    assert [next(csv.reader([one.text]))[0] for one in found] == arms
    for one in [*found, *torn(log.connection, log.origin)]:
        raw = Path(one.file).read_bytes()
        lines = (gzip.decompress(raw) if one.file.endswith("gz") else raw).decode().split("\n")
        assert one.text.startswith(lines[one.line - 1])
    assert len(list(torn(log.connection, log.origin))) == log.unreadable()["unreadable line"]


def test_rows_of_parquet_are_found_in_their_files(tmp_path: Path) -> None:
    for i in (1, 2, 3):
        pq.write_table(
            pa.table({"arm": ["a", "b"], "reward": [1.0, 9 / 3]}), tmp_path / f"{i}.parquet"
        )
    pq.write_table(pa.table({"arm": ["a", None], "reward": [1.0, 0.0]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"row 2 of .*2.parquet must be valid, not: missing arm"):
        logs.read(tmp_path, strict=True)
    assert logs.read(tmp_path).write_problems(tmp_path / "problems.txt") == 1
    (found,) = csv.DictReader((tmp_path / "problems.txt").read_text("utf-8").splitlines())
    assert (found["file"], found["line"]) == (str(tmp_path / "2.parquet"), "2")
    assert "'reward': 0.0" in found["text"]


def test_rows_with_problems_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "arm,reward,decision\na,1,1\n,0,1\nb,0,2\nc,0,3,4\n" + "b,1,9\n" * 2 + "a,1,4\n"
    path, out = given(tmp_path, "log.csv", rows), tmp_path / "problems.csv"
    words = ["audit", str(path), "--merit", "exponential:1", "--out", str(tmp_path / "out")]
    assert main([*words, "--problems", str(out)]) == 0
    assert f"problems: 3 rows in {out}" in capsys.readouterr().out
    assert out.read_text("utf-8").splitlines() == [
        "file,line,problem,text",
        f'{path},3,missing arm; duplicate decision,",0,1"',
        f'{path},7,duplicate decision,"b,1,9"',
        f'{path},5,unreadable line,"c,0,3,4"',
    ]


# Order


@pytest.mark.parametrize("column", ["candidates", "decision"])
def test_rows_keep_their_order_where_they_are_looked_up(column: str, tmp_path: Path) -> None:
    """With threads DuckDB gives joined rows as they come: with candidates 5 of 5 runs were out of order."""
    size = 200_000
    rows: dict[str, Any] = {"arm": np.arange(size) % 5, "reward": np.arange(float(size))}
    candidates = pa.ListArray.from_arrays(
        np.arange(0, 5 * size + 1, 5, dtype="int32"), list(range(5)) * size
    )
    rows |= {"candidates": candidates} if column == "candidates" else {}
    rows |= {"decision": np.arange(size) // 2 * 2} if column == "decision" else {}
    pq.write_table(pa.table(rows), tmp_path / "log.parquet", row_group_size=5000)
    log = logs.read(tmp_path / "log.parquet", threads=4)
    step = 2 if column == "decision" else 1
    found = pa.RecordBatchReader.from_stream(log.in_order(["reward"])).read_all()["reward"]
    np.testing.assert_array_equal(found.to_numpy(), np.arange(0, size, step))
    log.write(tmp_path / "again.parquet")
    again = pq.read_table(tmp_path / "again.parquet")["reward"]
    np.testing.assert_array_equal(again.to_numpy(), np.arange(0, size, step))


# The policy of an evaluation


@pytest.mark.parametrize(
    "head", ["", "ARM,PROBABILITY\n", "arm,probability\n", "\ufeffarm, probability\n"]
)
def test_a_policy_may_have_the_header_of_the_help(
    head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"arm": ["a", "b"] * 20, "reward": [1.0, 0.0] * 20, "propensity": 0.5}
    pd.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    policy = given(tmp_path, "policy.csv", f"{head}a,0.75\nb,0.25\n")
    out = tmp_path / "out"
    assert (
        main(["evaluate", str(tmp_path / "log.csv"), "--policy", str(policy), "--out", str(out)])
        == 0
    )
    capsys.readouterr()
    assert json.loads((out / "evaluation.json").read_text("utf-8"))["reward"] == 0.75
