"""What is declared of features: names, pairs, and the columns that follow from them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from fairx import rules

from .tokens import Token

Kinds = tuple[tuple[str, Any], ...]
MOST = 100_000  # columns


def declared(part: str, kinds: Any) -> Kinds:
    """Return names and kinds, of a mapping or of pairs."""
    pairs = tuple(kinds.items() if isinstance(kinds, Mapping) else map(tuple, kinds))
    for name, kind in pairs:
        if not isinstance(name, str) or not name:
            raise rules.InvalidValue(part, f"have names that are texts, not {name!r}")
        if not hasattr(kind, "tokens") or isinstance(kind, type):
            rule = f"be Number(...) or Category(...), not {kind!r}"
            raise rules.InvalidValue(f"the kind of feature {name!r}", rule)
    return pairs


def pairs_of(crosses: Any, kinds: Kinds) -> tuple[tuple[str, str], ...]:
    """Return pairs of names that are known and distinct; refuse features of one name."""
    names = [name for name, _ in kinds]
    for name in names:
        if names.count(name) > 1:
            raise rules.InvalidValue(f"feature {name!r}", "be declared once, for visits or arms")
    for pair in crosses:
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            raise rules.InvalidValue("crosses", f"be pairs of features, not {pair!r}")
        for name in pair:
            if name not in names:
                raise rules.InvalidValue("crosses", f"name features{rules.nearest(name, names)}")
    return tuple((left, right) for left, right in crosses)


def columns_of(features: Any, *, closed: bool = True) -> dict[Token, int]:
    """Return the column of each token that is declared; open categories are refused where all must be."""
    return _columns(features.visit + features.arms, features.crosses, features.intercept, closed)


@functools.lru_cache(maxsize=256)
def _columns(
    kinds: Kinds, crosses: Sequence[tuple[str, str]], intercept: bool, closed: bool
) -> dict[Token, int]:
    known = {name: kind.tokens(name) for name, kind in kinds}
    for name, kind in kinds:
        if closed and not getattr(kind, "values", True):
            rule = "have values where features are not hashed: Category([...]), or hashed=256"
            raise rules.InvalidValue(f"feature {name!r}", rule)
    sizes = {name: len(found) for name, found in known.items()}
    whole = sum(sizes.values()) + sum(sizes[left] * sizes[right] for left, right in crosses)
    if whole > MOST:
        rule = f"be at most {MOST:,} in all, not {whole:,}: cross fewer values, or hash them (hashed=256)"
        raise rules.InvalidValue("columns", rule)
    tokens: list[Token] = [()] if intercept else []
    tokens += [token for found in known.values() for token in found]
    for left, right in crosses:
        tokens += [one + other for one in known[left] for other in known[right]]
    rules.count("the number of features", len(tokens))
    return {token: column for column, token in enumerate(tokens)}
