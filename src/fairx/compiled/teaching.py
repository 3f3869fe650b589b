"""Teach Numba our functions, the methods of our records, and the index of a range.

Nothing here imports Numba before something is to be compiled; what is declared before is
remembered, and what comes later is taught at once.
"""

from __future__ import annotations

import inspect
import operator
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

# Division by zero gives inf, as in NumPy: without it loops do not vectorise. Never fast-math:
# every sum is written in the order it is taken, so that all machines agree to the last bit.
OPTIONS: dict[str, Any] = {"error_model": "numpy"}

_lessons: list[Callable[[Any], None]] = []
_loading = threading.RLock()
_loaded: list[Any] = []


def load() -> Any:
    """Import Numba, teach it all that was declared so far, and return it."""
    with _loading:
        if not _loaded:
            import numba
            import numba.extending

            for lesson in _lessons:
                lesson(numba)
            _teach_ranges(numba)
            _loaded.append(numba)
        return _loaded[0]


def inner_options() -> dict[str, Any]:
    """Return how code is compiled that is only ever part of a loop."""
    from .pipeline import InnerCompiler

    return OPTIONS | {"forceinline": True, "pipeline_class": InnerCompiler}


def loop_options() -> dict[str, Any]:
    """Return how a whole loop is compiled, which is called from Python and not from C."""
    from .pipeline import LoopCompiler

    return OPTIONS | {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": LoopCompiler}


def _declare(lesson: Callable[[Any], None]) -> None:
    with _loading:
        _lessons.append(lesson)
        for numba in _loaded:
            lesson(numba)


def kernel(function: F) -> F:
    """Let compiled code call `function`, which stays an ordinary Python function."""
    _declare(lambda numba: numba.extending.register_jitable(**inner_options())(function))
    return function


def outlined(function: F) -> F:
    """Do as `kernel`, but without a copy in each caller: for what is long and called often."""
    more = {"forceinline": False}
    _declare(lambda numba: numba.extending.register_jitable(**inner_options() | more)(function))
    return function


def vector_kernel(rows: int) -> Callable[[F], F]:
    """Let compiled code use explicit vector code for `rows` inner products (see `lanes`)."""

    def decorate(function: F) -> F:
        _declare(lambda numba: _teach_vectors(numba, function, rows))
        return function

    return decorate


def fetching(function: F) -> F:
    """Let compiled code ask memory for an item where `function`, which does nothing, is called."""
    _declare(lambda numba: _teach_fetching(numba, function))
    return function


def compilable(protocol: type[R]) -> type[R]:
    """Let compiled code call the methods of `protocol` on any record that has them."""
    for name, method in vars(protocol).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _declare(_lesson_of(name, _finder(method)))
    return protocol


def _lesson_of(name: str, finder: Callable[..., Any]) -> Callable[[Any], None]:
    def teach(numba: Any) -> None:
        for kind in (numba.types.NamedTuple, numba.types.NamedUniTuple):
            _teach_method(numba, kind, name, finder)

    return teach


def _teach_method(numba: Any, kind: Any, name: str, finder: Callable[..., Any]) -> None:
    """Do as `numba.extending.overload_method` does, but let a field of that name come first.

    Two protocols may share the name of a method that takes other arguments: Numba knows each by a name
    of its own.
    """
    templates = numba.core.typing.templates
    own_name = f"{name}{inspect.signature(finder)}"

    class RecordMethod(templates._OverloadMethodTemplate):  # type: ignore[misc, name-defined]
        def _resolve(self, record: Any, attribute: str) -> Any:
            other = attribute != name or name in record.fields or not _fits(finder, record)
            return None if other else super()._resolve(record, own_name)

    template = templates.make_overload_attribute_template(
        kind, own_name, finder, base=RecordMethod, jit_options=inner_options()
    )
    templates.infer_getattr(template)
    numba.extending.overload(finder, jit_options=inner_options())(finder)


def _finder(method: FunctionType) -> Callable[..., FunctionType | None]:
    """Return a function from a record's type to its body of `method`, as Numba wants it."""

    def find(record: Any, *_: Any) -> FunctionType | None:
        body = getattr(record.instance_class, method.__name__, None)
        return None if body is None else _bare(body, names)

    names = method.__code__.co_varnames[: method.__code__.co_argcount]
    find.__name__ = method.__name__
    find.__signature__ = inspect.signature(_bare(method))  # type: ignore[attr-defined]
    return find


def _fits(finder: Callable[..., Any], record: Any) -> bool:
    """Tell whether a record's method takes as many arguments as the protocol's: two may share a name."""
    body = getattr(record.instance_class, finder.__name__, None)
    return body is None or body.__code__.co_argcount == len(inspect.signature(finder).parameters)


def _bare(function: FunctionType, names: tuple[str, ...] = ()) -> FunctionType:
    """Copy `function` without its annotations, and with arguments of these names: Numba compares them."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount]
    if len(names) == len(own) and names != own and not code.co_cellvars:
        others = (f"{name}_" if name in names else name for name in code.co_varnames[len(own) :])
        code = code.replace(co_varnames=(*names, *others))
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def _teach_vectors(numba: Any, function: Callable[..., Any], rows: int) -> None:
    from .lanes import inner_products

    products = inner_products(rows)

    @numba.extending.overload(function, jit_options=inner_options())
    def find(matrix, first, x, length):  # type: ignore[no-untyped-def]
        return lambda matrix, first, x, length: products(matrix, first, x, length)


def _teach_fetching(numba: Any, function: Callable[..., Any]) -> None:
    from .fetching import fetch

    fetched = fetch()

    @numba.extending.overload(function, jit_options=inner_options())
    def find(array, index):  # type: ignore[no-untyped-def]
        return lambda array, index: fetched(array, index)


def _teach_ranges(numba: Any) -> None:
    """Let compiled code index a `range`: all arms on offer, at no cost in memory or speed."""

    @numba.extending.overload(operator.getitem, jit_options=inner_options())
    def item(values, index):  # type: ignore[no-untyped-def]
        kinds = numba.types
        if isinstance(values, kinds.RangeType) and isinstance(index, kinds.Integer):
            return lambda values, index: values.start + index * values.step
        return None
