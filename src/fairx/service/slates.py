"""A slate: made, written and answered, place by place."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

from fairx.errors import FairxError
from fairx.rules import InvalidValue
from fairx.slates.places import place_weights
from fairx.store.deciding import Decider
from fairx.store.identity import minted
from fairx.store.slates import AskedSlate, RecordedSlate, slate_rows, stored_slate
from fairx.store.writer import SLATES
from fairx.types import Vector

from .deciding import arms_of, array, chances_of, check_running, digest_of, left_out_of, names_of
from .naming import encoded
from .requests import Decide
from .runtime import Runtime
from .slate_answers import DecidedSlate, Placed


async def decide(runtime: Runtime, decider: Decider, asked: Decide) -> DecidedSlate:
    """Decide who is at which place, write it down, and answer."""
    if asked.count is not None:
        raise InvalidValue("count", "be left out where places are given: ask for each slate")
    weights = _weights(runtime, asked.places)
    await runtime.compiled(decider, slates=True)
    experiment = decider.snapshot.experiment
    decision = minted(runtime.secret, experiment.id, asked.key, 0)
    found = await _recorded(runtime, decider, asked, decision, weights)
    runtime.metrics.decided(experiment.name, found.repeated)
    return await _answer(runtime, decider, asked, found)


def _weights(runtime: Runtime, places: Any) -> Vector:
    """Return one weight per place; what is wrong with them is said of `places`."""
    runtime.limits.check("places", places if isinstance(places, int) else len(places))
    return _checked(places if isinstance(places, int) else tuple(places))


@functools.lru_cache(maxsize=256)  # clients ask for the same places again and again
def _checked(places: int | tuple[float, ...]) -> Vector:
    try:
        return place_weights(places)
    except InvalidValue as refused:
        raise InvalidValue("places", refused.rule) from None


async def _recorded(
    runtime: Runtime, decider: Decider, asked: Decide, decision: str, weights: Vector
) -> RecordedSlate:
    """Make the slate, or find it on record where it cannot be made any more."""
    contexts, asked.contexts = array(asked.contexts), None
    mark = hashlib.sha256(digest_of(asked, contexts) + weights.tobytes()).digest()[:16]
    try:
        check_running(decider.snapshot.experiment)
        given = encoded(decider, asked.candidates, contexts)
        candidates = decider.candidates(asked.candidates, given)
        drawn = decider.decide_slate(decision, candidates, weights)
    except (FairxError, ValueError):
        found = await runtime.read(
            lambda database: stored_slate(database, decision, len(weights), mark)
        )
        if found is None:
            raise
        return found
    now, experiment = runtime.clock(), decider.snapshot.experiment
    about = (experiment.id, now, decider.snapshot.version)
    rows = slate_rows(decision, about, candidates, drawn, weights, (asked.unit, mark))
    due = now + experiment.settings.reward_window_s
    written: RecordedSlate = await runtime.write(SLATES, AskedSlate(rows, len(weights), due))
    return written


async def _answer(
    runtime: Runtime, decider: Decider, asked: Decide, found: RecordedSlate
) -> DecidedSlate:
    first = found.rows[0]
    arms = await arms_of(runtime, decider.snapshot, first.snapshot)
    slate = [Placed(arms[row.arm].name, row.place, row.propensity) for row in found.rows]  # type: ignore[arg-type]
    answer = DecidedSlate(first.id, slate, first.snapshot)
    if asked.probabilities:
        (exposures,) = await chances_of(runtime, decider, [first])
        answer.exposures = dict(zip(names_of(arms, first), exposures, strict=True))
    left_out = left_out_of(arms, first, asked)
    if left_out:
        answer.left_out = left_out
    return answer
