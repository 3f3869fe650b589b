"""Contexts as people have them: named features of a visit and of each arm, as columns of numbers."""

from .encoding import Features
from .kinds import Category, Number

__all__ = ["Category", "Features", "Number"]
