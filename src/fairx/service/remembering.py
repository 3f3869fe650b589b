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

    Examples
    --------
    >>> answers = Answers(most=1)
    >>> for request in (b"first", b"second"):
    ...     answers.keep(key_of(1, request), (b"{}", 1))
    >>> answers.of(key_of(1, b"first")) is None, answers.of(key_of(1, b"second"))
    (True, (b'{}', 1))
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: dict[bytes, Answer] = {}

    def of(self, key: bytes) -> Answer | None:
        """Return the answer to a request, word for word the same."""
        return self._kept.get(key)

    def keep(self, key: bytes, answer: Answer) -> None:
        """Keep an answer, if it is small, and forget the oldest."""
        if len(answer[0]) <= LARGEST:
            self._kept[key] = answer
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()


def key_of(experiment: int, request: bytes) -> bytes:
    """Return what an answer is kept under."""
    salt = experiment.to_bytes(8, "little")
    return hashlib.blake2b(request, digest_size=16, salt=salt).digest()
