"""Simulation: a policy in an environment, judged round by round, on all cores."""

from .result import Result, Summary
from .simulating import simulate

__all__ = ["Result", "Summary", "simulate"]
