"""What is known of cases that a GPU and a processor play: a line for each, and a table at the end."""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

import numpy as np

NEAR = 1e-12  # of what was earned: sums of rewards with noise differ in last bits


class Played(NamedTuple):
    """What is compared of a run."""

    pulls: Any
    earned: Any
    regrets: Any


class Board:
    """What is known of each case; a line of one is printed when both have played it."""

    def __init__(self, lengths: dict[str, int], runs: int) -> None:
        self.lengths, self.runs, self.lock = lengths, runs, threading.Lock()
        self.found: dict[str, dict[tuple[str, int], Played]] = {name: {} for name in lengths}
        self.lines: dict[str, str] = {}
        self.alike: set[str] = set()
        self.begun = time.perf_counter()

    def note(self, name: str, where: str, run: int, played: Played) -> None:
        """Take in one run."""
        with self.lock:
            self.found[name][where, run] = played
            if len(self.found[name]) == 2 * self.runs:
                self._compare(name)

    def fail(self, name: str, where: str, error: BaseException) -> None:
        """Take in that a case could not be played."""
        with self.lock:
            said = (str(error).strip() or repr(error)).splitlines()[0]
            self._say(name, f"FAILED on the {where}: {type(error).__name__}: {said}")

    def _compare(self, name: str) -> None:
        here = [self.found[name]["processor", run] for run in range(self.runs)]
        there = [self.found[name]["GPU", run] for run in range(self.runs)]
        same = sum(map(is_alike, here, there))
        apart = max(map(distance, here, there))
        if same == self.runs:
            self.alike.add(name)
        self._say(name, f"alike in {same} of {self.runs} runs, regrets to {apart:.1e}")

    def _say(self, name: str, said: str) -> None:
        if name not in self.lines:
            self.lines[name] = f"{self.lengths[name]:>9,} rounds: {said:45} {name[:100]}"
            print(f"{time.perf_counter() - self.begun:4.0f} s {self.lines[name]}", flush=True)

    def table(self) -> str:
        """Return all lines, those that do not agree first."""
        others = [name for name in self.lengths if name not in self.alike]
        lines = [f"{len(self.alike)} of {len(self.lengths)} agree in all of {self.runs} runs"]
        lines += [f"NOT: {self.lines.get(name, f'not played: {name}')}" for name in others]
        return "\n".join(lines + [self.lines[name] for name in self.lengths if name in self.alike])


def is_alike(here: Played, there: Played) -> bool:
    """Tell whether the choices of a run are the same."""
    near = np.abs(here.earned - there.earned) <= NEAR * np.abs(here.earned).max()
    return bool((here.pulls == there.pulls).all() and near.all())


def distance(here: Played, there: Played) -> float:
    """Return how far regrets are apart, as a part of them."""
    return float(np.abs(here.regrets - there.regrets).max() / max(np.abs(here.regrets).max(), 1e-9))
