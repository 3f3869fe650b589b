"""The routes that are asked most, without anything in between: decide, rewards, shown."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import msgspec
import numpy as np

from fairx.errors import FairxError
from fairx.store.deciding import Decider, Offer
from fairx.store.decisions import Decision, Recorded, check_same, fetched
from fairx.store.errors import Conflict, Forged
from fairx.store.identity import is_ours, minted
from fairx.store.rewards import Batch, Reward, note_shown
from fairx.store.snapshots import ACTIVE, Arm, Snapshot, arms_at
from fairx.store.writer import DECIDE, REWARD

from .answers import ENCODER, Decided, DecidedSeveral, Result, Results
from .live import Live
from .requests import Decide, Rewards, Shown

READ_DECIDE = msgspec.json.Decoder(Decide)
READ_REWARDS = msgspec.json.Decoder(Rewards)
READ_SHOWN = msgspec.json.Decoder(Shown)


async def decide(live: Live, name: str, body: bytes) -> bytes:
    """Decide, write it down, and answer."""
    asked = READ_DECIDE.decode(body)
    decider = live.decider(name)
    count = 1 if asked.count is None else asked.count
    live.limits.check("events", count, "count")
    live.limits.check("candidates", len(asked.candidates or ()))
    live.limits.check("letters", len(asked.key), "key")
    live.limits.check("letters", len(asked.unit or ""), "unit")
    number = decider.snapshot.experiment.id
    ids = [minted(live.secret, number, asked.key, index) for index in range(count)]
    recorded = await _recorded(live, decider, asked, ids)
    answers = []
    for one in recorded:
        live.metrics.decided(name, one.repeated)
        answers.append(await _answer(live, decider, asked, one))
    if asked.count is not None:
        return ENCODER.encode(DecidedSeveral(answers))
    return ENCODER.encode(answers[0])


async def rewards(live: Live, name: str, body: bytes) -> bytes:
    """Take in rewards."""
    asked = READ_REWARDS.decode(body).rewards
    experiment = live.decider(name).snapshot.experiment
    live.limits.check("events", len(asked), "rewards")
    live.limits.check("letters", max(len(reward.id) for reward in asked), "rewards.id")
    _check_ids(live, experiment.id, [reward.decision for reward in asked])
    given = [Reward(each.decision, each.reward, each.id, each.final) for each in asked]
    statuses = await live.write(REWARD, Batch(experiment, given, live.clock()))
    live.metrics.rewarded(name, statuses)
    return _results([each.decision for each in asked], statuses)


async def shown(live: Live, name: str, body: bytes) -> bytes:
    """Take in that decisions were shown."""
    ids = READ_SHOWN.decode(body).decisions
    live.limits.check("events", len(ids), "decisions")
    experiment, now = live.decider(name).snapshot.experiment, live.clock()
    _check_ids(live, experiment.id, ids)
    statuses = await live.change(lambda database: note_shown(database, experiment, ids, now))
    return _results(ids, statuses)


async def _recorded(live: Live, decider: Decider, asked: Decide, ids: list[str]) -> list[Recorded]:
    """Make the decisions, or find them on record where they cannot be made any more."""
    contexts, asked.contexts = _array(asked.contexts), None  # a thousand objects less to look after
    digest = _digest(asked, contexts)
    try:
        if decider.snapshot.experiment.status != "running":
            raise Conflict(f"experiment {decider.snapshot.experiment.name!r} is paused")
        offer = decider.offer(asked.candidates, contexts)
        jobs = [_made(live, decider, offer, asked, each, digest) for each in ids]
    except (FairxError, ValueError):
        stored = await live.read(lambda database: fetched(database, ids))
        if len(stored) < len(ids):
            raise
        found = {row[0]: row for row in stored}
        for row in stored:
            check_same(Decision(*row[:-1]), row[-1], digest)
        return [Recorded(Decision(*found[each][:-1]), True) for each in ids]
    first = await live.write(DECIDE, jobs[0])  # where the key is refused, nothing is written
    return [first, *await asyncio.gather(*(live.write(DECIDE, job) for job in jobs[1:]))]


def _made(
    live: Live, decider: Decider, offer: Offer, asked: Decide, decision: str, digest: bytes
) -> tuple[Decision, float]:
    slot, probabilities = decider.decide(decision, offer)
    now, experiment = live.clock(), decider.snapshot.experiment
    made = Decision(
        decision, experiment.id, now, decider.snapshot.version, int(offer.places[slot]), slot,
        offer.named, probabilities.tobytes(), offer.contexts.tobytes() or None, asked.unit, digest,
    )  # fmt: skip
    return made, now + experiment.settings.reward_window_s


async def _answer(live: Live, decider: Decider, asked: Decide, recorded: Recorded) -> Decided:
    made = recorded.decision
    arms = await _arms(live, decider.snapshot, made.snapshot)
    probabilities = np.frombuffer(made.probabilities)
    answer = Decided(made.id, arms[made.arm].name, float(probabilities[made.slot]), made.snapshot)
    if asked.probabilities:
        answer.probabilities = dict(zip(_offered(arms, made), probabilities.tolist(), strict=True))
    if made.candidates is not None and asked.candidates is not None:
        kept = set(_offered(arms, made))
        if len(kept) < len(asked.candidates):
            answer.left_out = [name for name in asked.candidates if name not in kept]
    return answer


async def _arms(live: Live, snapshot: Snapshot, version: int) -> tuple[Arm, ...]:
    """Return the arms as of a version: that of a repeated decision may be older, or newer."""
    if version == snapshot.version:
        return snapshot.arms
    return await live.read(lambda database: arms_at(database, snapshot.experiment.id, version))


def _offered(arms: tuple[Arm, ...], made: Decision) -> list[str]:
    """Return the names of the arms that were on offer."""
    if made.candidates is None:
        return [arm.name for arm in arms if arm.status == ACTIVE]
    return [arms[place].name for place in np.frombuffer(made.candidates, "<i4")]


def _array(contexts: list[list[float]] | None) -> Any:
    """Return contexts as an array, or as they are where rows differ: those will be refused."""
    try:
        return None if contexts is None else np.array(contexts, np.float64)
    except ValueError:
        return contexts


def _digest(asked: Decide, contexts: Any) -> bytes:
    """Return what must be the same when a key is used again."""
    names = "\n".join(asked.candidates) if asked.candidates is not None else "\0"
    text = f"{asked.unit or ''}\0{asked.count or 1}\0{names}\0"
    rows = contexts.tobytes() if isinstance(contexts, np.ndarray) else repr(contexts).encode()
    return hashlib.sha256(text.encode() + rows).digest()[:16]


def _check_ids(live: Live, experiment: int, decisions: list[str]) -> None:
    for decision in decisions:
        if not is_ours(live.secret, experiment, decision):
            raise Forged(
                f"decision {decision!r} is not one of this experiment's: we did not sign it"
            )


def _results(decisions: list[str], statuses: list[str]) -> bytes:
    pairs = zip(decisions, statuses, strict=True)
    return ENCODER.encode(Results([Result(decision, status) for decision, status in pairs]))  # type: ignore[arg-type]
