"""Reports of experiments: the paper's claims, tables, and one page with everything."""

from .claims import Claim, claims
from .page import write_report
from .tables import Row, rows, write_tables

__all__ = ["Claim", "Row", "claims", "rows", "write_report", "write_tables"]
