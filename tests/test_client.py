"""The client without a service: a transport that records requests and gives answers by heart."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import re
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import httpx
import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairx import Exponential, FairXTS, auditing, client
from fairx.auditing import slates as slate_auditing
from fairx.client import AsyncClient, Client, Conflict, Reward, ServiceError
from fairx.client.answers import Shown
from fairx.client.calls import get
from fairx.client.deciding import decide
from fairx.client.exchange import FIRST_WAIT, LONGEST_WAIT, waits
from fairx.client.feedback import PART
from fairx.store.rewards import ACCEPTED, DUPLICATE, LATE, PARKED

URL = "http://service"
POLICY = {"kind": "FairXTS", "merit": {"kind": "Exponential", "steepness": 10.0}}
EXPERIMENT = {
    "name": "shop", "status": "running", "policy": POLICY, "dimension": 0, "reward_window_s": 600,
    "arms": [{"name": "a", "status": "active"}, {"name": "b", "status": "paused"}],
    "missing_reward": None, "floor": 0.1, "reward_range": [0, 1], "requires_shown": False,
    "snapshot": 3, "created": 1.5, "added_by_a_newer_service": {},
}  # fmt: skip
CHOICE = {"decision": "d1", "arm": "a", "propensity": 0.25, "snapshot": 3}
DECISION = {
    **CHOICE, "time": 1.0, "probabilities": {"a": 0.25, "b": 0.75}, "shown": None, "due": 9.0,
    "status": "waiting", "reward": None,
    "rewards": [{"id": "", "reward": 1.0, "final": False, "late": True, "time": 2.0}],
}  # fmt: skip
SLATE = {
    "decision": "d1", "snapshot": 3,
    "slate": [
        {"arm": arm, "place": place, "propensity": 0.5} for place, arm in ((1, "b"), (2, "a"))
    ],
}  # fmt: skip
SLATE_DECISION = {
    "decision": "d1", "time": 1.0, "snapshot": 3, "exposures": {"a": 1.0},
    "slate": [
        {"place": 1, "arm": "a", "weight": 1.0, "propensity": 0.5, "shown": None, "status": "mature",
         "due": 9.0, "reward": 1.0, "rewards": DECISION["rewards"]},
    ],
}  # fmt: skip
COUNTS = {"decisions": 4, "rewards": 2, "late": 1, "missing": 0, "waiting": 1}
STATUS = {
    "decisions": 4, "mature": 3, "waiting": 1, "parked": 0, "decisions_per_s": 0.5, "snapshot": 3,
    "snapshot_age_s": 1.5, "arms": [{"arm": "a", "status": "active", **COUNTS}],
}  # fmt: skip
ACTION = {"time": 1.0, "actor": "ann", "action": "create", "experiment": "shop", "detail": {}}
TOKEN = {"id": "t1", "name": "site", "role": "decide", "experiment": None, "created": 1.0}
SHOP = "/v1/experiments/shop"

Handler = Callable[[httpx.Request], httpx.Response]


class Run(NamedTuple):
    answer: Any
    error: Any
    requests: list[httpx.Request]
    slept: list[float]


def run_blocking(act: Callable[[Any], Any], handler: Handler, **settings: Any) -> Run:
    requests, transport = recording(handler)
    slept: list[float] = []
    url = settings.pop("url", URL)
    with Client(url, transport=transport, sleep=slept.append, **settings) as opened:
        try:
            return Run(act(opened), None, requests, slept)
        except ServiceError as error:
            return Run(None, error, requests, slept)


def run_awaiting(act: Callable[[Any], Any], handler: Handler, **settings: Any) -> Run:
    requests, transport = recording(handler)
    slept: list[float] = []
    url = settings.pop("url", URL)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def main() -> Run:
        async with AsyncClient(url, transport=transport, sleep=sleep, **settings) as opened:
            try:
                return Run(await act(opened), None, requests, slept)
            except ServiceError as error:
                return Run(None, error, requests, slept)

    return asyncio.run(main())


def recording(handler: Handler) -> tuple[list[httpx.Request], httpx.MockTransport]:
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return handler(request)

    return requests, httpx.MockTransport(handle)


@pytest.fixture(params=[run_blocking, run_awaiting], ids=["blocking", "awaiting"])
def run(request: pytest.FixtureRequest) -> Any:
    return request.param


def in_turn(*outcomes: httpx.Response | Exception) -> Handler:
    """Give the outcomes one after the other, the last one for ever."""
    waiting = list(outcomes)

    def handle(_: httpx.Request) -> httpx.Response:
        outcome = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if isinstance(outcome, Exception):
            raise outcome
        # a new one each time: a response belongs to the client that read it
        status, headers, content = outcome.status_code, outcome.headers, outcome.content
        return httpx.Response(status, headers=headers, content=content)

    return handle


def answered(body: Any = None, status: int = 200, **headers: str) -> httpx.Response:
    content = b"" if body is None else json.dumps(body).encode()
    return httpx.Response(status, content=content, headers=headers)


def refused(status: int, field: str | None = None, **headers: str) -> httpx.Response:
    error = {"code": "code", "message": f"message {status}", "field": field}
    return answered({"error": error}, status, **headers)


def shop(opened: Any) -> Any:
    return opened.experiment("shop")


class Case(NamedTuple):
    act: Callable[[Any], Any]
    method: str
    path: str
    sent: Any  # None: no body
    answer: Any
    found: Callable[[Any], Any]
    expected: Any


def results(status: str) -> dict[str, Any]:
    return {"results": [{"decision": "d1", "status": status}]}


CREATED = {
    "name": "shop", "arms": ["a", "b"], "policy": POLICY, "dimension": 0, "reward_window_s": 600.0,
    "missing_reward": None, "floor": 0.1, "reward_range": [0.0, 1.0], "requires_shown": True,
}  # fmt: skip
CASES = {
    "create": Case(
        lambda c: shop(c).create(
            ["a", "b"], POLICY, missing_reward=None, floor=0.1, reward_range=(0, 1),
            requires_shown=True,
        ),
        "POST", "/v1/experiments", CREATED, EXPERIMENT, lambda e: e.arms[1].status, "paused",
    ),
    "list": Case(
        lambda c: c.experiments(), "GET", "/v1/experiments", None, {"experiments": [EXPERIMENT]},
        lambda found: [e.name for e in found], ["shop"],
    ),
    "get": Case(
        lambda c: shop(c).get(), "GET", SHOP, None, EXPERIMENT,
        lambda e: (e.reward_range, e.missing_reward), ((0.0, 1.0), None),
    ),
    "delete": Case(lambda c: shop(c).delete(), "DELETE", SHOP, None, None, lambda e: e, None),
    "pause": Case(
        lambda c: shop(c).pause(), "POST", f"{SHOP}/pause", None, EXPERIMENT, lambda e: e.name,
        "shop",
    ),
    "resume": Case(
        lambda c: shop(c).resume(), "POST", f"{SHOP}/resume", None, EXPERIMENT, lambda e: e.snapshot,
        3,
    ),
    "arms": Case(
        lambda c: shop(c).arms(add=["c"], pause=("a",), resume=iter(["b"]), remove=[]),
        "POST", f"{SHOP}/arms", {"add": ["c"], "pause": ["a"], "resume": ["b"], "remove": []},
        EXPERIMENT, lambda e: e.status, "running",
    ),
    "decide": Case(
        lambda c: shop(c).decide("k"), "POST", f"{SHOP}/decide", {"key": "k"}, CHOICE,
        lambda d: (d.arm, d.propensity, d.probabilities, d.left_out), ("a", 0.25, None, ()),
    ),
    "decide with all": Case(
        lambda c: shop(c).decide("k", ["a", "b"], np.eye(2), "u", probabilities=True),
        "POST", f"{SHOP}/decide",
        {"key": "k", "candidates": ["a", "b"], "contexts": [[1.0, 0.0], [0.0, 1.0]], "unit": "u",
         "probabilities": True},
        {**CHOICE, "probabilities": {"a": 0.25, "c": 0.75}, "left_out": ["b"]},
        lambda d: (d.probabilities["c"], d.left_out), (0.75, ("b",)),
    ),
    "decide often": Case(
        lambda c: shop(c).decide("k", count=2), "POST", f"{SHOP}/decide", {"key": "k", "count": 2},
        {"decisions": [CHOICE, CHOICE]}, lambda ds: [d.decision for d in ds], ["d1", "d1"],
    ),
    "decide a slate": Case(
        lambda c: shop(c).decide("k", places=iter([1, 0.5])), "POST", f"{SHOP}/decide",
        {"key": "k", "places": [1.0, 0.5]}, SLATE,
        lambda s: (s.arms, s.slate[1].propensity, s.exposures), (("b", "a"), 0.5, None),
    ),
    "decide places seen alike": Case(
        lambda c: shop(c).decide("k", places=2), "POST", f"{SHOP}/decide",
        {"key": "k", "places": 2}, SLATE, lambda s: s.decision, "d1",
    ),
    "decision of a slate": Case(
        lambda c: shop(c).slate("d1"), "GET", f"{SHOP}/decisions/d1", None, SLATE_DECISION,
        lambda d: (d.slate[0].rewards[0].late, d.slate[0].weight, d.exposures), (True, 1.0, {"a": 1.0}),
    ),
    "shown places": Case(
        lambda c: shop(c).shown("d1", [1, 2]), "POST", f"{SHOP}/shown",
        {"decisions": [{"decision": "d1", "place": 1}, {"decision": "d1", "place": 2}]},
        {"results": [{"decision": "d1", "status": "accepted", "place": place} for place in (1, 2)]},
        lambda r: [e.place for e in r], [1, 2],
    ),
    "reward of a place": Case(
        lambda c: shop(c).reward("d1", 1, place=2), "POST", f"{SHOP}/rewards",
        {"rewards": [{"decision": "d1", "reward": 1.0, "id": "", "final": False, "place": 2}]},
        {"results": [{"decision": "d1", "status": "late", "place": 2}]},
        lambda r: (r.status, r.place), ("late", 2),
    ),
    "decision": Case(
        lambda c: shop(c).decision("d/1"), "GET", f"{SHOP}/decisions/d%2F1", None, DECISION,
        lambda d: (d.rewards[0].late, d.unit, d.contexts), (True, None, None),
    ),
    "shown": Case(
        lambda c: shop(c).shown("d1"), "POST", f"{SHOP}/shown", {"decisions": ["d1"]},
        results("parked"), lambda r: [(e.decision, e.status) for e in r], [("d1", "parked")],
    ),
    "reward": Case(
        lambda c: shop(c).reward("d1", np.float64(1), id="sale", final=True),
        "POST", f"{SHOP}/rewards",
        {"rewards": [{"decision": "d1", "reward": 1.0, "id": "sale", "final": True}]},
        results("late"), lambda r: r.status, "late",
    ),
    "rewards": Case(
        lambda c: shop(c).rewards([Reward("d1", 1)]), "POST", f"{SHOP}/rewards",
        {"rewards": [{"decision": "d1", "reward": 1.0, "id": "", "final": False}]},
        results("duplicate"), lambda r: [e.status for e in r], ["duplicate"],
    ),
    "status": Case(
        lambda c: shop(c).status(), "GET", f"{SHOP}/status", None, STATUS,
        lambda s: (s.decisions_per_s, s.arms[0].late), (0.5, 1),
    ),
    "erase": Case(
        lambda c: shop(c).erase("u"), "POST", f"{SHOP}/erase", {"unit": "u"}, {"erased": 7},
        lambda n: n, 7,
    ),
    "actions": Case(
        lambda c: c.actions(), "GET", "/v1/actions", None, {"actions": [ACTION]},
        lambda found: found[0].actor, "ann",
    ),
    "new token": Case(
        lambda c: c.create_token("site", "decide"), "POST", "/v1/tokens",
        {"name": "site", "role": "decide"}, {**TOKEN, "token": "secret"},
        lambda t: (t.id, t.token), ("t1", "secret"),
    ),
    "tokens": Case(
        lambda c: c.tokens(), "GET", "/v1/tokens", None, {"tokens": [TOKEN]},
        lambda found: found[0].role, "decide",
    ),
    "delete token": Case(
        lambda c: c.delete_token("t 1"), "DELETE", "/v1/tokens/t%201", None, None, lambda e: e, None
    ),
}  # fmt: skip
# A second time would answer something else, or make a second token.
ONCE = {"delete", "arms", "erase", "new token", "delete token"}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_call_is_sent_and_read_as_the_contract_says(case: Case, run: Any) -> None:
    done = run(case.act, in_turn(answered(case.answer)), token="secret")
    assert done.error is None
    (request,) = done.requests
    assert request.method == case.method
    assert request.url.raw_path.decode() == case.path
    assert request.headers["authorization"] == "Bearer secret"
    assert (json.loads(request.content) if request.content else None) == case.sent
    assert (request.headers.get("content-type") == "application/json") == (case.sent is not None)
    assert case.found(done.answer) == case.expected


def test_without_a_token_none_is_sent_and_a_prefix_is_kept(run: Any) -> None:
    done = run(lambda c: shop(c).get(), in_turn(answered(EXPERIMENT)), url="https://host/fair/")
    assert "authorization" not in done.requests[0].headers
    assert str(done.requests[0].url) == f"https://host/fair{SHOP}"


@pytest.mark.parametrize(
    "name", ["a/b", "café", "a b", "50%", "a?b#c", "%2F", "...", "日本", "a\n"]
)
def test_a_name_travels_whole(name: str, run: Any) -> None:
    done = run(lambda c: c.experiment(name).status(), in_turn(answered(STATUS)))
    segments = done.requests[0].url.raw_path.decode().split("/")
    assert [unquote(each) for each in segments] == ["", "v1", "experiments", name, "status"]


@given(st.text(min_size=1).filter(lambda name: name not in (".", "..")))
def test_any_name_is_one_segment_of_the_address(name: str) -> None:
    url = httpx.Client(base_url=URL).build_request("GET", get(name).path).url
    assert url.raw_path.isascii()
    assert [unquote(each) for each in url.raw_path.decode().split("/")][3:] == [name]


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_name_that_would_reach_another_route_is_refused(name: str, run: Any) -> None:
    for act in (lambda h: h.delete(), lambda h: h.create(["a"], POLICY), lambda h: h.shown("d")):
        with pytest.raises(ValueError, match=re.escape(f"not {name!r}: an address cannot hold it")):
            run(lambda c, act=act: act(c.experiment(name)), never)


def never(_: httpx.Request) -> httpx.Response:
    raise AssertionError("nothing must be sent")


def test_a_policy_of_fairx_is_described(run: Any) -> None:
    policy = FairXTS(Exponential(4), prior_std=1, reward_std=0.5)
    done = run(lambda c: shop(c).create(["a"], policy), in_turn(answered(EXPERIMENT, 201)))
    sent = json.loads(done.requests[0].content)["policy"]
    assert sent["kind"] == "FairXTS"
    assert sent["merit"] == {"kind": "Exponential", "steepness": 4.0}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "1", None])
@pytest.mark.parametrize(
    ("name", "act"),
    {
        "reward": lambda h, bad: h.reward("d", bad),
        "rewards[1].reward": lambda h, bad: h.rewards([Reward("d", 1.0), Reward("e", bad)]),
    }.items(),
)
def test_a_reward_that_is_no_number_is_not_sent(name: str, act: Any, bad: Any, run: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name} must be finite, not {bad!r}")):
        run(lambda c: act(shop(c), bad), never)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda h: h.decide(contexts=[[math.nan]]),
            r"contexts must be finite, not nan at \(0, 0\)",
        ),
        (lambda h: h.decide(contexts=[1.0]), r"contexts must have shape \(any, any\), not \(1,\)"),
        (lambda h: h.decide(candidates=["a"], contexts=[[1], [2]]), r"shape \(1, any\).*candidate"),
        (lambda h: h.decide(places=0), "places must be a whole number of at least 1, not 0"),
        (lambda h: h.decide(places=[math.inf]), "places must be finite"),
        (lambda h: h.shown("d", 0), "places must be a whole number of at least 1, not 0"),
        (lambda h: h.reward("d", 1, place=0), "place must be a whole number of at least 1, not 0"),
        (lambda h: h.decide(count=0), "count must be a whole number of at least 1, not 0"),
        (lambda h: h.create(["a"], {"kind": "EG", "epsilon": math.nan}), "policy must be of texts"),
        (
            lambda h: h.create(["a"], {"kind": object()}),
            "policy must be of texts and finite numbers",
        ),
        (
            lambda h: h.create(["a"], POLICY, missing_reward=math.nan),
            "missing_reward must be finite",
        ),
        (
            lambda h: h.create(["a"], POLICY, reward_range=(0, math.inf)),
            "reward_range must be finite",
        ),
        (lambda h: h.create(["a"], POLICY, floor=-1), "floor must be a number from 0 to 1, not -1"),
        (lambda h: h.audit(alpha=math.nan), "alpha must be finite, not nan"),
    ],
)
def test_values_that_json_cannot_say_are_not_sent(act: Any, message: str, run: Any) -> None:
    with pytest.raises(ValueError, match=message):
        run(lambda c: act(shop(c)), never)


@pytest.mark.parametrize("act", [lambda h: h.decide(candidates="a"), lambda h: h.arms(add="a")])
def test_a_text_is_not_a_list_of_letters(act: Any, run: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a list of names, not 'a': write \['a'\]"):
        run(lambda c: act(shop(c)), never)


@pytest.mark.parametrize("opened", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "localhost:80"}, "url must begin with http"),
        ({"url": "http://"}, "url must begin with http"),
        ({"timeout": 0}, "timeout must be positive, not 0"),
        ({"timeout": math.nan}, "timeout must be finite, not nan"),
        ({"retries": -1}, "retries must be a whole number of at least 0, not -1"),
        ({"token": "se cret"}, "token must be of printable ASCII without spaces, not a text of 7"),
        ({"token": "secrét\n"}, "token must be"),
        ({"token": ""}, "token must be"),
    ],
)
def test_settings_are_checked_and_the_token_is_not_repeated(
    opened: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        opened(**{"url": URL, **settings})
    assert "secr" not in str(caught.value)


PASSING: dict[str, httpx.Response | Exception] = {
    "connect": httpx.ConnectError("refused"),
    "connect timeout": httpx.ConnectTimeout("slow"),
    "429": refused(429),
}
PERHAPS_DONE: dict[str, httpx.Response | Exception] = {
    "read": httpx.ReadError("reset"),
    "read timeout": httpx.ReadTimeout("slow"),
    "disconnected": httpx.RemoteProtocolError("disconnected"),
    "502": httpx.Response(502, text="<h1>Bad Gateway</h1>"),
    "503": refused(503),
    "504": httpx.Response(504),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("failure", [*PASSING, *PERHAPS_DONE])
def test_what_may_pass_is_tried_again_where_that_is_safe(failure: str, name: str, run: Any) -> None:
    case, outcome = CASES[name], {**PASSING, **PERHAPS_DONE}[failure]
    done = run(case.act, in_turn(outcome, outcome, answered(case.answer)))
    if name in ONCE and failure in PERHAPS_DONE:
        assert len(done.requests) == 1
        assert isinstance(done.error, ServiceError)
    else:
        assert case.found(done.answer) == case.expected
        assert len({(r.method, r.url, r.content) for r in done.requests}) == 1
        assert len(done.requests) == 3
        assert len(done.slept) == 2


@pytest.mark.parametrize("failure", [httpx.UnsupportedProtocol, httpx.LocalProtocolError])
def test_what_can_never_be_sent_is_not_tried_again(failure: Any, run: Any) -> None:
    done = run(lambda c: shop(c).get(), in_turn(failure("cannot")))
    assert done.error.code == "unreachable"
    assert len(done.requests) == 1


def test_a_decision_without_a_key_gets_one_for_all_of_its_tries(run: Any) -> None:
    handler = in_turn(
        httpx.ReadTimeout("slow"), refused(503), httpx.Response(502), answered(CHOICE)
    )
    done = run(lambda c: shop(c).decide(), handler)
    keys = [json.loads(request.content)["key"] for request in done.requests]
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert re.fullmatch("[0-9a-f]{32}", keys[0])


def test_each_decision_gets_a_key_of_its_own() -> None:
    bodies = [decide("shop").body or b"" for _ in range(100)]
    assert len({json.loads(body)["key"] for body in bodies}) == 100
    assert json.loads(decide("shop", "").body or b"")["key"] == ""  # for the service to refuse


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_it_gives_up_with_the_last_error(retries: int, run: Any) -> None:
    handler = in_turn(*[httpx.ConnectError("refused")] * retries, refused(503))
    done = run(lambda c: shop(c).decide(), handler, retries=retries)
    assert len(done.requests) == retries + 1
    assert len(done.slept) == retries
    assert (done.error.status, done.error.code, done.error.message) == (503, "code", "message 503")


def test_a_service_that_is_not_there_is_named_so(run: Any) -> None:
    done = run(lambda c: shop(c).get(), in_turn(httpx.ConnectError("refused")), retries=2)
    assert (done.error.code, done.error.status, len(done.requests)) == ("unreachable", None, 3)
    assert str(done.error) == f"no answer to GET {SHOP}: ConnectError refused (unreachable)"
    assert isinstance(done.error.__cause__, httpx.ConnectError)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500, 301])
def test_a_refusal_is_not_tried_again(status: int, run: Any) -> None:
    done = run(lambda c: shop(c).decide(), in_turn(refused(status, "floor")))
    assert len(done.requests) == 1
    assert not done.slept
    error = done.error
    assert (error.code, error.message, error.field) == ("code", f"message {status}", "floor")
    assert error.status == status
    assert isinstance(error, Conflict) == (status == 409)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.field == "floor"


@pytest.mark.parametrize("retries", [1, 4])
def test_the_wait_that_was_asked_for_is_kept(retries: int, run: Any) -> None:
    handler = in_turn(*[refused(503, **{"Retry-After": "7"})] * retries, answered(CHOICE))
    done = run(lambda c: shop(c).decide(), handler)
    assert done.answer.arm == "a"
    assert len(done.slept) == retries
    for retry, seconds in enumerate(done.slept):
        assert 7 <= seconds <= 7 + FIRST_WAIT * 2**retry


def test_a_wait_can_be_asked_for_by_date(run: Any) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=30)
    asked = refused(429, **{"Retry-After": format_datetime(moment, usegmt=True)})
    done = run(lambda c: shop(c).decide(), in_turn(asked, answered(CHOICE)))
    assert 20 < done.slept[0] < 31


@pytest.mark.parametrize("asked", ["61", "9" * 400])
def test_a_wait_beyond_a_minute_is_left_to_the_caller(asked: str, run: Any) -> None:
    done = run(lambda c: shop(c).decide(), in_turn(refused(429, **{"Retry-After": asked})))
    assert done.error.status == 429
    assert len(done.requests) == 1
    assert not done.slept


@pytest.mark.parametrize("asked", ["", "soon", "-3", "1.5", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_that_makes_no_sense_is_passed_over(asked: str, run: Any) -> None:
    handler = in_turn(refused(429, **{"Retry-After": asked}), answered(CHOICE))
    assert 0 <= run(lambda c: shop(c).decide(), handler).slept[0] <= FIRST_WAIT


@given(st.integers(0, 2000), st.floats(0, 1, exclude_max=True))
def test_waits_double_up_to_a_bound(retries: int, draw: float) -> None:
    *found, last = waits(retries, lambda: draw)
    assert last is None
    assert len(found) == retries
    for retry, wait in enumerate(found):
        assert wait == draw * min(LONGEST_WAIT, FIRST_WAIT * 2**retry if retry < 99 else math.inf)


def test_waits_are_spread_over_all_of_their_range() -> None:
    # 400 draws uniform on [0, 0.1): P(none in a given tenth) = 0.9^400 < 1e-18, for ten < 1e-17.
    tenths = {int(10 * (next(waits(1)) or 0.0) / FIRST_WAIT) for _ in range(400)}
    assert tenths == set(range(10))


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"decision": "\xff"}', b'{"arm": "a"}'])
def test_an_answer_outside_of_the_contract_is_an_error(content: bytes, run: Any) -> None:
    done = run(lambda c: shop(c).decide(), lambda _: httpx.Response(200, content=content))
    assert (done.error.code, done.error.status, len(done.requests)) == ("unreadable", 200, 1)


def test_a_page_of_a_proxy_is_an_error_with_its_status(run: Any) -> None:
    done = run(lambda c: shop(c).get(), lambda _: httpx.Response(404, text="<h1>\xff</h1>"))
    assert (done.error.code, done.error.status) == ("http", 404)
    assert f"GET {SHOP} was answered 404 Not Found, not by the decision service" in str(done.error)


def accepting(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    ids = body.get("decisions") or [each["decision"] for each in body["rewards"]]
    return answered({"results": [{"decision": each, "status": "accepted"} for each in ids]})


@pytest.mark.parametrize("count", [0, 1, PART, PART + 1, 2 * PART + 3])
@pytest.mark.parametrize(
    "act",
    [
        lambda h, ids: h.rewards(Reward(each, 1.0) for each in ids),
        lambda h, ids: h.shown(iter(ids)),
    ],
    ids=["rewards", "shown"],
)
def test_long_lists_go_in_parts_and_nothing_is_lost(act: Any, count: int, run: Any) -> None:
    ids = [f"d{i}" for i in range(count)]
    done = run(lambda c: act(shop(c), ids), accepting)
    assert [result.decision for result in done.answer] == ids
    assert len(done.requests) == math.ceil(count / PART)


def test_a_bad_reward_at_the_end_keeps_the_first_part_from_being_sent(run: Any) -> None:
    batch = [Reward(f"d{i}", 1.0) for i in range(PART)] + [Reward("bad", math.nan)]
    with pytest.raises(ValueError, match=re.escape(f"rewards[{PART}].reward must be finite")):
        run(lambda c: shop(c).rewards(batch), never)


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Chunks, and then perhaps the end of the connection."""

    def __init__(self, *chunks: bytes | Exception) -> None:
        self.chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


def streamed(*chunks: bytes | Exception) -> httpx.Response:
    return httpx.Response(200, stream=Stream(*chunks))


WHOLE = (b"PAR1", b"rows" * 1000, b"P", b"AR", b"1")


def test_an_export_is_written_whole(tmp_path: Path, run: Any) -> None:
    done = run(lambda c: shop(c).export(tmp_path / "log.parquet"), lambda _: streamed(*WHOLE))
    assert done.error is None
    assert done.requests[0].url.path == f"{SHOP}/export"
    assert (tmp_path / "log.parquet").read_bytes() == b"".join(WHOLE)
    assert len(list(tmp_path.iterdir())) == 1


TORN = {
    "reset": (b"PAR1", b"rows", httpx.ReadError("reset")),
    "slow": (b"PAR1", httpx.ReadTimeout("slow")),
    "closed as if whole": (b"PAR1", b"rows"),
    "empty": (),
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
@pytest.mark.parametrize("before", [None, b"yesterday's"])
def test_a_torn_export_leaves_no_file(
    torn: Any, before: bytes | None, tmp_path: Path, run: Any
) -> None:
    path = tmp_path / "log.parquet"
    if before is not None:
        path.write_bytes(before)
    done = run(lambda c: shop(c).export(path), lambda _: streamed(*torn), retries=2)
    assert done.error.code == "unreachable"
    assert len(done.requests) == 3
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([before] if before else [])


def test_a_torn_export_is_fetched_again_from_its_start(tmp_path: Path, run: Any) -> None:
    tries = [streamed(*TORN["reset"]), streamed(*WHOLE)]
    done = run(lambda c: shop(c).export(tmp_path / "log"), lambda _: tries.pop(0))
    assert done.error is None
    assert len(done.slept) == 1
    assert (tmp_path / "log").read_bytes() == b"".join(WHOLE)


def test_a_refused_export_says_why_and_leaves_no_file(tmp_path: Path, run: Any) -> None:
    done = run(lambda c: shop(c).export(tmp_path / "log"), lambda _: refused(403))
    assert done.error.message == "message 403"
    assert not list(tmp_path.iterdir())


def plain(value: Any) -> Any:
    """Return records as mappings, all the way down."""
    if hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return value


@pytest.mark.parametrize("arms", ["ab", "aabb"])
def test_an_audit_is_read_with_all_of_its_fields(arms: str, run: Any) -> None:
    log = pd.DataFrame({"arm": list(arms) * 50, "reward": [0.0, 1.0] * (25 * len(arms))})
    made = auditing.audit(log, Exponential(4), groups={"a": "x", "b": "y"})
    body = msgspec.json.encode({**plain(made), "snapshot": 4})
    handler = in_turn(httpx.Response(200, content=body))
    done = run(lambda c: shop(c).audit(alpha=0.1, low=-1, high=2), handler)
    assert done.error is None
    assert done.requests[0].url.raw_path.decode() == f"{SHOP}/audit?alpha=0.1&low=-1.0&high=2.0"
    assert json.loads(msgspec.json.encode(done.answer)) == json.loads(body)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (client.Audit, auditing.Audit), (client.Line, auditing.Line),
        (client.ArmRewards, auditing.Arm), (client.Moment, auditing.Moment),
        (client.SampleRatio, auditing.SampleRatio), (client.Sensitivity, auditing.Sensitivity),
        (client.SlateAudit, slate_auditing.SlateAudit), (client.SlateLine, slate_auditing.SlateLine),
    ],
)  # fmt: skip
def test_the_fields_of_an_audit_are_those_of_auditing(ours: Any, theirs: Any) -> None:
    extra = ("snapshot",) if theirs in (auditing.Audit, slate_auditing.SlateAudit) else ()
    assert ours.__struct_fields__ == (*theirs._fields, *extra)


def test_both_clients_have_the_same_methods_and_say_what_they_take() -> None:
    for ours, theirs in ((Client, AsyncClient), (client.Handle, client.AsyncHandle)):
        names = {name for name in vars(ours) if not name.startswith("_")}
        assert names == {name for name in vars(theirs) if not name.startswith("_")}
        for name in names:
            one, other = getattr(ours, name), getattr(theirs, name)
            assert list(inspect.signature(one).parameters) == list(
                inspect.signature(other).parameters
            )
            assert one.__doc__ == other.__doc__
            assert one.__doc__
    parameters = inspect.signature(Client(URL).experiment("shop").decide).parameters
    expected = ["key", "candidates", "contexts", "unit", "count", "probabilities", "places"]
    assert list(parameters) == expected


@pytest.mark.parametrize("status", [ACCEPTED, DUPLICATE, LATE, PARKED])
def test_whatever_the_store_says_of_an_event_can_be_read(status: str) -> None:
    """What was shown late was answered and could not be read."""
    body = msgspec.json.encode({"decision": "d", "status": status})
    assert msgspec.json.decode(body, type=Shown).status == status
