"""Reports of experiments: the paper's claims, tables, and one page with everything."""

from .claims import Claim, claims
from .deciding import decide
from .page import write_report
from .tables import Row, rows, write_tables

__all__ = ["Claim", "Row", "claims", "decide", "rows", "write_report", "write_tables"]
