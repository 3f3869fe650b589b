"""What is mature of an experiment, as files of Parquet that an audit reads: each decision once."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from . import scratch
from .archives.record import last_cut
from .archives.rejoining import rejoined
from .audited import audited
from .database import Database, Row, rows_among
from .earlier import Earlier
from .errors import Conflict
from .log_tables import schema
from .logbook import MATURE, NEXT, in_turn, whole, write
from .many_arms import MANY, SCHEMA, Numbered, small_table
from .snapshots import ServedExperiment
from .whole_slates import CHUNK, WholeSlates

ANY_PLACE = """
SELECT 1 FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? AND d.place IS NOT NULL LIMIT 1
"""
NAMED = "m.number IN ({}) ORDER BY m.number"
AT_ONCE = 1024  # numbers in one statement
SLATES = 100_000_000  # rows times arms: what an audit of slates looks through
ARMS = "SELECT count(DISTINCT place) FROM arms WHERE experiment = ?"
MATURED = "SELECT COALESCE(max(number), 0) FROM matured WHERE experiment = ?"


class Spool:
    """The decisions of an experiment that are mature, as Parquet files that an audit reads.

    What is mature never changes, so that each decision is read from the store once; slates, when all
    of their places are. Files are merged as they come: there are few, and each is at least twice as
    large as the next. Where there are many arms, rows have the number of their pool and the propensity
    alone, unless they are of slates.
    """

    def __init__(self, experiment: ServedExperiment, archive: Path | None = None) -> None:
        self._experiment, self._archive = experiment, archive
        self._folder = scratch.folder("audit-")
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._last = self._made = 0
        self._slates = WholeSlates()
        self._parts: list[tuple[int, Path]] = []
        self.places = False  # whether there are slates: then all files have their columns
        self.pools: Numbered | None = None  # where there are many arms, and no slates

    def extend(self, database: Database) -> Path | None:
        """Take in what has become mature; return the folder, if there is anything in it."""
        try:
            self._take_in_all(database)
        except BaseException:  # half a file would count twice
            self._begin_again()
            raise
        finally:
            pa.default_memory_pool().release_unused()  # or it would be kept for the next time
        return self._folder if self._parts else None

    def _begin_again(self) -> None:
        self.pools = Numbered() if self.pools is not None else None
        self._last, self._parts, self._slates = 0, [], WholeSlates()
        for path in self._folder.iterdir():
            path.unlink()

    def _take_in_all(self, database: Database) -> None:
        """Take in what is new, from archives too where a part of it was moved there."""
        if self._last >= last_cut(database, self._experiment.id).upto:
            self._take_in(database)
            return
        with rejoined(database, self._experiment.id, self._archive) as whole_store:
            self._take_in(whole_store)

    def _take_in(self, database: Database) -> None:
        self._choose(database)
        path = self._new_path()
        with path.open("wb") as file:
            batches = self._whole(database) if self.places else self._mature(database)
            if self.pools is None:
                tables = whole(database, self._experiment, self.places)
                rows = write(file, batches, schema(places=self.places), tables)
            else:
                pools, earlier = self.pools, Earlier(database, self._experiment)
                rows = write(
                    file, batches, SCHEMA, lambda some: [small_table(some, pools, earlier)]
                )
        self._parts.append((rows, path))
        while len(self._parts) > 1 and self._parts[-2][0] < 2 * self._parts[-1][0]:
            self._merge()
        if not self._parts[-1][0]:
            self._parts.pop()[1].unlink()

    def _choose(self, database: Database) -> None:
        """Begin again in another form where slates came, or so many arms."""
        key = self._experiment.id
        slates = self.places or bool(database.rows(ANY_PLACE, (key, self._last)))
        ((arms,),) = database.rows(ARMS, (key,))
        if slates and arms > MANY:
            ((rows,),) = database.rows(MATURED, (key,))
            if rows * arms > SLATES:
                raise Conflict(
                    f"nothing can be audited: {rows:,} places among {arms:,} arms are too many; "
                    "export the log and audit a part of it"
                )
        small = arms > MANY and not slates
        if slates != self.places or small != (self.pools is not None):
            self.places, self.pools = slates, Numbered() if small else None
            self._begin_again()

    def _mature(self, database: Database) -> Iterator[list[Row]]:
        """Yield what has become mature, and counts."""
        sql = MATURE.format(audited=audited(self._experiment.settings), which=NEXT)
        for read in in_turn(database, sql, self._experiment.id, self._last):
            self._last = read[-1][0]
            yield [row for row in read if row[-1]]

    def _whole(self, database: Database) -> Iterator[list[Row]]:
        """Yield the slates that have become whole."""
        for numbers in self._slates.batches(database, self._experiment):
            for start in range(0, len(numbers), AT_ONCE):
                some = numbers[start : start + AT_ONCE]
                sql = MATURE.format(audited="1 = 1", which=NAMED)
                yield rows_among(database, sql, some, self._experiment.id)

    def _merge(self) -> None:
        """Make one file of the last two."""
        path, parts = self._new_path(), [self._parts.pop(), self._parts.pop()]
        columns = SCHEMA if self.pools is not None else schema(places=self.places)
        with pq.ParquetWriter(path, columns, compression="zstd") as writer:
            for _, part in reversed(parts):
                with pq.ParquetFile(part) as file:
                    for batch in file.iter_batches(CHUNK):
                        writer.write_batch(batch)
                part.unlink()
        self._parts.append((sum(rows for rows, _ in parts), path))

    def _new_path(self) -> Path:
        self._made += 1
        return self._folder / f"{self._made}.parquet"
