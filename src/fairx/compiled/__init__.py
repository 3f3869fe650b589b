"""The one place that knows about Numba: one source, run interpreted or compiled.

Merits, policies, states and environments are *records*: named tuples with methods.
Numba understands their fields; `compilable` teaches it their methods and `kernel` teaches
it our plain functions. Nothing here imports Numba before something is to be compiled.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import operator
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

# Division by zero gives inf, as in NumPy: without it loops do not vectorise. Never fast-math:
# every sum is written in the order it is taken, so that all machines agree to the last bit.
OPTIONS: dict[str, Any] = {"error_model": "numpy"}
INNER = OPTIONS | {"forceinline": True}

_kernels: list[FunctionType] = []
_vector_kernels: list[tuple[FunctionType, int]] = []
_protocols: list[type] = []
_loading = threading.RLock()
_numba: Any = None


def kernel(function: F) -> F:
    """Let compiled code call `function`, which stays an ordinary Python function."""
    _kernels.append(cast("FunctionType", function))
    if _numba is not None:
        _teach_function(_kernels[-1])
    return function


def vector_kernel(rows: int) -> Callable[[F], F]:
    """Let compiled code use explicit vector code for `rows` inner products (see `lanes`)."""

    def decorate(function: F) -> F:
        _vector_kernels.append((cast("FunctionType", function), rows))
        return function

    return decorate


def compilable(protocol: type[R]) -> type[R]:
    """Let compiled code call the methods of `protocol` on any record that has them."""
    _protocols.append(protocol)
    if _numba is not None:
        _teach_methods(protocol)
    return protocol


def record(cls: type[R]) -> type[R]:
    """Make a named tuple cast whole numbers given for float fields, then check itself.

    The cast is not cosmetic: compiled `2**-2` of whole numbers is not 0.25.
    """
    plain = cls.__new__

    def checked(cls: Any, /, *arguments: Any, **named: Any) -> Any:
        new = plain(cls, *arguments, **named)
        values = {name: _declared(hints()[name], value) for name, value in new._asdict().items()}
        check = getattr(cls, "checked", None)
        new = cls._make(values.values())
        return new if check is None else check(new)

    def hints() -> dict[str, Any]:
        if not found:
            found.update(get_type_hints(cls))
        return found

    found: dict[str, Any] = {}
    checked.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    cls.__new__ = checked  # type: ignore[method-assign, assignment]
    return cls


def _declared(kind: Any, value: Any) -> Any:
    """Return `value` as a float where the field is declared one and the value is a number."""
    if kind is float and not isinstance(value, (float, bool)) and hasattr(value, "__float__"):
        return float(value)
    return value


def interpreted() -> bool:
    """Tell whether the user asked for no compilation (`NUMBA_DISABLE_JIT=1`)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def entry(function: F) -> Entry:
    """Make `function`, a whole loop or step over records, ready to be compiled."""
    return Entry(cast("FunctionType", function))


class Entry:
    """A function that is compiled for the records it is given, on first use."""

    def __init__(self, function: FunctionType) -> None:
        # As compiled: whole numbers wrap around, and 1/0 is infinity, without a warning.
        self.interpreted = np.errstate(all="ignore")(function)
        self.function = function
        self._kept: Any = None
        self._fresh: Any = None

    def ready(self, records: tuple[Any, ...], try_it: Callable[..., Any]) -> tuple[Any, Any]:
        """Return the fastest form of the function and the records it takes.

        `try_it(run, records)` must call it once in a way that changes nothing; where Numba
        cannot compile it, the interpreted form is returned, with a warning that says so.
        """
        if interpreted():
            return self.interpreted, records
        self._compile()
        run = self._kept if all(map(_is_ours, records)) else self._fresh
        try:
            with _says_what_it_waits_for(records):
                low = tuple(map(lowered, records))
                try_it(run, low)
        except Exception as error:  # noqa: BLE001 - Numba does not fail by errors of its own alone
            warnings.warn(_not_compiled(records, error), UserWarning, stacklevel=4)
            return self.interpreted, records
        return run, low

    def _compile(self) -> None:
        with _loading:
            if self._fresh is None:
                _load()
                self._fresh = _numba.njit(nogil=True, **OPTIONS)(self.function)
                self._kept = _kept_on_disk(self.function)


def _load() -> None:
    """Import Numba and teach it all kernels and protocols named so far."""
    global _numba
    if _numba is not None:
        return
    import numba
    import numba.extending

    _numba = numba
    for function in _kernels:
        _teach_function(function)
    for protocol in _protocols:
        _teach_methods(protocol)
    for function, rows in _vector_kernels:
        _teach_vectors(function, rows)
    _teach_ranges()


def _teach_vectors(function: FunctionType, rows: int) -> None:
    from .lanes import inner_products

    products = inner_products(rows)

    @_numba.extending.overload(function, jit_options=INNER)
    def find(matrix, first, x):  # type: ignore[no-untyped-def]
        return lambda matrix, first, x: products(matrix, first, x)


def _teach_ranges() -> None:
    """Let compiled code index a `range`: all arms on offer, at no cost in memory or speed."""

    @_numba.extending.overload(operator.getitem)
    def item(values, index):  # type: ignore[no-untyped-def]
        kinds = _numba.types
        if isinstance(values, kinds.RangeType) and isinstance(index, kinds.Integer):
            return lambda values, index: values.start + index * values.step
        return None


def _teach_function(function: FunctionType) -> None:
    _numba.extending.register_jitable(**INNER)(function)


def _teach_methods(protocol: type) -> None:
    for name, method in vars(protocol).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            for kind in (_numba.types.NamedTuple, _numba.types.NamedUniTuple):
                _teach_method(kind, name, _finder(method))


def _teach_method(kind: Any, name: str, finder: Callable[..., FunctionType | None]) -> None:
    """Do as `numba.extending.overload_method` does, but let a field of that name come first."""
    templates = _numba.core.typing.templates

    class RecordMethod(templates._OverloadMethodTemplate):  # type: ignore[misc, name-defined]
        def _resolve(self, record: Any, attribute: str) -> Any:
            return None if attribute in record.fields else super()._resolve(record, attribute)

    template = templates.make_overload_attribute_template(
        kind, name, finder, base=RecordMethod, jit_options=INNER
    )
    templates.infer_getattr(template)
    _numba.extending.overload(finder, jit_options=INNER)(finder)


def _finder(method: FunctionType) -> Callable[..., FunctionType | None]:
    """Return a function from a record's type to its body of `method`, as Numba wants it."""

    def find(record: Any, *_: Any) -> FunctionType | None:
        body = getattr(record.instance_class, method.__name__, None)
        return None if body is None else _bare(body)

    find.__signature__ = inspect.signature(_bare(method))  # type: ignore[attr-defined]
    return find


def _bare(function: FunctionType) -> FunctionType:
    """Copy `function` without its annotations, which Numba would compare."""
    return FunctionType(
        function.__code__, function.__globals__, function.__name__, None, function.__closure__
    )


def _kept_on_disk(function: FunctionType) -> Any:
    """Compile with a disk cache named after our sources: Numba alone reuses stale kernels."""
    found = _numba.config.CACHE_DIR
    _numba.config.CACHE_DIR = str(cache_directory())
    try:
        return _numba.njit(nogil=True, cache=True, _nrt=False, **OPTIONS)(function)
    finally:
        _numba.config.CACHE_DIR = found


def cache_directory() -> Path:
    """Return where compiled code is kept: `FAIRX_CACHE`, or the user's cache directory."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("FAIRX_CACHE") or Path(home) / "fairx") / _digest_of_sources()


def _digest_of_sources() -> str:
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


def _is_ours(value: Any) -> bool:
    """Tell whether the digest of our sources covers all the code in `value`."""
    if callable(value):
        return False
    if not isinstance(value, tuple):
        return True
    ours = not hasattr(value, "_fields") or type(value).__module__.startswith("fairx.")
    return ours and all(map(_is_ours, value))


def lowered(value: Any) -> Any:
    """Return `value` with the Python functions that it holds, if any, compiled."""
    if isinstance(value, FunctionType):
        return _compiled_function(value)
    if isinstance(value, tuple) and not _is_ours(value):
        parts = map(lowered, value)
        kind: Any = type(value)
        return kind._make(parts) if hasattr(value, "_fields") else tuple(parts)
    return value


@functools.cache
def _compiled_function(function: FunctionType) -> Any:
    return _numba.njit(**OPTIONS)(function)


def _not_compiled(records: tuple[Any, ...], error: Exception) -> str:
    names = ", ".join(type(value).__name__ for value in records if hasattr(value, "_fields"))
    reason = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
    return f"Numba cannot compile {names}: running interpreted, far slower ({reason})"


@contextmanager
def _says_what_it_waits_for(records: tuple[Any, ...]) -> Iterator[None]:
    """Print one line if what follows takes longer than loading from the disk cache."""
    names = ", ".join(type(value).__name__ for value in records if hasattr(value, "_fields"))
    line = f"fairx: compiling {names} (once; kept in {cache_directory().parent})\n"
    timer = threading.Timer(1.0, sys.stderr.write, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
