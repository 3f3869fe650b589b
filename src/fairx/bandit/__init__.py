"""A policy at work, outside of any service: it acts, learns, and is kept in a file."""

from .bandit import Bandit
from .decision import Decision, SlateDecision

__all__ = ["Bandit", "Decision", "SlateDecision"]
