"""Time things side by side, and print tables and bars."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Task(NamedTuple):
    """Something that plays as many rounds as it is told."""

    play: Callable[[int], object]
    rounds: int


class Bar(NamedTuple):
    """A promise, and what was measured."""

    what: str
    measured: float
    at_most: float | None = None
    at_least: float | None = None

    def __str__(self) -> str:
        low, high = self.at_least, self.at_most
        met = (low is None or self.measured >= low) and (high is None or self.measured <= high)
        limit = f">= {low:,g}" if low is not None else f"<= {high:,g}"
        return f"  {self.what:<56} {number(self.measured):>8}  {limit:<8} {'met' if met else 'NOT met'}"


def fastest(
    tasks: Mapping[str, Task], passes: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the seconds per round of each task: the least of several passes.

    Each pass takes all tasks in turn, so that a machine that is busy for a while is busy for all.
    """
    least = dict.fromkeys(tasks, float("inf"))
    for _ in range(passes):
        for name, task in tasks.items():
            start = clock()
            task.play(task.rounds)
            least[name] = min(least[name], (clock() - start) / task.rounds)
    return least


def print_table(
    title: str, headers: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1
) -> None:
    """Print columns: the first `texts` to the left, the others to the right."""
    lines = [headers, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"\n{title}\n")
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        cells[:texts] = [cell.ljust(widths[i]) for i, cell in enumerate(line[:texts])]
        print(("  " + "   ".join(cells)).rstrip(), flush=True)


def print_bars(bars: Sequence[Bar]) -> None:
    """Print each bar and whether it is met."""
    if bars:
        print("\n  bars")
        print("\n".join(map(str, bars)), flush=True)


def number(value: float | None) -> str:
    """Return three digits or so; nothing for nothing."""
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
