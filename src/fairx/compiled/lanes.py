"""Inner products in explicit vector code: eight lanes, added up in a fixed order.

LLVM may not reorder floating-point sums, so it makes no vector code of a plain inner product.
Here the eight lanes are spelled out; the machine code uses whatever vectors there are, and the
result is to the last bit that of `fairx.linear_algebra.dot`.
"""

from __future__ import annotations

from typing import Any

LANES = 8


def inner_products(rows: int) -> Any:
    """Return a compiled function (matrix, first, x, length) of `rows` inner products at once."""
    import numba.core.cgutils
    import numba.extending
    from llvmlite import ir

    cgutils: Any = numba.core.cgutils
    types: Any = numba.core.types

    lanes = ir.VectorType(ir.DoubleType(), LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix_type, _, x_type, _ = signature.args
        matrix = context.make_array(matrix_type)(context, builder, arguments[0])
        x = context.make_array(x_type)(context, builder, arguments[2])
        stride, length = builder.extract_value(x.shape, 0), arguments[3]
        starts = [
            builder.mul(builder.add(arguments[1], length.type(row)), stride) for row in range(rows)
        ]
        sums = [
            cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES)) for _ in starts
        ]

        def vector(data: Any, offset: Any) -> Any:
            pointer = builder.bitcast(builder.gep(data, [offset]), lanes.as_pointer())
            return builder.load(pointer, align=8)

        def add_product(total: Any, left: Any, right: Any) -> None:
            builder.store(builder.fadd(builder.load(total), builder.fmul(left, right)), total)

        blocks = builder.udiv(length, length.type(LANES))
        with cgutils.for_range(builder, blocks) as loop:
            offset = builder.mul(loop.index, length.type(LANES))
            right = vector(x.data, offset)
            for total, start in zip(sums, starts, strict=True):
                add_product(total, vector(matrix.data, builder.add(start, offset)), right)
        whole = builder.mul(blocks, length.type(LANES))

        def tail(start: Any) -> Any:
            total = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 0.0))
            with cgutils.for_range(builder, builder.sub(length, whole)) as loop:
                offset = builder.add(whole, loop.index)
                left = builder.load(builder.gep(matrix.data, [builder.add(start, offset)]))
                add_product(total, left, builder.load(builder.gep(x.data, [offset])))
            return builder.load(total)

        def folded(values: Any, width: int) -> Any:
            """Add the upper half to the lower half until one number is left."""
            if width == 1:
                return builder.extract_element(values, ir.IntType(32)(0))
            halves = [
                builder.shuffle_vector(values, values, ir.Constant(mask, list(places)))
                for mask in [ir.VectorType(ir.IntType(32), width // 2)]
                for places in (range(width // 2), range(width // 2, width))
            ]
            return folded(builder.fadd(*halves), width // 2)

        results = [
            builder.fadd(folded(builder.load(total), LANES), tail(start))
            for total, start in zip(sums, starts, strict=True)
        ]
        return context.make_tuple(builder, signature.return_type, results)

    @numba.extending.intrinsic
    def products(typing_context, matrix, first, x, length):  # type: ignore[no-untyped-def]
        result = types.UniTuple(types.float64, rows)
        return result(matrix, types.int64, x, types.int64), generate

    return products
