"""Tokens: what a column of a context stands for, and the hash that gives one a column.

A token is one part, or two of a cross. A part is the name of a feature and what it is found to be: a text
for a category, None for a number, and `MISSING` or `OTHERS`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

MISSING, OTHERS = True, False
Part = tuple[str, str | bool | None]
Token = tuple[Part, ...]
SAYS = {None: "", MISSING: " is missing", OTHERS: " is another"}


def said(token: Token) -> str:
    """Return a token in words.

    Examples
    --------
    >>> said((("device", "phone"), ("price", None)))
    'device=phone * price'
    """
    texts = [
        name + (f"={found}" if isinstance(found, str) else SAYS[found]) for name, found in token
    ]
    return " * ".join(texts) if token else "intercept"


def hashed(token: Token, columns: int) -> tuple[int, float]:
    """Return the column of a token and its sign: BLAKE2b of its JSON text, the same for ever.

    Two tokens share a column with chance 1 / columns, and add there with the same sign or with
    opposite ones, so that shared columns cancel on average (Weinberger et al. 2009).

    Examples
    --------
    >>> hashed((("device", "phone"),), columns=16)
    (8, 1.0)
    """
    text = json.dumps(token, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"fairx-1").digest()
    word = int.from_bytes(digest, "little")
    return (word >> 1) % columns, 1.0 if word & 1 else -1.0


def crossed(left: list[tuple[Token, float]], right: list[tuple[Token, float]]) -> Any:
    """Return all pairs of tokens, with the products of their values."""
    return [(one + other, x * y) for one, x in left for other, y in right]
