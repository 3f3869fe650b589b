"""Merit functions: how much exposure an arm of a given mean reward deserves."""

from .base import Merit, check_conditions, end_peak, merit_given, searched_peak
from .closed_form import Affine, Exponential, Logistic, Power
from .custom import Custom
from .piecewise import PiecewiseLinear

__all__ = [
    "Affine",
    "Custom",
    "Exponential",
    "Logistic",
    "Merit",
    "PiecewiseLinear",
    "Power",
    "check_conditions",
    "end_peak",
    "merit_given",
    "searched_peak",
]
