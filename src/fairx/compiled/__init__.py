"""The one room that knows about Numba: one source, run interpreted or compiled.

Merits, policies, states and environments are *records*: named tuples with methods. Numba
understands their fields; `compilable` teaches it their methods and `kernel` our plain functions;
`entry` compiles a loop for the records it is given.
"""

from .copying import own_copy
from .entries import Entry, cache_directory, direct, entry, interpreted
from .exactness import exactly, is_exact, last_bits
from .guessing import near_inverse_root, near_reciprocal
from .keys import Key
from .lowering import code_of, is_our_class, is_overridden, lowered
from .origins import is_our_code
from .records import changed, record
from .sharing import brought, by_any, hidden, meet, settle, turns
from .tables import has_tables, tabulated
from .teaching import compilable, fetching, kernel, kernel_with, load, outlined, vector_kernel

__all__ = [
    "Entry",
    "Key",
    "brought",
    "by_any",
    "cache_directory",
    "changed",
    "code_of",
    "compilable",
    "direct",
    "entry",
    "exactly",
    "fetching",
    "has_tables",
    "hidden",
    "interpreted",
    "is_exact",
    "is_our_class",
    "is_our_code",
    "is_overridden",
    "kernel",
    "kernel_with",
    "last_bits",
    "load",
    "lowered",
    "meet",
    "near_inverse_root",
    "near_reciprocal",
    "outlined",
    "own_copy",
    "record",
    "settle",
    "tabulated",
    "turns",
    "vector_kernel",
]
