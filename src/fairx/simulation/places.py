"""The places of a simulated page: how much each is seen, and what is learned from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.environments.late import delays_of
from fairx.policies.telling import check_one_place
from fairx.slates import place_weights
from fairx.slates.examination import chances_given, check_clicks, feedback_given
from fairx.types import Vector


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
    """
    feedback_given(feedback, examination)
    if weights is None and feedback == "examined":
        raise rules.InvalidValue("weights", "be given for feedback='examined': one per place")
    if weights is None:
        return None
    found = place_weights(weights)
    if feedback == "each":
        return Places(found, feedback, np.ones(found.size))
    return Places(found, feedback, chances_given(examination, found))


def check_places(places: Places | None, policy: Any, world: Any) -> None:
    """Refuse more places than arms, and a policy that cannot learn from what is seen there."""
    if places is None:
        return
    check_one_place(policy)
    place_weights(places.weights, arms=world.features.shape[1])
    if places.feedback == "examined":
        check_clicks(policy, places.examination, *world.reward_range())


def check_late(places: Places | None, environment: Any) -> None:
    """Refuse several places whose rewards come late: what would be learned of them is not settled."""
    if places is not None and delays_of(environment) is not None:
        raise rules.InvalidValue(
            "weights", "be left out where rewards are late: they have one place"
        )
