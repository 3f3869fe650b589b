"""Named features as contexts of a fixed dimension, and back from columns to names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Matrix, Vector

from .declaring import columns_of, declared, pairs_of
from .tables import records_of
from .tokens import Token, crossed, hashed, said

INTERCEPT: Token = ()


@record
class Features(NamedTuple):
    """What is known of a visit and of each arm, by name, as one context per arm.

    Parameters
    ----------
    visit, arms
        The kind of each feature, by name: `Number(...)` or `Category(...)`. An arm's feature "arm" is
        its name, where it is not given.
    crosses
        Pairs of names: each has a column for each pair of their values, with the product.
    hashed
        Into how many columns features are hashed. Without, each value has a column of its own.
    intercept
        Whether the first column is 1.

    Notes
    -----
    Columns depend on what is declared alone, in its order, or on a pinned hash (BLAKE2b): they are the
    same in every process, on every machine and in later versions. What is not declared, not given, or
    not of its kind is refused by name.

    Examples
    --------
    >>> from fairx.features import Category, Features, Number
    >>> features = Features(
    ...     visit={"device": Category(["phone", "desktop"])},
    ...     arms={"price": Number(mean=20, std=10)},
    ...     crosses=[("device", "price")],
    ... )
    >>> features.names
    ('intercept', 'device=phone', 'device=desktop', 'price', 'device=phone * price', 'device=desktop * price')
    >>> features.rows({"device": "phone"}, [{"price": 30}, {"price": 15}])
    array([[ 1. ,  1. ,  0. ,  1. ,  1. ,  0. ],
           [ 1. ,  1. ,  0. , -0.5, -0.5,  0. ]])
    """

    visit: Any = ()
    arms: Any = ()
    crosses: Any = ()
    hashed: int | None = None
    intercept: bool = True

    def checked(self) -> Features:
        """Refuse names that are not distinct or not known, and categories without columns."""
        visit, arms = declared("visit", self.visit), declared("arms", self.arms)
        if self.hashed is not None:
            rules.count("hashed", self.hashed)
        crosses = pairs_of(self.crosses, visit + arms)
        new = changed(self, visit=visit, arms=arms, crosses=crosses)
        if self.hashed is None:
            columns_of(new)  # refuses open categories
        return new

    @property
    def dimension(self) -> int:
        """How many columns a context has."""
        return self.hashed or len(columns_of(self))

    @property
    def terms(self) -> int:
        """How many features and crosses a context is made of."""
        return len(self.visit) + len(self.arms) + len(self.crosses)

    @property
    def names(self) -> tuple[str, ...]:
        """What each column stands for, where each has one meaning: without hashing."""
        if self.hashed is not None:
            raise rules.InvalidValue("hashed", "be left out for names: `meanings` tells who shares")
        return tuple(said(token) for token in columns_of(self))

    def rows(self, visit: Mapping[str, Any], arms: Any) -> Matrix:
        """Return one context per arm: `arms` has the features of each, as mappings or as a table."""
        about, records, place = self._read(self.visit, visit), records_of(arms), self._places()
        out = np.zeros((rules.count("the number of arms", len(records)), self.dimension))
        for row, each in zip(out, records, strict=True):
            for token, value in self._tokens(about | self._read(self.arms, each)).items():
                column, sign = place(token)
                row[column] += sign * value
        return out

    def contexts(self, visits: Any, arms: Any) -> Vector:
        """Return contexts by visit and arm, of a table of visits and one of arms: for `Logged`.

        Examples
        --------
        >>> from fairx.features import Category, Features, Number
        >>> features = Features({"hour": Number(12, 6)}, {"arm": Category(["a", "b"])})
        >>> features.contexts({"hour": [6, 12, 18]}, {"arm": ["a", "b"]}).shape
        (3, 2, 4)
        """
        records = records_of(arms)
        return np.stack([self.rows(visit, records) for visit in records_of(visits)])

    def meanings(self, seen: Iterable[tuple[Any, Any]] = ()) -> dict[int, tuple[str, ...]]:
        """Return what shares each column: of all that is declared, and of visits and arms `seen`.

        With a minus where it counts with the opposite sign. A column that is shared is a collision.
        """
        tokens, place = dict.fromkeys(columns_of(self, closed=False)), self._places()
        for visit, arms in seen:
            about = self._read(self.visit, visit)
            for each in records_of(arms):
                tokens |= dict.fromkeys(self._tokens(about | self._read(self.arms, each)))
        found: dict[int, tuple[str, ...]] = {}
        for token in tokens:
            column, sign = place(token)
            found[column] = (*found.get(column, ()), said(token) if sign > 0 else f"-{said(token)}")
        return dict(sorted(found.items()))

    def collisions(self, seen: Iterable[tuple[Any, Any]] = ()) -> dict[int, tuple[str, ...]]:
        """Return the columns that two or more meanings share."""
        return {column: said for column, said in self.meanings(seen).items() if len(said) > 1}

    def _read(self, kinds: Any, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tokens of each feature, of a visit or of an arm."""
        known = [name for name, _ in kinds]
        for name in record:
            if name not in known:
                hint = rules.nearest(str(name), known, f"declared are {', '.join(known) or 'none'}")
                raise rules.InvalidValue(f"feature {name!r}", f"be declared{hint}")
        return {name: kind.read(name, record.get(name)) for name, kind in kinds}

    def _tokens(self, found: Mapping[str, Any]) -> dict[Token, float]:
        tokens = dict(pair for pairs in found.values() for pair in pairs)
        for left, right in self.crosses:
            tokens |= dict(crossed(found[left], found[right]))
        return ({INTERCEPT: 1.0} if self.intercept else {}) | tokens

    def _places(self) -> Callable[[Token], tuple[int, float]]:
        """Return what tells the column of a token, and its sign."""
        if self.hashed is not None:
            return functools.partial(hashed, columns=self.hashed)
        columns = columns_of(self)
        return lambda token: (columns[token], 1.0)
