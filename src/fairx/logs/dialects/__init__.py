"""Logs of others: each dialect says how its columns become ours, and ours its own."""

from . import coba, dsjson, eppo, open_bandit, own
from .dialect import Dialect, recognised

DIALECTS = {
    one.name: one
    for one in (own.DIALECT, dsjson.DIALECT, open_bandit.DIALECT, coba.DIALECT, eppo.DIALECT)
}


def known(name: str) -> Dialect:
    """Return a dialect by its name."""
    if name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {name!r}")
    return DIALECTS[name]


__all__ = ["DIALECTS", "Dialect", "known", "recognised"]
