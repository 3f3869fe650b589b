"""What the log cannot speak of: refusals, diagnostics, and cautions in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Vector

from .gathering import Gathered
from .intervals import standard_error
from .terms import Terms

FAR = 4.0  # standard errors: once in 16,000 honest logs


class Diagnostics(NamedTuple):
    """How far the log speaks of the policy."""

    effective_sample_size: float  # (sum of w)^2 / sum of w^2
    largest_weight: float  # before clipping
    mean_weight: float  # before clipping; 1 but for chance
    mean_weight_error: float  # its standard error
    unsupported: float  # share of the policy's probability on arms that the log could not show
    clipped: float  # share of the weight that clipping cut off


def clipped(weights: Vector, clip: float | None) -> Vector:
    """Return the weights, none above `clip`."""
    return weights if clip is None else np.minimum(weights, rules.positive("clip", clip))


def refuse_unsupported(found: Gathered, names: Sequence[Any], most: float) -> None:
    """Refuse a policy that shows what the log never could."""
    share = float(found.unsupported.sum())
    if share <= rules.number("max_unsupported", most, low=0, high=1):
        return
    worst = [arm for arm in np.argsort(-found.unsupported, kind="stable") if found.unsupported[arm]]
    told = ", ".join(f"{names[arm]} ({found.unsupported[arm]:.3g})" for arm in worst[:5])
    more = f" and {len(worst) - 5} more" if len(worst) > 5 else ""
    raise ValueError(
        f"the policy must have support in the log, not {share:.3g} of its probability where the "
        f"log never shows the arm, or could not have: {told}{more}; leave these arms out of it, "
        f"or allow an error of that share of the range of rewards by max_unsupported"
    )


def diagnosed(found: Gathered, weights: Vector, clip: float | None) -> Diagnostics:
    """Return the diagnostics of a log; `weights` are those used."""
    raw, largest = found.rows.weights, max(float(weights.max()), 1e-300)
    parts = weights / largest
    cut = 1 - float(weights.sum() / raw.sum()) if clip is not None and raw.any() else 0.0
    terms = Terms(raw, np.broadcast_to(1.0, raw.shape), found.rows.units, raw)
    return Diagnostics(
        effective_sample_size=float(parts.sum()) ** 2 / max(float(parts @ parts), 1e-300),
        largest_weight=float(raw.max()),
        mean_weight=terms.estimate(),
        mean_weight_error=standard_error(terms),
        unsupported=float(found.unsupported.sum()),
        clipped=cut,
    )


def widened(
    ends: tuple[float, float], unsupported: float, reward_range: tuple[float, float], estimator: str
) -> tuple[float, float]:
    """Return an interval with what arms without support may bring: from the lowest to the highest reward.

    The inverse propensity score leaves them out; the others take them to be as the rest.
    """
    low, high = reward_range
    if estimator == "ips":
        return ends[0] + unsupported * min(low, 0.0), ends[1] + unsupported * max(high, 0.0)
    return ends[0] - unsupported * (high - low), ends[1] + unsupported * (high - low)


def left_out(source: Any) -> tuple[str, ...]:
    """Return which rows of a log were no decisions."""
    problems: dict[str, int] = getattr(source, "problems", {})
    return tuple(f"rows left out, {kind}: {count}" for kind, count in problems.items())


def unbalanced(mean: float, error: float, unsupported: float) -> bool:
    """Tell whether weights do not average to 1, less what has no support, beyond chance."""
    return abs(mean - (1 - unsupported)) > FAR * error + 1e-9


def cautions(diagnostics: Diagnostics, clip: float | None) -> tuple[str, ...]:
    """Return what a reader should know before trusting the numbers."""
    said = []
    mean, error = diagnostics.mean_weight, diagnostics.mean_weight_error
    if unbalanced(mean, error, diagnostics.unsupported):
        said.append(
            f"the mean weight is {diagnostics.mean_weight:.3g}, not 1 as it must be but for chance "
            f"({diagnostics.mean_weight_error:.2g}): the logged propensities are not those the "
            "arms were drawn with, or the log lacks support"
        )
    if diagnostics.unsupported:
        said.append(
            f"{diagnostics.unsupported:.2g} of the policy's probability has no support: the interval "
            "allows for anything from the lowest to the highest reward there"
        )
    if diagnostics.clipped:
        said.append(
            f"clipping at {clip:g} cut off {diagnostics.clipped:.2g} of the weight: IPS and DR are "
            "biased by it"
        )
    return tuple(said)
