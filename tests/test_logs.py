"""The log model: every format, every kind of problem, nothing dropped without a word."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairx import Bandit, Exponential, FairXLinTS, FairXTS, logs
from fairx.auditing import audit
from fairx.logs import problems

GOOD = pd.DataFrame(
    {
        "decision": [10, 11, 12, 13],
        "time": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]),
        "candidates": [["a", "b"], ["b", "a"], ["a", "b", "c"], ["c"]],
        "arm": ["a", "b", "c", "c"],
        "propensity": [0.25, 0.5, 0.125, 1.0],
        "probabilities": [[0.25, 0.75], [0.5, 0.5], [0.5, 0.375, 0.125], [1.0]],
        "reward": [1.0, 0.0, None, 0.5],
    }
)
WHAT = (
    "decision::VARCHAR AS decision, time, candidates, arm, propensity, probabilities, reward, pool"
)


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    found = table.copy()
    for name in ("candidates", "probabilities"):
        found[name] = [None if value is None else json.dumps(value) for value in found[name]]
    return found


def to_parquet(table: pd.DataFrame, folder: Path) -> Path:
    table.to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def to_csv(table: pd.DataFrame, folder: Path) -> Path:
    as_text(table).to_csv(folder / "log.csv.gz", index=False)
    return folder / "log.csv.gz"


def to_lines(table: pd.DataFrame, folder: Path) -> Path:
    text = table.to_json(orient="records", lines=True, date_format="iso")
    with gzip.open(folder / "log.jsonl.gz", "wt") as file:
        file.write(text)
    return folder / "log.jsonl.gz"


def to_folder(table: pd.DataFrame, folder: Path) -> Path:
    parts = folder / "parts" / "deep"
    parts.mkdir(parents=True)
    table[:1].to_parquet(parts / "1.parquet")
    table[1:].to_parquet(parts / "2.parquet")
    return folder / "parts"


FORMATS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "parquet": to_parquet,
    "csv": to_csv,
    "json lines": to_lines,
    "folder": to_folder,
    "pandas": lambda table, _: table,
    "pyarrow": lambda table, _: pa.Table.from_pandas(table),
}


def rows_of(log: logs.Log) -> list[tuple[Any, ...]]:
    found = log.connection.execute(f"SELECT {WHAT} FROM valid ORDER BY row").fetchall()
    return list(found)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_the_same_log(form: str, tmp_path: Path) -> None:
    log = logs.read(FORMATS[form](GOOD, tmp_path))
    expected = logs.read(GOOD)
    assert log.problems() == {}
    assert log.dated
    assert rows_of(log) == rows_of(expected)
    assert [row[6] for row in rows_of(log)] == [1.0, 0.0, None, 0.5]
    assert len({row[7] for row in rows_of(log)}) == 3  # a,b and b,a are one set
    assert rows_of(log)[0][1] == 1767225600.0


def test_sets_of_numbers_are_told_apart() -> None:
    """In DuckDB hash([0, 1, 3]) = hash([1, 3])."""
    pools = [list(pool) for size in (1, 2, 3) for pool in itertools.combinations(range(5), size)]
    log = logs.read(pd.DataFrame({"arm": [pool[0] for pool in pools], "candidates": pools}))
    assert log.query("SELECT count(DISTINCT pool) AS n FROM valid")["n"] == len(pools)


BROKEN: dict[str, tuple[str, Any]] = {
    "missing arm": ("arm", None),
    "arm not among its candidates": ("arm", "z"),
    "missing decision": ("decision", None),
    "duplicate decision": ("decision", 10),
    "missing or invalid time": ("time", None),
    "missing candidates": ("candidates", []),
    "candidate listed twice": ("candidates", ["b", "b"]),
    "missing propensity": ("propensity", None),
    "propensity outside (0, 1]": ("propensity", 0.0),
    "missing probabilities": ("probabilities", None),
    "probabilities not one for each candidate": ("probabilities", [0.25, 0.5, 0.25]),
    "probabilities not a distribution": ("probabilities", [0.5, 0.6]),
    "propensity unlike its probability": ("propensity", 0.6),
    "reward not finite": ("reward", float("inf")),
}


def test_every_kind_has_a_case() -> None:
    assert set(BROKEN) == {kind.name for kind in problems.KINDS}


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("kind", BROKEN)
def test_every_kind_of_problem_is_counted(kind: str, form: str, tmp_path: Path) -> None:
    name, value = BROKEN[kind]
    table = GOOD.astype({"decision": "Int64"})
    table[name] = pd.Series(
        [value if i == 1 else old for i, old in enumerate(table[name])], dtype=table[name].dtype
    )
    log = logs.read(FORMATS[form](table, tmp_path))
    assert log.problems()[kind] == 1
    assert [row[0] for row in rows_of(log)] == ["10", "12", "13"]
    where = "line 3 of .*log.csv.gz" if form == "csv" else "row 2 of .*log.parquet"
    with pytest.raises(ValueError, match=where + " .*" + re.escape(kind)):
        logs.read(FORMATS[form](table, tmp_path), strict=True)


@pytest.mark.parametrize("value", [2.0, -0.5, float("nan"), float("inf")])
def test_propensities_are_chances(value: float) -> None:
    table = pa.table({"arm": ["a", "b"], "propensity": [0.5, value]})
    assert logs.read(table).problems() == {"propensity outside (0, 1]": 1}


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(-3, 6), min_size=1, max_size=20),
    st.sampled_from([lambda n: n, lambda n: f"id-{n}", lambda n: n * 10**12]),
)
def test_the_first_of_several_stays(numbers: list[int], named: Callable[[int], Any]) -> None:
    """Ids that lie close, ids that do not, and texts."""
    ids = [named(n) for n in numbers]
    log = logs.read(pd.DataFrame({"decision": ids, "arm": range(len(ids))}))
    repeated = len(ids) - len(set(ids))
    assert log.problems() == ({"duplicate decision": repeated} if repeated else {})
    kept = log.query("SELECT arm FROM valid ORDER BY arm")["arm"].tolist()
    assert kept == [i for i, one in enumerate(ids) if one not in ids[:i]]


@pytest.mark.parametrize("words", ['["a b", "c"]', "a b|c", "a b ; c", "a b, c", '[ "a b" , "c" ]'])
def test_lists_in_text(words: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pd.DataFrame({"arm": ["c"], "candidates": [words], "probabilities": ["0.5 0.5"]}).to_csv(path)
    log = logs.read(path)
    assert log.problems() == {}
    found = log.query("SELECT candidates, propensity FROM valid")
    assert found["candidates"][0].tolist() == ["a b", "c"]
    assert found["propensity"] == [0.5]


def test_a_broken_list_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('arm,candidates\na,"[""a"", "\nb,b|c\n')
    assert logs.read(path).problems() == {"missing candidates": 1}


def test_lines_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\na,1\nb\nc,0\nd,yes\n")
    log = logs.read(path)
    assert log.problems() == {"unreadable line": 1, "reward not finite": 1}
    path = tmp_path / "log.jsonl"
    path.write_text('{"arm": "a", "reward": 1}\n{"arm": "b", "rew')
    assert logs.read(path).problems() == {"missing arm": 1}


def test_an_unreadable_line_is_refused_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\na,1\nb\nc,0\n")
    with pytest.raises(
        ValueError,
        match=r"line 3 of .*log.csv must be readable, not 'b': unreadable",
    ):
        logs.read(path, strict=True)


def test_zeros_in_front_stay(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("arm\n007\n7\n")
    assert logs.read(path).query("SELECT arm FROM valid")["arm"].tolist() == ["007", "7"]


def test_columns_have_names_of_all_sorts(tmp_path: Path) -> None:
    table = pd.DataFrame({'the "arm"; DROP': ["a"], "arm": ["no"], "r": [1.0]})
    mapping = {"arm": 'the "arm"; DROP', "reward": "r"}
    assert logs.read(table, mapping).query("SELECT arm FROM valid")["arm"].tolist() == ["a"]
    path = tmp_path / "columns.toml"
    path.write_text("[columns]\narm = 'r'\n")
    assert logs.read(table, path).columns == {"arm": "r"}


@pytest.mark.parametrize("name", ["b[1].csv", "c*d.csv", "it's.csv", "e?.csv"])
def test_files_have_names_of_all_sorts(name: str, tmp_path: Path) -> None:
    (tmp_path / "exd.csv").write_text("arm\nz\n")
    (tmp_path / name).write_text("arm\na\n")
    assert logs.read(tmp_path / name).query("SELECT arm FROM valid")["arm"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"arms": "arm"}, "columns has no key 'arms': did you mean 'arm'"),
        ({"arm": "amr"}, "no column 'amr' for arm: did you mean 'arm'"),
        ({"probabilities": "arm"}, "probabilities need candidates"),
        ({"arm": "x", "candidates": "reward"}, "must hold lists"),
    ],
)
def test_wrong_columns_are_refused(columns: dict[str, str], message: str) -> None:
    table = pd.DataFrame({"arm": ["a"], "x": ["a"], "reward": [1.0]})
    with pytest.raises(ValueError, match=message):
        logs.read(table, columns)


def test_an_arm_is_needed() -> None:
    with pytest.raises(ValueError, match=r"no column 'arm': say which of 'item'.*--arm"):
        logs.read(pd.DataFrame({"item": ["a"]}))


def test_wrong_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no log at"):
        logs.read(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="must be or hold files that end in"):
        logs.read(tmp_path)
    (tmp_path / "a.csv").write_text("arm\na\n")
    (tmp_path / "README").write_text("hello")
    with pytest.raises(ValueError, match="README, which is not a part of the log"):
        logs.read(tmp_path)
    (tmp_path / "README").unlink()
    (tmp_path / "b.jsonl").write_text("{}")
    with pytest.raises(ValueError, match="of one format"):
        logs.read(tmp_path)


def test_nothing_is_fetched() -> None:
    log = logs.read(pd.DataFrame({"arm": ["a"]}))
    with pytest.raises(Exception, match=r"httpfs|extension|Extension"):
        log.query("SELECT * FROM 'https://example.org/log.parquet'")


def test_a_bandit_writes_this_log(tmp_path: Path) -> None:
    bandit = Bandit(FairXLinTS(Exponential(4), 1, 1), ["red", "green", "blue"], 2, seed=3)
    path, rng = tmp_path / "log.jsonl", np.random.default_rng(1)
    decisions = []
    with logs.Appender(path, policy="mine", version="7") as log:
        for i in range(30):
            if i == 20:
                bandit.remove_arm("green")
            decisions.append(bandit.act(rng.random((len(bandit.arms), 2))))
            log.append(decisions[-1], None if i % 5 == 0 else i % 2, time=float(i))
    found = logs.read(path)
    assert found.problems() == {}
    rows = found.query("SELECT * FROM valid ORDER BY row")
    assert rows["arm"].tolist() == [decision.arm for decision in decisions]
    assert rows["propensity"].tolist() == [decision.probability for decision in decisions]
    assert rows["candidates"][-1].tolist() == ["red", "blue"]
    assert np.ma.count(rows["reward"]) == 24
    assert set(rows["policy"]) == {"mine"}
    found.write(tmp_path / "log.parquet")
    again = logs.read(tmp_path / "log.parquet")
    assert again.problems() == {}
    assert again.query("SELECT sum(reward) AS s FROM valid")["s"] == rows["reward"].sum()


def test_an_appender_wants_json_lines(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must end in \.jsonl"):
        logs.Appender(tmp_path / "log.csv")
    bandit = Bandit(FairXTS(Exponential(4), 1, 0.5), 2, seed=3)
    with pytest.raises(ValueError, match="reward must be finite"):
        logs.row(bandit.act(), reward=float("nan"))


# Files that ended in a traceback once


def test_a_folder_of_csv_files_is_one_log(tmp_path: Path) -> None:
    """Columns are joined by name; lines that cannot be split are counted, file by file."""
    (tmp_path / "a.csv").write_text("arm,reward\na,1\nb,0,9,9\n")
    (tmp_path / "b.csv").write_text("reward,arm\n0,b\n")
    log = logs.read(tmp_path)
    found = log.query("SELECT arm, reward FROM valid ORDER BY arm")
    assert (found["arm"].tolist(), found["reward"].tolist()) == (["a", "b"], [1.0, 0.0])
    assert log.problems() == {"unreadable line": 1}


def test_times_in_nanoseconds_with_a_zone(tmp_path: Path) -> None:
    time = pa.array([1_000_000_000, 2_500_000_000]).cast(pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"arm": ["a", "b"], "time": time}), tmp_path / "log.parquet")
    log = logs.read(tmp_path / "log.parquet")
    assert log.query("SELECT time FROM valid")["time"].tolist() == [1.0, 2.5]
    assert log.dated


def test_a_file_that_was_cut_off_is_refused_by_its_name(tmp_path: Path) -> None:
    rows = "arm,reward\n" + "".join(f"a{i},{i % 2}\n" for i in range(5000))
    packed = gzip.compress(rows.encode())
    (tmp_path / "log.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match=r"log.csv.gz must be readable to its end, not: "):
        logs.read(tmp_path / "log.csv.gz")


def test_true_and_false_are_rewards(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm,reward\na,true\nb,False\na,1\nb,maybe\n")
    log = logs.read(tmp_path / "log.csv")
    assert log.query("SELECT reward FROM valid")["reward"].tolist() == [1.0, 0.0, 1.0]
    assert log.problems() == {"reward not finite": 1}


def test_an_empty_file_has_no_valid_row(tmp_path: Path) -> None:
    nothing = pa.table({"arm": pa.array([], pa.string()), "reward": pa.array([], pa.float64())})
    pq.write_table(nothing, tmp_path / "log.parquet")
    with pytest.raises(ValueError, match="must have a valid row"):
        audit(tmp_path / "log.parquet", Exponential(1))


def test_what_cannot_be_read_comes_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm;reward\na;0,5\nb;0,25\n")
    with pytest.raises(ValueError, match=r"a reward is a number with a point \(0.5, not 0,5\)"):
        audit(tmp_path / "log.csv", Exponential(1))
    assert "year first" in problems.remedies(["missing or invalid time"])
    assert problems.remedies(["missing arm"]) == ""
