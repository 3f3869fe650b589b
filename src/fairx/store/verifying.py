"""The log checked line by line: snapshots rebuilt bit for bit, decisions made again."""

from __future__ import annotations

from collections.abc import Callable

from .database import Database
from .remaking import Remaking
from .seals import broken_seals, is_sealed
from .snapshots import experiments
from .verified import Verified

# A service has written to it, of a version that seals.
LOST_SEALS = """
SELECT 1 FROM meta s JOIN meta v ON v.name = 'version' AND CAST(v.value AS INTEGER) >= 3
WHERE s.name = 'secret'
"""


def verify(
    database: Database,
    secret: bytes | None = None,
    progress: Callable[[int], None] = lambda count: None,
) -> Verified:
    """Make everything in the log again; with the secret, check the signatures of decisions too."""
    database.known_arms.clear()  # all is read anew
    sealed = is_sealed(database)
    broken = broken_seals(database, secret) if sealed and secret is not None else []
    if not sealed and database.rows(LOST_SEALS):
        broken = ["the store: its seals are gone, by which it is known what is missing"]
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
        (*broken, *(problem for each in found for problem in each.problems)),
        sealed and secret is not None,
    )


def _verified(remaking: Remaking) -> Verified:
    """Make one experiment again, as far as the log lets it."""
    try:
        return remaking.run()
    except (ValueError, IndexError, KeyError) as error:
        problem = f"{remaking.experiment.name}: the log cannot be replayed further: {error}"
        return Verified(1, problems=(*remaking.problems, problem))
