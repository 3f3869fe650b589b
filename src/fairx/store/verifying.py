"""The log checked line by line: snapshots rebuilt bit for bit, decisions made again."""

from __future__ import annotations

from collections.abc import Callable

from .database import Database
from .remaking import Remaking, Verified
from .snapshots import experiments


def verify(
    database: Database,
    secret: bytes | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Verified:
    """Make everything in the log again; with the secret, check the signatures of decisions too."""
    found = [
        _verified(Remaking(database, experiment, secret, progress))
        for experiment in experiments(database, "1 = 1")
    ]
    return Verified(
        len(found),
        sum(each.snapshots for each in found),
        sum(each.decisions for each in found),
        sum(each.matured for each in found),
        sum(each.erased for each in found),
        tuple(problem for each in found for problem in each.problems),
    )


def _verified(remaking: Remaking) -> Verified:
    """Make one experiment again, as far as the log lets it."""
    try:
        return remaking.run()
    except (ValueError, IndexError, KeyError) as error:
        problem = f"{remaking.experiment.name}: the log cannot be replayed further: {error}"
        return Verified(1, problems=(*remaking.problems, problem))
