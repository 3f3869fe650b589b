"""The arms of a bandit: their names and numbers, and those that are played no more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from fairx import rules
from fairx.errors import UnknownArm
from fairx.moved import renamed
from fairx.types import Indices

TOLD = 20  # names in a message


class Arms:
    """Names by number; an arm keeps its number for good.

    Examples
    --------
    >>> arms = Arms(["a", "b"])
    >>> arms.remove("a")
    >>> arms.played
    ('b',)
    """

    def __init__(self, arms: int | Sequence[Hashable]) -> None:
        counted = isinstance(arms, (int, np.integer))
        self.names: list[Any] = list(range(rules.count("arms", arms)) if counted else arms)  # type: ignore[arg-type]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        rules.count("the number of arms", len(self.names))
        if len(self.numbers) < len(self.names):
            raise ValueError(f"arms must be distinct, not {self.names!r}")
        self._retired: set[Any] = set()
        self._list()

    @property
    def retired(self) -> list[Any]:
        """Those that are played no more, by number."""
        return sorted(self._retired, key=self.numbers.__getitem__)

    def retire(self, names: Iterable[Any]) -> None:
        """Play these no more."""
        self._retired |= set(names)
        self._list()

    def add(self, name: Hashable) -> None:
        """Play an arm, a new one or one of before."""
        if name not in self.numbers:
            self.numbers[name] = len(self.names)
            self.names.append(name)
        elif name in self._retired:
            self._retired.remove(name)
        else:
            raise ValueError(f"arm {name!r} exists already")
        self._list()

    def remove(self, name: Hashable) -> None:
        """Play an arm no more, unless it is the last one."""
        self._check(name)
        if len(self.played) == 1:
            raise ValueError(f"arm {name!r} is the last one: a bandit needs at least one arm")
        self.retire([name])

    def on_offer(
        self, candidates: Sequence[Any] | None, available: Sequence[Any] | None = None
    ) -> tuple[Indices, tuple[Any, ...]]:
        """Return the numbers and names of the arms on offer; `available` is the old name."""
        if available is not None:
            candidates = renamed("available", available, "candidates", candidates, stacklevel=4)
        return self.offered if candidates is None else self.among(candidates)

    def among(self, candidates: Sequence[Any]) -> tuple[Indices, tuple[Any, ...]]:
        """Return the numbers and names of the arms on offer."""
        names = tuple(candidates)
        for name in names:
            self._check(name)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"candidates must name at least one arm, each once, not {names!r}")
        return np.array([self.numbers[name] for name in names], np.int64), names

    def _list(self) -> None:
        arms = [arm for arm, name in enumerate(self.names) if name not in self._retired]
        self.played = tuple(self.names[arm] for arm in arms)
        self.offered = np.array(arms, np.int64), self.played

    def _check(self, name: Any) -> None:
        if name not in self.numbers or name in self._retired:
            known = ", ".join(map(repr, self.played[:TOLD]))
            raise UnknownArm(f"arm {name!r} does not exist: this bandit has {known}")
