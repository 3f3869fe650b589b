"""The instructions of a GPU for the guesses of `guessing`: they neither branch nor round well."""

from __future__ import annotations

import importlib
from typing import Any

from ..guessing import near_inverse_root, near_reciprocal

INSTRUCTIONS = {near_reciprocal: "rcp.approx.ftz.f64", near_inverse_root: "rsqrt.approx.ftz.f64"}


def guesses() -> dict[Any, Any]:
    """Return the form of each guess."""
    return {function: _form(name) for function, name in INSTRUCTIONS.items()}


def settling() -> Any:
    """Return the form of `settle`: an instruction over which nothing is read ahead."""
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")
    types = importlib.import_module("numba.cuda.types")
    kind = code.FunctionType(code.VoidType(), [])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        asked = code.InlineAsm(kind, "bar.warp.sync 0xffffffff;", "~{memory}", side_effect=True)
        builder.call(asked, arguments)
        return context.get_dummy_value()

    @extending.intrinsic
    def stop(typing_context):  # type: ignore[no-untyped-def]
        return types.void(), generate

    return lambda: stop()


def hiding() -> Any:
    """Return the form of `hidden`: an instruction that the compiler does not look into."""
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")
    kind = code.FunctionType(code.IntType(64), [code.IntType(64)])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        asked = code.InlineAsm(kind, "mov.u64 $0, $1;", "=l,l", side_effect=True)
        return builder.call(asked, arguments)

    @extending.intrinsic
    def hide(typing_context, count):  # type: ignore[no-untyped-def]
        return count(count), generate

    return lambda count: hide(count)


def _form(instruction: str) -> Any:
    extending = importlib.import_module("numba.cuda.extending")
    code = importlib.import_module("llvmlite.ir")
    number = code.DoubleType()
    kind = code.FunctionType(number, [number])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        asked = code.InlineAsm(kind, f"{instruction} $0, $1;", "=d,d")
        return builder.call(asked, arguments)

    @extending.intrinsic
    def guess(typing_context, x):  # type: ignore[no-untyped-def]
        return x(x), generate

    return lambda x: guess(x)
