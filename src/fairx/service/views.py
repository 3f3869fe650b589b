"""What the store has, as the API answers it: experiments, decisions, counts, actions, tokens."""

from __future__ import annotations

from collections.abc import Mapping

from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.queries import MINUTE, counts, history, last_actions
from fairx.store.settings import written
from fairx.store.snapshots import Snapshot
from fairx.store.tokens import valid_tokens

from . import answers
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


def decision(database: Database, snapshot: Snapshot, name: str) -> answers.DecisionOut:
    """Return a decision with all that came of it."""
    found = history(database, snapshot, name)
    made = found.decision
    answer = answers.DecisionOut(
        decision=name, time=made.time, arm=found.arm, propensity=found.propensity,
        snapshot=made.snapshot, probabilities=found.probabilities,
        status="mature" if found.is_mature else "waiting", due=found.due,
        rewards=[answers.RewardOut(*reward) for reward in found.rewards],
        reward=found.learned, shown=found.shown,
    )  # fmt: skip
    if made.unit is not None:
        answer.unit = made.unit
    if found.contexts is not None:
        answer.contexts = found.contexts
    return answer


def status(database: Database, snapshot: Snapshot, now: float) -> answers.Status:
    """Return how an experiment is doing, arm by arm."""
    found = counts(database, snapshot, now)
    arms = [
        answers.ArmCounts(
            arm.name, arm.status, each.decisions, each.rewards, each.late,
            each.mature - each.rewarded, each.decisions - each.mature,
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
    return answers.Tokens(
        [
            answers.Token(each.id, each.name, each.role, each.experiment, each.created)  # type: ignore[arg-type]
            for each in valid_tokens(database)
        ]
    )
