"""The routes that are asked most, without anything in between: decide, rewards, shown."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairx.rules import InvalidValue
from fairx.store import events
from fairx.store.deciding import Decider
from fairx.store.errors import Forged
from fairx.store.identity import is_ours, minted
from fairx.store.rewards import note_shown
from fairx.store.writer import REWARDS

from . import slates
from .answers import ENCODER, Decided, DecidedSeveral, Result, Results
from .deciding import answers, recorded
from .remembering import key_of
from .requests import Decide, Rewards, Shown
from .runtime import Runtime
from .slate_answers import DecidedSlate

TERM = 8  # numbers that take as long as a feature by name, or a cross
READ_DECIDE = msgspec.json.Decoder(Decide)
READ_REWARDS = msgspec.json.Decoder(Rewards)
READ_SHOWN = msgspec.json.Decoder(Shown)


async def decide(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Decide, write it down, and answer; or answer as a moment ago."""
    decider = runtime.decider(name)
    key = key_of(decider.snapshot.experiment.id, body)
    found = runtime.answers.of(key)
    if found is not None:
        runtime.metrics.decided(name, True, found[1])
        return found[0]
    answer, count = await _decided(runtime, name, decider, READ_DECIDE.decode(body))
    encoded = ENCODER.encode(answer)
    runtime.answers.keep(key, (encoded, count))
    return encoded


async def _decided(
    runtime: Runtime, name: str, decider: Decider, asked: Decide
) -> tuple[Decided | DecidedSeveral | DecidedSlate, int]:
    """Return the answer, and how many decisions it has."""
    count = 1 if asked.count is None else asked.count
    check_limits(runtime, decider, asked)
    if not decider.is_ready:
        await runtime.compiled(decider)
    if asked.places is not None:
        return await slates.decide(runtime, decider, asked), 1
    number = decider.snapshot.experiment.id
    ids = [minted(runtime.secret, number, asked.key, index) for index in range(count)]
    found = await recorded(runtime, decider, asked, ids)
    for one in found:
        runtime.metrics.decided(name, one.repeated)
    said = await answers(runtime, decider, asked, found)
    return (said[0] if asked.count is None else DecidedSeveral(said)), count


def check_limits(runtime: Runtime, decider: Decider, asked: Decide) -> None:
    """Refuse what is too much."""
    runtime.limits.check("events", asked.count or 1, "count")
    runtime.limits.check("candidates", len(asked.candidates or ()))
    runtime.limits.check("letters", len(asked.key), "key")
    runtime.limits.check("letters", len(asked.unit or ""), "unit")
    check_numbers(runtime, numbers_of(decider, asked))


def numbers_of(decider: Decider, asked: Decide) -> int:
    """Return how many numbers are computed and kept: decisions, times candidates, times dimension.

    Where probabilities are the same in all decisions, they are computed once. Contexts by name are
    read once for all, term by term, however few columns these are hashed into.
    """
    arms = decider.active if asked.candidates is None else len(asked.candidates)
    if decider.solves_once and asked.places is None and not asked.probabilities:
        return (asked.count or 1) + arms
    features = decider.snapshot.experiment.settings.features
    terms = 0 if features is None or isinstance(asked.contexts, list) else features.terms
    return arms * ((asked.count or 1) * max(decider.dimension, 1) + TERM * terms)


def check_numbers(runtime: Runtime, found: int, field: str = "count") -> None:
    """Refuse what is too much as a whole."""
    limit = runtime.limits.numbers
    if found > limit:
        what = "count times candidates times dimension, and features by name for each candidate,"
        raise InvalidValue(field, f"have {what} at most {limit}, not {found}: see --limit-numbers")


async def rewards(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Take in rewards."""
    asked = READ_REWARDS.decode(body).rewards
    experiment = runtime.decider(name).snapshot.experiment
    runtime.limits.check("events", len(asked), "rewards")
    runtime.limits.check("letters", max(len(reward.id) for reward in asked), "rewards.id")
    given = [events.Reward(e.decision, e.reward, e.id, e.final, e.place) for e in asked]
    _check_ids(runtime, experiment.id, given)
    batch = events.Batch(experiment, given, runtime.clock(), runtime.limits.rewards)
    statuses = await runtime.write(REWARDS, batch)
    runtime.metrics.rewarded(name, statuses)
    return _results(given, statuses)


async def shown(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Take in that decisions, or places of slates, were shown."""
    asked = READ_SHOWN.decode(body).decisions
    runtime.limits.check("events", len(asked), "decisions")
    experiment, now = runtime.decider(name).snapshot.experiment, runtime.clock()
    given = [
        events.Shown(each) if isinstance(each, str) else events.Shown(each.decision, each.place)
        for each in asked
    ]
    _check_ids(runtime, experiment.id, given)
    statuses = await runtime.change(lambda database: note_shown(database, experiment, given, now))
    return _results(given, statuses)


def _check_ids(
    runtime: Runtime, experiment: int, given: Sequence[events.Reward | events.Shown]
) -> None:
    runtime.limits.check("places", max(each.place or 1 for each in given), "place")
    for decision in dict.fromkeys(each.decision for each in given):
        if not is_ours(runtime.secret, experiment, decision):
            raise Forged(
                f"decision {decision!r} is not one of this experiment's: we did not sign it"
            )


def _results(given: Sequence[events.Reward | events.Shown], statuses: list[str]) -> bytes:
    results = [
        Result(each.decision, status, each.place or msgspec.UNSET)  # type: ignore[arg-type]
        for each, status in zip(given, statuses, strict=True)
    ]
    return ENCODER.encode(Results(results))
