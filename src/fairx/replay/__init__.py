"""Replay: a policy on the log of another that displayed arms uniformly."""

from .replaying import Replayed, replay
from .uniform_log import UniformLog

__all__ = ["Replayed", "UniformLog", "replay"]
