"""Teach Numba itself: our functions are parts of loops, inner products are vector code."""

from __future__ import annotations

from typing import Any

from .sharing import turns
from .teaching import OPTIONS, method_template, teach_ranges


def inner_options() -> dict[str, Any]:
    """Return how code is compiled that is only ever part of a loop."""
    from .pipeline import InnerCompiler

    return OPTIONS | {"forceinline": True, "pipeline_class": InnerCompiler}


class OfProcessors:
    """Teaches Numba itself."""

    def __init__(self, numba: Any) -> None:
        self.numba = numba

    def function(self, function: Any, *, inlined: bool, on_gpu: Any) -> None:
        """Have it compiled as a part of loops."""
        options = inner_options() | {"forceinline": inlined}
        if function is turns:  # a range that a function returns makes loops slower
            options["inline"] = "always"
        self.numba.extending.register_jitable(**options)(function)

    def products(self, function: Any, rows: int) -> None:
        """Have vector code in its place."""
        from .lanes import inner_products

        products = inner_products(rows)

        @self.numba.extending.overload(function, jit_options=inner_options())
        def find(matrix, first, x, length):  # type: ignore[no-untyped-def]
            return lambda matrix, first, x, length: products(matrix, first, x, length)

    def method(self, name: str, finder: Any) -> None:
        """Have it found on all named tuples."""
        templates = self.numba.core.typing.templates
        for kind in (self.numba.types.NamedTuple, self.numba.types.NamedUniTuple):
            templates.infer_getattr(method_template(templates, kind, name, finder, inner_options()))
            self.numba.extending.overload(finder, jit_options=inner_options())(finder)

    def ranges(self) -> None:
        """Have a range indexed."""
        teach_ranges(self.numba.extending, self.numba.types, inner_options())
