"""Loops for records that others wrote: tried out with bounds and checks, before any run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from fairx.compiled import Entry, is_our_class, lowered
from fairx.numerics.streams import BLOCK
from fairx.policies.foreign import NotADistribution, complaint, is_distribution
from fairx.slates.drawing import check_exposures

from .measures import on_trial

Records = tuple[Any, ...]  # policy, state, world, judge, measures, and others


def compiled_loop(entry: Entry, records: Records, rest: tuple[Any, ...], end: int) -> Any:
    """Return a loop in its fastest form for these records; code of others is tried out before.

    `rest` are the other arguments but start and stop, and `end` is where the last stop would be.
    """
    try_out(entry, records, rest, end)
    return entry.ready(records, lambda run, low: run(*low, *rest, 0, 0))[0]


def try_out(entry: Entry, records: Records, rest: tuple[Any, ...], end: int) -> None:
    """Play the first block of code of others interpreted, with a state that is thrown away.

    A read past the end of an array is an error there that names the line, and not a number.
    """
    policy, _, world, _, measures, *others = records
    theirs = not is_our_class(type(getattr(policy, "policy", policy)))
    if theirs or hasattr(world, "environment") or hasattr(measures, "function"):
        checked = Checked(policy), *records[1:4], on_trial(measures), *others
        with contextlib.suppress(ArithmeticError):  # compiled, 1/0 is infinity
            told(entry.interpreted, checked)(*rest, 0, min(BLOCK, end))


def loop_of_run(entry: Entry, loop: Any, records: Records) -> Callable[..., Any]:
    """Return the loop for the records of one run."""
    low = records if loop is entry.interpreted else tuple(map(lowered, records))
    return told(loop, low, records)


def told(loop: Any, records: Records, said_by: Records | None = None) -> Callable[..., Any]:
    """Return a loop of its remaining arguments; what is no distribution is told by its policy."""
    policy, state, *_ = said_by or records

    def run(*rest: Any) -> Any:
        try:
            return loop(*records, *rest)
        except NotADistribution:
            raise ValueError(policy.complaint(state)) from None

    return run


class Checked:
    """A policy whose probabilities, or exposures, are looked at in every round: for the trial."""

    def __init__(self, policy: Any) -> None:
        self.whole, self.absorb = policy, policy.absorb
        self.found = np.zeros(3)
        for hook in ("policy", "played", "score_arms", "effective_pulls"):
            if hasattr(policy, hook):
                setattr(self, hook, getattr(policy, hook))

    def propose_slate(self, *arguments: Any) -> None:
        """Propose, and refuse exposures that no ranking has."""
        self.whole.propose_slate(*arguments)
        *_, page, exposures = arguments
        check_exposures(exposures, page.weights[: exposures.size])

    def propose(self, state: Any, arms: Any, contexts: Any, *rest: Any) -> None:
        """Propose, and refuse what is not a distribution."""
        self.whole.propose(state, arms, contexts, *rest)
        if not is_distribution(rest[-1], self.found):
            raise NotADistribution

    def complaint(self, state: Any) -> str:
        """Return what is wrong with the probabilities that the policy gave last."""
        if hasattr(self.whole, "complaint"):
            return str(self.whole.complaint(state))
        return complaint(self.whole, self.found)
