"""One live display of runs, rounds a second and time left; plain lines without a terminal."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self

from fairx.simulation.bars import bar, is_watched

LINE_SECONDS = 10.0


class Progress:
    """Counts rounds and runs, from any thread."""

    def __init__(self, name: str, runs: int, rounds: int) -> None:
        self.name, self.runs, self.rounds = name, runs, rounds
        self.runs_done = self.rounds_done = 0
        self.lock = threading.Lock()
        self.started = self.told = time.monotonic()
        self.live = is_watched()
        self.bar = bar(
            total=rounds, desc=name, disable=not self.live, leave=False,
            unit=" rounds", unit_scale=True, postfix=f"0 of {runs} runs", dynamic_ncols=True,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.bar.close()
        if self.runs:
            self._say(
                f"{self.rounds_done / max(time.monotonic() - self.started, 1e-9):,.0f} rounds/s"
            )

    def expect(self, runs: int, rounds: int) -> None:
        """Take note of how many runs and rounds there are in all, where that is known better now."""
        with self.lock:
            self.runs, self.rounds = runs, rounds
            self.bar.total = rounds

    def add_rounds(self, rounds: int) -> None:
        """Count rounds that were played just now."""
        with self.lock:
            self.rounds_done += rounds
            self.bar.update(rounds)

    def add_runs(self, runs: int) -> None:
        """Count finished runs."""
        self.runs_done += runs
        self.bar.set_postfix_str(f"{self.runs_done} of {self.runs} runs", refresh=False)
        now = time.monotonic()
        if not self.live and now - self.told > LINE_SECONDS:
            self.told = now
            pace = self.rounds_done / (now - self.started)
            left = (self.rounds - self.rounds_done) / max(pace, 1e-9)
            self._say(f"{pace:,.0f} rounds/s, {_duration(left)} left")

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{self.name}: {self.runs_done} of {self.runs} runs, {text}\n")
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"
