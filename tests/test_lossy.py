"""The disk that loses power loses what was not synced, all else is kept, and no database breaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import apsw
import pytest
from lossy import LossyDisk
from lossy_files import pieces

CUTS = 40  # at each setting


def opened(disk: LossyDisk, journal: str, synchronous: str) -> apsw.Connection:
    connection = apsw.Connection(str(disk.folder / "data"), vfs=disk.vfs)
    connection.execute(f"pragma journal_mode = {journal}").get  # noqa: B018 (rows are lazy)
    connection.execute(f"pragma synchronous = {synchronous}; pragma wal_autocheckpoint = 12").get  # noqa: B018
    connection.execute("create table if not exists kept(value integer primary key, filler)")
    return connection


def commits(connection: apsw.Connection, start: int, end: int) -> int:
    """Insert one by one; return the number after the last that was acknowledged."""
    for value in range(start, end):
        try:
            connection.execute("insert into kept values (?, randomblob(700))", [value])
        except (apsw.IOError, apsw.FullError, apsw.CantOpenError):
            return value
    return end


def lost_in_cuts(disk: LossyDisk, journal: str, synchronous: str, seed: int) -> int:
    """Cut at random moments, check what is found each time, and return how many commits are lost."""
    random, lost, acknowledged = Random(seed), 0, 0
    for _ in range(CUTS):
        disk.cut_after(random.randrange(120))
        try:
            connection = opened(disk, journal, synchronous)
        except (apsw.IOError, apsw.CantOpenError):
            continue  # cut while it opened
        acknowledged = commits(connection, acknowledged, acknowledged + random.randrange(20))
        disk.cut()
        connection = opened(disk, journal, synchronous)
        assert connection.execute("pragma integrity_check").get == "ok"
        found, last = connection.execute("select count(*), max(value) from kept").get
        # Commits are lost from the end; one that was not acknowledged may be there.
        assert found == (0 if last is None else last + 1)
        assert found <= acknowledged + 1
        lost += max(0, acknowledged - found)
        acknowledged = found
    return lost


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("journal", "synchronous"), [("wal", "full"), ("delete", "extra")])
def test_what_is_synced_is_kept(
    tmp_path: Path, journal: str, synchronous: str, seed: int, keep: float
) -> None:
    with LossyDisk(tmp_path, keep, seed) as disk:
        assert lost_in_cuts(disk, journal, synchronous, seed) == 0


@pytest.mark.parametrize("keep", [0.0, 0.5])
@pytest.mark.parametrize(("journal", "synchronous"), [("wal", "normal"), ("delete", "full")])
def test_what_is_not_synced_is_lost(
    tmp_path: Path, journal: str, synchronous: str, keep: float
) -> None:
    with LossyDisk(tmp_path, keep, seed=1) as disk:
        assert lost_in_cuts(disk, journal, synchronous, seed=1) > 0


def test_without_any_sync_a_cut_breaks_the_database(tmp_path: Path) -> None:
    found = set()
    for seed in range(20):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with LossyDisk(folder, keep=0.5, seed=seed) as disk:
            commits(opened(disk, "wal", "full"), 0, 10)
            connection = opened(disk, "wal", "off")
            commits(connection, 10, 60)
            disk.cut()
            try:
                found.add(opened(disk, "wal", "off").execute("pragma integrity_check").get == "ok")
            except (apsw.CorruptError, apsw.NotADBError):
                found.add(False)
    assert False in found


def test_a_full_log_loses_nothing_where_a_normal_one_does(tmp_path: Path) -> None:
    """SERVING.md, 3.3: the same commits, acknowledged alike."""
    left = {}
    for synchronous in ("normal", "full"):
        folder = tmp_path / synchronous
        folder.mkdir()
        with LossyDisk(folder) as disk:
            connection = opened(disk, "wal", synchronous)
            connection.execute("pragma wal_checkpoint(truncate); pragma wal_autocheckpoint = 0").get  # noqa: B018
            assert commits(connection, 0, 50) == 50
            disk.cut()
            connection = opened(disk, "wal", synchronous)
            left[synchronous] = connection.execute("select count(*) from kept").get
    assert left == {"normal": 0, "full": 50}


def test_connections_from_before_the_cut_cannot_write(tmp_path: Path) -> None:
    with LossyDisk(tmp_path) as disk:
        before, reader = opened(disk, "wal", "full"), opened(disk, "wal", "full")
        commits(before, 0, 3)
        before.execute("begin immediate; insert into kept values (3, 'open')")
        disk.cut()
        after = opened(disk, "wal", "full")
        assert commits(after, 3, 5) == 5  # the old connection's lock is gone with it
        with pytest.raises(apsw.IOError):
            before.execute("commit")
        with pytest.raises(apsw.IOError):
            reader.execute("insert into kept values (9, 'late')")
        before.close()
        reader.close()
        assert after.execute("select group_concat(value) from kept").get == "0,1,2,3,4"
        assert after.execute("pragma integrity_check").get == "ok"


def test_an_orderly_end_keeps_everything(tmp_path: Path) -> None:
    with LossyDisk(tmp_path) as disk:
        commits(opened(disk, "wal", "off"), 0, 10)
    connection = apsw.Connection(str(tmp_path / "data"))
    assert connection.execute("select count(*) from kept").get == 10
    connection.close()


@pytest.mark.parametrize(("synchronous", "kept"), [("normal", False), ("full", True)])
def test_killing_the_process_is_a_cut(tmp_path: Path, synchronous: str, kept: bool) -> None:
    program = (
        "import os, pathlib, signal, sys, test_lossy\n"
        "disk = test_lossy.LossyDisk(pathlib.Path(sys.argv[1])).__enter__()\n"
        "connection = test_lossy.opened(disk, 'wal', sys.argv[2])\n"
        "connection.execute('pragma wal_checkpoint(truncate)').get\n"
        "test_lossy.commits(connection, 0, 3)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), synchronous]
    here = Path(__file__).parent
    done = subprocess.run(command, cwd=here, capture_output=True, timeout=60, check=False)
    assert done.returncode == -9, done.stderr
    connection = apsw.Connection(str(tmp_path / "data"))
    assert connection.execute("select count(*) from kept").get == (3 if kept else 0)
    connection.close()


def test_other_folders_and_odd_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep must be a probability, not 2"):
        LossyDisk(tmp_path, keep=2)
    with (
        LossyDisk(tmp_path / "disk") as disk,
        pytest.raises(apsw.CantOpenError, match="must be in"),
    ):
        apsw.Connection(str(tmp_path / "data"), vfs=disk.vfs)


def test_pieces_are_the_writes_cut_at_sectors() -> None:
    data = bytes(range(256)) * 5
    cut = list(pieces([(700, data), (9, None)]))
    assert [offset for offset, _ in cut] == [700, 1024, 1536, 9]
    assert b"".join(part for _, part in cut if part is not None) == data
    assert cut[-1] == (9, None)
