"""What a check of the log found."""

from __future__ import annotations

from typing import NamedTuple


class Verified(NamedTuple):
    """What was checked, and what is wrong."""

    experiments: int = 0
    snapshots: int = 0
    decisions: int = 0
    matured: int = 0
    erased: int = 0  # decisions that cannot be made again, for contexts were erased
    problems: tuple[str, ...] = ()
    sealed: bool = False  # whether lines that are gone would be missed
    archived: int = 0  # matured decisions whose files were not looked at
