"""What a linear model that does not fit costs a fair policy, however long it learns."""

from __future__ import annotations

import numpy as np

from fairx import rules
from fairx.exposure import fair_rows
from fairx.merit import Merit, merit_given
from fairx.numerics.least_squares import CUT_OFF
from fairx.types import Matrix, Vector

MOST_STEPS, SETTLED = 200, 1e-7


def self_selected_fit(merit: Merit, contexts: Matrix, labels: Matrix) -> Vector:
    """Return the parameter that least squares settles at where it chooses its own data.

    A policy in proportion to merit sees most of what it thinks good, so that its regression is
    weighted by its own probabilities. Where the linear model is true, that changes nothing; where
    it is not, the fit of the arms shown is not the fit of all: this is the parameter that gives
    itself back, by iteration from the fit of all. It lets exploration and noise fade.

    Parameters
    ----------
    merit
        Of the policy.
    contexts, labels
        Of all examples, of shapes (examples, arms, dimension) and (examples, arms).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> contexts, labels = np.ones((1, 2, 1)), np.array([[0.0, 1.0]])  # alike, so shown alike
    >>> self_selected_fit(Exponential(3), contexts, labels)
    array([0.5])
    >>> contexts = np.array([[[1.0], [2.0]]])  # by all, 0.4; the second is shown more
    >>> self_selected_fit(Exponential(3), contexts, labels).round(3)
    array([0.471])
    """
    contexts, labels = _examples(merit, contexts, labels)
    found = _weighted_fit(contexts, labels, np.ones(labels.shape))
    for _ in range(MOST_STEPS):
        before, weights = found, fair_rows(merit, contexts @ found)
        found = _weighted_fit(contexts, labels, weights)
        if np.abs(found - before).max() <= SETTLED * max(1.0, np.abs(found).max()):
            return found
    raise ValueError(f"the fit must settle within {MOST_STEPS} steps: {merit} may be too steep")


def misspecification_regret(
    merit: Merit, contexts: Matrix, labels: Matrix, parameter: Vector
) -> float:
    """Return the fairness regret a round that no exploration takes away, by `self_selected_fit`.

    What a fair policy settles at is compared with what is fair by `parameter`, the judge's.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> contexts, parameter = np.array([[[1.0], [2.0]]]), np.array([0.4])
    >>> round(misspecification_regret(Exponential(3), contexts, np.array([[0, 1]]), parameter), 3)
    0.072
    >>> round(misspecification_regret(Exponential(3), contexts, contexts @ parameter, parameter), 9)
    0.0
    """
    contexts, labels = _examples(merit, contexts, labels)
    parameter = rules.array("parameter", parameter, contexts.shape[2:])
    deployed = fair_rows(merit, contexts @ self_selected_fit(merit, contexts, labels))
    return float(np.abs(fair_rows(merit, contexts @ parameter) - deployed).sum(axis=1).mean())


def _examples(merit: Merit, contexts: Matrix, labels: Matrix) -> tuple[Matrix, Matrix]:
    """Refuse what no policy can be played on."""
    merit_given("merit", merit)
    contexts = rules.array("contexts", contexts, (None, None, None), "by example, arm and number")
    rules.count("the number of contexts", contexts.size)
    return contexts, rules.array("labels", labels, contexts.shape[:2], "one row per example")


def _weighted_fit(contexts: Matrix, labels: Matrix, weights: Matrix) -> Vector:
    dimension = contexts.shape[-1]
    gram, sums = np.zeros((dimension, dimension)), np.zeros(dimension)
    for start in range(0, len(contexts), 1000):  # never a copy of all contexts
        some = slice(start, start + 1000)
        rows, each = contexts[some].reshape(-1, dimension), weights[some].reshape(-1, 1)
        weighted = rows * each
        gram += weighted.T @ rows
        sums += weighted.T @ labels[some].reshape(-1)
    return np.asarray(np.linalg.lstsq(gram, sums, rcond=CUT_OFF)[0])
