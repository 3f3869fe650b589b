"""What is refused, word for word: status, code, field and message are part of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asking import POLICY, E, Service, serving

from fairx.service.limits import Limits

SHOP = E + "/shop"
TABLE = Path(__file__).with_name("refusals.json")
NEW = {"name": "new", "arms": ["a", "b"], "policy": POLICY}
PIECES = {"kind": "PiecewiseLinear", "knots": [0.0, 1.0], "values": [1.0, 2.0]}
FORGED = "A" * 24


def policy(**parts: Any) -> dict[str, Any]:
    return NEW | {"policy": POLICY | parts}


def pieces(**parts: Any) -> dict[str, Any]:
    return policy(merit=PIECES | parts)


def reward(value: Any, decision: str = "$made", **rest: Any) -> dict[str, Any]:
    return {"rewards": [{"decision": decision, "reward": value, **rest}]}


UCB = {"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.5, "solver": "fast"}
LIN = POLICY | {"kind": "FairXLinTS"}
ASKED: dict[str, tuple[str, str, Any]] = {
    # Bodies that are no JSON, or not of the right shape.
    "no JSON": ("POST", E, b"{"),
    "no UTF-8": ("POST", SHOP + "/decide", b'{"key": "\xff"}'),
    "a list": ("POST", E, []),
    "no key": ("POST", SHOP + "/decide", {}),
    "an empty key": ("POST", SHOP + "/decide", {"key": ""}),
    "an unknown field": ("POST", SHOP + "/decide", {"key": "k", "kee": 1}),
    "an unknown field inside": ("POST", SHOP + "/rewards", reward(1.0, worth=1)),
    "a text as reward": ("POST", SHOP + "/rewards", reward("1")),
    "a reward too large": ("POST", SHOP + "/rewards", reward(1e10)),
    "a role that is none": ("POST", "/v1/tokens", {"name": "n", "role": "king"}),
    "a number without bounds": ("POST", SHOP + "/rewards", b'{"rewards": 1e400}'),
    # Settings.
    "arms twice": ("POST", E, NEW | {"arms": ["a", "a"]}),
    "a name in use": ("POST", E, NEW | {"name": "shop"}),
    "no such policy": ("POST", E, NEW | {"policy": {"kind": "FairXXTS"}}),
    "a setting too many": ("POST", E, policy(width=1)),
    "a setting too few": ("POST", E, NEW | {"policy": {"kind": "EG"}}),
    "a merit as policy": ("POST", E, NEW | {"policy": POLICY["merit"]}),
    "a number as merit": ("POST", E, policy(merit=3)),
    "a negative deviation": ("POST", E, policy(prior_std=-1)),
    "a setting too large": ("POST", E, policy(prior_std=1e12)),
    "a setting too large inside": ("POST", E, policy(merit={"kind": "Exponential", "steepness": 1e10})),
    "a setting of a strange name": ("POST", E, policy(**{"prior std": 1e10})),
    "a text in place of knots": ("POST", E, pieces(knots=["x", 1.0])),
    "a number in place of knots": ("POST", E, pieces(knots=1.0)),
    "knots too few": ("POST", E, pieces(knots=[1.0])),
    "knots that fall": ("POST", E, pieces(knots=[1.0, 0.0])),
    "values that fall": ("POST", E, pieces(values=[2.0, 1.0])),
    "values of zero": ("POST", E, pieces(values=[0.0, 1.0])),
    "a solver that is none": ("POST", E, NEW | {"policy": UCB}),
    "no contexts for a linear policy": ("POST", E, NEW | {"policy": LIN}),
    "contexts for another": ("POST", E, NEW | {"dimension": 2}),
    "a range upside down": ("POST", E, NEW | {"reward_range": [1, 0]}),
    "a missing reward out of range": ("POST", E, NEW | {"missing_reward": 2.0, "reward_range": [0, 1]}),
    "a floor too high": ("POST", E, NEW | {"floor": 0.6}),
    "a floor above all": ("POST", E, NEW | {"floor": 2}),
    "too many arms": ("POST", E, NEW | {"arms": list("abcdefg")}),
    "too large a dimension": ("POST", E, NEW | {"policy": LIN, "dimension": 9}),
    "too long a name of an arm": ("POST", E, NEW | {"arms": ["a" * 31]}),
    # Decisions and what follows.
    "another request of a key": ("POST", SHOP + "/decide", {"key": "k", "candidates": ["a"]}),
    "an unknown arm": ("POST", SHOP + "/decide", {"key": "x", "candidates": ["z"]}),
    "no candidates": ("POST", SHOP + "/decide", {"key": "x", "candidates": []}),
    "only paused candidates": ("POST", SHOP + "/decide", {"key": "x", "candidates": ["c"]}),
    "too many candidates": ("POST", SHOP + "/decide", {"key": "x", "candidates": list("abcdef")}),
    "too many decisions": ("POST", SHOP + "/decide", {"key": "x", "count": 5}),
    "too long a key": ("POST", SHOP + "/decide", {"key": "x" * 31}),
    "contexts without need": ("POST", SHOP + "/decide", {"key": "x", "contexts": [[1.0]]}),
    "no contexts": ("POST", E + "/radio/decide", {"key": "x"}),
    "contexts of another shape": ("POST", E + "/radio/decide", {"key": "x", "contexts": [[1.0]]}),
    "uneven contexts": ("POST", E + "/radio/decide", {"key": "x", "contexts": [[1.0, 1.0], [1.0]]}),
    "contexts too large": ("POST", E + "/radio/decide", {"key": "x", "contexts": [[1e10, 0]] * 2}),
    "a query of a fast route": ("POST", SHOP + "/decide?a=1", {"key": "x"}),
    "a decision we did not sign": ("POST", SHOP + "/rewards", reward(1.0, FORGED)),
    "another reward": ("POST", SHOP + "/rewards", reward(0.25)),
    "a reward out of range": ("POST", SHOP + "/rewards", reward(1.5, id="more")),
    "too many rewards": ("POST", SHOP + "/rewards", {"rewards": reward(1.0)["rewards"] * 5}),
    "too long an id": ("POST", SHOP + "/rewards", reward(1.0, id="x" * 31)),
    "shown, not signed": ("POST", SHOP + "/shown", {"decisions": [FORGED]}),
    "a paused experiment": ("POST", E + "/asleep/decide", {"key": "x"}),
    # Changes.
    "an arm that exists": ("POST", SHOP + "/arms", {"add": ["a"]}),
    "no arm of that name": ("POST", SHOP + "/arms", {"pause": ["z"]}),
    "no arm left": ("POST", SHOP + "/arms", {"pause": ["a", "b"]}),
    "more arms than the floor allows": ("POST", SHOP + "/arms", {"add": ["d"], "resume": ["c"]}),
    "no such token": ("DELETE", "/v1/tokens/f00", None),
    "a token of a strange name": ("DELETE", "/v1/tokens/f-0", None),
    # Reading.
    "no such experiment": ("GET", E + "/nowhere", None),
    "no such decision": ("GET", f"{SHOP}/decisions/{FORGED}", None),
    "an unknown query": ("GET", SHOP + "/audit?beta=1", None),
    "a query where none is taken": ("GET", SHOP + "/status?beta=1", None),
    "a text as alpha": ("GET", SHOP + "/audit?alpha=x", None),
    "an infinite alpha": ("GET", SHOP + "/audit?alpha=inf", None),
    "an alpha of two": ("GET", SHOP + "/audit?alpha=2", None),
    "an empty range": ("GET", SHOP + "/audit?low=1&high=0", None),
    "rewards out of the range asked": ("GET", SHOP + "/audit?high=0.25", None),
    "a merit too large": ("GET", SHOP + "/audit?high=1e6", None),
    "a merit below zero": ("GET", E + "/low/audit?low=-5", None),
    "nothing to audit": ("GET", E + "/asleep/audit", None),
    "no merit": ("GET", E + "/even/audit", None),
    "no such path": ("GET", "/v2", None),
    "no such method": ("PUT", E, None),
}  # fmt: skip


class Case(NamedTuple):
    service: Service
    made: str  # a decision that waits, with a reward


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    limits = Limits(candidates=5, arms=6, dimension=8, events=4, letters=30)
    with serving(tmp_path_factory.mktemp("refusals") / "store.db", limits) as service:
        service.create(arms="abc", floor=0.3, reward_range=[0, 1], reward_window_s=5)
        service.post(SHOP + "/arms", {"pause": ["c"]})
        service.create("radio", "ab", policy=LIN, dimension=2)
        service.create("asleep", "ab")
        service.post(E + "/asleep/pause")
        service.create("even", "ab", policy={"kind": "Uniform"}, reward_window_s=1)
        affine = {"kind": "Affine", "slope": 1.0, "intercept": 1.0}
        service.create("low", "ab", policy=POLICY | {"merit": affine}, reward_window_s=1)
        for name in ("even", "low"):
            service.decide("k", name)
        service.reward(service.decide("old")["decision"], 1.0)
        service.later(5)
        made = service.decide("k")["decision"]
        service.reward(made, 0.75)
        yield Case(service, made)


def refusal(case: Case, method: str, path: str, body: Any) -> list[Any]:
    """Return what a request is answered, with the decision's own id out of sight."""
    if not isinstance(body, bytes):
        body = json.loads(json.dumps(body).replace("$made", case.made))
    answer = case.service.ask(method, path, body)
    error = answer.json()["error"]
    message = error["message"].replace(case.made, "$made")
    return [answer.status_code, error["code"], error["field"], message]


@pytest.mark.parametrize("name", ASKED)
def test_refusals_are_answered_as_ever(case: Case, name: str) -> None:
    assert refusal(case, *ASKED[name]) == json.loads(TABLE.read_text("utf-8"))[name]


def test_the_table_is_of_these_requests() -> None:
    assert json.loads(TABLE.read_text("utf-8")).keys() == ASKED.keys()
