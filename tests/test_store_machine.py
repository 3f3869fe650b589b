"""The store against a small model of it, through crashes, power cuts and whatever order things come in."""

from __future__ import annotations

import math
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from lossy import LossyDisk
from test_store import FAIR_LIN_TS, FAIR_TS, WINDOW
from test_store_slates import Page

from fairx.rules import InvalidValue
from fairx.store.decisions import Decision
from fairx.store.errors import Conflict, NotFound
from fairx.store.events import Reward, Shown
from fairx.store.identity import place_id
from fairx.store.snapshots import experiments, newest
from fairx.store.sqlite import SQLite

ARMS = ("a", "b", "c", "d")
KEYS = st.sampled_from([f"key {i}" for i in range(6)])
VALUES = st.sampled_from([0.0, 0.1, 0.7, 1.0])
IDS = st.sampled_from(["", "click", "order"])
PAGES = st.sampled_from([(1.0, 0.6, 0.3), (1.0, 1.0), (0.5,)])
PLACES = st.integers(1, 3)


class Made(NamedTuple):
    """A decision of the model, or one place of a slate."""

    arm: int
    context: list[float]
    answer: Any  # what is on record, and what was asked for: candidates, contexts and, of a slate, places
    due: float


def row_of(key: str, place: int) -> str:
    """Return what the model calls a place: the first has the name of its slate."""
    return key if place == 1 else f"{key}.{place}"


class Model:
    """What the store must do, in plain dictionaries, where nothing is ever lost."""

    def __init__(self, requires_shown: bool, dimension: int) -> None:
        self.requires_shown, self.dimension, self.now = requires_shown, dimension, 1000.0
        self.decisions: dict[str, Made] = {}
        self.waiting: list[str] = []  # in the order in which they were made
        self.rewards: dict[str, dict[str, tuple[float, bool, bool]]] = {}  # value, final, late
        self.shown: dict[str, str] = {}
        self.arms = {"a": "active", "b": "active"}
        self.sums = np.zeros(1 + dimension**2 + dimension if dimension else 4)
        self.learned: dict[str, float | None] = {}
        self.version = 1

    def decide(self, key: str, made: Made) -> None:
        self.decisions[key] = made
        self.waiting.append(key)

    def status(self, key: str) -> str:
        """Return what becomes of something that comes in now."""
        if key not in self.decisions:
            return "parked"
        open_ = key not in self.learned and self.now < self.decisions[key].due
        return "accepted" if open_ else "late"

    def reward(self, key: str, value: float, name: str, final: bool) -> str:
        given, status = self.rewards.setdefault(key, {}), self.status(key)
        if status == "accepted" and any(last and not late for _, last, late in given.values()):
            status = "late"
        first = given.get(name)
        if first is not None and first[0] != value:
            return "conflict"
        if first is not None and (first[1] or not final or status == "late"):
            return "duplicate"
        given[name] = (value, final, first[2] if first else status == "late")
        return status

    def show(self, key: str) -> str:
        if key in self.shown:
            return "duplicate"
        self.shown[key] = self.status(key)
        return self.shown[key]

    def fold(self) -> bool:
        due = [key for key in self.waiting if self.decisions[key].due <= self.now]
        for key in sorted(due, key=lambda each: self.decisions[each].due):
            self.waiting.remove(key)
            self.learn(key)
        self.version += bool(due)
        return bool(due)

    def learn(self, key: str) -> None:
        values = [value for value, _, late in self.rewards.get(key, {}).values() if not late]
        reward = math.fsum(values)
        seen = values or self.shown.get(key, "late") != "late" or not self.requires_shown
        self.learned[key] = reward if seen else None
        if not seen:
            return
        made = self.decisions[key]
        if self.dimension:
            x = np.array(made.context)
            self.sums += np.concatenate(([1.0], np.outer(x, x).ravel(), reward * x))
        else:
            self.sums.reshape(2, -1)[:, made.arm] += (1.0, reward)

    def change(self, verb: str, arm: str) -> type[Exception] | None:
        status = self.arms.get(arm, "removed")
        if verb == "add" and status != "removed":
            return Conflict
        if verb != "add" and status == "removed":
            return NotFound
        after = {"add": "active", "pause": "paused", "resume": "active", "remove": "removed"}[verb]
        if "active" not in {**self.arms, arm: after}.values():
            return Conflict
        if arm not in self.arms and not self.dimension:
            self.sums = np.pad(self.sums.reshape(2, -1), ((0, 0), (0, 1))).ravel()
        self.arms[arm] = after
        self.version += 1
        return None


class StoreMachine(RuleBasedStateMachine):
    """Anything, in any order, on a disk that can lose power."""

    @initialize(
        requires_shown=st.booleans(), dimension=st.sampled_from([0, 2]),
        keep=st.sampled_from([0.0, 0.5]), seed=st.integers(0, 99),
    )  # fmt: skip
    def start(self, requires_shown: bool, dimension: int, keep: float, seed: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fairx-machine-"))
        self.disk = LossyDisk(self.folder, keep, seed).__enter__()
        self.model = Model(requires_shown, dimension)
        self.database = self.opened()
        policy = FAIR_LIN_TS if dimension else FAIR_TS
        about: dict[str, Any] = {
            "policy": policy,
            "dimension": dimension,
            "requires_shown": requires_shown,
        }
        self.site = Page(self.database, ["a", "b"], **about)

    def opened(self) -> SQLite:
        return SQLite(self.folder / "store.db", write=True, vfs=self.disk.vfs)

    def asked(self, variant: int) -> tuple[Any, Any]:
        """Return candidates and contexts."""
        active = [arm for arm, status in self.model.arms.items() if status == "active"]
        names = None if variant == 0 else active[::-1]
        rows = [[1.0, 0.5 * i] for i in range(len(active))] if self.model.dimension else None
        return names, rows

    @rule(key=KEYS, variant=st.integers(0, 1))
    def decide(self, key: str, variant: int) -> None:
        names, contexts = self.asked(variant)
        known = self.model.decisions.get(key)
        if known is not None and known.answer[1:] != (names, contexts):
            with pytest.raises(Conflict):
                self.site.decide(key, names, contexts)
            return
        found = self.site.decide(key, names, contexts)
        assert found.repeated == (known is not None)
        if known is None:
            self.note(key, found.decision, names, contexts)
        else:
            assert found.decision == known.answer[0]

    def note(self, key: str, decision: Decision, names: Any, contexts: Any) -> None:
        context = contexts[decision.position] if contexts else []
        answer = (decision, names, contexts)
        self.model.decide(key, Made(decision.arm, context, answer, self.model.now + WINDOW))

    @rule(key=KEYS)
    def retry(self, key: str) -> None:
        """Ask again for what was asked, as long as that can be offered."""
        known = self.model.decisions.get(key)
        if known is not None and all(
            self.model.arms[arm] == "active" for arm in known.answer[1] or ()
        ):
            rows = known.answer[2]
            if rows is None or len(rows) == len(self.asked(0)[1]):
                again = self.site.decide if len(known.answer) == 3 else self.slate
                assert again(key, *known.answer[1:]) == (known.answer[0], True)

    def slate(self, key: str, names: Any, contexts: Any, places: tuple[float, ...]) -> Any:
        (found,) = self.site.slates(self.site.asked(key, places, names, contexts))
        if isinstance(found, Exception):
            raise found
        return found

    @rule(key=KEYS, variant=st.integers(0, 1), places=PAGES)
    def decide_slate(self, key: str, variant: int, places: tuple[float, ...]) -> None:
        asked = (*self.asked(variant), places)
        known = self.model.decisions.get(key)
        if known is not None and known.answer[1:] != asked:
            with pytest.raises(Conflict):
                self.slate(key, *asked)
            return
        found = self.slate(key, *asked)
        assert found.repeated == (known is not None)
        if known is None:
            self.note_slate(key, found.rows, asked)
        else:
            assert found.rows == known.answer[0]

    def note_slate(self, key: str, rows: tuple[Decision, ...], asked: Any) -> None:
        assert len({row.arm for row in rows}) == len(rows) <= len(asked[2])
        for place, row in enumerate(rows, 1):
            context = asked[1][row.position] if asked[1] else []
            due = self.model.now + WINDOW
            self.model.decide(row_of(key, place), Made(row.arm, context, (rows, *asked), due))

    def on_record(self, key: str) -> str:
        """Return the id on record of what the model calls so."""
        name, _, place = key.partition(".")
        return place_id(self.site.id(name), int(place) if place else None)

    def refused(self, key: str, place: int | None) -> bool:
        """Tell whether a place is named of what has none, or none of what has some."""
        known = self.model.decisions.get(key)
        if known is None:
            return False
        places = len(known.answer[0]) if len(known.answer) == 4 else 0
        return (place is None) == (places > 0) or (place or 0) > places

    @rule(key=KEYS, place=PLACES, value=VALUES, name=IDS, final=st.booleans())
    def reward_place(self, key: str, place: int, value: float, name: str, final: bool) -> None:
        given = Reward(self.site.id(key), value, name, final, place)
        if self.refused(key, place):
            with pytest.raises(InvalidValue, match="place must"):
                self.site.rewards(given)
            return
        expected = self.model.reward(row_of(key, place), value, name, final)
        if expected == "conflict":
            with pytest.raises(Conflict, match="refused"):
                self.site.rewards(given)
        else:
            assert self.site.rewards(given) == [expected]

    @rule(key=KEYS, places=st.lists(PLACES, min_size=1, max_size=3))
    def shown_places(self, key: str, places: list[int]) -> None:
        given = [Shown(self.site.id(key), place) for place in places]
        if any(self.refused(key, place) for place in places):
            with pytest.raises(InvalidValue, match="place must"):
                self.site.seen(*given)
        else:
            expected = [self.model.show(row_of(key, place)) for place in places]
            assert self.site.seen(*given) == expected

    @rule(key=KEYS, value=VALUES, name=IDS, final=st.booleans())
    def reward(self, key: str, value: float, name: str, final: bool) -> None:
        if self.refused(key, None):
            with pytest.raises(InvalidValue, match="place must be given"):
                self.site.reward(key, value, name, final)
            return
        expected = self.model.reward(key, value, name, final)
        if expected == "conflict":
            with pytest.raises(Conflict, match="refused"):
                self.site.reward(key, value, name, final)
        else:
            assert self.site.reward(key, value, name, final) == expected

    @rule(keys=st.lists(KEYS, min_size=2, max_size=4), value=VALUES)
    def rewards(self, keys: list[str], value: float) -> None:
        """A batch with a conflict is refused as a whole."""
        before = {key: dict(self.model.rewards.get(key, {})) for key in keys}
        due = {key: self.model.decisions[key] for key in keys if key in self.model.decisions}
        expected = [self.model.reward(key, value, "", False) for key in keys]
        given = [Reward(self.site.id(key), value) for key in keys]
        unplaced = any(self.refused(key, None) for key in keys)
        if unplaced or "conflict" in expected:
            self.model.rewards |= before
            self.model.decisions |= due
            with pytest.raises((Conflict, InvalidValue) if unplaced else Conflict):
                self.site.rewards(*given)
        else:
            assert self.site.rewards(*given) == expected

    @rule(keys=st.lists(KEYS, min_size=1, max_size=3))
    def shown(self, keys: list[str]) -> None:
        if any(self.refused(key, None) for key in keys):
            with pytest.raises(InvalidValue, match="place must be given"):
                self.site.shown(*keys)
            return
        assert self.site.shown(*keys) == [self.model.show(key) for key in keys]

    @rule(verb=st.sampled_from(["add", "pause", "resume", "remove"]), arm=st.sampled_from(ARMS))
    def arms(self, verb: str, arm: str) -> None:
        refused = self.model.change(verb, arm)
        if refused is not None:
            with pytest.raises(refused):
                self.site.arms(**{verb: [arm]})
        else:
            self.site.arms(**{verb: [arm]})

    @rule(seconds=st.sampled_from([1.0, WINDOW / 2, WINDOW]))
    def clock(self, seconds: float) -> None:
        self.model.now += seconds
        self.site.now += seconds

    @rule()
    def fold(self) -> None:
        assert (self.site.fold() is not None) == self.model.fold()

    @rule(key=KEYS, cut=st.booleans())
    def crash(self, key: str, cut: bool) -> None:
        """Lose the power or the process in the middle of a transaction."""
        self.database.connection.execute("BEGIN IMMEDIATE")
        sql = "INSERT INTO shown VALUES (?, 1, 0, 0) ON CONFLICT DO NOTHING"
        self.database.connection.execute(sql, (self.site.id(key),))
        self.database.connection.execute("DELETE FROM waiting")
        if cut:
            self.disk.cut()
        self.restart()

    @rule(changes=st.integers(0, 12), key=KEYS)
    def cut_while_writing(self, changes: int, key: str) -> None:
        """Lose the power while a decision is written: it is there or not, as it was not acknowledged."""
        names, contexts = self.asked(0)
        if key in self.model.decisions:
            return
        self.disk.cut_after(changes)
        with suppress(apsw.IOError, apsw.FullError, apsw.CantOpenError):
            self.decide(key, 0)
        self.disk.cut()
        self.restart()
        sql = "SELECT count(*) FROM decisions WHERE id = ?"
        ((made,),) = self.database.rows(sql, (self.site.id(key),))
        if made and key not in self.model.decisions:
            found = self.site.decide(key, names, contexts)
            assert found.repeated
            self.note(key, found.decision, names, contexts)
        assert made == (key in self.model.decisions)

    @rule(changes=st.integers(0, 12), key=KEYS, places=PAGES)
    def cut_while_writing_a_slate(self, changes: int, key: str, places: tuple[float, ...]) -> None:
        """Lose the power while a slate is written: all of its places are there, or none."""
        if key in self.model.decisions:
            return
        asked = (*self.asked(0), places)
        self.disk.cut_after(changes)
        with suppress(apsw.IOError, apsw.FullError, apsw.CantOpenError):
            self.decide_slate(key, 0, places)
        self.disk.cut()
        self.restart()
        made = len(self.site.arms_of(key))
        if made and key not in self.model.decisions:
            found = self.slate(key, *asked)
            assert found.repeated
            self.note_slate(key, found.rows, asked)
        assert made == sum(name.partition(".")[0] == key for name in self.model.decisions)

    @rule()
    def restart(self) -> None:
        self.database.connection.close(force=True)
        self.database.close()
        self.database = self.site.database = self.opened()
        (experiment,) = experiments(self.database)
        self.site.hold(newest(self.database, experiment))

    @invariant()
    def equals_the_model(self) -> None:
        if not hasattr(self, "site"):
            return
        found = newest(self.database, self.site.experiment)
        assert found.sums.tobytes() == self.model.sums.tobytes()
        assert found.version == self.site.snapshot.version == self.model.version
        assert {arm.name: arm.status for arm in found.arms} == self.model.arms
        learned = {decision: value for decision, value, _ in self.site.learned()}
        assert learned == {self.on_record(key): value for key, value in self.model.learned.items()}
        assert list(learned) == [self.on_record(key) for key in self.model.learned]

    def teardown(self) -> None:
        if not hasattr(self, "site"):
            return
        try:
            self.model.now += 2 * WINDOW
            self.site.now = self.model.now
            self.fold()
            self.equals_the_model()
            assert self.site.verify().problems == ()
        finally:
            self.database.close()
            self.disk.__exit__()
            shutil.rmtree(self.folder)


def test_the_store_does_what_its_model_does() -> None:
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
