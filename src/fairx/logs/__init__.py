"""Decision logs: what was shown, with which chance, and what came of it."""

from .columns import COLUMNS
from .log import Log
from .reading import read
from .writing import Appender, row, rows

__all__ = ["COLUMNS", "Appender", "Log", "read", "row", "rows"]
