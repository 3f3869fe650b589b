"""Which tasks can be played when: the tests of a policy as soon as the runs that tune it are there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from .rows import Rows
from .tasks import Task
from .tuning import Entered


class Flow:
    """All tasks without a row, each once, when it can be played; how many there are, and rounds."""

    runs = rounds = 0

    def __init__(self, entered: Sequence[Entered], rows: Rows) -> None:
        self.rows = rows
        self.given: dict[str, Task] = {}  # by key: figures share runs, which are played once
        self.waiting = [Waiting(one, rows) for one in entered]
        self.needed_by = defaultdict[str, list[Waiting]](list)  # by the key of a run that tunes
        for one in self.waiting:
            for key in one.lacks:
                self.needed_by[key].append(one)

    def first(self) -> list[Task]:
        """Return what can be played at once: tests before runs that tune, for they are the longest."""
        tests = self._tests(one for one in self.waiting if not one.lacks)
        found = tests + self._new(task for one in self.waiting for task in one.lacks.values())
        self._count()
        return found

    def after(self, keys: Iterable[str]) -> list[Task]:
        """Return the tests that can be played now that the rows of these keys are there too."""
        done = [(key, one) for key in keys for one in self.needed_by.pop(key, ())]
        for key, one in done:
            del one.lacks[key]
        ready = {id(one): one for _, one in done if not one.lacks}  # each once
        found = self._tests(ready.values())
        if ready:
            self._count()
        return found

    def _count(self) -> None:
        """Count all runs and rounds: any point of a grid has as many tests as the one to be chosen."""
        later = {key: rounds for one in self.waiting if one.lacks for key, rounds in one.expected}
        rounds = sum(task.rounds for task in self.given.values())
        self.runs, self.rounds = len(self.given) + len(later), rounds + sum(later.values())

    def _tests(self, ready: Iterable[Waiting]) -> list[Task]:
        return self._new(task for one in ready for task in one.entered.tests(self.rows))

    def _new(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks that have no row, and were not given before."""
        found = {task.key: task for task in tasks}
        known = self.rows, self.given
        new = {key: task for key, task in found.items() if not any(key in some for some in known)}
        self.given |= new
        return list(new.values())


class Waiting:
    """An entrant with the runs that it lacks to be tuned, and the keys and rounds of the first point's tests."""

    def __init__(self, entered: Entered, rows: Rows) -> None:
        self.entered = entered
        found = {task.key: task for task in entered.tuning()}
        self.lacks = {key: task for key, task in found.items() if key not in rows}
        tests = entered.tests_of(entered.points()[0]) if self.lacks else []
        self.expected = [(task.key, task.rounds) for task in tests]
