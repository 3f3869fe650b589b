"""Fetching data sets, from a server of our own on this machine; and the command that does it."""

from __future__ import annotations

import argparse
import bz2
import errno
import functools
import hashlib
import http.server
import importlib.util
import io
import re
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairx import datasets
from fairx.command import data as command
from fairx.datasets import download, fetching
from fairx.errors import BrokenFile

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("pypi_simple") is None,
    reason="no pypi-simple: pip install 'fairx[data]'",
)


class Server(http.server.ThreadingHTTPServer):
    """Serves `pages`: a body for each path, or a status. A body in a list is cut short."""

    pages: dict[str, bytes | int | list[bytes]]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path, 404)
        if isinstance(page, int):
            self.send_error(page)
            return
        body = page[0] if isinstance(page, list) else page
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if isinstance(page, list) else body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A package index on this machine, which pip is configured to use."""
    with Server(("127.0.0.1", 0), Handler) as found:
        found.pages = {}
        threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("PIP_INDEX_URL", address(found))
        monkeypatch.setenv("PIP_CERT", "unused")
        yield found
        found.shutdown()


def address(server: Server, credentials: str = "") -> str:
    return f"http://{credentials}127.0.0.1:{server.server_port}/simple"


PARTS = [
    (np.array([[0.5, 1.5], [2.5, -1.0], [0.25, 4.0]]), np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]])),
    (np.array([[7.0, 0.5], [1.0, 1.0]]), np.array([[1, 1, 1], [0, 0, 1]])),
]
MEMBERS = ("fake-1/train.dump.bz2", "fake-1/test.dump.bz2")
OLD_ARRAY = (  # as Python 2 wrote them
    "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I{}\nI{}\ntcnumpy"
    "\ndtype\n(S'{}'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS{}\ntb"
)


def old_dump(features: Any, labels: Any) -> bytes:
    parts = [
        OLD_ARRAY.format(*array.shape, array.dtype.str[1:], repr(array.tobytes())[1:])
        for array in (features, labels)
    ]
    return "(dS'X'\n{}sS'y'\n{}s.".format(*parts).encode()


def archive(*dumps: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as files:
        for name, dump in zip(MEMBERS, dumps, strict=False):
            body = bz2.compress(dump)
            information = tarfile.TarInfo(name)
            information.size = len(body)
            files.addfile(information, io.BytesIO(body))
    return file.getvalue()


GOOD = archive(*(old_dump(*part) for part in PARTS))


@pytest.fixture
def offer(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put an archive on the index, as the release that mediamill is in."""

    def put(body: bytes, checksum: str | None = None) -> None:
        server.pages["/simple/fake/"] = b"<a href='../../fake-1.tar.gz'>fake-1.tar.gz</a>"
        server.pages["/fake-1.tar.gz"] = body
        found = checksum or hashlib.sha256(body).hexdigest()
        release = fetching.Release("fake", "fake-1.tar.gz", found, MEMBERS)
        source = functools.partial(fetching.from_index, release=release)
        monkeypatch.setitem(fetching.SOURCES, "index", source)

    small = datasets.KNOWN["mediamill"]._replace(rows=5, features=2, labels=3)
    monkeypatch.setitem(datasets.KNOWN, "mediamill", small)
    put(GOOD)
    return put


def is_empty(folder: Path) -> bool:
    return not folder.exists() or not list(folder.iterdir())


@needs_extra
def test_fetch(tmp_path: Path, server: Server, offer: Callable[..., None]) -> None:
    path = datasets.fetch("mediamill", tmp_path / "new" / "folder")
    assert [file.name for file in path.parent.iterdir()] == ["mediamill.npz"]
    found = datasets.load("mediamill", path.parent)
    assert np.array_equal(found.features, np.vstack([PARTS[0][0], PARTS[1][0]]))
    assert np.array_equal(found.labels, np.vstack([PARTS[0][1], PARTS[1][1]]))
    with np.load(path) as arrays:
        assert arrays["train"].tolist() == [True, True, True, False, False]
    server.pages.clear()
    assert datasets.fetch("mediamill", path.parent) == path  # it is there: no network is needed
    with pytest.raises(ConnectionError):
        datasets.fetch("mediamill", path.parent, force=True)
    assert datasets.load("mediamill", path.parent).checksum == found.checksum


@needs_extra
def test_fetch_replaces_a_broken_file(tmp_path: Path, offer: Callable[..., None]) -> None:
    (tmp_path / "mediamill.npz").write_bytes(b"broken")
    datasets.fetch("mediamill", tmp_path)
    assert len(datasets.load("mediamill", tmp_path).labels) == 5


@needs_extra
def test_what_was_tampered_with_is_not_read(tmp_path: Path, offer: Callable[..., None]) -> None:
    offer(GOOD, checksum="0" * 64)
    with pytest.raises(BrokenFile, match=r"must have the SHA-256 0000.*nothing of it was read"):
        datasets.fetch("mediamill", tmp_path)
    assert is_empty(tmp_path)


@needs_extra
@pytest.mark.parametrize("name", ["posix\nsystem", "os\nsystem", "__builtin__\neval"])
def test_a_pickle_cannot_run_anything(
    tmp_path: Path, offer: Callable[..., None], name: str
) -> None:
    mark = tmp_path / "it-ran"
    argument = f"open({str(mark)!r}, 'w')" if "eval" in name else f"touch {mark}"
    offer(archive(f"c{name}\n(V{argument}\ntR.".encode(), old_dump(*PARTS[1])))
    with pytest.raises(BrokenFile, match=r"train\.dump\.bz2 .*it must hold arrays alone, not"):
        datasets.fetch("mediamill", tmp_path / "data")
    assert not mark.exists()
    assert is_empty(tmp_path / "data")


@needs_extra
@pytest.mark.parametrize(
    "body",
    [
        b"",
        GOOD[: len(GOOD) // 2],
        b"not an archive",
        archive(old_dump(*PARTS[0])),
        archive(old_dump(*PARTS[0])[:-200], old_dump(*PARTS[1])),
        archive(b"I1\n.", old_dump(*PARTS[1])),
        archive(old_dump(*PARTS[0]), old_dump(*PARTS[0])),
        archive(old_dump(PARTS[0][1], PARTS[0][0]), old_dump(*PARTS[1])),
    ],
    ids=[
        "empty",
        "truncated",
        "foreign",
        "a part missing",
        "a part cut",
        "a number",
        "shape",
        "swap",
    ],
)
def test_bad_archives_are_refused(tmp_path: Path, offer: Callable[..., None], body: bytes) -> None:
    offer(body)
    with pytest.raises(BrokenFile):
        datasets.fetch("mediamill", tmp_path)
    assert is_empty(tmp_path)


@needs_extra
@pytest.mark.parametrize(
    ("path", "page", "message"),
    [
        ("/simple/fake/", 404, "No details about project 'fake'"),
        ("/simple/fake/", 500, "500 Server Error"),
        ("/simple/fake/", b"<a href='fake-2.tar.gz'>fake-2.tar.gz</a>", "has no fake-1.tar.gz"),
        ("/fake-1.tar.gz", 404, "404 Client Error"),
        ("/fake-1.tar.gz", [GOOD], "IncompleteRead"),
    ],
)
def test_errors_of_the_index_are_told(
    tmp_path: Path,
    server: Server,
    offer: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    page: bytes | int | list[bytes],
    message: str,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", address(server, credentials="me:secret@"))
    server.pages[path] = page
    with pytest.raises(
        ConnectionError, match=f"cannot fetch from {address(server)} .*{message}"
    ) as caught:
        datasets.fetch("mediamill", tmp_path)
    assert "secret" not in str(caught.value)
    assert is_empty(tmp_path)


@needs_extra
@pytest.mark.parametrize("source", ["index", "libsvm"])
def test_no_network(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    server.shutdown()
    server.server_close()
    monkeypatch.setattr(fetching, "LIBSVM", f"{address(server)}/")
    with pytest.raises(ConnectionError, match=f"cannot fetch from {address(server)}.*refused"):
        datasets.fetch("mediamill", tmp_path, source=source)
    assert is_empty(tmp_path)


@needs_extra
def test_fetch_from_libsvm(
    tmp_path: Path, server: Server, offer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "LIBSVM", f"{address(server)}/")
    for name, (features, labels) in zip(("train", "test"), PARTS, strict=True):
        lines = [
            ",".join(map(str, np.flatnonzero(marks))) + f" 1:{row[0]} 2:{row[1]}\n"
            for row, marks in zip(features, labels, strict=True)
        ]
        server.pages[f"/simple/{name}-exp1.svm.bz2"] = bz2.compress("".join(lines).encode())
    datasets.fetch("mediamill", tmp_path / "libsvm", source="libsvm")
    datasets.fetch("mediamill", tmp_path / "index")
    one, other = (datasets.load("mediamill", tmp_path / name) for name in ("libsvm", "index"))
    assert one.checksum == other.checksum


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "cannot be written .*No space left.*free",
        ),
        (KeyboardInterrupt(), None),
    ],
)
def test_an_interrupted_fetch_leaves_what_was_there(
    tmp_path: Path,
    offer: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    message: str | None,
) -> None:
    old = tmp_path / "mediamill.npz"
    np.savez(old, X=np.zeros((5, 2)), Y=np.zeros((5, 3)))
    before = old.read_bytes()

    def fails(folder: Path) -> fetching.Parts:
        (folder / "half").write_bytes(b"half of it")
        raise error

    monkeypatch.setitem(fetching.SOURCES, "index", fails)
    with pytest.raises(type(error), match=message):
        datasets.fetch("mediamill", tmp_path, force=True)
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_bytes() == before


def test_fetch_refuses_what_it_cannot_fetch(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name must be one of mediamill, not 'x'"):
        datasets.fetch("x")
    with pytest.raises(ValueError, match="source must be one of index, libsvm, not 'x'"):
        datasets.fetch("mediamill", tmp_path, source="x")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypi_simple", None)
    with pytest.raises(ImportError, match=r"pip install 'fairx\[data\]'"):
        datasets.fetch("mediamill", tmp_path)
    assert is_empty(tmp_path)


def test_the_settings_of_pip_are_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = https://packages.example/simple\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    assert download.pip_setting("index-url") == "https://packages.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://other.example/simple")
    assert download.pip_setting("index-url") == "https://other.example/simple"
    assert download.pip_setting("no-such-setting") is None


# The command.


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_data(parser.add_subparsers().add_parser("data"))
    arguments = parser.parse_args(["data", *words])
    return int(arguments.run(arguments))


def test_the_command_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--data", str(tmp_path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "yeast: 2417 rows x 103 features x 14 labels"
    assert re.fullmatch(r"  here: .*yeast\.npz \(0\.8 MB\)", lines[1])
    assert "  not here: fairx data get mediamill" in lines
    assert any("Elisseeff" in line for line in lines)


@needs_extra
def test_the_command_gets(
    tmp_path: Path, offer: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("get", "mediamill", "--data", str(tmp_path)) == 0
    assert capsys.readouterr().out == f"mediamill is at {tmp_path / 'mediamill.npz'}\n"
    assert run("get", "mediamill", "--data", str(tmp_path), "--force", "--source", "index") == 0
    assert run("list", "--data", str(tmp_path)) == 0
    assert f"here: {tmp_path / 'mediamill.npz'}" in capsys.readouterr().out
