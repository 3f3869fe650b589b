"""Simulation: a policy in an environment, judged round by round, on all cores."""

from .comparing import Comparison, Difference, compare
from .measures import Round
from .provenance import Provenance
from .result import Result, Summary
from .simulating import simulate

__all__ = [
    "Comparison",
    "Difference",
    "Provenance",
    "Result",
    "Round",
    "Summary",
    "compare",
    "simulate",
]
