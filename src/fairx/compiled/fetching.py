"""Ask memory for a line before it is needed: what does not lie in the cache comes while other work is done."""

from __future__ import annotations

from typing import Any


def fetch() -> Any:
    """Return a compiled function (array, index) that asks for the item at `index`, all axes counted as one."""
    import numba.extending
    from llvmlite import ir

    types: Any = numba.types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        # To be written, to be kept in all caches, data.
        builder.call(function, [builder.bitcast(pointer, byte), word(1), word(3), word(1)])
        return context.get_dummy_value()

    @numba.extending.intrinsic
    def fetched(typing_context, array, index):  # type: ignore[no-untyped-def]
        return types.void(array, types.int64), generate

    return fetched
