"""The log checked line by line: snapshots rebuilt bit for bit, decisions made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .archives.checking import broken_archives, broken_counts, kept_sums
from .archives.record import last_cut
from .archives.rejoining import rejoined
from .database import Database
from .remaking import Remaking
from .seals import SEALS, broken_seals, is_sealed
from .snapshots import ServedExperiment, experiments
from .verified import Verified

SEALING = "SELECT 1 FROM meta WHERE name = 'version' AND CAST(value AS INTEGER) >= 3"
SERVED = "SELECT 1 FROM meta WHERE name = 'secret'"
DECIDED = "SELECT 1 FROM decisions LIMIT 1"


class Archive(NamedTuple):
    """Where archived lines are looked for, if at all."""

    folder: Path | None = None  # None: where the store says
    read: bool = True


def verify(
    database: Database,
    secret: bytes | None = None,
    progress: Callable[[int], None] = lambda count: None,
    archive: Archive = Archive(),  # noqa: B008 - it does not change
    *,
    served: bool = False,
) -> Verified:
    """Make everything in the log again; with the secret, check the signatures of decisions too.

    Whoever knows that it was `served` misses the seals also where nothing is left of them.
    What is archived is read, and what is in the store is checked across it; if it is not to be read, from
    the sums that the store keeps.
    """
    database.known_arms.clear()  # all is read anew
    sealed = is_sealed(database)
    broken = _broken(database, secret, archive)
    if not sealed and _was_sealed(database, served):
        broken = ["the store: its seals are gone, by which it is known what is missing", *broken]
    found = [
        _verified(database, experiment, secret, progress, archive)
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
        sum(each.archived for each in found),
    )


def _broken(database: Database, secret: bytes | None, archive: Archive) -> list[str]:
    """Return what is wrong with seals and files."""
    found = []
    if is_sealed(database) and secret is not None:
        found += broken_seals(database, secret, kept_sums(database, secret))
    if archive.read:
        found += broken_archives(database, secret, archive.folder)
    return found


def _was_sealed(database: Database, served: bool) -> bool:
    """Tell whether a service wrote to a store of a version that seals."""
    signs = [SERVED, SEALS, *([DECIDED] if served else [])]
    return bool(database.rows(SEALING)) and any(database.rows(sign) for sign in signs)


def _verified(
    database: Database,
    experiment: ServedExperiment,
    secret: bytes | None,
    progress: Callable[[int], None],
    archive: Archive,
) -> Verified:
    """Make one experiment again, as far as the log lets it."""
    if not archive.read or not last_cut(database, experiment.id).upto:
        return _replayed(Remaking(database, experiment, secret, progress))
    try:
        with rejoined(database, experiment.id, archive.folder) as whole:
            found = _replayed(Remaking(whole, experiment, secret, progress))
            problems = (*found.problems, *broken_counts(database, whole, experiment))
            return found._replace(problems=problems)
    except ValueError as error:  # a file that is not there, or was changed
        found = _replayed(Remaking(database, experiment, secret, progress))
        problem = f"{experiment.name}: what is archived cannot be replayed: {error}"
        return found._replace(problems=(problem, *found.problems))


def _replayed(remaking: Remaking) -> Verified:
    try:
        return remaking.run()
    except (ValueError, IndexError, KeyError) as error:
        problem = f"{remaking.experiment.name}: the log cannot be replayed further: {error}"
        return Verified(1, problems=(*remaking.problems, problem))
