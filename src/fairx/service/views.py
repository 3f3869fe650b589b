"""What the store has, as the API answers it: experiments, decisions, counts, actions, tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.histories import History, PlaceHistory, history
from fairx.store.queries import MINUTE, counts, last_actions
from fairx.store.settings import written
from fairx.store.snapshots import Snapshot
from fairx.store.tokens import Token, valid_tokens

from . import answers, slate_answers
from .access import Grant


def readable(deciders: Mapping[str, Decider], grant: Grant) -> list[Snapshot]:
    """Return the snapshots of the experiments that a grant covers, by their names."""
    return [
        decider.snapshot
        for name, decider in sorted(deciders.items())
        if grant.experiment in (None, name)
    ]


def experiment(snapshot: Snapshot) -> answers.ExperimentOut:
    """Return an experiment as clients see it."""
    found = snapshot.experiment
    arms = [answers.ArmState(arm.name, arm.status) for arm in snapshot.arms]  # type: ignore[arg-type]
    about = written(found.settings)
    return answers.ExperimentOut(
        name=found.name, status=found.status, arms=arms, snapshot=snapshot.version,  # type: ignore[arg-type]
        created=found.created, **about,
    )  # fmt: skip


def decision(
    database: Database, snapshot: Snapshot, name: str
) -> answers.DecisionOut | slate_answers.SlateOut:
    """Return a decision with all that came of it, of a slate place by place."""
    found = history(database, snapshot, name)
    answer = _slate(found) if found.places else _single(found)
    if found.decision.unit is not None:
        answer.unit = found.decision.unit
    if found.contexts is not None:
        answer.contexts = found.contexts
    return answer


def _single(found: History) -> answers.DecisionOut:
    made = found.decision
    return answers.DecisionOut(
        decision=made.id, time=made.time, arm=found.arm, propensity=found.propensity,
        snapshot=made.snapshot, probabilities=found.probabilities, **_outcome(found),
    )  # fmt: skip


def _slate(found: History) -> slate_answers.SlateOut:
    made = found.decision
    places = [
        slate_answers.PlaceOut(
            place=each.place, arm=each.arm, weight=each.weight, propensity=each.propensity,
            **_outcome(each),
        )
        for each in found.places
    ]  # fmt: skip
    return slate_answers.SlateOut(made.id, made.time, made.snapshot, places, found.probabilities)


def _outcome(found: History | PlaceHistory) -> dict[str, Any]:
    """Return what came of a decision, or of a place."""
    outcome = found.outcome
    return {
        "status": "mature" if outcome.is_mature else "waiting",
        "due": outcome.due,
        "rewards": [answers.RewardOut(*reward) for reward in outcome.rewards],
        "reward": outcome.learned,
        "shown": outcome.shown,
    }


def status(database: Database, snapshot: Snapshot, now: float) -> answers.Status:
    """Return how an experiment is doing, arm by arm."""
    found = counts(database, snapshot, now)
    total = math.fsum(each.weight for each in found.arms)
    arms = [
        answers.ArmCounts(
            arm.name, arm.status, each.decisions, each.rewards, each.late,
            each.mature - each.rewarded, each.decisions - each.mature,
            each.weight / total if found.has_slates else UNSET,
        )
        for arm, each in zip(snapshot.arms, found.arms, strict=True)
    ]  # fmt: skip
    return answers.Status(
        found.decisions, found.mature, found.decisions - found.mature, found.parked,
        found.last_minute / MINUTE, snapshot.version, max(0.0, now - snapshot.time), arms,
    )  # fmt: skip


def actions(database: Database) -> answers.Actions:
    """Return the last administrative actions, newest first."""
    found, older = last_actions(database)
    return answers.Actions([answers.Action(*action) for action in found], older)


def tokens(database: Database) -> answers.Tokens:
    """Return the tokens that are valid, without their secrets."""
    return answers.Tokens([token(each) for each in valid_tokens(database)])


def token(found: Token, secret: str | UnsetType = UNSET) -> answers.Token:
    """Return a token, with its secret where it is new."""
    about = (found.id, found.name, found.role, found.experiment, found.created, secret)
    return answers.Token(*about, UNSET if found.expires is None else found.expires)  # type: ignore[arg-type]
