"""Inner products in explicit vector code: eight lanes, added up in a fixed order.

LLVM may not reorder floating-point sums, so it makes no vector code of a plain inner product.
Here the eight lanes are spelled out; the machine code uses whatever vectors there are, and the
result is to the last bit that of `fairx.linear_algebra.one_product`.
"""

from __future__ import annotations

from typing import Any

LANES = 8


def inner_products(rows: int) -> Any:
    """Return a compiled function (matrix, first, x, length) of `rows` inner products at once."""
    import numba.extending

    types: Any = numba.types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        results = Products(context, builder, signature, arguments).of(rows)
        return context.make_tuple(builder, signature.return_type, results)

    @numba.extending.intrinsic
    def products(typing_context, matrix, first, x, length):  # type: ignore[no-untyped-def]
        result = types.UniTuple(types.float64, rows)
        return result(matrix, types.int64, x, types.int64), generate

    return products


class Products:
    """Writes the instructions of one call."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        import numba.core.cgutils
        from llvmlite import ir

        self.ir, self.builder = ir, builder
        self.cgutils: Any = numba.core.cgutils
        self.lanes = ir.VectorType(ir.DoubleType(), LANES)
        kinds, (matrix, self.first, x, self.length) = signature.args, arguments
        self.matrix = context.make_array(kinds[0])(context, builder, matrix).data
        array = context.make_array(kinds[2])(context, builder, x)
        self.x, self.stride = array.data, builder.extract_value(array.shape, 0)
        self.blocks = builder.udiv(self.length, self.length.type(LANES))

    def of(self, rows: int) -> list[Any]:
        """Return the inner products of `rows` rows with x."""
        add, multiply, integer = self.builder.add, self.builder.mul, self.length.type
        starts = [multiply(add(self.first, integer(row)), self.stride) for row in range(rows)]
        sums, rests = self.lane_sums(starts), self.rests(starts)
        return [
            self.builder.fadd(self.folded(self.builder.load(total), LANES), self.builder.load(rest))
            for total, rest in zip(sums, rests, strict=True)
        ]

    def lane_sums(self, starts: list[Any]) -> list[Any]:
        """Return the sums of the eight lanes of each row, over all whole blocks."""
        zero = self.ir.Constant(self.lanes, [0.0] * LANES)
        sums = [self.cgutils.alloca_once_value(self.builder, zero) for _ in starts]
        with self.cgutils.for_range(self.builder, self.blocks) as loop:
            offset = self.builder.mul(loop.index, self.length.type(LANES))
            right = self.vector(self.x, offset)
            for total, start in zip(sums, starts, strict=True):
                left = self.vector(self.matrix, self.builder.add(start, offset))
                self.add_product(total, left, right)
        return sums

    def rests(self, starts: list[Any]) -> list[Any]:
        """Return the sums over what is left of each row after the whole blocks, fewer than eight."""
        zero, integer = self.ir.DoubleType()(0.0), self.length.type
        sums = [self.cgutils.alloca_once_value(self.builder, zero) for _ in starts]
        whole = self.builder.mul(self.blocks, integer(LANES))
        left_over = self.builder.and_(self.length, integer(LANES - 1))
        with self.cgutils.for_range(self.builder, left_over) as loop:
            offset = self.builder.add(whole, loop.index)
            right = self.number(self.x, offset)
            for total, start in zip(sums, starts, strict=True):
                left = self.number(self.matrix, self.builder.add(start, offset))
                self.add_product(total, left, right)
        return sums

    def folded(self, values: Any, width: int) -> Any:
        """Add the upper half to the lower half until one number is left."""
        if width == 1:
            return self.builder.extract_element(values, self.ir.IntType(32)(0))
        half = width // 2
        mask = self.ir.VectorType(self.ir.IntType(32), half)
        lower, upper = (
            self.builder.shuffle_vector(values, values, self.ir.Constant(mask, list(indices)))
            for indices in (range(half), range(half, width))
        )
        return self.folded(self.builder.fadd(lower, upper), half)

    def vector(self, data: Any, offset: Any) -> Any:
        """Return eight numbers at `offset`."""
        pointer = self.builder.gep(data, [offset])
        return self.builder.load(self.builder.bitcast(pointer, self.lanes.as_pointer()), align=8)

    def number(self, data: Any, offset: Any) -> Any:
        """Return the number at `offset`."""
        return self.builder.load(self.builder.gep(data, [offset]))

    def add_product(self, total: Any, left: Any, right: Any) -> None:
        """Add a product to what `total` points at."""
        found = self.builder.fadd(self.builder.load(total), self.builder.fmul(left, right))
        self.builder.store(found, total)
