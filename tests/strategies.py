"""Hypothesis strategies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fairx import Affine, Exponential, Logistic, PiecewiseLinear, Power


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


def means(most: int = 12) -> st.SearchStrategy[list[float]]:
    return st.lists(floats(-1.0, 2.0), min_size=1, max_size=most)


@st.composite
def piecewise(draw: Any) -> PiecewiseLinear:
    steps = draw(st.lists(st.tuples(floats(0.05, 1), floats(0, 3)), min_size=1, max_size=4))
    knots, values = [draw(floats(-1, 0.5))], [draw(floats(0.1, 2))]
    for length, rise in steps:
        knots.append(knots[-1] + length)
        values.append(values[-1] + rise)
    return PiecewiseLinear(tuple(knots), tuple(values))


def log_concave() -> st.SearchStrategy[Any]:
    """Merits that are positive from -12 up (Affine, Power) or everywhere."""
    return st.one_of(
        st.builds(Exponential, floats(0, 50)),
        st.builds(Affine, floats(0, 2), floats(25, 40)),
        st.builds(Power, floats(0, 4), floats(13, 20)),
        st.builds(Logistic, floats(0, 30), floats(-1, 2)),
    )


def merits() -> st.SearchStrategy[Any]:
    return st.one_of(log_concave(), piecewise())


@st.composite
def boxes(draw: Any, most: int = 8) -> tuple[list[float], list[float]]:
    """Boxes from very narrow to very wide."""
    centres = draw(st.lists(floats(0, 1), min_size=1, max_size=most))
    widths = [10 ** draw(floats(-4, 1)) for _ in centres]
    low = [centre - width for centre, width in zip(centres, widths, strict=True)]
    return low, [centre + width for centre, width in zip(centres, widths, strict=True)]
