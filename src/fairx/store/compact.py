"""Long lists on record: a digest, where the list can be told again.

Ten thousand probabilities follow from snapshot, candidates and id: their digest is enough to notice
that they would come out otherwise. With contexts the whole list stays, for contexts can be erased,
and are longer; so it does where the policy is told of it when the decision is mature. A long list of candidates is on record once, in `pools`, and known by its digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairx.errors import BrokenFile

from .database import Database, insert_new

if TYPE_CHECKING:
    from .decisions import Decision

LONGEST = 512  # bytes: 64 probabilities, or 128 candidates
SIZE = 25  # bytes of a digest: no list of numbers has as many


def digest_of(body: bytes) -> bytes:
    """Return the digest of a list.

    Examples
    --------
    >>> is_digest(digest_of(bytes(80_000))), is_digest(bytes(24))
    (True, False)
    """
    return hashlib.blake2b(body, digest_size=SIZE, person=b"fairx list").digest()


def is_digest(body: bytes | None) -> bool:
    """Tell whether there is a digest in the place of a list."""
    return body is not None and len(body) == SIZE


def chances_on_record(body: bytes) -> bytes:
    """Return what is kept of probabilities that can be told again: themselves, if they are few."""
    return digest_of(body) if len(body) > LONGEST else body


def is_same(body: bytes, stored: bytes) -> bool:
    """Tell whether a list is the one that is on record, as it is or as a digest."""
    return (digest_of(body) if is_digest(stored) else body) == stored


def shortened(made: Decision) -> Decision:
    """Return a decision as it is stored; its propensity is on record beside what is left of lists."""
    candidates, chances = made.candidates, made.probabilities
    if len(chances) <= LONGEST and (candidates is None or len(candidates) <= LONGEST):
        return made  # nearly all
    if candidates is not None and len(candidates) > LONGEST:
        candidates = digest_of(candidates)
    if made.contexts is None and made.propensity is not None:
        chances = chances_on_record(chances)
    if candidates is made.candidates and chances is made.probabilities:
        return made
    return made._replace(candidates=candidates, probabilities=chances)


def keep_pools(database: Database, made: Iterable[Decision]) -> None:
    """Write the long lists of candidates that are not on record yet."""
    long = {each.candidates for each in made if each.candidates and len(each.candidates) > LONGEST}
    if long:
        rows = [(digest_of(one), one) for one in long]
        insert_new(database, "pools", "digest, candidates", rows, "digest")


class KnownPools:
    """Long lists of candidates by their digests, the last ones read."""

    MOST = 200

    def __init__(self, database: Database) -> None:
        self._database, self._known = database, dict[bytes, bytes]()

    def candidates(self, stored: bytes | None) -> bytes | None:
        """Return a list of candidates that is on record, whole."""
        if stored is None or not is_digest(stored):
            return stored
        if stored not in self._known:
            if len(self._known) >= self.MOST:
                self._known.clear()
            self._known[stored] = _read(self._database, stored)
        return self._known[stored]

    def whole(self, made: Decision) -> Decision:
        """Return a decision with all of its candidates."""
        if not is_digest(made.candidates):
            return made
        return made._replace(candidates=self.candidates(made.candidates))


def _read(database: Database, digest: bytes) -> bytes:
    for (found,) in database.rows("SELECT candidates FROM pools WHERE digest = ?", (digest,)):
        if digest_of(found) != digest:
            raise BrokenFile("its candidates are not those that were on record")
        return bytes(found)
    raise BrokenFile("its candidates are no longer on record")
