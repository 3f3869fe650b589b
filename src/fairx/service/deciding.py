"""A decision of one arm: made, written and answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, cast

import msgspec
import numpy as np

from fairx.errors import FairxError
from fairx.store.arms import Arm, arms_at, candidates_of
from fairx.store.compact import is_digest
from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.decisions import Decision, Recorded, check_same, fetched
from fairx.store.earlier import Earlier
from fairx.store.errors import Conflict
from fairx.store.offering import Candidates
from fairx.store.snapshots import ServedExperiment, Snapshot
from fairx.store.writer import DECISIONS

from .answers import Decided
from .naming import encoded
from .requests import Decide
from .runtime import Runtime


async def recorded(
    runtime: Runtime, decider: Decider, asked: Decide, ids: list[str]
) -> list[Recorded]:
    """Make the decisions, or find them on record where they cannot be made any more."""
    contexts, asked.contexts = array(asked.contexts), None  # a thousand objects less to look after
    digest = digest_of(asked, contexts)
    try:
        jobs = made(runtime, decider, asked, contexts, digest, ids)
    except (FairxError, ValueError):
        stored = await runtime.read(lambda database: fetched(database, ids))
        if len(stored) < len(ids):
            raise
        found = {each.id: each for each, _ in stored}
        for each, erased in stored:
            check_same(each, erased, digest)
        return [Recorded(found[number], True) for number in ids]
    first = await runtime.write(DECISIONS, jobs[0])  # where the key is refused, nothing is written
    if len(jobs) == 1:
        return [first]
    return [first, *await asyncio.gather(*(runtime.write(DECISIONS, job) for job in jobs[1:]))]


def made(
    runtime: Runtime, decider: Decider, asked: Decide, contexts: Any, digest: bytes, ids: list[str]
) -> list[tuple[Decision, float]]:
    """Make decisions, each with the time until which it waits for rewards."""
    check_running(decider.snapshot.experiment)
    rows = encoded(decider, asked.candidates, contexts)
    candidates = decider.candidates(asked.candidates, rows)
    return [_made(runtime, decider, candidates, asked, each, digest) for each in ids]


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
        position, candidates.named, decider.stored(candidates.named, probabilities), candidates.contexts.tobytes() or None,
        asked.unit, digest, propensity=None if decider.is_told else float(probabilities[position]),
    )  # fmt: skip
    return made, now + experiment.settings.reward_window_s


async def answers(
    runtime: Runtime, decider: Decider, asked: Decide, found: Sequence[Recorded]
) -> list[Decided]:
    """Return what the client reads; what is of an earlier snapshot is looked up once for all."""
    made = [one.decision for one in found]
    versions = {each.snapshot for each in made}
    arms = {each: await arms_of(runtime, decider.snapshot, each) for each in versions}
    answers = [said(arms[each.snapshot], asked, each) for each in made]
    if asked.probabilities:
        chances = await chances_of(runtime, decider, made)
        for answer, each, numbers in zip(answers, made, chances, strict=True):
            names = names_of(arms[each.snapshot], each)
            answer.probabilities = dict(zip(names, numbers, strict=True))
    return answers


def said(arms: tuple[Arm, ...], asked: Decide, made: Decision) -> Decided:
    """Return what is said of a decision where its probabilities were not asked for."""
    propensity = made.propensity
    if propensity is None:
        propensity = float(np.frombuffer(made.probabilities)[made.position])
    answer = Decided(made.id, arms[made.arm].name, propensity, made.snapshot)
    left_out = left_out_of(arms, made, asked)
    if left_out:
        answer.left_out = left_out
    return answer


async def chances_of(
    runtime: Runtime, decider: Decider, made: Sequence[Decision]
) -> list[list[float]]:
    """Return the probabilities of decisions, or the exposures of a slate."""
    known = [_known_chances(decider, each) for each in made]
    if None not in known:
        return cast(list[list[float]], known)
    experiment = decider.snapshot.experiment

    def told(database: Database) -> list[list[float]]:
        earlier = Earlier(database, experiment)  # one: it folds what they have in common once
        return [
            cast(list[float], earlier.chances(each).tolist()) if chances is None else chances
            for each, chances in zip(made, known, strict=True)
        ]

    return await runtime.read(told)


def _known_chances(decider: Decider, made: Decision) -> list[float] | None:
    """Return the probabilities of a decision, if they need not be made again."""
    if not is_digest(made.probabilities):
        return cast(list[float], np.frombuffer(made.probabilities).tolist())
    if made.place is None and made.snapshot == decider.snapshot.version:
        solved = decider.solved(made.candidates)
        return None if solved is None else cast(list[float], solved.probabilities.tolist())
    return None


async def arms_of(runtime: Runtime, snapshot: Snapshot, version: int) -> tuple[Arm, ...]:
    """Return the arms as of a version: that of a repeated decision may be older, or newer."""
    if version == snapshot.version:
        return snapshot.arms
    return await runtime.read(lambda database: arms_at(database, snapshot.experiment.id, version))


def names_of(arms: tuple[Arm, ...], made: Decision) -> list[str]:
    """Return the names of the candidates of a decision."""
    return [arms[number].name for number in candidates_of(arms, made.candidates)]


def left_out_of(arms: tuple[Arm, ...], made: Decision, asked: Decide) -> list[str]:
    """Return the arms that a client named, but are no candidates, for they are paused."""
    if made.candidates is None or asked.candidates is None:
        return []
    if len(made.candidates) // 4 == len(asked.candidates):
        return []
    names = set(names_of(arms, made))
    return [name for name in asked.candidates if name not in names]


def check_running(experiment: ServedExperiment) -> None:
    """Refuse to decide while an experiment is paused."""
    if experiment.status != "running":
        raise Conflict(f"experiment {experiment.name!r} is paused")


def array(contexts: list[list[float]] | dict[str, Any] | None) -> Any:
    """Return contexts as an array, or as they are: by name, or where rows differ, which will be refused."""
    try:
        return np.array(contexts, np.float64) if isinstance(contexts, list) else contexts
    except ValueError:
        return contexts


def digest_of(asked: Decide, contexts: Any) -> bytes:
    """Return what must be the same when a key is used again."""
    names = "\n".join(asked.candidates) if asked.candidates is not None else "\0"
    text = f"{asked.unit or ''}\0{asked.count or 1}\0{names}\0"
    rows = contexts.tobytes() if isinstance(contexts, np.ndarray) else _text(contexts)
    return hashlib.sha256(text.encode() + rows).digest()[:16]


def _text(contexts: Any) -> bytes:
    """Return contexts that are no array as bytes; features by name in whatever order they came."""
    if isinstance(contexts, dict):
        return msgspec.json.encode(contexts, order="sorted")
    return repr(contexts).encode()
