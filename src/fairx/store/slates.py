"""Slates on record: a row for each place, all of them or none, each slate once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fairx.policies.drawing import Drawn
from fairx.types import Vector

from .archives.record import archived_key
from .compact import keep_pools, shortened
from .database import Database
from .decisions import Decision, fetched, have_wait, insert_decisions, insert_rows, seal
from .errors import Conflict
from .identity import place_id
from .offering import Candidates


class AskedSlate(NamedTuple):
    """A slate to write: its rows by place, how many places were asked for, until when it waits."""

    rows: tuple[Decision, ...]
    places: int
    due: float


class RecordedSlate(NamedTuple):
    """A slate that is on record, its rows by place, and whether it was already."""

    rows: tuple[Decision, ...]
    repeated: bool


def slate_rows(
    decision: str,
    about: tuple[int, float, int],
    candidates: Candidates,
    drawn: Drawn,
    weights: Vector,
    request: tuple[str | None, bytes],
) -> tuple[Decision, ...]:
    """Return the rows of a slate by place; what all places share is in the first.

    `about` is the experiment, the time and the snapshot; `request` the unit and the digest.
    """
    rows = []
    positions = drawn.positions.tolist()
    arms = candidates.arms[drawn.positions].tolist()
    places = zip(arms, positions, weights.tolist(), drawn.propensities.tolist(), strict=False)
    exposures, contexts = drawn.exposures.tobytes(), candidates.contexts.tobytes() or None
    # Of weights there are more than places where candidates are few.
    for place, (arm, position, weight, chance) in enumerate(places, 1):
        rows.append(
            Decision(
                place_id(decision, place), *about, arm, position, candidates.named, exposures,
                contexts, *request, place, weight, chance,
            )
        )  # fmt: skip
        exposures = b""
        if contexts is not None and place < len(positions):
            contexts = candidates.contexts[positions[place]].tobytes()
    return tuple(rows)


def write_slates(
    database: Database, asked: Sequence[AskedSlate]
) -> list[RecordedSlate | Exception]:
    """Write slates; where a key was used before, return what is on record, or a conflict.

    The row of the first place decides: other processes that ask for the same key wait for it.
    """
    new, archived = insert_decisions(
        database, [(shortened(slate.rows[0]), slate.due) for slate in asked]
    )
    found: list[RecordedSlate | Exception] = []
    written: list[AskedSlate] = []
    for slate in asked:
        if slate.rows[0].id in new:
            new.discard(slate.rows[0].id)  # of two in one go, the second repeats the first
            written.append(slate)
    _write_others(database, written)
    fresh = {id(slate) for slate in written}
    for slate in asked:
        known = id(slate) in fresh
        if slate.rows[0].id in archived:
            found.append(archived_key())
            continue
        found.append(RecordedSlate(slate.rows, False) if known else _repeated(database, slate))
    return found


def stored_slate(
    database: Database, decision: str, places: int, asked: bytes
) -> RecordedSlate | None:
    """Return the slate of an id that is on record; a conflict where the request was another."""
    rows = fetched(database, [place_id(decision, place) for place in range(1, places + 1)])
    if not rows:
        return None
    found = sorted((made for made, _ in rows), key=lambda each: each.place or 0)
    erased = any(time is not None for _, time in rows)
    if found[0].place is None or (not erased and found[0].asked != asked):
        raise Conflict(
            "key must be new for another request: it was used with other candidates, contexts or "
            "places",
            "key",
        )
    return RecordedSlate(tuple(found), True)


def _repeated(database: Database, slate: AskedSlate) -> RecordedSlate | Exception:
    first = slate.rows[0]
    try:
        found = stored_slate(database, first.id, slate.places, first.asked)
    except Conflict as conflict:
        return conflict
    assert found is not None  # it was in the way
    return found


def _write_others(database: Database, slates: Sequence[AskedSlate]) -> None:
    """Write the places after the first, and seal all."""
    keep_pools(database, (slate.rows[0] for slate in slates))
    short = [(shortened(row), slate.due) for slate in slates for row in slate.rows]
    seal(database, short)
    have_wait(database, insert_rows(database, [each for each in short if each[0].place != 1]))
