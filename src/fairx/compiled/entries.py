"""Loops and steps that are compiled for the records they are given, on first use."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np

from .complaints import complaint
from .lowering import is_lasting, is_ours, lowered
from .teaching import load, loop_options

PACKAGE = Path(__file__).parents[1]
# A line, or several in brackets, that imports what declares code to be compiled.
DECLARES = re.compile(
    rb"^from fairx\.compiled import (\([^)]*|.*)\b(compilable|entry|fetching|kernel|outlined|vector_kernel)\b",
    re.MULTILINE,
)


def entry(function: Callable[..., Any]) -> Entry:
    """Make `function`, a whole loop or step over records, ready to be compiled."""
    return Entry(cast("FunctionType", function))


class Entry:
    """A function that is compiled for the records it is given, on first use."""

    def __init__(self, function: FunctionType) -> None:
        # As compiled: whole numbers wrap around, and 1/0 is infinity, without a warning.
        self.interpreted = np.errstate(all="ignore")(function)
        self.function = function

    def ready(self, records: tuple[Any, ...], try_it: Callable[..., Any]) -> tuple[Any, Any]:
        """Return the fastest form of the function and the records it takes.

        `try_it(run, records)` must call it once in a way that changes nothing; where Numba
        cannot compile it, the interpreted form is returned, with a warning that says so.
        """
        if interpreted():
            return self.interpreted, records
        told = [record for record in records if getattr(record, "_fields", ()) != ("empty",)]
        names = ", ".join(map(_name, told)) or self.function.__name__
        try:
            lasting = is_lasting(records)
            with _says_what_it_waits_for(names, kept=lasting):
                low = tuple(map(lowered, records))
                run = self._tried(records, lasting, lambda run: try_it(run, low))
        except Exception as error:  # noqa: BLE001 - Numba does not fail by errors of its own alone
            theirs = ", ".join(_name(record) for record in records if not is_ours(record)) or names
            reason = complaint(error)
            message = f"Numba cannot compile {theirs}: running interpreted, far slower ({reason})"
            warnings.warn(message, UserWarning, stacklevel=_frames_of_ours())
            return self.interpreted, records
        return run, low

    def _tried(self, records: Any, lasting: bool, try_it: Callable[[Any], Any]) -> Any:
        """Return the compiled form that worked when it was tried."""
        if lasting:
            lent = any(getattr(record, "lends_arrays", False) for record in records)
            run = self._kept if is_ours(records) and not lent else self._kept_for_others
            try:
                try_it(run)
            except load().core.errors.NumbaError:
                raise
            except Exception:  # noqa: BLE001 - what is kept may be damaged, or of a module that is gone
                with contextlib.suppress(Exception):  # the disk may be full
                    run._cache.flush()  # kept anew by the next process
            else:
                return run
        try_it(self._fresh)
        return self._fresh

    @functools.cached_property
    def _fresh(self) -> Any:
        """Compile anew in each process: where the code holds what only this one has."""
        return load().njit(**loop_options())(self.function)

    @functools.cached_property
    def _kept_for_others(self) -> Any:
        """Compile with a disk cache: the names of the types tell the code of the records."""
        return self._cached(cache_directory() / "others", {})

    @functools.cached_property
    def _kept(self) -> Any:
        """Compile with a disk cache named after our sources: Numba alone reuses stale kernels.

        Without the reference counts of `_nrt`: ours is code that allocates nothing, and the
        counting took half of the time. A record that `lends_arrays`, of which a method returns a part
        of an array, needs them.
        """
        return self._cached(cache_directory(), {"_nrt": False})

    def _cached(self, directory: Path, more: dict[str, Any]) -> Any:
        numba = load()
        options = loop_options() | {"cache": _can_write(directory)} | more
        found = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(directory)
        try:
            return numba.njit(**options)(self.function)
        finally:
            numba.config.CACHE_DIR = found


def _frames_of_ours() -> int:
    """Return how far up the first line is that is not ours, for a warning to point at."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(str(PACKAGE)):
        frame, level = frame.f_back, level + 1
    return level


def direct(run: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the machine code of `run` for arguments of exactly the types of these.

    It does not look at the types again, which takes ten times as long as a step itself: whoever
    calls it answers for them.
    """
    if not hasattr(run, "overloads"):
        return run
    return run.overloads[tuple(map(load().typeof, arguments))].entry_point


def interpreted() -> bool:
    """Tell whether the user asked for no compilation (`NUMBA_DISABLE_JIT=1`)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _name(record: Any) -> str:
    """Return the name of a record's class, or of the one that it makes fit our loops."""
    inner = getattr(record, "policy", getattr(record, "environment", record))
    return type(inner).__name__


def cache_directory() -> Path:
    """Return where compiled code is kept: `FAIRX_CACHE`, or the user's cache directory."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("FAIRX_CACHE") or Path(home) / "fairx") / _digest_of_sources()


def _can_write(directory: Path) -> bool:
    """Tell whether things can be kept there: Numba would look for one of its own."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def compiled_sources() -> list[Path]:
    """Return the files whose code can end up in a loop: a change elsewhere leaves the cache as it is.

    They are the loose modules, this package, and every folder in which something is declared to be
    compiled, whole: a loop may read a constant of its neighbours.
    """
    declaring = {
        file.parent for file in PACKAGE.rglob("*.py") if DECLARES.search(file.read_bytes())
    }
    folders = {PACKAGE, Path(__file__).parent, *declaring}
    return sorted(file for folder in folders for file in folder.glob("*.py"))


@functools.cache
def _digest_of_sources() -> str:
    parts = (file.read_bytes() for file in compiled_sources())
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


@contextlib.contextmanager
def _says_what_it_waits_for(names: str, *, kept: bool) -> Iterator[None]:
    """Print one line if what follows takes longer than loading from the disk cache."""
    where = f"once; kept in {cache_directory().parent}" if kept else "not kept on disk"
    line = f"fairx: compiling {names} ({where})\n"
    timer = threading.Timer(1.0, _say_once, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@functools.cache
def _say_once(line: str) -> None:
    """Print a line, though several threads wait for the same code."""
    sys.stderr.write(line)
