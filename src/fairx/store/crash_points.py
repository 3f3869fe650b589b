"""Named points at which a test can have the process die: FAIRX_KILL_AT=before_commit:3."""

from __future__ import annotations

import os
import signal

NAMES = (
    "before_write", "before_commit", "after_commit", "before_acknowledge",
    "mid_fold", "mid_snapshot", "mid_export",
)  # fmt: skip
# Those of `fairx archive`: a service does not come by.
ARCHIVING = (
    "archive_writing",
    "archive_written",
    "archive_named",
    "archive_removed",
    "archive_committed",
)
_name, _, _count = os.environ.get("FAIRX_KILL_AT", "").partition(":")
_left = int(_count or 1)


def reach(name: str) -> None:
    """Die here, if this is the point and the number of times it was to be passed is over."""
    global _left
    if name != _name:
        return
    _left -= 1
    if _left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
