"""The same colour for the same policy everywhere, told apart by the colour-blind too."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple


class Style(NamedTuple):
    """How a policy is drawn."""

    colour: str
    line: str = "-"


# Okabe and Ito's colours. Linear policies share those of their twins without contexts; the exact
# and ascending solvers are ours, hence dashed beside the paper's gradient steps.
OPTIMAL = Style("#000000")
_KNOWN = {
    "UCB": Style("#E69F00"),
    "TS": Style("#D55E00", "-."),  # often on top of UCB
    "EG": Style("#999999"),
    "FairX-UCB (gradient)": Style("#0072B2"),
    "FairX-UCB (exact)": Style("#56B4E9", "--"),
    "FairX-UCB (ascent)": Style("#56B4E9", "--"),
    "FairX-UCB": Style("#0072B2"),
    "FairX-TS": Style("#009E73"),
    "FairX-EG": Style("#CC79A7"),
    "greedy": Style("#CC79A7", "-."),  # FairX-EG without its epsilon
}
# For everybody else's: Tol's muted colours, solid and then in other lines.
_FURTHER = [
    Style(colour, line)
    for line in ("-", "-.", "--")
    for colour in ("#332288", "#882255", "#999933", "#44AA99", "#AA4499", "#117733")
]


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """Return the style of each label: a fixed one for ours, one from its letters for others.

    Two labels of others share a style only when there are more of them than styles.

    Examples
    --------
    >>> found = styles(["FairX-TS", "FairX-LinTS", "mine"])
    >>> found["FairX-TS"] == found["FairX-LinTS"], found["mine"] == styles(["mine"])["mine"]
    (True, True)
    """
    found: dict[str, Style] = {}
    for label in labels:
        found[label] = _KNOWN.get(label.replace("Lin", "")) or _further(label, found)
    return found


def _further(label: str, taken: dict[str, Style]) -> Style:
    """Return the style that the letters fall on, or the next free one."""
    start = zlib.crc32(label.encode()) % len(_FURTHER)
    turned = _FURTHER[start:] + _FURTHER[:start]
    return next((style for style in turned if style not in taken.values()), turned[0])
