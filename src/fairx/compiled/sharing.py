"""Loops whose turns the lanes of a GPU share: on a processor, one takes all of them."""

from __future__ import annotations

from .teaching import kernel


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
