"""What Numba complains about, in a line: the user's file, line and expression, and what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

THEIRS = re.compile(r"(^|/)(fairx|numba)/")  # not the user's code
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
WHERE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+):\s*\n(?P<code>(?:.*\n)*?)\s*\^')
RAISED = re.compile(r"(?P<said>[^\n]*?)\.? Raised from (?P<file>\S+) \((?P<line>\d+)\)")
# What is said by Numba, and what helps; {0} is the first group.
REMEDIES = (
    (r"Untyped global name '(\w+)'.*<class 'function'>", "decorate {0} with numba.njit"),
    (r"Untyped global name '(\w+)'", "make {0} a field, a number, an array or a compiled function"),
    (r"NumPyRandomGeneratorType_integers", "rng.integers takes both bounds: rng.integers(0, n)"),
    (
        r"attribute 'choice' of type NumPyRandomGenerator",
        "draw by np.searchsorted(np.cumsum(probabilities), rng.random())",
    ),
    (r"attribute '(\w+)' of type NumPyRandomGenerator", "rng.{0} is not known to Numba"),
    (r"f-string", "leave texts out of what is compiled"),
    (r"[Uu]nify", "let all branches give one type: 1.0 and not 1, never None"),
    (r"dict|Dict", "use arrays, not dictionaries of mixed types"),
    (r"unicode_type", "leave texts out of what is compiled"),
    (r"list\(", "use an array, not a list"),
)


def complaint(error: Exception) -> str:
    """Return where Numba failed and why, with a remedy where one is known.

    Examples
    --------
    >>> complaint(TypeError("format spec in f-strings not supported yet. Raised from mine.py (37)"))
    'mine.py, line 37: format spec in f-strings not supported yet: leave texts out of what is compiled'
    """
    text = COLOURS.sub("", str(error))
    where, said = _located(text)
    known = REMEDIES if where else REMEDIES[2:]  # names are the user's only where the line is
    remedy = next(
        (words.format(*found.groups()) for pattern, words in known
         if (found := re.search(pattern, said))), "",
    )  # fmt: skip
    return ": ".join(filter(None, (where, _first(said) or type(error).__name__, remedy)))


def _located(text: str) -> tuple[str, str]:
    """Return the innermost line of others' code that is blamed, and what is said of it."""
    raised = RAISED.search(text)
    if raised:
        return f"{Path(raised['file']).name}, line {raised['line']}", raised["said"]
    blames = (found for found in WHERE.finditer(text) if not THEIRS.search(found["file"]))
    blamed = next(blames, None)
    if blamed is None:
        return "", text
    where = f"{Path(blamed['file']).name}, line {blamed['line']}"
    if not blamed["file"].startswith("<"):  # of code without a file, Numba shows another line
        where += f", `{blamed['code'].strip().splitlines()[-1].strip()}`"
    return where, _said(text[: blamed.start()])


def _said(before: str) -> str:
    """Return the innermost complaint before a line of code: the last lines after a failed step."""
    return (
        before.rpartition("(step: nopython frontend)")[2].rpartition("native lowering)")[2].strip()
    )


def _first(said: str) -> str:
    """Return the first line that says something."""
    lines = (line.strip() for line in said.splitlines())
    found = next((line for line in lines if line and not line.startswith("- Resolution")), "")
    return re.sub(r"\s+", " ", found).rstrip(":. ")
