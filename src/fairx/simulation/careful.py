"""Loops for records that others wrote: tried out before any run, and with bounds in the first block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairx.compiled import Entry, lowered
from fairx.numerics.streams import BLOCK
from fairx.policies.foreign import NotADistribution

Records = tuple[Any, ...]  # policy, state, world, judge


def compiled_loop(entry: Entry, records: Records, rest: tuple[Any, ...], end: int) -> Any:
    """Return a loop in its fastest form for these records; code of others is tried out before.

    `rest` are the other arguments but start and stop, and `end` is where the last stop would be.
    """
    if _others_wrote(records):  # what cannot be played is refused here, before any run
        run_one_block(entry, records, rest, min(BLOCK, end))
    return entry.ready(records, lambda run, low: run(*low, *rest, 0, 0))[0]


def loop_of_run(entry: Entry, loop: Any, records: Records) -> Callable[..., Any]:
    """Return the loop for the records of one run.

    The first block of code of others is interpreted, where a read past the end of an array is an
    error that names the line, and not a number. The bits are the same.
    """
    low = records if loop is entry.interpreted else tuple(map(lowered, records))
    careful = _others_wrote(records)

    def run(*rest: Any) -> Any:
        if careful and rest[-2] == 0:
            return run_one_block(entry, records, rest[:-2], rest[-1])
        try:
            return loop(*low, *rest)
        except NotADistribution:
            raise ValueError(records[0].complaint(records[1])) from None

    return run


def run_one_block(entry: Entry, records: Records, rest: tuple[Any, ...], stop: int) -> Any:
    """Play the first block interpreted."""
    try:
        return entry.interpreted(*records, *rest, 0, stop)
    except NotADistribution:
        raise ValueError(records[0].complaint(records[1])) from None


def _others_wrote(records: Records) -> bool:
    """Tell whether the policy or the world is one of others, made to fit."""
    return hasattr(records[0], "start_with") or hasattr(records[2], "environment")
