"""Reward and exposure of a policy that fills pages, from the log of another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx import rules
from fairx.compiled import changed
from fairx.types import Indices, Vector

from .folds import apart
from .gathering import CERTAIN, Gathered, Rows
from .logged import Logged
from .looking import Asked, interval_of
from .models import Model, fitted, predicted
from .result import Evaluation
from .slate_targets import SlateTarget, chances, slate_target
from .slates import LoggedSlates
from .support import cautions, clipped, diagnosed, refuse_unsupported
from .terms import Terms

ESTIMATORS = ("ips", "snips", "dr")
INTERVALS = ("normal", "bootstrap")
KEPT = ("arms", "rewards", "weights", "predictions", "values", "units")


def evaluate_slates(
    log: LoggedSlates | Any,
    policy: Any,
    estimator: str = "snips",
    *,
    interval: str = "normal",
    alpha: float = 0.05,
    max_unsupported: float = 0.01,
    clip: float | None = None,
    resamples: int = 1000,
    folds: int = 5,
    ridge: float = 1.0,
    state: Any = None,
    draws: int = 100,
    seed: int | None = None,
) -> Evaluation:
    """Estimate what `policy` would have brought on pages of several places, from a log of such.

    `reward` is per decision, the sum over its places; `exposures` are the expected weights of the places of
    each arm. It is assumed that a reward depends on its own arm and place, and not on what else is on
    the page: docs/evaluation.md.

    Parameters
    ----------
    log
        `LoggedSlates`, also from a log of `fairx.logs` by `slates_of`.
    policy
        Probabilities by arm and place; by decision, candidate and place; or a function from contexts
        to such. Or, to be drawn as `Bandit.act(weights=...)` does, one probability for each arm, by
        position or by name, or a policy.
    estimator
        "ips", "snips" or "dr", over arms at places.
    interval
        "normal" or "bootstrap", by unit; without units, by decision.
    alpha, max_unsupported, clip, resamples, folds, ridge, state
        As for `evaluate`.
    draws, seed
        How many tables of places are averaged over for a page that is drawn, and their seed.

    Examples
    --------
    >>> log = LoggedSlates([[0, 1], [1, 0]], [[1, 0], [0, 1]], propensities=np.full((2, 2), 0.5))
    >>> found = evaluate_slates(log, [[1, 0], [0, 1]], "ips")
    >>> found.reward, found.exposures  # arm 0 first, arm 1 second: as the first page, whose weights are 2
    (1.0, array([1., 1.]))
    """
    _check(estimator, interval)
    given: Any = log
    if not isinstance(given, LoggedSlates):
        remedy = "read it by slates_of(fairx.logs.read(log))"
        raise TypeError(f"log must be LoggedSlates, not {type(given).__name__}: {remedy}")
    wanted = slate_target(policy, log, state, draws, seed)
    model = fitted(_modelled(log), apart(folds), ridge) if estimator == "dr" else None
    found, parts = gathered(log, wanted, model)
    refuse_unsupported(found, log.names, max_unsupported)
    weights = clipped(found.rows.weights, clip)
    terms = _terms(estimator, found.rows, weights, parts)
    alpha = rules.number("alpha", alpha, low=1e-12, high=0.5)
    asked = Asked(estimator, interval, alpha, resamples, seed)
    low, high, withheld, _ = interval_of(asked, terms, found, weights, log.names)
    diagnostics = diagnosed(found, weights, clip)
    return Evaluation(
        estimator, terms.estimate(), low, high, alpha, interval, tuple(log.names), found.exposures,
        log.decisions, diagnostics, cautions(diagnostics, clip), withheld=withheld,
    )  # fmt: skip


def gathered(
    log: LoggedSlates, wanted: SlateTarget, model: Model | None
) -> tuple[Gathered, Vector]:
    """Go through the log once; return also the part of its decision that each arm shown is."""
    rows: list[Rows] = []
    parts: list[Vector] = []
    exposures, unsupported, start = *np.zeros((2, len(log.names))), 0
    never = _never_shown(log)
    for piece in log.pieces():
        table, (decision, place) = chances(wanted, piece, start), piece.shown()
        entries, arms = piece.entries(), piece.all_candidates()
        shares = table[decision, :, place]
        rows.append(_kept(entries, shares, model, _modelled(piece)))
        parts.append(1.0 / np.bincount(decision)[decision])
        assert piece.weights is not None
        weighted: Vector = (table * piece.weights[:, None]).sum(axis=2)
        exposures += _by_arm(arms, weighted, len(exposures))
        other = arms[decision] != entries.arms[:, None]
        cannot = (entries.propensities > CERTAIN)[:, None] & other
        cannot |= never[arms[decision], place[:, None]]
        unsupported += _by_arm(arms[decision], np.where(cannot, shares, 0.0), len(exposures))
        start += len(piece.arms)
    columns = {name: [getattr(some, name) for some in rows] for name in KEPT}
    joined = Rows(**{name: np.concatenate(column) for name, column in columns.items()})
    lost = unsupported / len(joined.arms)
    return Gathered(joined, exposures / start, lost, np.zeros((1, 1))), np.concatenate(parts)


def _kept(entries: Logged, shares: Vector, model: Model | None, seen: Logged) -> Rows:
    each, positions = np.arange(len(entries.arms)), entries.positions()
    expected = np.zeros(shares.shape) if model is None else predicted(model, seen, 0)
    assert entries.units is not None
    return Rows(
        arms=entries.arms,
        rewards=entries.rewards,
        weights=shares[each, positions] / entries.propensities,
        predictions=expected[each, positions],
        values=np.einsum("rs,rs->r", shares, expected),
        units=entries.units,
    )


def _terms(estimator: str, rows: Rows, weights: Vector, parts: Vector) -> Terms:
    """Return the terms: a decision's numerators are summed over its places, its parts are 1."""
    if estimator == "dr":
        assert rows.values is not None
        assert rows.predictions is not None
        numerators = rows.values + weights * (rows.rewards - rows.predictions)
        return Terms(numerators, parts, rows.units, weights)
    if estimator == "ips":
        return Terms(weights * rows.rewards, parts, rows.units, weights)
    if not weights.any():
        raise ValueError("the policy must show an arm where it was shown, not none anywhere")
    return Terms(weights * rows.rewards, weights * parts.mean(), rows.units, weights)


def _modelled(log: LoggedSlates) -> Logged:
    """Return what a model learns from: contexts say the place too."""
    entries, (_, place) = log.entries(), log.shown()
    places = np.eye(log.arms.shape[1])[place]
    if entries.contexts is None:
        return changed(entries, contexts=places[:, 1:])
    if entries.contexts.ndim == 2:
        return changed(entries, contexts=np.concatenate([entries.contexts, places[:, 1:]], axis=1))
    wide = np.broadcast_to(places[:, None], (*entries.contexts.shape[:2], places.shape[1]))
    return changed(entries, contexts=np.concatenate([entries.contexts, wide], axis=2))


def _never_shown(log: LoggedSlates) -> Any:
    """Tell of each arm and place whether it was never shown there; the last row: no candidate."""
    decision, place = log.shown()
    shown = np.zeros((len(log.names) + 1, log.arms.shape[1]), bool)
    shown[log.arms[decision, place], place] = True
    shown[-1] = True
    return ~shown


def _by_arm(arms: Indices, values: Vector, number: int) -> Vector:
    found = np.bincount((arms + 1).ravel(), values.ravel(), number + 1)  # the first: no candidate
    return found[1:].astype(np.float64)


def _check(estimator: str, interval: str) -> None:
    for name, value, choices in (
        ("estimator", estimator, ESTIMATORS),
        ("interval", interval, INTERVALS),
    ):
        if value not in choices:
            rule = f"be one of {', '.join(choices)} for slates, not {value!r}"
            raise rules.InvalidValue(name, rule)
