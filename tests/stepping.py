"""fairx in a process whose clock can be set: python tests/stepping.py FILE serve ...

FILE has the seconds that the clock is ahead.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from pathlib import Path


def set_clock(file: Path, ahead: float) -> None:
    """Set the clock of who runs with this file."""
    new = file.with_suffix(".new")
    new.write_text(repr(ahead))
    new.replace(file)


def step(file: Path) -> None:
    """Have all of this process read the clock with what the file says."""
    true = time.time
    time.time = lambda: true() + float(file.read_text())


if __name__ == "__main__":
    step(Path(sys.argv.pop(1)))
    del sys.path[0]  # this folder: the process is to find what any other finds
    os.environ.pop("PYTHONSAFEPATH", None)
    runpy.run_module("fairx", run_name="__main__", alter_sys=True)
