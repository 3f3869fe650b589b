"""Files from the network: the package index that the user has configured, or an address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import requests

TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces


def from_index(project: str, filename: str, file: BinaryIO) -> None:
    """Write a file of `project` on the user's package index to `file`."""
    pypi_simple = _extra()
    address = pip_setting("index-url") or pypi_simple.PYPI_SIMPLE_ENDPOINT
    with _session(address, "check the network, and pip's index-url") as session:
        index = pypi_simple.PyPISimple(address, session=session)
        packages = index.get_project_page(project, timeout=TIMEOUT).packages
        links = [package.url for package in packages if package.filename == filename]
        if not links:
            raise ValueError(f"its page of {project} has no {filename}")
        _copy(session, links[0], file)


def from_address(address: str, file: BinaryIO) -> None:
    """Write what is at `address` to `file`."""
    with _session(address, "check the network") as session:
        _copy(session, address, file)


def pip_setting(name: str) -> str | None:
    """Return a setting of pip: from the environment, or else from its configuration files."""
    found = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
    if found:
        return found
    command = [sys.executable, "-m", "pip", "config", "get", f"global.{name}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def _extra() -> Any:
    """Return the package that speaks to indexes; it brings requests with it."""
    try:
        import pypi_simple
    except ImportError as error:
        raise ImportError("fetch needs pypi-simple: pip install 'fairx[data]'") from error
    return pypi_simple


@contextmanager
def _session(address: str, remedy: str) -> Iterator[requests.Session]:
    """Open a session that trusts whom pip trusts, and whose every error names `address`."""
    errors = _extra()
    import requests

    try:
        with requests.Session() as session:
            session.verify = pip_setting("cert") or True
            yield session
    except (
        requests.RequestException, errors.NoSuchProjectError, errors.UnsupportedRepoVersionError,
        ValueError,
    ) as error:  # fmt: skip
        # What lies behind a failed connection is buried in it.
        reason = getattr(next(iter(error.args), None), "reason", error)
        text = without_password(f"cannot fetch from {address} ({reason})")
        raise ConnectionError(f"{text}: {remedy}") from None


def _copy(session: requests.Session, address: str, file: BinaryIO) -> None:
    """Write what is at `address` to `file`, with a bar on a terminal."""
    from tqdm import tqdm

    with session.get(address, stream=True, timeout=TIMEOUT) as answer:
        answer.raise_for_status()
        total = int(answer.headers.get("Content-Length", 0)) or None
        name = address.rpartition("/")[2].partition("#")[0]
        with tqdm(total=total, desc=name, unit="B", unit_scale=True, disable=None) as bar:
            for piece in answer.iter_content(65536):
                file.write(piece)
                bar.update(len(piece))


def without_password(text: str) -> str:
    """Return `text` with the addresses in it stripped of user names and passwords.

    Examples
    --------
    >>> without_password("404 at https://me:secret@example.org/simple/")
    '404 at https://example.org/simple/'
    """
    return re.sub(r"//[^/@\s]+@", "//", text)
