"""Logs of which each line is JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from .observing import request_id


class JsonLines(logging.Formatter):
    """Writes each event as a line of JSON."""

    STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "color_message", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in self.STANDARD}
        if request_id.get():
            line["request_id"] = request_id.get()
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def handler() -> logging.Handler:
    """Return a handler that writes to the standard error."""
    found = logging.StreamHandler(sys.stderr)
    found.setFormatter(JsonLines())
    return found
