"""The log checked line by line: snapshots rebuilt bit for bit, decisions made again."""

from __future__ import annotations

from collections.abc import Callable

from .database import Database
from .replaying import Replay, Verified
from .snapshots import experiments


def verify(
    database: Database,
    secret: bytes | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Verified:
    """Replay the log; with the secret, check the signatures of decisions too."""
    found = [
        _replayed(Replay(database, experiment, secret, progress))
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


def _replayed(replay: Replay) -> Verified:
    """Replay one experiment, as far as the log lets it."""
    try:
        return replay.run()
    except (ValueError, IndexError, KeyError) as error:
        problem = f"{replay.experiment.name}: the log cannot be replayed further: {error}"
        return Verified(1, problems=(*replay.problems, problem))
