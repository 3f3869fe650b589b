"""Show named tuples in the reference with their fields as parameters, as Python does."""

from __future__ import annotations

from typing import Any

import griffe


class NamedTuples(griffe.Extension):
    """Give each named tuple the constructor that Python gives it."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Make parameters of the annotated fields, in their order."""
        if not any(str(base).endswith("NamedTuple") for base in cls.bases):
            return
        fields = [
            griffe.Parameter(
                field.name,
                annotation=field.annotation,
                kind=griffe.ParameterKind.positional_or_keyword,
                default=None if field.value is None else str(field.value),
            )
            for field in cls.members.values()
            if isinstance(field, griffe.Attribute) and field.annotation is not None
        ]
        constructor = griffe.Function("__init__", parameters=griffe.Parameters(*fields))
        cls.set_member("__init__", constructor)
