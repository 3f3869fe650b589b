"""Decision ids: made from the client's key, so that a retry anywhere meets the same decision.

An id is 10 bytes that follow from the key, and 8 bytes of signature, as 24 letters. Both are keyed
BLAKE2: who does not have the secret can neither make an id nor reward a decision nobody made. The
random numbers of a decision follow from its id and the experiment's seed alone. The places of a slate
share its id; on record, those after the first have a dot and their number behind it.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac
from typing import Any

import numpy as np
import numpy.typing as npt

from .database import Database

NUMBER, TAG = 10, 8
LETTERS = 24  # of an id: what follows is the place


def minted(secret: bytes, experiment: int, key: str, index: int) -> str:
    """Return the id of the decision number `index` that a key asks for.

    Examples
    --------
    >>> found = minted(b"secret", experiment=1, key="visit 7", index=0)
    >>> found
    'YKW2Lqk7NxkCGXyHHyb1htmX'
    >>> is_ours(b"secret", 1, found), is_ours(b"another", 1, found), is_ours(b"secret", 2, found)
    (True, False, False)
    """
    begun = _keyed(secret, NUMBER, b"number").copy()
    begun.update(b"%d %d %b" % (experiment, index, key.encode()))
    number = begun.digest()
    return base64.urlsafe_b64encode(number + _tag(secret, experiment, number)).decode()


def is_ours(secret: bytes, experiment: int, decision: str) -> bool:
    """Tell whether we signed this id for this experiment."""
    try:
        found = base64.urlsafe_b64decode(decision.encode())
    except (binascii.Error, UnicodeEncodeError):
        return False
    if base64.urlsafe_b64encode(found) != decision.encode() or len(found) != NUMBER + TAG:
        return False  # one decision has one name
    return hmac.compare_digest(found[NUMBER:], _tag(secret, experiment, found[:NUMBER]))


def place_id(decision: str, place: int | None) -> str:
    """Return the id on record of one place of a decision; None for a decision that has no places.

    Examples
    --------
    >>> place_id("YKW2", None), place_id("YKW2", 1), place_id("YKW2", 2), slate_id("YKW2.2")
    ('YKW2', 'YKW2', 'YKW2.2', 'YKW2')
    """
    return decision if place is None or place == 1 else f"{decision}.{place}"


def slate_id(row: str) -> str:
    """Return the id of the decision that a row on record is of."""
    return row.partition(".")[0]


def check_secret(database: Database, secret: bytes) -> None:
    """Refuse a secret that is not the one which the store's decisions were signed with."""
    mark = hashlib.blake2b(b"fingerprint", digest_size=16, key=secret).hexdigest()
    database.rows("INSERT INTO meta VALUES ('secret', ?) ON CONFLICT DO NOTHING", (mark,))
    ((found,),) = database.rows("SELECT value FROM meta WHERE name = 'secret'")
    if not hmac.compare_digest(found, mark):
        raise ValueError(
            "the secret must be the one that this store was made with: with another, rewards would be "
            "refused and keys would get other decisions; see FAIRX_SECRET, --secret-file, PATH.secret"
        )


def words(seed: bytes, decision: str) -> npt.NDArray[np.uint64]:
    """Return the four keys of a decision's random numbers."""
    begun = _keyed(seed, 32, b"").copy()
    begun.update(decision.encode())
    return np.frombuffer(begun.digest(), "<u8")


def _tag(secret: bytes, experiment: int, number: bytes) -> bytes:
    begun = _keyed(secret, TAG, b"signature").copy()
    begun.update(b"%d %b" % (experiment, number))
    found: bytes = begun.digest()
    return found


@functools.lru_cache(maxsize=256)
def _keyed(key: bytes, size: int, person: bytes) -> Any:
    """Return a digest that has taken in a key: to copy it is quicker than to begin anew."""
    return hashlib.blake2b(digest_size=size, key=key, person=person)
