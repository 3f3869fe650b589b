"""Rewards and shown events: each counts once, in whatever order they come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairx.rules import InvalidValue

from .archives.record import archived_among
from .database import Database, add, insert_new, rows_among
from .errors import Conflict
from .events import Batch, Place, Reward, Shown
from .identity import slate_id
from .sealing import sealed
from .snapshots import ServedExperiment

Given = dict[str, tuple[Any, ...]]  # a decision's rewards by their id: value, late, time, final
ACCEPTED, DUPLICATE, LATE, PARKED = "accepted", "duplicate", "late", "parked"


def take_in(database: Database, batches: Sequence[Batch]) -> list[list[str] | Exception]:
    """Write the rewards of several requests; return what became of each."""
    known = _Known(database, [reward for batch in batches for reward in batch.rewards])
    answers: list[list[str] | Exception] = []
    for batch in batches:
        try:
            answers.append(known.judge(batch))
        except (Conflict, ValueError) as error:
            answers.append(error)
    known.write()
    return answers


class _Known:
    """What is on record about some decisions, and what is about to be."""

    def __init__(self, database: Database, events: Sequence[Reward | Shown]) -> None:
        self.database = database
        ids = sorted({id_ for each in events for id_ in (each.row, each.decision)})
        sql = "SELECT id, sequence, place FROM decisions WHERE id IN ({})"
        found = rows_among(database, sql, ids)
        self.sequences: dict[str, int] = {row[0]: row[1] for row in found}
        self.places: dict[str, Place] = {row[0]: row[2] for row in found}
        # Locked from here on: the fold passes over them, or was faster and they are late.
        self.due = _locked(database, sorted(self.sequences.values()))
        self._hold_mature()
        missing = {slate_id(each.row) for each in events} - self.sequences.keys()
        self.archived = archived_among(database, sorted(missing))
        sql = "SELECT decision, id, value, late, time, final FROM rewards WHERE decision IN ({})"
        self.given: dict[str, Given] = {}
        for decision, id_, *rest in rows_among(database, sql, ids):
            self.given.setdefault(decision, {})[id_] = tuple(rest)
        self.stored = {(decision, each) for decision, known in self.given.items() for each in known}
        self.new: dict[tuple[str, str], tuple[Any, ...]] = {}

    def _hold_mature(self) -> None:
        """Keep decisions that are mature from being archived; forget those that were just now."""
        late = {row: number for row, number in self.sequences.items() if number not in self.due}
        if not late or not self.database.lock:
            return
        sql = "SELECT id FROM decisions WHERE sequence IN ({}) ORDER BY sequence"
        sql, numbers = sql + self.database.lock, sorted(late.values())
        there = {found for (found,) in rows_among(self.database, sql, numbers)}
        for gone in late.keys() - there:
            del self.sequences[gone], self.places[gone]

    def judge(self, batch: Batch) -> list[str]:
        """Say what becomes of each reward of a request; take in all of it or nothing."""
        given: dict[str, Given] = {}
        statuses, new, last = [], {}, {}
        for reward in batch.rewards:
            self.check_place(reward)
            known = given.setdefault(reward.row, dict(self.given.get(reward.row, {})))
            status = self.status(reward.row, batch.time, known)
            first = known.get(reward.id)
            if first is not None:
                _check_same(reward, first)
                if first[3] or not reward.final or status == LATE:
                    statuses.append(DUPLICATE)
                    continue  # else it is the same reward, which now is known to be the last
            late, time = (int(status == LATE), batch.time) if first is None else first[1:3]
            _check_count(batch.most, reward, known)
            known[reward.id] = (reward.value, late, time, int(reward.final))
            last[reward.row] = reward
            row = (batch.experiment.id, reward.value, int(reward.final), late, time)
            new[reward.row, reward.id] = row
            statuses.append(status)
        for row_id, reward in last.items():
            _check_sum(batch.experiment, reward, given[row_id])
        self.given |= given
        self.new |= new
        return statuses

    def write(self) -> None:
        """Write what was taken in."""
        for key in self.stored & self.new.keys():
            self.database.rows("UPDATE rewards SET final = 1 WHERE decision = ? AND id = ?", key)
            experiment, value, _, late, time = self.new[key]
            before = (*key, experiment, value, 0, late, time)
            sealed(self.database, "rewards", experiment, [before], -1)
        for key, row in self.new.items():
            sealed(self.database, "rewards", row[0], [(*key, *row)])
        # In one order for all processes: two of them cannot wait for each other.
        rows = [(*key, *row) for key, row in sorted(self.new.items()) if key not in self.stored]
        add(self.database, "rewards", rows)

    def check_place(self, event: Reward | Shown) -> None:
        """Refuse an event of what is archived, or whose place is not one of its decision's."""
        if event.decision in self.archived:
            raise Conflict(
                f"decision {event.decision} is archived: nothing more is taken in for it, and "
                "nothing of this request was"
            )
        if event.decision not in self.places:
            return
        is_slate = self.places[event.decision] is not None
        if is_slate and event.place is None:
            raise InvalidValue("place", f"be given: decision {event.decision} is a slate")
        if event.place is not None and not is_slate:
            raise InvalidValue("place", f"be left out: decision {event.decision} is no slate")
        if event.row not in self.places:
            raise InvalidValue("place", f"be one of {event.decision}'s, not {event.place}")

    def status(self, row: str, now: float, given: Given) -> str:
        """Return what becomes of an event of a decision, or a place, that comes now.

        A final reward closes a decision to others, but leaves it waiting: it is learned when its
        window ends, as all are. Were it learned at once, arms with fast rewards would be learned
        by their rewards, and slow ones by their silence.
        """
        sequence = self.sequences.get(row)
        if sequence is None:
            return PARKED
        closed = any(final and not late for _, late, _, final in given.values())
        return ACCEPTED if now < self.due.get(sequence, -math.inf) and not closed else LATE


def note_shown(
    database: Database, experiment: ServedExperiment, events: Sequence[Shown], time: float
) -> list[str]:
    """Write what was shown; return what became of each event."""
    known = _Known(database, events)
    for event in events:
        known.check_place(event)
    fresh = {row: known.status(row, time, {}) for row in sorted({event.row for event in events})}
    rows = [(each, experiment.id, int(fresh[each] == LATE), time) for each in fresh]
    columns = "decision, experiment, late, time"
    new = {row for (row,) in insert_new(database, "shown", columns, rows, "decision")}
    sealed(database, "shown", experiment.id, [row for row in rows if row[0] in new])
    statuses = []
    for event in events:
        statuses.append(fresh[event.row] if event.row in new else DUPLICATE)
        new.discard(event.row)
    return statuses


def _locked(database: Database, sequences: list[int]) -> dict[int, float]:
    """Return until when decisions wait, and keep the fold from them."""
    sql = "SELECT sequence, due FROM waiting WHERE sequence IN ({}) ORDER BY sequence"
    return dict(rows_among(database, sql + database.lock, sequences))


def _check_same(reward: Reward, first: tuple[Any, ...]) -> None:
    """Refuse a reward that contradicts the first one."""
    value, _, time, _ = first
    if value == reward.value:
        return
    name = f" {reward.id!r}" if reward.id else ""
    raise Conflict(
        f"decision {reward.of} has the reward{name} {value!r} since {time:.3f}: "
        f"another one, {reward.value!r}, is refused; nothing of this request was taken in"
    )


def _check_count(most: int, reward: Reward, given: Given) -> None:
    """Refuse more than can be looked through whenever one comes."""
    if reward.id not in given and len(given) >= most:
        rule = f"be of at most {most} ids for one decision, not {len(given) + 1} for {reward.of}"
        raise InvalidValue("rewards", f"{rule}: see --limit-rewards, or send their sum")


def _check_sum(experiment: ServedExperiment, reward: Reward, given: Given) -> None:
    ends = experiment.settings.reward_range
    if ends is None:
        return
    total = math.fsum(row[0] for row in given.values() if not row[1])
    if not ends[0] <= total <= ends[1]:
        raise InvalidValue(
            "reward", f"be from {ends[0]:g} to {ends[1]:g}, not {total:g} in all for {reward.of}"
        )
