"""Backups and restores when something is wrong: what is good is never replaced by what is not."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import LIMITS, SECRET, Service, serving

from fairx.command import main
from fairx.errors import BrokenFile
from fairx.store import Store, located, verify
from fairx.store.copying import backup, restore
from fairx.store.setting_aside import done
from fairx.store.sqlite import SQLite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a store with some decisions."""
    with serving(tmp_path / "store.db") as service:
        service.create()
        _decide(service, 300)
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Store:
    return located(f"sqlite:///{path}")


def _decide(service: Service, count: int) -> None:
    service.decide(f"k{count}", count=count)


def _decide_and_be_killed(path: Path) -> None:
    """Leave a store whose last commits are in its log of changes."""
    with serving(path) as service:
        _decide(service, 400)
        main_file, log = path.read_bytes(), path.with_name("store.db-wal").read_bytes()
    path.write_bytes(main_file)
    path.with_name("store.db-wal").write_bytes(log)


def _damage(path: Path) -> bytes:
    """Overwrite pages in the middle of a store."""
    whole = path.read_bytes()
    middle = len(whole) // 4096 // 2 * 4096
    path.write_bytes(whole[:middle] + b"\xff" * 8192 + whole[middle + 8192 :])
    return path.read_bytes()


def _decisions(path: Path) -> int:
    reader = SQLite(path, write=False)
    found = verify(reader, SECRET)
    reader.close()
    assert found.problems == ()
    return found.decisions


def test_a_damaged_store_does_not_replace_a_good_backup(path: Path, store: Store) -> None:
    copy = path.with_name("copy.db")
    backup(store, copy)
    good = copy.read_bytes()
    _damage(path)
    with pytest.raises(BrokenFile, match=r"store\.db must be a whole store, but SQLite says"):
        backup(store, copy)
    assert copy.read_bytes() == good
    assert not [each for each in path.parent.iterdir() if "unfinished" in each.name]


@pytest.mark.parametrize("kind", ["same", "symbolic", "hard", "log"])
def test_a_backup_is_not_written_onto_its_store(path: Path, store: Store, kind: str) -> None:
    target = {"same": path, "log": path.with_name("store.db-wal")}.get(
        kind, path.with_name("link.db")
    )
    if kind == "symbolic":
        target.symlink_to(path.name)
    if kind == "hard":
        target.hardlink_to(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="another file than the store"):
        backup(store, target)
    assert path.read_bytes() == before
    assert _decisions(path) == 300


def test_a_backup_is_not_written_onto_the_log_of_a_store_that_is_called_by_a_link(
    path: Path,
) -> None:
    """SQLite keeps the log beside the file, not beside the link."""
    link = path.with_name("link.db")
    link.symlink_to(path.name)
    with serving(path) as service:
        _decide(service, 400)
        with pytest.raises(ValueError, match="another file than the store"):
            backup(located(f"sqlite:///{link}"), path.with_name("store.db-wal"))
    assert _decisions(path) == 700


def test_a_store_is_not_copied_or_verified_by_one_of_several_names(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was acknowledged was beside the other name: an empty backup took the place of a good one."""
    copy, other = path.with_name("copy.db"), path.with_name("other.db")
    backup(located(f"sqlite:///{path}"), copy)
    with serving(path) as service:
        _decide(service, 400)
        os.link(path, other)
        address = f"sqlite:///{other}"
        for command in (["verify", "--store", address], ["backup", "--store", address, str(copy)]):
            assert main(command) == 1
            assert "must have one name, not 2" in capsys.readouterr().err
        other.unlink()
    assert (_decisions(copy), _decisions(path)) == (300, 700)


def test_a_damaged_store_is_moved_aside_and_replaced(path: Path, store: Store) -> None:
    copy = path.with_name("copy.db")
    backup(store, copy)
    for damaged in (_damage(path), b"not a database at all", b""):
        path.write_bytes(damaged)
        aside = restore(copy, store, replace=True)
        assert aside is not None
        assert aside.read_bytes() == damaged
        assert _decisions(path) == 300


@pytest.mark.parametrize("there", [True, False])
def test_a_log_of_changes_that_is_not_the_backups_is_moved_aside(
    path: Path, store: Store, there: bool
) -> None:
    """SQLite would play it into the restored file, which is malformed then."""
    copy = path.with_name("copy.db")
    backup(store, copy)
    with serving(path) as service:
        _decide(service, 400)
        wal = path.with_name("store.db-wal").read_bytes()
    assert wal
    stale = path.with_name("store.db-wal")
    stale.write_bytes(wal)
    if not there:
        path.unlink()
    restore(copy, store, replace=there)
    assert not stale.exists()
    assert _decisions(path) == 300
    kept = [each for each in path.parent.iterdir() if ".before-" in each.name]
    assert any(each.name.endswith("-wal") and each.read_bytes() == wal for each in kept) or there


def test_what_was_moved_aside_is_put_back_with_its_log_of_changes(path: Path, store: Store) -> None:
    """A store that was killed has its last commits there; without them they were lost, unsaid."""
    copy = path.with_name("copy.db")
    backup(store, copy)
    _decide_and_be_killed(path)
    aside = restore(copy, store, replace=True)
    assert aside is not None
    assert _decisions(path) == 300
    restore(aside, store, replace=True)
    assert _decisions(path) == 700


def test_a_restore_that_fails_leaves_the_store_where_it_is(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moved aside first, it was missed by the next start, which made an empty one."""
    copy = path.with_name("copy.db")
    backup(store, copy)

    def full(source: Any, target: str) -> None:
        Path(target).write_bytes(source.read_bytes()[:4096])
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr("fairx.store.copying._copy", full)
    with pytest.raises(OSError, match="no space left"):
        restore(copy, store, replace=True)
    assert _decisions(path) == 300
    assert not [each.name for each in path.parent.iterdir() if ".before-" in each.name]


@pytest.mark.parametrize("steps", range(6))
def test_a_restore_that_is_cut_off_loses_nothing(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Killed while the store was aside, it was missed by the next start, which made an empty one."""
    copy = path.with_name("copy.db")
    backup(store, copy)
    _decide_and_be_killed(path)
    left = iter(range(steps))

    def killed(step: Callable[..., Any]) -> Callable[..., Any]:
        def tried(*about: Any, **named: Any) -> Any:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return step(*about, **named)

        return tried

    with monkeypatch.context() as patched:
        # The mark, the file and its log are moved, another is put there, and the mark is taken away.
        for name in ("replace", "rename"):
            patched.setattr(Path, name, killed(getattr(Path, name)))
        patched.setattr("fairx.store.copying.done", killed(done))
        if steps < 5:
            with pytest.raises(KeyboardInterrupt):
                restore(copy, store, replace=True)
        else:
            restore(copy, store, replace=True)
    if 0 < steps < 5:
        with pytest.raises(OSError, match="must be restored to the end"):
            SQLite(path, write=True)
        restore(copy, store, replace=True)
    SQLite(path, write=True).close()
    aside = min(path.parent.glob("store.db.before-*T??????"), default=path)
    assert _decisions(aside) == 700
    assert _decisions(path) == (300 if steps else 700)


def test_a_damaged_store_is_not_served(path: Path) -> None:
    _damage(path)
    service = Service(path, LIMITS, auth=False)
    with pytest.raises(BrokenFile, match="restore a backup"):
        service.start()
    service.runner.close()


def test_verifying_a_damaged_store_says_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _damage(path)
    assert main(["verify", "--store", f"sqlite:///{path}"]) == 1
    assert "store.db is damaged, SQLite says" in capsys.readouterr().err
