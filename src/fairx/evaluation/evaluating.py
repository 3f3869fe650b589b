"""The door: reward and exposure of a policy from the log of another one."""

from __future__ import annotations

from typing import Any

from fairx import rules
from fairx.merit import Merit
from fairx.types import Vector

from .fairness import fairness
from .folds import apart, in_time
from .gathering import Gathered, gathered, unsupported_rows
from .logged import Source
from .looking import Asked, interval_of
from .models import Model, fitted
from .reading import from_table
from .result import Evaluation
from .sequences import chance_of_error, scaled_rewards
from .support import cautions, clipped, diagnosed, left_out, refuse_unsupported
from .targets import target
from .terms import Terms, direct, doubly_robust, ips, replayed, snips, stabilised

ESTIMATORS = ("ips", "snips", "dm", "dr", "stabilised", "replay")
INTERVALS = ("normal", "bootstrap", "sequence")
SEQUENCES = ("ips", "snips", "dr")
UNIT = (0.0, 1.0)


def evaluate(
    log: Any,
    policy: Any,
    estimator: str = "snips",
    *,
    interval: str = "normal",
    alpha: float = 0.05,
    max_unsupported: float = 0.01,
    clip: float | None = None,
    reward_range: tuple[float, float] | None = None,
    weight_bound: float | None = None,
    resamples: int = 1000,
    folds: int = 5,
    ridge: float = 1.0,
    state: Any = None,
    draws: int = 100,
    seed: int | None = None,
    merit: Merit | None = None,
    level: float | None = None,
) -> Evaluation:
    """Estimate what `policy` would have brought, and whom it would have shown, from a log.

    Parameters
    ----------
    log
        `Logged` arrays, a log of `fairx.logs`, or a table: with the columns that `from_table`
        expects by default, or what that returns.
    policy
        Probabilities: one for each arm, by position or by name (among fewer candidates, in
        proportion); one row per decision and column per candidate; a function from contexts to
        such rows. Or a policy of fairx.
    estimator
        "ips", "snips" (self-normalised), "dm" (direct method), "dr" (doubly robust), "stabilised"
        (doubly robust, for logging policies that learn) or "replay" (of uniform logs):
        docs/evaluation.md says what each assumes.
    interval
        "normal", "bootstrap" (by unit), or "sequence" (of "ips", "snips" and "dr": valid at every
        look). The first two are withheld where they would miss the value more often than they say.
    alpha
        How likely the interval is to miss the value.
    max_unsupported
        The share of the policy's probability that may be on arms the log cannot speak of. More is
        refused; up to that much of the range of rewards the estimate may be wrong by.
    clip
        The largest weight; above, weights are cut, which is biased and reported; the interval is wider
        by as much.
    reward_range
        What rewards are between, known beforehand: others are refused. Sequences and `merit` need
        it, and take 0 to 1 where it is not given; other intervals then go by the rewards there are.
    weight_bound
        See `confidence_sequence`; "snips" and "dr" need the bound for a sequence.
    resamples
        How many logs the bootstrap draws.
    folds, ridge
        "dr" models each fold of the decisions from the others; 1: all from all. The ridge is
        that of models on contexts.
    state, draws
        The state of a policy of fairx (without, its start), and how many of its own draws its
        probabilities are averaged over.
    seed
        For the bootstrap, for policies that draw at random, and for "replay" (without one, the
        average over its draws).
    merit
        Also tell how fair the policy would be, for this merit of an arm's mean reward.
    level
        The old spelling of `alpha`: 1 - alpha.

    Examples
    --------
    >>> from fairx import Exponential, OptimalFair
    >>> from fairx.evaluation import Logged, evaluate
    >>> log = Logged(arms=[0, 1, 0, 1], rewards=[1, 0, 0, 1], propensities=[0.5, 0.5, 0.8, 0.2])
    >>> found = evaluate(log, [0.5, 0.5], "ips")
    >>> found.reward  # (1 + 0 + 0 + 2.5) / 4
    0.875
    >>> fair = evaluate(log, OptimalFair(Exponential(4), means=[0.2, 0.3]), "snips")
    >>> fair.exposures.round(3)
    array([0.401, 0.599])
    >>> evaluate(log, {0: 0.5, "new": 0.5})
    Traceback (most recent call last):
    ValueError: the policy must have support in the log, not 0.5 of its probability on new: ...
    """
    _check(estimator, interval, clip, weight_bound)
    alpha, given = chance_of_error(alpha, level), reward_range is not None
    ends = rules.interval("reward_range", reward_range) if reward_range is not None else UNIT
    source: Source = log if hasattr(type(log), "pieces") else from_table(log)
    wanted = target(policy, source, state, draws, seed)
    model = _model(source, estimator, interval, folds, ridge, ends)
    found = gathered(source, wanted, model, estimator)
    refuse_unsupported(found, source.names, max_unsupported)
    if given:
        scaled_rewards(found.rows.rewards, ends, (None,))  # refuses those outside
    weights = clipped(found.rows.weights, clip)
    terms = _terms(estimator, source, model, found, weights, seed)
    found = found._replace(rows=found.rows._replace(predictions=None, values=None))  # frees them
    asked = Asked(estimator, interval, alpha, resamples, seed, ends, weight_bound, given)
    lost = None
    if interval == "sequence" and found.unsupported.any():
        lost = unsupported_rows(source, wanted, found.rows.arms)
    low, high, withheld, looks = interval_of(asked, terms, found, weights, source.names, lost)
    diagnostics = diagnosed(found, terms.denominators if estimator == "replay" else weights, clip)
    fair = None
    if merit is not None:
        fair = fairness(source, wanted, found.rows, found.exposures, merit, alpha, ends)
    return Evaluation(
        estimator, terms.estimate(), low, high, alpha, interval, tuple(source.names),
        found.exposures, len(weights), diagnostics, (*left_out(source), *cautions(diagnostics, clip)),
        looks, withheld, fair,
    )  # fmt: skip


def _model(
    source: Source,
    estimator: str,
    interval: str,
    folds: int,
    ridge: float,
    ends: tuple[float, float],
) -> Model | None:
    """Return the model that an estimator needs: where order matters, of the past alone."""
    if interval == "sequence" and estimator == "dr":
        return fitted(source, in_time(source.decisions), ridge, ends)
    if estimator == "stabilised":
        return fitted(source, in_time(source.decisions), ridge)
    if estimator in ("dm", "dr"):
        return fitted(source, apart(folds if estimator == "dr" else 1), ridge)
    return None


def _terms(
    estimator: str,
    source: Source,
    model: Model | None,
    found: Gathered,
    weights: Vector,
    seed: int | None,
) -> Terms:
    if estimator == "dm":
        assert model is not None
        return direct(source, model, found)
    if estimator == "replay":
        return replayed(found.rows, seed)
    weighted = {"ips": ips, "snips": snips, "dr": doubly_robust, "stabilised": stabilised}
    return weighted[estimator](found.rows, weights)


def _check(estimator: str, interval: str, clip: float | None, weight_bound: float | None) -> None:
    for name, value, choices in (
        ("estimator", estimator, ESTIMATORS),
        ("interval", interval, INTERVALS),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    if interval == "sequence" and estimator not in SEQUENCES:
        raise ValueError(
            f"interval='sequence' must be asked of {', '.join(SEQUENCES)}, not {estimator!r}: the "
            "others are not averages of terms whose mean is the value at every decision"
        )
    if weight_bound is not None and interval != "sequence":
        raise ValueError(
            f"weight_bound must be left out of interval={interval!r}, not {weight_bound!r}: only a "
            "sequence needs it"
        )
    if clip is not None and estimator in ("dm", "replay"):
        raise ValueError(f"clip must be left out of {estimator!r}, not {clip!r}: it has no weights")
    if clip is not None and interval == "sequence" and (estimator, weight_bound) != ("ips", None):
        raise ValueError(
            f"clip must be left out of the sequence of {estimator!r}, not {clip!r}: its weights "
            "must be 1 on average; with 'ips' and no weight_bound they may be clipped"
        )
