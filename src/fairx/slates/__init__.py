"""Slates: several places, exposure in proportion to merit, and exact propensities."""

from .drawing import Slate, draw_slate, slate_propensities
from .places import Page, new_page, place_weights
from .target import fair_exposure

__all__ = [
    "Page",
    "Slate",
    "draw_slate",
    "fair_exposure",
    "new_page",
    "place_weights",
    "slate_propensities",
]
