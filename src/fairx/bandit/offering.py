"""What a bandit is asked to decide on: contexts, the places of a page, and the slate that came of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.features import Features
from fairx.features.encoding import given_rows
from fairx.policies.drawing import Drawn
from fairx.slates import place_weights
from fairx.slates.examination import chances_given, check_clicks, feedback_given
from fairx.types import Indices, Matrix, Vector

from .decision import SlateDecision
from .waiting import Waited

NOTHING = np.empty(0)
Contexts = npt.ArrayLike | Mapping[str, Any] | None  # or features by name
Names = Sequence[Any] | None  # of arms
Weights = int | Sequence[float] | Vector
Chances = Sequence[float] | Vector


class SlateMade(NamedTuple):
    """A slate, and what waits for the rewards of its places."""

    slate: SlateDecision
    waited: Waited


class Page(NamedTuple):
    """The weights of places, and the chances that they are looked at, where that matters."""

    weights: Vector
    chances: Vector | None


def range_of_clicks(
    policy: Any, feedback: str, reward_range: tuple[float, float]
) -> tuple[float, float] | None:
    """Return the range of clicks, if it is these that are seen; refuse a policy that cannot learn."""
    if hasattr(policy, "check_reach"):
        policy.check_reach(*reward_range)
    if feedback != "examined":
        return None
    check_clicks(policy, np.ones(1), *reward_range)
    return reward_range


def dimension_given(dimension: int, features: Features | None) -> int:
    """Return the dimension of contexts, which is that of the features, where there are any."""
    if features is None:
        return rules.count("dimension", dimension, low=0)
    if dimension not in (0, features.dimension):
        rule = f"be left out, or that of the features, {features.dimension}, not {dimension!r}"
        raise rules.InvalidValue("dimension", rule)
    return features.dimension


def contexts_given(
    contexts: Any, names: tuple[Any, ...], dimension: int, features: Features | None
) -> Matrix:
    """Return one context per arm on offer."""
    if features is not None:
        return given_rows(features, {} if contexts is None else contexts, names)
    if contexts is None and dimension == 0:
        return no_contexts(len(names))
    if contexts is None:
        raise ValueError(f"contexts must be given: this bandit has dimension {dimension}")
    return rules.array("contexts", contexts, (len(names), dimension), "one row per arm on offer")


@functools.lru_cache(maxsize=8)
def no_contexts(arms: int) -> Matrix:
    """Return contexts of no numbers: there is nothing in them to write over."""
    return np.empty((arms, 0))


def contexts_of(rows: Matrix, position: int) -> tuple[Vector, Vector]:
    """Return the context of an arm twice, to keep and to hand out."""
    if not rows.shape[1]:
        return NOTHING, NOTHING
    return rows[position].copy(), rows[position].copy()


def page_given(bandit: Any, weights: Any, examination: Any) -> Page:
    """Return the places that were asked for."""
    feedback_given(bandit.feedback, examination)
    if weights is None:
        raise rules.InvalidValue("examination", "be left out where there are no weights")
    found = place_weights(weights)
    if bandit.feedback == "each":
        return Page(found, None)
    chances = chances_given(examination, found)
    check_clicks(bandit.policy, chances, *bandit.reward_range)
    return Page(found, chances)


def slate_of(
    number: int, drawn: Drawn, arms: Indices, names: tuple[Any, ...], contexts: Matrix, page: Page
) -> SlateMade:
    """Return a slate, and what waits for the rewards of its places: the first ones, if arms are few."""
    shown = drawn.positions.tolist()
    weights, chances = page.weights[: len(shown)], page.chances
    looks = [1.0] * len(shown) if chances is None else chances.tolist()
    left = {
        place: (int(arms[i]), contexts[i].copy(), chance)
        for place, (i, chance) in enumerate(zip(shown, looks, strict=False), 1)
    }
    slate = SlateDecision(
        number, tuple(names[i] for i in shown), drawn.propensities, drawn.exposures, names, weights,
        contexts[shown], None if chances is None else chances[: len(shown)],
    )  # fmt: skip
    return SlateMade(slate, Waited(len(shown), left))
