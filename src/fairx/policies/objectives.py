"""What optimism is about: the reward that a parameter promises under its own fair probabilities.

The parameter predicts one number per arm on offer, x . theta; an objective makes means of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from fairx.compiled import compilable, kernel, meet, turns
from fairx.exposure import share, uphill
from fairx.merit import Merit
from fairx.numerics.elementary import chance
from fairx.types import Vector

from .intervals import clip_means


@compilable
class Objective(Protocol):
    """A function of the predictions, to be climbed."""

    def fill_slopes(self, predicted: Vector, work: Vector, out: Vector) -> float:
        """Write the gradient to `out`, and return the value."""
        ...

    def deploy_at(self, predicted: Vector, out: Vector) -> None:
        """Write the fair probabilities of the predictions to `out`; these may be changed."""
        ...


class Within(NamedTuple):
    """Predictions are the means; those beyond the bounds, where there are any, count as the bounds."""

    merit: Merit
    bounds: Any

    def fill_slopes(self, predicted: Vector, work: Vector, out: Vector) -> float:
        """Write the gradient of the promise; beyond a bound it is 0."""
        return uphill_within(self.bounds, self.merit, predicted, work, out)

    def deploy_at(self, predicted: Vector, out: Vector) -> None:
        """Be fair to the means within the bounds."""
        clip_means(self.bounds, predicted)
        share(self.merit, predicted, out)


class Chances(NamedTuple):
    """Predictions are log-odds, and the means their chances of success."""

    merit: Merit

    def fill_slopes(self, predicted: Vector, work: Vector, out: Vector) -> float:
        """Do as `uphill`, times the slope of a chance in its log-odds."""
        means = work[: len(predicted)]
        copy(predicted, means)
        to_chances(means)
        found = uphill(self.merit, means, out)
        for i in turns(len(means)):
            out[i] *= means[i] * (1.0 - means[i])
        meet()
        return found

    def deploy_at(self, predicted: Vector, out: Vector) -> None:
        """Be fair to the chances."""
        to_chances(predicted)
        share(self.merit, predicted, out)


@kernel
def uphill_within(bounds: Any, merit: Merit, means: Vector, work: Vector, out: Vector) -> float:
    """Do as `uphill` where means beyond the bounds count as the bounds: there they lead nowhere."""
    if bounds is None:
        return uphill(merit, means, out)
    inside = work[: len(means)]
    copy(means, inside)
    clip_means(bounds, inside)
    found = uphill(merit, inside, out)
    for i in turns(len(means)):
        if inside[i] != means[i]:
            out[i] = 0.0
    meet()
    return found


@kernel
def to_chances(values: Vector) -> None:
    """Make chances of log-odds."""
    for i in turns(len(values)):
        values[i] = chance(values[i])
    meet()


@kernel
def copy(values: Vector, out: Vector) -> None:
    """Write `values` to `out`."""
    meet()
    for i in turns(len(values)):
        out[i] = values[i]
    meet()
