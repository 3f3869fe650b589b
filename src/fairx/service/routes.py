"""The routes: what each takes, gives and needs is said once, in a table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from . import administration, answers, handlers, requests, slate_answers
from .access import ADMIN, DECIDE, READ, REWARD
from .calls import Bytes, Call


class Route(NamedTuple):
    """A route.

    `status` is that of success; `takes` and `gives` are types of bodies, several where it depends
    on the request.
    """

    method: str
    path: str
    role: str | None  # None: anyone
    summary: str
    handler: Callable[[Call], Awaitable[Any]] | None  # None: a fast one
    takes: Any = None
    gives: Any = None
    status: int = 200
    query: tuple[str, ...] = ()


E, BATCH = "/v1/experiments", "/v1/batch"
ROUTES = (
    Route("POST", E, ADMIN, "Create an experiment", handlers.create_experiment, requests.NewExperiment, answers.ExperimentOut, 201),
    Route("GET", E, READ, "List experiments", handlers.list_experiments, gives=answers.Experiments),
    Route("GET", E + "/{name}", READ, "Get an experiment", handlers.get_experiment, gives=answers.ExperimentOut),
    Route("DELETE", E + "/{name}", ADMIN, "Delete an experiment", handlers.delete, status=204),
    Route("POST", E + "/{name}/pause", ADMIN, "Pause an experiment", handlers.pause, gives=answers.ExperimentOut),
    Route("POST", E + "/{name}/resume", ADMIN, "Resume an experiment", handlers.resume, gives=answers.ExperimentOut),
    Route("POST", E + "/{name}/arms", ADMIN, "Change arms", handlers.change_experiment_arms, requests.ArmChanges, answers.ExperimentOut),
    Route("POST", E + "/{name}/decide", DECIDE, "Decide", None, requests.Decide, (answers.Decided, answers.DecidedSeveral, slate_answers.DecidedSlate)),
    Route("POST", E + "/{name}/shown", DECIDE, "Say what was shown", None, requests.Shown, answers.Results),
    Route("POST", E + "/{name}/rewards", REWARD, "Send rewards", None, requests.Rewards, answers.Results),
    Route("POST", BATCH, DECIDE, "Ask different things in one call", None, requests.Batch, answers.BatchAnswers),
    Route("GET", E + "/{name}/decisions/{decision}", READ, "Get a decision", handlers.get_decision, gives=(answers.DecisionOut, slate_answers.SlateOut)),
    Route("GET", E + "/{name}/status", READ, "Get counts", handlers.status, gives=answers.Status),
    Route("GET", E + "/{name}/audit", READ, "Audit the exposure", handlers.audit, gives=dict[str, Any], query=("alpha", "low", "high")),
    Route("GET", E + "/{name}/export", READ, "Export the decision log", handlers.export_log, gives=Bytes),
    Route("POST", E + "/{name}/erase", ADMIN, "Forget a unit", handlers.erase_unit, requests.Erase, answers.Erased),
    Route("GET", "/healthz", None, "Is the process alive?", administration.healthz, gives=answers.Health),
    Route("GET", "/readyz", None, "Can it decide?", administration.readyz, gives=answers.Health),
    Route("GET", "/metrics", READ, "Counts for Prometheus", administration.metrics, gives=Bytes),
    Route("GET", "/v1/actions", ADMIN, "List administrative actions", administration.actions, gives=answers.Actions),
    Route("POST", "/v1/tokens", ADMIN, "Create a token", administration.create_token, requests.NewToken, answers.Token, 201),
    Route("GET", "/v1/tokens", ADMIN, "List tokens", administration.list_tokens, gives=answers.Tokens),
    Route("POST", "/v1/tokens/{id}/rotate", ADMIN, "Replace a token", administration.rotate_token, requests.Rotation, answers.Token, 201),
    Route("DELETE", "/v1/tokens/{id}", ADMIN, "Revoke a token", administration.revoke_token, status=204),
)  # fmt: skip
