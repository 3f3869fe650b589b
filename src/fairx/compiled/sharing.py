"""Loops whose turns the lanes of a GPU share: on a processor, one takes all of them."""

from __future__ import annotations

from typing import Any

from .teaching import kernel, kernel_with


@kernel
def turns(count: int) -> range:
    """Return those turns of a loop that this lane takes; none may need what another one does.

    Examples
    --------
    >>> list(turns(3))
    [0, 1, 2]
    """
    return range(count)


@kernel
def meet() -> None:
    """Wait for the other lanes: what they wrote can be read from now on."""


@kernel
def by_any(told: bool) -> bool:
    """Tell whether any lane told so: all go on alike, and meet as often.

    Examples
    --------
    >>> by_any(True)
    True
    """
    return told


@kernel
def settle() -> None:
    """Finish what is begun: a GPU would read ahead, and lack the registers that it reads into."""


@kernel
def hidden(count: int) -> int:
    """Return the number, of which a GPU's compiler is told nothing: a loop stays one, and its code short.

    Examples
    --------
    >>> hidden(3)
    3
    """
    return count


def _copied(far: Any, near: Any) -> Any:
    """Copy the rows, each lane some of their numbers."""
    if len(near) == 0:
        return far
    rows, columns = near.shape  # which the compiler knows
    meet()
    for column in turns(columns):
        for row in range(rows):
            near[row, column] = far[row, column]
    meet()
    return near


@kernel_with(_copied)
def brought(far: Any, near: Any) -> Any:
    """Return the rows of a matrix: on a GPU as a copy in `near`, which has as many, or none."""
    return far
