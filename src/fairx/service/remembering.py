"""Answers of a moment ago: who asks again, as a client does whose answer was lost, costs next to nothing."""

from __future__ import annotations

import hashlib

MOST = 4_096  # answers
LARGEST = 2_048  # bytes of an answer
# An answer as it was sent, and how many decisions are in it. A plain tuple of such values is none of the
# garbage collector's business; thousands of records that come and go had it look through the whole
# process every few seconds, for 60 ms.
Answer = tuple[bytes, int]


class Answers:
    """The last answers, by a digest of experiment and request: it may name a person.

    What is on record does not change, so that an answer stays right; only a database that lost
    what it had acknowledged would know better, and `clear` is called where one was lost.

    They are kept in two halves, and the older one is forgotten as a whole: to take the first out of a
    dictionary again and again takes the longer the more were taken out.

    Examples
    --------
    >>> answers = Answers(most=2)
    >>> for request in (b"first", b"second", b"third"):
    ...     answers.keep(key_of(1, request), (b"{}", 1))
    >>> answers.of(key_of(1, b"first")) is None, answers.of(key_of(1, b"second"))
    (True, (b'{}', 1))
    """

    def __init__(self, most: int = MOST) -> None:
        self._half = most // 2
        self._newer: dict[bytes, Answer] = {}
        self._older: dict[bytes, Answer] = {}

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def of(self, key: bytes) -> Answer | None:
        """Return the answer to a request, word for word the same."""
        return self._newer.get(key) or self._older.get(key)

    def keep(self, key: bytes, answer: Answer) -> None:
        """Keep an answer, if it is small, and forget the oldest."""
        if len(answer[0]) > LARGEST:
            return
        if len(self._newer) >= self._half:
            self._older, self._newer = self._newer, {}
        self._newer[key] = answer

    def clear(self) -> None:
        """Forget all."""
        self._newer, self._older = {}, {}


def key_of(experiment: int, request: bytes) -> bytes:
    """Return what an answer is kept under."""
    found = hashlib.sha256(
        experiment.to_bytes(8, "little")
    )  # processors know it: quicker than BLAKE2
    found.update(request)
    return found.digest()[:16]
