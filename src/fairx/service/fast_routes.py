"""The routes that are asked most, without anything in between: decide, rewards, shown."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import msgspec
import numpy as np

from fairx.errors import FairxError
from fairx.store.deciding import Candidates, Decider
from fairx.store.decisions import Decision, Recorded, check_same, fetched
from fairx.store.errors import Conflict, Forged
from fairx.store.identity import is_ours, minted
from fairx.store.rewards import Batch, Reward, note_shown
from fairx.store.snapshots import Arm, Snapshot, arms_at, candidates_of
from fairx.store.writer import DECISIONS, REWARDS

from .answers import ENCODER, Decided, DecidedSeveral, Result, Results
from .requests import Decide, Rewards, Shown
from .runtime import Runtime

READ_DECIDE = msgspec.json.Decoder(Decide)
READ_REWARDS = msgspec.json.Decoder(Rewards)
READ_SHOWN = msgspec.json.Decoder(Shown)


async def decide(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Decide, write it down, and answer."""
    asked = READ_DECIDE.decode(body)
    decider = runtime.decider(name)
    count = 1 if asked.count is None else asked.count
    runtime.limits.check("events", count, "count")
    runtime.limits.check("candidates", len(asked.candidates or ()))
    runtime.limits.check("letters", len(asked.key), "key")
    runtime.limits.check("letters", len(asked.unit or ""), "unit")
    number = decider.snapshot.experiment.id
    ids = [minted(runtime.secret, number, asked.key, index) for index in range(count)]
    recorded = await _recorded(runtime, decider, asked, ids)
    answers = []
    for one in recorded:
        runtime.metrics.decided(name, one.repeated)
        answers.append(await _answer(runtime, decider, asked, one))
    if asked.count is not None:
        return ENCODER.encode(DecidedSeveral(answers))
    return ENCODER.encode(answers[0])


async def rewards(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Take in rewards."""
    asked = READ_REWARDS.decode(body).rewards
    experiment = runtime.decider(name).snapshot.experiment
    runtime.limits.check("events", len(asked), "rewards")
    runtime.limits.check("letters", max(len(reward.id) for reward in asked), "rewards.id")
    _check_ids(runtime, experiment.id, [reward.decision for reward in asked])
    given = [Reward(each.decision, each.reward, each.id, each.final) for each in asked]
    statuses = await runtime.write(REWARDS, Batch(experiment, given, runtime.clock()))
    runtime.metrics.rewarded(name, statuses)
    return _results([each.decision for each in asked], statuses)


async def shown(runtime: Runtime, name: str, body: bytes) -> bytes:
    """Take in that decisions were shown."""
    ids = READ_SHOWN.decode(body).decisions
    runtime.limits.check("events", len(ids), "decisions")
    experiment, now = runtime.decider(name).snapshot.experiment, runtime.clock()
    _check_ids(runtime, experiment.id, ids)
    statuses = await runtime.change(lambda database: note_shown(database, experiment, ids, now))
    return _results(ids, statuses)


async def _recorded(
    runtime: Runtime, decider: Decider, asked: Decide, ids: list[str]
) -> list[Recorded]:
    """Make the decisions, or find them on record where they cannot be made any more."""
    contexts, asked.contexts = _array(asked.contexts), None  # a thousand objects less to look after
    digest = _digest(asked, contexts)
    try:
        if decider.snapshot.experiment.status != "running":
            raise Conflict(f"experiment {decider.snapshot.experiment.name!r} is paused")
        candidates = decider.candidates(asked.candidates, contexts)
        jobs = [_made(runtime, decider, candidates, asked, each, digest) for each in ids]
    except (FairxError, ValueError):
        stored = await runtime.read(lambda database: fetched(database, ids))
        if len(stored) < len(ids):
            raise
        found = {row[0]: row for row in stored}
        for row in stored:
            check_same(Decision(*row[:-1]), row[-1], digest)
        return [Recorded(Decision(*found[each][:-1]), True) for each in ids]
    first = await runtime.write(DECISIONS, jobs[0])  # where the key is refused, nothing is written
    return [first, *await asyncio.gather(*(runtime.write(DECISIONS, job) for job in jobs[1:]))]


def _made(
    runtime: Runtime,
    decider: Decider,
    candidates: Candidates,
    asked: Decide,
    decision: str,
    digest: bytes,
) -> tuple[Decision, float]:
    position, probabilities = decider.decide(decision, candidates)
    now, experiment = runtime.clock(), decider.snapshot.experiment
    made = Decision(
        decision, experiment.id, now, decider.snapshot.version, int(candidates.arms[position]),
        position, candidates.named, probabilities.tobytes(), candidates.contexts.tobytes() or None,
        asked.unit, digest,
    )  # fmt: skip
    return made, now + experiment.settings.reward_window_s


async def _answer(runtime: Runtime, decider: Decider, asked: Decide, recorded: Recorded) -> Decided:
    made = recorded.decision
    arms = await _arms(runtime, decider.snapshot, made.snapshot)
    probabilities = np.frombuffer(made.probabilities)
    propensity = float(probabilities[made.position])
    answer = Decided(made.id, arms[made.arm].name, propensity, made.snapshot)
    if asked.probabilities:
        answer.probabilities = dict(zip(_names(arms, made), probabilities.tolist(), strict=True))
    if made.candidates is not None and asked.candidates is not None:
        names = set(_names(arms, made))
        if len(names) < len(asked.candidates):
            answer.left_out = [name for name in asked.candidates if name not in names]
    return answer


async def _arms(runtime: Runtime, snapshot: Snapshot, version: int) -> tuple[Arm, ...]:
    """Return the arms as of a version: that of a repeated decision may be older, or newer."""
    if version == snapshot.version:
        return snapshot.arms
    return await runtime.read(lambda database: arms_at(database, snapshot.experiment.id, version))


def _names(arms: tuple[Arm, ...], made: Decision) -> list[str]:
    """Return the names of the candidates of a decision."""
    return [arms[number].name for number in candidates_of(arms, made.candidates)]


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


def _check_ids(runtime: Runtime, experiment: int, decisions: list[str]) -> None:
    for decision in decisions:
        if not is_ours(runtime.secret, experiment, decision):
            raise Forged(
                f"decision {decision!r} is not one of this experiment's: we did not sign it"
            )


def _results(decisions: list[str], statuses: list[str]) -> bytes:
    pairs = zip(decisions, statuses, strict=True)
    return ENCODER.encode(Results([Result(decision, status) for decision, status in pairs]))  # type: ignore[arg-type]
