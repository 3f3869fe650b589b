"""How large the confidence ellipsoid is: beta, fixed or growing with the observations."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from fairx import rules
from fairx.compiled import compilable, record
from fairx.numerics.elementary import log

PI_SQUARED_THIRD = math.pi**2 / 3


@compilable
class Radius(Protocol):
    """A rule for beta."""

    def squared_radius(self, t: float, dimension: int) -> float:
        """Return beta in round `t`, counted from 1."""
        ...


@record
class Constant(NamedTuple):
    """The same beta in all rounds, as in the paper's experiments."""

    beta: float

    def checked(self) -> Constant:
        """Refuse a negative beta."""
        rules.number("beta", self.beta, low=0)
        return self

    def squared_radius(self, t: float, dimension: int) -> float:
        """Return beta."""
        return self.beta


@record
class Confidence(NamedTuple):
    """The beta of the paper's confidence proposition (appendix), for ridge 1.

    (norm + sqrt(d ln(1 + t/d) + 2 ln(pi^2 t^2 / (3 delta))))^2, where `norm` bounds the
    parameter: the true one then lies in every ellipsoid with probability 1 - delta / 2.

    Examples
    --------
    >>> round(Confidence(norm=1, delta=0.1).squared_radius(t=1, dimension=5), 2)
    14.52
    """

    norm: float = 1.0
    delta: float = 0.05

    def checked(self) -> Confidence:
        """Refuse a probability outside 0 to 1."""
        rules.number("norm", self.norm, low=0)
        rules.number("delta", rules.positive("delta", self.delta), low=0, high=1)
        return self

    def squared_radius(self, t: float, dimension: int) -> float:
        """Return beta, which grows like d ln t."""
        spread = dimension * log(1.0 + t / dimension)
        spread += 2.0 * log(PI_SQUARED_THIRD * t * t / self.delta)
        return (self.norm + math.sqrt(spread)) ** 2


def radius(beta: Any) -> Any:
    """Return the rule that a number stands for."""
    return beta if hasattr(beta, "squared_radius") else Constant(beta)
