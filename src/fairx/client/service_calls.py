"""The calls of the service as a whole."""

from __future__ import annotations

from .answers import Action, Experiment, NewToken, Token
from .call import Call, body, nothing, path, reading, reading_field

EXPERIMENTS = reading_field("experiments", tuple[Experiment, ...])
ACTIONS = reading_field("actions", tuple[Action, ...])
TOKENS = reading_field("tokens", tuple[Token, ...])
NEW_TOKEN = reading(NewToken)


def experiments() -> Call[tuple[Experiment, ...]]:
    """Return all experiments."""
    return Call("GET", path("experiments"), EXPERIMENTS)


def actions() -> Call[tuple[Action, ...]]:
    """Return the record of administrative actions."""
    return Call("GET", path("actions"), ACTIONS)


def tokens() -> Call[tuple[Token, ...]]:
    """Return all tokens, without their secrets."""
    return Call("GET", path("tokens"), TOKENS)


def create_token(name: str, role: str, experiment: str | None = None) -> Call[NewToken]:
    """Make a token for one experiment or, without it, for all."""
    sent = body(name=name, role=role, experiment=experiment)
    return Call("POST", path("tokens"), NEW_TOKEN, sent, repeatable=False)


def delete_token(token_id: str) -> Call[None]:
    """Revoke a token."""
    return Call("DELETE", path("tokens", token_id), nothing, repeatable=False)
