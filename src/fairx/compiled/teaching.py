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
from typing import Any, Protocol, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

# Division by zero gives inf, as in NumPy: without it loops do not vectorise. Never fast-math:
# every sum is written in the order it is taken, so that all machines agree to the last bit.
OPTIONS: dict[str, Any] = {"error_model": "numpy"}

_lessons: list[Callable[[Teacher], None]] = []
_loading = threading.RLock()
_teachers: list[Teacher] = []
_loaded: list[Any] = []


class Teacher(Protocol):
    """Tells one compiler of our code: Numba for processors (`processors`) and for GPUs (`gpu.teaching`)."""

    def function(self, function: Any, *, inlined: bool, on_gpu: Any) -> None:
        """Let compiled code call `function`."""
        ...

    def products(self, function: Any, rows: int) -> None:
        """Let compiled code call `function`, which is `rows` inner products."""
        ...

    def method(self, name: str, finder: Any) -> None:
        """Let compiled code call a method of records, found by their types."""
        ...

    def ranges(self) -> None:
        """Let compiled code index a `range`: all arms on offer, at no cost in memory or speed."""
        ...


def load() -> Any:
    """Import Numba, teach it all that was declared so far, and return it."""
    with _loading:
        if not _loaded:
            import numba
            import numba.extending

            from .processors import OfProcessors

            teach(OfProcessors(numba))
            _loaded.append(numba)
        return _loaded[0]


def teach(teacher: Teacher) -> None:
    """Tell a compiler all that was declared so far, and, from now on, what will be."""
    with _loading:
        for lesson in _lessons:
            lesson(teacher)
        teacher.ranges()
        _teachers.append(teacher)


def loop_options() -> dict[str, Any]:
    """Return how a whole loop is compiled, which is called from Python and not from C."""
    from .pipeline import LoopCompiler

    return OPTIONS | {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": LoopCompiler}


def _declare(lesson: Callable[[Teacher], None]) -> None:
    with _loading:
        _lessons.append(lesson)
        for teacher in _teachers:
            lesson(teacher)


def kernel(function: F) -> F:
    """Let compiled code call `function`, which stays an ordinary Python function."""
    return _declared(function, inlined=True)


def outlined(function: F) -> F:
    """Do as `kernel`, but without a copy in each caller: for what is long and called often."""
    return _declared(function, inlined=False)


def kernel_with(on_gpu: Callable[..., Any], *, inlined: bool = True) -> Callable[[F], F]:
    """Do as `kernel`, but let a GPU call `on_gpu`, which does the same in a way that suits its lanes."""

    def decorate(function: F) -> F:
        return _declared(function, inlined=inlined, on_gpu=on_gpu)

    return decorate


def _declared(function: F, *, inlined: bool, on_gpu: Any = None) -> F:
    _declare(lambda teacher: teacher.function(function, inlined=inlined, on_gpu=on_gpu))
    return function


def vector_kernel(rows: int) -> Callable[[F], F]:
    """Let compiled code use explicit vector code for `rows` inner products (see `lanes`)."""

    def decorate(function: F) -> F:
        _declare(lambda teacher: teacher.products(function, rows))
        return function

    return decorate


def compilable(protocol: type[R]) -> type[R]:
    """Let compiled code call the methods of `protocol` on any record that has them."""
    for name, method in vars(protocol).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            _declare(_lesson_of(name, method))
    return protocol


def _lesson_of(name: str, method: FunctionType) -> Callable[[Teacher], None]:
    # A finder for each: two compilers that know one function take its code from each other.
    return lambda teacher: teacher.method(name, _finder(method))


def method_template(
    templates: Any, kind: Any, name: str, finder: Any, options: dict[str, Any]
) -> Any:
    """Return what `numba.extending.overload_method` makes, but let a field of that name come first.

    Two protocols may share the name of a method that takes other arguments: Numba knows each by a name
    of its own.
    """
    own_name = f"{name}{inspect.signature(finder)}"

    class RecordMethod(templates._OverloadMethodTemplate):  # type: ignore[misc]
        def _resolve(self, record: Any, attribute: str) -> Any:
            other = attribute != name or name in record.fields or not _fits(finder, record)
            return None if other else super()._resolve(record, own_name)

    return templates.make_overload_attribute_template(
        kind, own_name, finder, base=RecordMethod, jit_options=options
    )


def teach_ranges(extending: Any, kinds: Any, options: dict[str, Any]) -> None:
    """Let compiled code index a `range`."""

    @extending.overload(operator.getitem, jit_options=options)
    def item(values, index):  # type: ignore[no-untyped-def]
        if isinstance(values, kinds.RangeType) and isinstance(index, kinds.Integer):
            return lambda values, index: values.start + index * values.step
        return None


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
