"""The dashboard: what the service does, for people to look at."""

from .pages import pages

__all__ = ["pages"]
