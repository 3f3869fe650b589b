"""Contexts as people have them: named features of a visit and of each arm, as columns of numbers."""

from fairx.moved import names_from

from .encoding import Features
from .kinds import Category, Number

__all__ = ["Category", "Features", "Number"]

# What version 0.1 had here.
__getattr__ = names_from(
    __name__,
    "fairx.datasets.features",
    ("fourier_features", "linear_fit", "median_distance"),
)
