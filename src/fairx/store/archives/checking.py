"""Archives checked: each file is as it was written, and has what the store says of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from fairx.errors import BrokenFile

from ..database import Database
from ..earlier import Earlier
from ..identity import slate_id
from ..sealing import MODULUS, Sum
from ..seals import KINDS, seal_key
from ..snapshots import ServedExperiment
from . import tallies
from .files import CHUNK, Adder, checked, read_lines
from .lines import Span
from .record import Cut, Part, archived_among, folder_of, last_cut, parts, sum_of


def kept_sums(database: Database, secret: bytes) -> dict[tuple[int, str], Sum]:
    """Return the sums of archived lines, as the store keeps them, by experiment and kind."""
    found: dict[tuple[int, str], Sum] = {}
    for part in parts(database):
        if part.kind in KINDS:
            count, total = sum_of(part, seal_key(secret))
            before = found.get((part.experiment, part.kind), (0, 0))
            found[part.experiment, part.kind] = (before[0] + count, (before[1] + total) % MODULUS)
    return found


def broken_archives(database: Database, secret: bytes | None, archive: Path | None) -> list[str]:
    """Return what is wrong with the files, in words."""
    known = parts(database)
    if not known:
        return []
    folder, problems = folder_of(database, archive), list[str]()
    for part in known:
        try:
            problems += _wrong(database, part, folder, secret)
        except BrokenFile as broken:
            problems.append(str(broken))
    return problems


def broken_counts(
    database: Database, whole: Database, experiment: ServedExperiment
) -> Iterator[str]:
    """Compare what was counted of archived decisions with what is counted again."""
    span = Span(experiment.id, 0, last_cut(database, experiment.id))
    kept, again = tallies.kept(database, experiment.id), tallies.counted(whole, experiment, span)
    for arm in sorted(kept.keys() | again.keys()):
        one, two = kept.get(arm, tallies.Tally()), again.get(arm, tallies.Tally())
        near = math.isclose(one.weight, two.weight, rel_tol=1e-9, abs_tol=1e-9)  # summed otherwise
        if not near or one._replace(weight=0.0) != two._replace(weight=0.0):
            yield f"{experiment.name}: what was counted of arm {arm} is not what the archive has"
    ((count,),) = database.rows(
        "SELECT count(*) FROM archived WHERE experiment = ?", (experiment.id,)
    )
    sql = "SELECT count(*) FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.number <= ? AND COALESCE(d.place, 1) = 1"
    ((wanted,),) = whole.rows(sql, (span.cut.upto,))
    if count != wanted:
        yield f"{experiment.name}: {wanted} decisions are archived, but {count} of their ids are known"


def _is_kept(database: Database, experiment: ServedExperiment, cut: Cut) -> bool:
    """Tell whether the first snapshot in the store follows from the sums that are kept."""
    sql = "SELECT digest FROM snapshots WHERE experiment = ? AND version = ?"
    ((digest,),) = database.rows(sql, (experiment.id, cut.version))
    return bool(Earlier(database, experiment).snapshot(cut.version).digest() == digest)


def _wrong(database: Database, part: Part, folder: Path, secret: bytes | None) -> Iterator[str]:
    if secret is None and part.kind != "decisions":
        checked(folder, part)
        return
    total = Adder(part.kind, seal_key(secret or b"none"), part.experiment)
    for rows in read_lines(folder, part):
        total.add(rows)
        if part.kind == "decisions":
            ids = {slate_id(row[1]) for row in rows}
            for lost in sorted(_unknown(database, sorted(ids))):
                yield f"decision {lost} is archived, but its id is not known: its key could be used again"
    if secret is not None and total.found != sum_of(part, seal_key(secret)):
        yield f"archive {folder / part.file} does not have the lines that were archived"


def _unknown(database: Database, ids: list[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(ids), CHUNK):
        some = ids[start : start + CHUNK]
        found |= set(some) - archived_among(database, some)
    return found
