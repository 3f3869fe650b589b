"""Secrets: from the environment, from a file, or made on first use."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from fairx.files import sync_directory
from fairx.store import Store

SHORTEST = 16  # characters of a secret


def secret_of(store: Store, file: Path | None) -> bytes:
    """Return the secret that signs decision ids: from FAIRX_SECRET, a file, or beside the store.

    A store on SQLite gets a file of its own, PATH.secret, made on first use. Processes that share
    a PostgreSQL must be given the same secret.
    """
    given = from_environment("FAIRX_SECRET") or (file.read_text("utf-8").strip() if file else "")
    if not given and store.path is None:
        raise ValueError(
            "FAIRX_SECRET must be set, or --secret-file given, with postgresql://: all processes "
            "sign decision ids with it"
        )
    if not given:
        assert store.path is not None
        file = store.path.with_name(store.path.name + ".secret")
        if store.path.exists() and not file.exists():
            raise ValueError(
                f"{file} must be there, with the secret that {store.path} was made with: "
                "bring it from where that was, or set FAIRX_SECRET"
            )
        given = _kept(file)
    if len(given) < SHORTEST:
        raise ValueError(f"the secret must have at least {SHORTEST} characters")
    return hashlib.sha256(given.encode()).digest()


def from_environment(name: str) -> str | None:
    """Return a secret from the environment, or from the file that NAME_FILE names."""
    file = os.environ.get(name + "_FILE")
    return os.environ.get(name) or (Path(file).read_text("utf-8").strip() if file else None)


def _kept(path: Path) -> str:
    """Return the secret in a file that only its owner can read, made on first use."""
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process was faster
            path.hardlink_to(unfinished)
        unfinished.unlink()
        sync_directory(path.parent)
    return path.read_text("utf-8").strip()
