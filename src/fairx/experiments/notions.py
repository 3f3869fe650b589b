"""How unfair a policy was by each notion: one number for each run, a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.simulation import Result
from fairx.simulation.notions import NOTIONS as MEASURED
from fairx.types import Matrix, Vector

from .names import choice

MINIMUM = 0.5  # of an equal share: what each arm is to have at least


class Notion(NamedTuple):
    """A notion of fairness, what is measured of it, and where that comes from."""

    title: str
    words: str
    of: Callable[[Result], Vector]
    measured: bool = False  # by the loop, beside regrets


def _a_round(curves: Vector, result: Result) -> Vector:
    return np.asarray(curves[:, -1] / result.rounds[-1])


def _minimum(result: Result) -> Vector:
    least = MINIMUM / result.exposure.shape[1]
    return np.asarray(np.maximum(least - result.exposure, 0.0).sum(axis=1))


NOTIONS = {
    "merit": Notion(
        "Exposure in proportion to merit",
        "fairness regret a round: the L1 distance to the fair probabilities, from 0 to 2 (Wang et al. 2021)",
        lambda result: _a_round(result.fairness_regret, result),
    ),
    "calibrated": Notion(
        "Calibrated",
        "what arms lack of the chance that their reward is the best, a round, from 0 to 1 (Liu et al. 2017)",
        lambda result: _a_round(result.measures["calibrated"], result),
        measured=True,
    ),
    "minimum share": Notion(
        "A minimum share",
        "what arms lack, over the whole run, of half an equal share each (Patil et al. 2021, with that share)",
        _minimum,
    ),
    "Nash": Notion(
        "Nash welfare",
        "1 - geometric mean over rounds of (expected reward / highest mean), from 0 to 1: over the highest mean the "
        "Nash regret of Barman et al. (2023), with each run's own expected rewards, and so not less",
        lambda result: 1.0 - np.exp(-_a_round(result.measures["nash"], result)),
        measured=True,
    ),
    "meritocratic": Notion(
        "Meritocratic",
        "the most by which an arm is more probable than one with a higher mean, a round, from 0 to 1 "
        "(Joseph et al. 2016)",
        lambda result: _a_round(result.measures["meritocratic"], result),
        measured=True,
    ),
    "reward": Notion(
        "Reward",
        "regret a round to the best arm",
        lambda result: _a_round(result.best_arm_regret, result),
    ),
}  # fmt: skip


def unfairness(notion: str, result: Result) -> Vector:
    """Return how unfair each run was, a round; by the notion "reward", what it gave up.

    Examples
    --------
    >>> from fairx import Exponential, Uniform, environments, simulate
    >>> world = environments.Bernoulli([0.2, 0.8])
    >>> result = simulate(Uniform(), world, Exponential(4), rounds=100, seed=1)
    >>> unfairness("merit", result).round(3), unfairness("reward", result).round(3)
    (array([0.834]), array([0.3]))
    """
    return NOTIONS[notion].of(result)


def is_measured(notions: tuple[str, ...]) -> bool:
    """Tell whether the loop has to measure something for these notions."""
    return any(NOTIONS[notion].measured for notion in notions)


def notions_given(found: Any, own: Sequence[str]) -> tuple[str, ...]:
    """Return the notions of a file, if all that tune its policies, `own`, are among them.

    Examples
    --------
    >>> notions_given(["merit"], ["merit", "Nash"])
    Traceback (most recent call last):
    ValueError: the notion of a policy, 'Nash', must be one of the notions that are shown
    """
    listed = found if isinstance(found, list) else [found]
    notions = tuple(choice("each of the notions", notion, list(NOTIONS)) for notion in listed)
    for notion in own:
        if notion not in (*notions, "merit", "reward"):
            rule = "must be one of the notions that are shown"
            raise ValueError(f"the notion of a policy, {notion!r}, {rule}")
    return notions


def measured_by_name(curves: Matrix, marks: int) -> dict[str, Matrix]:
    """Return what the loop measured at so many marks, by name; nothing for runs without it."""
    if curves.shape[1] != len(MEASURED) * marks or np.isnan(curves).any():
        return {}
    parts = curves.reshape(len(curves), len(MEASURED), marks)
    return {name: parts[:, i] for i, name in enumerate(MEASURED)}


def frontier(unfair: Vector, given_up: Vector) -> list[int]:
    """Return who is not beaten in one and at most equalled in the other, by how unfair they are.

    Examples
    --------
    >>> frontier(np.array([0.1, 0.5, 0.3]), np.array([0.4, 0.1, 0.5]))
    [0, 1]
    """
    found: list[int] = []
    for i in np.lexsort((given_up, unfair)).tolist():
        if not found or given_up[i] < given_up[found[-1]]:
            found.append(i)
    return found
