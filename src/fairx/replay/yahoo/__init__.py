"""The Yahoo! Today Module log (Webscope R6A): read, kept as columns, and made up."""

from .reading import about, load, parse, path_of, read
from .today import About, TodayLog, joined
from .writing import make_yahoo, write

__all__ = [
    "About",
    "TodayLog",
    "about",
    "joined",
    "load",
    "make_yahoo",
    "parse",
    "path_of",
    "read",
    "write",
]
