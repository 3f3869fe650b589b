"""The places of a simulated page: how much each is seen, and what is learned from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.policies.telling import check_one_place
from fairx.slates import place_weights
from fairx.types import Vector

FEEDBACK = {
    "each": "the reward of each place is seen",
    "examined": "a reward is seen where its place was looked at, and 0 otherwise",
}


class Places(NamedTuple):
    """The weights of places, and the chance that each is looked at."""

    weights: Vector
    feedback: str
    examination: Vector  # all 1 where each reward is seen


def places_given(weights: Any, feedback: str, examination: Any) -> Places | None:
    """Return the places of these settings; nothing for a single one, as in the paper.

    Examples
    --------
    >>> places_given([1, 0.5], "examined", None).examination
    array([1. , 0.5])
    >>> places_given([2, 1], "examined", None)
    Traceback (most recent call last):
    InvalidValue: examination must be chances from 0 to 1, not 2.0: give them where weights are not
    """
    if feedback not in FEEDBACK:
        rule = f"be one of {', '.join(FEEDBACK)}, not {feedback!r}"
        raise rules.InvalidValue("feedback", rule + rules.nearest(str(feedback), FEEDBACK))
    if examination is not None and feedback != "examined":
        rule = f"be left out for feedback={feedback!r}: {FEEDBACK[feedback]}"
        raise rules.InvalidValue("examination", rule)
    if weights is None and feedback == "examined":
        raise rules.InvalidValue("weights", "be given for feedback='examined': one per place")
    if weights is None:
        return None
    found = place_weights(weights)
    if feedback == "each":
        return Places(found, feedback, np.ones(found.size))
    return Places(found, feedback, _chances(found if examination is None else examination, found))


def _chances(examination: Any, weights: Vector) -> Vector:
    found = rules.array("examination", examination, (weights.size,), "one per place").copy()
    for chance in found.tolist():
        if not 0 <= chance <= 1:
            rule = f"be chances from 0 to 1, not {chance}: give them where weights are not"
            raise rules.InvalidValue("examination", rule)
    if not found.max() > 0:
        raise rules.InvalidValue("examination", "be positive for some place, not all 0")
    return found


def check_places(places: Places | None, policy: Any, world: Any) -> None:
    """Refuse more places than arms, and a policy that cannot learn from what is seen there."""
    if places is None:
        return
    check_one_place(policy)
    place_weights(places.weights, arms=world.features.shape[1])
    if places.feedback == "examined" and hasattr(policy, "check_clicks"):
        least = float(places.examination[places.examination > 0].min())
        policy.check_clicks(least, *world.reward_range())
