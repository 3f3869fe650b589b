"""Data sets: what they hold, what files are read and what is refused, and the split."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairx import datasets
from fairx.datasets import dataset
from fairx.errors import BrokenFile

POSITIVES = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
SHARED = Path(os.environ.get("FAIRX_DATA") or "/work/shared/data")
needs_mediamill = pytest.mark.skipif(
    not (SHARED / "mediamill.npz").exists(),
    reason="no mediamill: run `fairx data get mediamill --data DIR` and set FAIRX_DATA=DIR",
)


# The data sets themselves.


def test_yeast() -> None:
    yeast = datasets.load("yeast")
    assert yeast.features.shape == (2417, 103)
    assert (yeast.features.min(), yeast.features.max()) == (-0.797436, 0.729621)
    assert np.allclose(np.linalg.norm(yeast.features, axis=1), 1, atol=1e-5)
    assert yeast.labels.sum(axis=0).tolist() == POSITIVES
    assert np.unique(yeast.labels).tolist() == [0, 1]
    for matrix in (yeast.features, yeast.labels):
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous
    assert yeast.checksum == "07224b8431bfc4aa5fe4c88821985b324d2a97dfe9b676320ac95659eb3235a2"
    assert "Elisseeff" in yeast.citation
    assert "river" in yeast.source


def test_yeast_equals_the_file_of_river() -> None:
    found = importlib.util.find_spec("river")
    if found is None or found.origin is None:
        pytest.skip("no river: pip install 'river>=0.26'")
    path = Path(found.origin).parent / "datasets" / "yeast.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [[float(cell) for cell in line.split(",")] for line in list(file)[1:]]
    yeast = datasets.load("yeast")
    assert np.array_equal(np.hstack([yeast.features, yeast.labels]), rows)


@needs_mediamill
def test_mediamill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRX_DATA", str(SHARED))
    mediamill = datasets.load("mediamill")
    assert mediamill.checksum == "a924174e25e319fc3344737c7644b47a29100b8480f8aef8c1618e9427eb2227"
    assert mediamill.features.shape == (43907, 120)
    assert mediamill.labels.sum(axis=0)[[67, 33, 66, 65, 51]].tolist() == [
        33869, 27938, 15690, 15080, 8811,
    ]  # fmt: skip
    assert int((mediamill.labels.sum(axis=1) == 0).sum()) == 1730


def test_mediamill_is_looked_up_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = datasets.KNOWN["mediamill"]
    monkeypatch.delenv("FAIRX_DATA", raising=False)
    monkeypatch.setenv("FAIRX_CACHE", str(tmp_path / "cache"))
    assert datasets.path_of(known) == tmp_path / "cache" / "data" / "mediamill.npz"
    monkeypatch.setenv("FAIRX_DATA", str(tmp_path))
    assert datasets.path_of(known) == tmp_path / "mediamill.npz"
    assert datasets.path_of(known, tmp_path / "x") == tmp_path / "x" / "mediamill.npz"


def test_a_missing_data_set_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="run: fairx data get mediamill, or point FAIRX_D"):
        datasets.load("mediamill", tmp_path)


def truncated(path: Path) -> None:
    np.savez(path, X=np.zeros((5, 2)), Y=np.zeros((5, 101)))
    path.write_bytes(path.read_bytes()[:-200])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"not an archive"),
        truncated,
        lambda path: np.savez(path, X=np.zeros((5, 2))),
        lambda path: np.savez(path, X=np.zeros((5, 2)), Y=np.zeros((5, 101))),
        lambda path: np.savez(path, X=np.zeros((5, 2)), Y=np.zeros((5, 7))),
        lambda path: np.savez(path, X=np.array([{}] * 5), Y=np.zeros((5, 101))),
    ],
    ids=["empty", "foreign", "truncated", "without Y", "rows", "labels", "pickled"],
)
def test_a_broken_data_set_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path / "mediamill.npz")
    with pytest.raises(BrokenFile, match=r"mediamill\.npz.*run: fairx data get mediamill --force"):
        datasets.load("mediamill", tmp_path)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be yeast or mediamill, .*did you mean 'yeast'"):
        datasets.load("yeasts")
    with pytest.raises(FileNotFoundError):
        datasets.load("nowhere.arff", labels=1)
    with pytest.raises(ValueError, match="labels must be 14 for yeast, not 13"):
        datasets.load("yeast", labels=13)


# Files of the user.

DENSE = """% a comment
@RELATION 'my data'
@attribute 'first one' numeric
@attribute b REAL
@attribute c {0,1}
@attribute d {TRUE, FALSE}

@data
0.5, -1e3, 1, FALSE
'2', 0, 0, TRUE
"""
SPARSE = DENSE[: DENSE.index("0.5,")] + "{0 0.5, 1 -1000,2 1,3 FALSE}\n{0 2}\n"
LIBSVM = "# a comment\n0,1 1:0.5 3:-1e3\n 3:2 # no labels\n1\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [DENSE, SPARSE, "\ufeff" + DENSE.replace("\n", "\r\n")])
def test_arff(tmp_path: Path, text: str) -> None:
    found = datasets.load(write(tmp_path / "a.arff", text), labels=2)
    assert found.features.tolist() == [[0.5, -1000], [2, 0]]
    # A sparse row that leaves out a listed value means the first one listed: TRUE for d.
    assert found.labels.tolist() == [[1, 0], [0, 1]]
    assert found.name == "a.arff"
    assert found.source == str(tmp_path / "a.arff")


def test_arff_with_labels_first(tmp_path: Path) -> None:
    text = "@relation r\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,5\n0,6\n"
    found = datasets.load(write(tmp_path / "a.arff", text), labels=-1)
    assert found.features.tolist() == [[5], [6]]
    assert found.labels.tolist() == [[1], [0]]


def test_libsvm(tmp_path: Path) -> None:
    found = datasets.load(write(tmp_path / "a.svm", LIBSVM))
    assert found.features.tolist() == [[0.5, 0, -1000], [0, 0, 2], [0, 0, 0]]
    assert found.labels.tolist() == [[1, 1], [0, 0], [0, 1]]
    more = datasets.load(tmp_path / "a.svm", labels=3)
    assert more.labels.tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 0]]
    from_one = datasets.load(write(tmp_path / "b.txt", "1,2 1:1\n2 1:3\n"))
    assert from_one.labels.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize(("suffix", "squeeze"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_text(tmp_path: Path, suffix: str, squeeze: Callable[[bytes], bytes]) -> None:
    plain = datasets.load(write(tmp_path / "a.svm", LIBSVM))
    path = tmp_path / f"a.svm{suffix}"
    path.write_bytes(squeeze(LIBSVM.encode()))
    assert datasets.load(path).checksum == plain.checksum
    path.write_bytes(squeeze(LIBSVM.encode() * 999)[:-20])
    with pytest.raises(BrokenFile, match=f"a.svm{suffix}"):
        datasets.load(path)


def test_arrays(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, X=np.array([[1, 2], [3, 4]]), Y=np.array([[True], [False]]))
    found = datasets.load(str(path))
    assert found.features.tolist() == [[1, 2], [3, 4]]
    assert found.labels.tolist() == [[1], [0]]


HEADER = "@relation r\n@attribute x numeric\n@attribute y {0,1}\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.arff", "", "must have @data with at least one row"),
        ("a.arff", HEADER + "@data\n", "must have @data with at least one row"),
        ("a.arff", HEADER + "1,1\n", "line 4: the header must be"),
        ("a.arff", HEADER + "@data\n1,1\n2\n", "line 6: a row must have 2 values, not 1"),
        ("a.arff", HEADER + "@data\n1,2\n", "line 5: y must be one of 0, 1, not '2'"),
        ("a.arff", HEADER + "@data\n?,1\n", "line 5: x must be a finite number, not '?'"),
        ("a.arff", HEADER + "@data\nnan,1\n", "line 5: x must be a finite number, not 'nan'"),
        ("a.arff", HEADER + "@data\n{0 1,2 1}\n", "a column must be from 0 to 1, not 2"),
        ("a.arff", HEADER + "@data\n{0 1,0 2}\n", "columns must be given once each"),
        ("a.arff", HEADER + "@data\n{-1 1}\n", "a column must be a whole number of at least 0"),
        ("a.arff", HEADER + "@data\n{0}\n", "x must be a finite number, not ''"),
        ("a.arff", HEADER + "@data\n{0 1\n", "a sparse row must end in }"),
        ("a.arff", HEADER + "@attribute s string\n", "line 4: an attribute must be numeric"),
        ("a.arff", HEADER + "@attribute\n", "line 4: an attribute must be numeric"),
        ("a.arff", HEADER + "@attribute s {a,b}\n", "a value of s must be a finite number"),
        ("a.arff", "@attribute x real\n@attribute y real\n@data\n1,2\n", "labels must be 0 or 1"),
        ("a.svm", "", "at least one row, not none"),
        ("a.svm", "# nothing\n", "at least one row, not none"),
        ("a.svm", "1 1:1\n\n1 1:1\n", "line 2: a row must have labels or features"),
        ("a.svm", "1 1:1\n1 0:1\n", "line 2: the index of a feature must be a whole number"),
        ("a.svm", "1 99999999999:1\n", "line 1: the index of a feature must be a whole number"),
        ("a.svm", "1 1:inf\n", "line 1: a feature must be a finite number, not 'inf'"),
        ("a.svm", "1 1:\n", "line 1: a feature must be a finite number, not ''"),
        ("a.svm", "1 1\n", "line 1: features must be index:value, not '1'"),
        ("a.svm", "1,, 1:1\n", "line 1: labels must be a whole number of at least 0, not ''"),
        ("a.svm", "-1 1:1\n", "line 1: labels must be a whole number of at least 0, not '-1'"),
        ("a.svm", "1,1 1:1\n", "line 1: columns must be given once each"),
        ("a.svm", "1 qid:3 1:1\n", "line 1: the index of a feature must be a whole number"),
        ("a.svm", "0,1 1:1\n", "labels must be from 0 to 0, not 1"),
        ("a.svm", "1\n", "the number of features must be a whole number of at least 1, not 0"),
        ("a.svm", "1 2147483646:1", "at most 2 GB as dense numbers, not 1 x 2147483646 = 17.2 GB"),
        ("a.svm", "1 1:\udcff\n", "codec"),
    ],
)
def test_malformed_text_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BrokenFile, match=re.escape(message)) as caught:
        datasets.load(path, labels=1)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("labels", [None, 0, 2, -2, 99])
def test_arff_wants_to_know_its_labels(tmp_path: Path, labels: int | None) -> None:
    path = write(tmp_path / "a.arff", HEADER + "@data\n1,1\n")
    with pytest.raises(ValueError, match="how many of the last of 2 attributes are labels"):
        datasets.load(path, labels=labels)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        ([[1.0, np.nan]], [[1]], "features must be finite"),
        ([[1.0]], [[2]], "labels must be 0 or 1, not 2 at"),
        ([[1.0], [2.0]], [[1]], "labels must have shape"),
        ([1.0], [[1]], "features must have shape"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "the number of examples"),
        (np.zeros((2, 0)), np.zeros((2, 1)), "the number of features"),
        (np.zeros((2, 1)), np.zeros((2, 0)), "the number of labels"),
        ([[1j]], [[1]], "X and Y must be numbers"),
        ([["a"]], [[1]], "X and Y must be numbers"),
    ],
)
def test_wrong_arrays_are_refused(tmp_path: Path, features: Any, labels: Any, message: str) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, X=features, Y=labels)
    with pytest.raises(BrokenFile, match=message):
        datasets.load(path)


def test_the_limit_is_on_the_dense_size() -> None:
    dataset.refuse_huge(250_000, 1000)
    with pytest.raises(ValueError, match=r"not 250001 x 1000 = 2\.0 GB: select rows"):
        dataset.refuse_huge(250_001, 1000)


numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4))


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    rows, columns, labels = draw(shapes)
    features = draw(hnp.arrays(np.float64, (rows, columns), elements=numbers))
    marks = draw(hnp.arrays(np.int64, (rows, labels), elements=st.integers(0, 1)))
    return features, marks


@given(table=tables(), sparse=st.booleans())
def test_arff_round_trip(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[Any, Any], sparse: bool
) -> None:
    cells = [
        [*row, *marks] for row, marks in zip(table[0].tolist(), table[1].tolist(), strict=True)
    ]
    kinds = ["real"] * table[0].shape[1] + ["{0,1}"] * table[1].shape[1]
    lines = [f"@attribute a{i} {kind}" for i, kind in enumerate(kinds)] + ["@data"]
    for row in cells:
        given = [f"{i} {value!r}" for i, value in enumerate(row) if value]
        lines.append("{" + ",".join(given) + "}" if sparse else ",".join(map(repr, row)))
    path = write(tmp_path_factory.mktemp("arff") / "a.arff", "\n".join(lines))
    found = datasets.load(path, labels=table[1].shape[1])
    assert np.array_equal(found.features, table[0])
    assert np.array_equal(found.labels, table[1])


@given(table=tables(), first=st.integers(0, 1))
def test_libsvm_round_trip(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[Any, Any], first: int
) -> None:
    features, marks = table
    marks[0, 0] = 1  # the first label occurs, so that the file says where they begin
    lines = [
        ",".join(str(i + first) for i in np.flatnonzero(row))
        + "".join(f" {i + 1}:{value!r}" for i, value in enumerate(values.tolist()))
        for values, row in zip(features, marks, strict=True)
    ]
    path = write(tmp_path_factory.mktemp("svm") / "a.libsvm", "\n".join(lines))
    found = datasets.load(path, labels=marks.shape[1])
    assert np.array_equal(found.features, features)
    assert np.array_equal(found.labels, marks)


# The split.


@given(st.integers(2, 300), st.floats(0, 1), st.integers(0, 2**40))
def test_split_is_a_partition(count: int, share: float, seed: int) -> None:
    wanted = round(share * count)
    if not 0 < wanted < count:
        with pytest.raises(ValueError, match="share must leave rows in both parts"):
            datasets.split(count, share, seed)
        return
    validation, test = datasets.split(count, share, seed)
    assert len(validation) == wanted
    assert sorted([*validation, *test]) == list(range(count))
    assert (np.diff(validation) > 0).all()
    assert (np.diff(test) > 0).all()
    again = datasets.split(count, share, seed)
    assert np.array_equal(validation, again[0])


def test_split_depends_on_the_seed_alone() -> None:
    one, other = (datasets.split(2417, 0.2, seed)[0] for seed in (1, 2))
    assert not np.array_equal(one, other)
    assert one[:5].tolist() == [2, 9, 16, 28, 31]
    for wrong in ({"count": 1}, {"share": 2}, {"seed": -1}, {"seed": 0.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            datasets.split(**({"count": 9, "share": 0.5, "seed": 1} | wrong))


def test_split_is_uniform() -> None:
    """Each row is in validation in half of 4000 splits, within 5 standard errors (1e-5 in all)."""
    counts = np.zeros(10)
    for seed in range(4000):
        counts[datasets.split(10, 0.5, seed)[0]] += 1
    assert (np.abs(counts - 2000) < 5 * np.sqrt(4000 * 0.25)).all()
