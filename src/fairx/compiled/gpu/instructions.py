"""Instructions of a GPU that stand for functions of ours, written as they are."""

from __future__ import annotations

import importlib
from typing import Any

from ..exactness import is_exact
from ..guessing import near_inverse_root, near_reciprocal
from ..sharing import hidden, settle
from .rounding import QUESTION


def instructions() -> dict[Any, Any]:
    """Return the form of each function that is one instruction.

    A guess neither branches nor rounds well. Over a meeting nothing is read ahead, by one lane either. What
    is moved by an instruction of ours is hidden from the compiler.
    """
    return {
        near_reciprocal: _of_one("rcp.approx.ftz.f64 $0, $1;", "=d,d"),
        near_inverse_root: _of_one("rsqrt.approx.ftz.f64 $0, $1;", "=d,d"),
        hidden: _of_one("mov.u64 $0, $1;", "=l,l", side_effect=True),
        settle: _of_none("bar.warp.sync 0xffffffff;", "~{memory}"),
        is_exact: _asked(),
    }


def _of_one(text: str, constraint: str, **options: Any) -> Any:
    """Return a function of one number, which gives another of its type."""
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = arguments[0].type
        kind = code.FunctionType(number, [number])
        return builder.call(code.InlineAsm(kind, text, constraint, **options), arguments)

    @extending.intrinsic
    def instruction(typing_context, x):  # type: ignore[no-untyped-def]
        return x(x), generate

    return lambda x: instruction(x)


def _asked() -> Any:
    """Return a function that tells what is written into a kernel when all of its code is there."""
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")
    types = importlib.import_module("numba.cuda.types")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = code.FunctionType(code.IntType(64), [])
        return builder.call(code.InlineAsm(kind, QUESTION, "=l"), arguments)

    @extending.intrinsic
    def question(typing_context):  # type: ignore[no-untyped-def]
        return types.int64(), generate

    return lambda: question() != 0


def _of_none(text: str, constraint: str) -> Any:
    """Return a function that takes and gives nothing."""
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")
    types = importlib.import_module("numba.cuda.types")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = code.FunctionType(code.VoidType(), [])
        builder.call(code.InlineAsm(kind, text, constraint, side_effect=True), arguments)
        return context.get_dummy_value()

    @extending.intrinsic
    def instruction(typing_context):  # type: ignore[no-untyped-def]
        return types.void(), generate

    return lambda: instruction()
