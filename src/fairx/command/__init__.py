"""The command `fairx`."""

from .main import main

__all__ = ["main"]
