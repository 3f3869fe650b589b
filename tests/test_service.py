"""The service, route by route, on a real store and with a clock of our own."""

from __future__ import annotations

import asyncio
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asking import LINEAR, POLICY, START, E, Service, failure, serving
from prometheus_client.parser import text_string_to_metric_families

from fairx import Exponential, logs
from fairx.auditing import audit
from fairx.service.audits import KEPT
from fairx.service.limits import Limits
from fairx.store import located, verify

SHOP = E + "/shop"
RULE = re.compile(r"^\S.* (must|does not exist|is not|needs|has the reward|exists already)\b")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path / "store.db") as running:
        yield running


@pytest.fixture
def shop(service: Service) -> Service:
    service.create(reward_window_s=10)
    return service


# --- experiments


def test_an_experiment_is_created_listed_got_paused_resumed_and_deleted(service: Service) -> None:
    created = service.ask("POST", E, {"name": "shop", "arms": ["a", "b"], "policy": POLICY})
    assert created.status_code == 201
    expected = {
        "name": "shop", "status": "running", "policy": POLICY, "dimension": 0,
        "arms": [{"name": "a", "status": "active"}, {"name": "b", "status": "active"}],
        "reward_window_s": 600.0, "missing_reward": 0.0, "floor": 0.0, "reward_range": None,
        "requires_shown": False, "snapshot": 1, "created": START,
    }  # fmt: skip
    assert created.json() == service.get(SHOP) == expected
    assert service.get(E) == {"experiments": [expected]}
    assert service.post(SHOP + "/pause") == expected | {"status": "paused"}
    assert service.get(SHOP)["status"] == "paused"
    assert service.post(SHOP + "/pause")["status"] == "paused"  # again: the same
    assert service.post(SHOP + "/resume") == expected
    gone = service.ask("DELETE", SHOP)
    assert (gone.status_code, gone.content) == (204, b"")
    failure(service.ask("GET", SHOP), 404, "not_found")
    failure(service.ask("DELETE", SHOP), 404, "not_found")
    assert service.get(E) == {"experiments": []}


def test_all_settings_come_back_and_outlive_a_restart(service: Service) -> None:
    settings = {
        "policy": LINEAR | {"bounds": None}, "dimension": 2, "reward_window_s": 5.0, "missing_reward": None,
        "floor": 0.1, "reward_range": [-1.0, 2.0], "requires_shown": True,
    }  # fmt: skip
    created = service.create("news", ["a", "b"], **settings)
    assert {name: created[name] for name in settings} == settings
    service.stop()
    with serving(service.path) as again:
        assert again.get(E + "/news") == created
    service.runner = asyncio.Runner()
    service.start()


def test_names_are_taken_until_deleted_and_a_new_experiment_is_another(shop: Service) -> None:
    again = {"name": "shop", "arms": ["x"], "policy": POLICY}
    _, field = failure(shop.ask("POST", E, again), 409, "conflict")
    assert field == "name"
    old = shop.decide("k")
    shop.ask("DELETE", SHOP)
    failure(shop.ask("POST", SHOP + "/decide", {"key": "k"}), 404, "not_found")
    shop.create(arms=["x"])
    new = shop.decide("k")
    assert new["decision"] != old["decision"]
    assert new["arm"] == "x"
    failure(shop.ask("GET", f"{SHOP}/decisions/{old['decision']}"), 404, "not_found")
    reward = {"rewards": [{"decision": old["decision"], "reward": 1}]}
    failure(shop.ask("POST", SHOP + "/rewards", reward), 422, "forged_decision")
    assert shop.get(SHOP + "/status")["decisions"] == 1


GOOD: dict[str, Any] = {"name": "x", "arms": ["a", "b"], "policy": POLICY}
REFUSED = [
    ({"name": ""}, "name"), ({"name": "a b"}, "name"), ({"name": "-a"}, "name"), ({"name": "a\n"}, "name"),
    ({"name": "n" * 101}, "name"), ({"name": "a/b"}, "name"), ({"name": None}, "name"), ({"name": "é"}, "name"),
    ({"arms": []}, "arms"), ({"arms": ["a", "a"]}, "arms"), ({"arms": [""]}, "arms[0]"), ({"arms": "ab"}, "arms"),
    ({"arms": ["a", "b\n"]}, "arms[1]"), ({"arms": ["\0"]}, "arms[0]"), ({"arms": ["a" * 201]}, "arms"),
    ({"arms": [1]}, "arms[0]"), ({"dimension": -1}, "dimension"), ({"dimension": 1}, "dimension"),
    ({"dimension": 10**30}, "dimension"), ({"dimension": 1.5}, "dimension"), ({"policy": LINEAR}, "dimension"),
    ({"reward_window_s": -1}, "reward_window_s"), ({"reward_window_s": 1e10}, "reward_window_s"),
    ({"reward_window_s": "1"}, "reward_window_s"), ({"missing_reward": 1e10}, "missing_reward"),
    ({"missing_reward": 1e308}, "missing_reward"), ({"floor": -0.1}, "floor"), ({"floor": 0.6}, "floor"), ({"floor": 2}, "floor"),
    ({"reward_range": [0]}, "reward_range"), ({"reward_range": [0, 1, 2]}, "reward_range"),
    ({"reward_range": [0, 1], "missing_reward": 2}, "missing_reward"), ({"reward_range": [0, "1"]}, "reward_range[1]"),
    ({"requires_shown": 1}, "requires_shown"), ({"colour": "red"}, "colour"), ({"policy": 3}, "policy"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "field"), REFUSED, ids=str)
def test_settings_that_break_a_rule(service: Service, change: Any, field: str) -> None:
    message, found = failure(service.ask("POST", E, GOOD | change), 422, "invalid")
    assert found == field
    assert RULE.search(message), message
    assert service.get(E) == {"experiments": []}


def test_a_range_of_rewards_goes_up(service: Service) -> None:
    for ends in ([1, 0], [1, 1], [-1e10, 1]):
        failure(service.ask("POST", E, GOOD | {"reward_range": ends}), 422, "invalid")


STDS: list[Any] = [0, -1, "1", None, [1], {}, 1e10, 10**400]
MERITS: list[Any] = [3, None, "Exponential", {}, [POLICY["merit"]], POLICY, {"kind": "Exact"}]
CANNOT_BE: list[Any] = [
    {}, {"kind": 5}, {"kind": None}, {"kind": ["x"]}, {"kind": "TS"}, {"kind": "FairXTS"}, {"kind": "Custom"},
    {"kind": "Uniform", "x": 1}, {"kind": "Exponential", "steepness": 1}, {"kind": "Exact"},
    *({**POLICY, "prior_std": bad} for bad in STDS),
    *({**POLICY, "merit": bad} for bad in MERITS),
    {**POLICY, "merit": {"kind": "Exponential", "steepness": 1e300}},
    {**POLICY, "merit": {"kind": "PiecewiseLinear", "knots": [0, 0], "values": [1, 2]}},
    {**POLICY, "merit": {"kind": "PiecewiseLinear", "knots": "01", "values": {}}},
]  # fmt: skip


@pytest.mark.parametrize("policy", CANNOT_BE, ids=lambda policy: str(policy)[:80])
def test_policies_that_cannot_be(service: Service, policy: Any) -> None:
    failure(service.ask("POST", E, GOOD | {"policy": policy}), 422, "invalid")
    assert service.get(E) == {"experiments": []}


def test_a_body_nested_too_deep(service: Service) -> None:
    for depth in (900, 100_000):
        policy = b'{"kind": %b%b}' % (b"[" * depth, b"]" * depth)
        body = b'{"name": "x", "arms": ["a"], "policy": %b}' % policy
        answer = service.ask("POST", E, body)
        assert answer.status_code in (400, 422)
        failure(answer, answer.status_code, {400: "malformed", 422: "invalid"}[answer.status_code])


SERVED: list[Any] = [
    POLICY, {"kind": "Uniform"}, {"kind": "EG", "epsilon": 0.1},
    {"kind": "FairXEG", "merit": POLICY["merit"], "epsilon": 0.1},
    {"kind": "FairXBetaTS", "merit": POLICY["merit"]},
    {"kind": "FairXGradient", "steepness": 4, "rate": 0.2},
    {"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.5},
    {"kind": "FairXUCB", "merit": POLICY["merit"], "width": 0.5, "solver": {"kind": "Gradient"}},
    {**POLICY, "merit": {"kind": "PiecewiseLinear", "knots": [0, 1], "values": [1, 2]}},
    {**POLICY, "merit": {"kind": "Logistic", "steepness": 2, "midpoint": 0.5}},
    LINEAR, {"kind": "LinEG", "epsilon": 0.1, "ridge": 1},
    {"kind": "FairXLinEG", "merit": POLICY["merit"], "epsilon": 0.1, "ridge": 1},
]  # fmt: skip


@pytest.mark.parametrize("policy", SERVED, ids=lambda policy: str(policy["kind"]))
def test_every_policy_decides_learns_and_is_verified(tmp_path: Path, policy: Any) -> None:
    linear = "Lin" in policy["kind"]
    offer: Any = {"contexts": [[1, 0], [0, 1], [1, 1]]} if linear else {}
    with serving(tmp_path / "s.db") as service:
        service.create(policy=policy, dimension=2 * linear, reward_window_s=1, floor=0.05)
        for number in range(10):
            found = service.decide(str(number), probabilities=True, **offer)
            chances = found["probabilities"]
            assert list(chances) == ["a", "b", "c"]
            assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-12)
            assert min(chances.values()) >= 0.05
            assert chances[found["arm"]] == found["propensity"]
            assert service.reward(found["decision"], number % 2) == "accepted"
            service.later(1)
        assert service.get(SHOP)["snapshot"] == 11
    found = verify(located(f"sqlite:///{tmp_path}/s.db").reader())
    assert (found.problems, found.decisions, found.matured) == ((), 10, 10)


def test_arms_are_added_paused_resumed_and_removed_all_or_nothing(shop: Service) -> None:
    def statuses(answer: Any) -> dict[str, str]:
        return {arm["name"]: arm["status"] for arm in answer["arms"]}

    changes = {"add": ["d"], "pause": ["a"], "remove": ["b"]}
    found = shop.post(SHOP + "/arms", changes)
    assert statuses(found) == {"a": "paused", "b": "removed", "c": "active", "d": "active"}
    assert found["snapshot"] == 2
    for bad, status in (
        ({"add": ["e"], "pause": ["nobody"]}, 404), ({"add": ["e"], "resume": ["b"]}, 404),
        ({"add": ["e", "c"]}, 409), ({"add": ["e", "e"]}, 409), ({"pause": ["a", "c", "d"]}, 409),
    ):  # fmt: skip
        failure(
            shop.ask("POST", SHOP + "/arms", bad),
            status,
            {404: "not_found", 409: "conflict"}[status],
        )
        assert shop.get(SHOP) == found
    back = shop.post(SHOP + "/arms", {"add": ["b"], "resume": ["a"]})
    assert set(statuses(back).values()) == {"active"}
    _, field = failure(shop.ask("POST", SHOP + "/arms", {"add": ["\x7f"]}), 422, "invalid")
    assert field == "add[0]"
    failure(shop.ask("POST", E + "/nowhere/arms", {"add": ["a"]}), 404, "not_found")


# --- decisions


def test_a_decision_is_answered_and_can_be_looked_up(shop: Service) -> None:
    made = shop.decide("visit 1")
    assert made.keys() == {"decision", "arm", "propensity", "snapshot"}
    found = shop.get(f"{SHOP}/decisions/{made['decision']}")
    chances = found.pop("probabilities")
    assert chances[made["arm"]] == made["propensity"]
    assert found == made | {
        "time": START, "shown": None, "status": "waiting", "due": START + 10, "reward": None, "rewards": [],
    }  # fmt: skip
    asked = shop.decide("visit 1", probabilities=True)
    assert asked == made | {"probabilities": chances}


def test_the_same_key_gets_the_same_answer_whatever_has_changed(shop: Service) -> None:
    plain, named = (
        {"key": "k"},
        {"key": "n", "candidates": ["c", "a"], "probabilities": True, "unit": "u"},
    )
    first, second = (shop.post(SHOP + "/decide", body) for body in (plain, named))

    def same() -> None:
        assert shop.post(SHOP + "/decide", plain) == first
        assert shop.post(SHOP + "/decide", named) == second

    shop.reward(first["decision"], 1.0)
    shop.later(20)
    assert shop.get(SHOP)["snapshot"] == 2
    same()
    shop.post(SHOP + "/arms", {"pause": ["a"], "add": ["d"]})
    same()
    shop.post(SHOP + "/arms", {"remove": ["a", "b"]})
    same()
    shop.post(SHOP + "/pause")
    same()
    failure(shop.ask("POST", SHOP + "/decide", {"key": "new"}), 409, "conflict")
    shop.post(SHOP + "/resume")
    unknown = {"key": "new", "candidates": ["c", "a"]}
    message, field = failure(shop.ask("POST", SHOP + "/decide", unknown), 422, "unknown_arm")
    assert (message, field) == ("arm 'a' does not exist, or was removed", "candidates")
    shop.post(SHOP + "/erase", {"unit": "u"})
    same()


def test_a_key_of_another_request_is_refused(shop: Service) -> None:
    shop.decide("k", candidates=["a", "b"], unit="u")
    for other in (
        {}, {"candidates": ["b", "a"], "unit": "u"}, {"candidates": ["a", "b"]}, {"candidates": ["a"], "unit": "u"},
        {"candidates": ["a", "b"], "unit": "u", "count": 2}, {"candidates": ["a", "b"], "unit": "v"},
        {"candidates": ["a", "nobody"], "unit": "u"},
    ):  # fmt: skip
        _, field = failure(
            shop.ask("POST", SHOP + "/decide", {"key": "k", **other}), 409, "conflict"
        )
        assert field == "key"
    assert shop.get(SHOP + "/status")["decisions"] == 1


def test_candidates_that_are_paused_are_left_out(shop: Service) -> None:
    shop.post(SHOP + "/arms", {"pause": ["b"]})
    found = shop.decide("k", candidates=["b", "a", "c"], probabilities=True)
    assert found["left_out"] == ["b"]
    assert found["probabilities"].keys() == {"a", "c"}
    shop.post(SHOP + "/arms", {"resume": ["b"]})
    assert shop.decide("k", candidates=["b", "a", "c"], probabilities=True) == found
    assert "left_out" not in shop.decide("k2", candidates=["b", "a", "c"])
    shop.post(SHOP + "/arms", {"pause": ["b"]})
    failure(shop.ask("POST", SHOP + "/decide", {"key": "k3", "candidates": ["b"]}), 409, "conflict")
    assert "b" not in shop.decide("k4", probabilities=True)["probabilities"]


def test_count_makes_independent_decisions(shop: Service) -> None:
    body = {"key": "page", "count": 200, "probabilities": True}
    found = shop.post(SHOP + "/decide", body)
    assert found.keys() == {"decisions"}
    made = found["decisions"]
    assert len({each["decision"] for each in made}) == 200
    assert len({each["arm"] for each in made}) > 1
    assert shop.post(SHOP + "/decide", body) == found
    one = shop.post(SHOP + "/decide", {"key": "one", "count": 1})
    assert one == {"decisions": [shop.decide("one")]}


CONTEXTS: list[tuple[bytes, int, str | None]] = [
    (b"[[1,2],[3,4]]", 200, None), (b"[[1e9,-1e9],[0,-0.0]]", 200, None), (b"[[1e-320,2],[3,4]]", 200, None),
    (b"[[1e308,2],[3,4]]", 422, "contexts"), (b"[[1e400,2],[3,4]]", 422, "contexts[0][0]"),
    (b"[[NaN,2],[3,4]]", 400, None), (b"[[Infinity,2],[3,4]]", 400, None), (b"[[-Infinity,2],[3,4]]", 400, None),
    (b"[[1,2],[3]]", 422, "contexts"), (b"[[1,2]]", 422, "contexts"), (b"[[1,2],[3,4],[5,6]]", 422, "contexts"),
    (b"[]", 422, "contexts"), (b"[[],[]]", 422, "contexts"), (b"null", 422, "contexts"), (b"[1,2]", 422, "contexts[0]"),
    (b"[[1,null],[3,4]]", 422, "contexts[0][1]"), (b'[[1,"2"],[3,4]]', 422, "contexts[0][1]"), (b"3", 422, "contexts"),
    (b"[[1,true],[3,4]]", 422, "contexts[0][1]"), (b"[[[1],2],[3,4]]", 422, "contexts[0][0]"),
]  # fmt: skip


@pytest.mark.parametrize(("contexts", "status", "field"), CONTEXTS, ids=str)
def test_contexts(service: Service, contexts: bytes, status: int, field: str | None) -> None:
    service.create(policy=LINEAR, dimension=2)
    body = b'{"key":"k","candidates":["c","a"],"contexts":%b}' % contexts
    answer = service.ask("POST", SHOP + "/decide", body)
    if status == 200:
        found = service.get(f"{SHOP}/decisions/{answer.json()['decision']}")
        assert found["contexts"] == json.loads(contexts)
        assert found["probabilities"].keys() == {"a", "c"}
    else:
        message, found = failure(answer, status, {400: "malformed", 422: "invalid"}[status])
        assert found == field
        assert RULE.search(message), message
        assert service.get(SHOP + "/status")["decisions"] == 0


def test_contexts_without_a_dimension_and_rows_of_paused_candidates(service: Service) -> None:
    service.create()
    _, field = failure(
        service.ask("POST", SHOP + "/decide", {"key": "k", "contexts": [[1]]}), 422, "invalid"
    )
    assert field == "contexts"
    service.create("news", policy=LINEAR, dimension=2)
    service.post(E + "/news/arms", {"pause": ["a"]})
    made = service.decide(
        "k", "news", candidates=["b", "a", "c"], contexts=[[1, 2], [3, 4], [5, 6]]
    )
    assert made["left_out"] == ["a"]
    found = service.get(f"{E}/news/decisions/{made['decision']}")
    assert found["contexts"] == [[1, 2], [5, 6]]
    made = service.decide("all", "news", contexts=[[1, 2], [5, 6]])
    assert service.get(f"{E}/news/decisions/{made['decision']}")["contexts"] == [[1, 2], [5, 6]]


BODIES: list[tuple[bytes, int, str | None]] = [
    (b"", 400, None), (b"{", 400, None), (b"\xff", 400, None), (b'{"key": "\xff"}', 400, None), (b'{"key": "a"}x', 400, None),
    (b'{"key": "\\ud800"}', 400, None), (b'{"key": "a",}', 400, None), (b"[" * 100_000, 422, None), (b"nul", 400, None),
    (b"[]", 422, None), (b"null", 422, None), (b"3", 422, None), (b"{}", 422, "key"), (b'{"key": null}', 422, "key"),
    (b'{"key": ""}', 422, "key"), (b'{"key": 3}', 422, "key"), (b'{"key": "\\u0000"}', 422, "key"),
    (b'{"key": "a\\n"}', 422, "key"), (b'{"key": "%b"}' % (b"a" * 201), 422, "key"), (b'{"key": "a", "x": 1}', 422, "x"),
    (b'{"key": "a", "count": 0}', 422, "count"), (b'{"key": "a", "count": -1}', 422, "count"),
    (b'{"key": "a", "count": 1.5}', 422, "count"), (b'{"key": "a", "count": %b}' % (b"9" * 5000), 422, "count"),
    (b'{"key": "a", "unit": ""}', 422, "unit"), (b'{"key": "a", "unit": "\\u0007"}', 422, "unit"),
    (b'{"key": "a", "candidates": []}', 422, "candidates"), (b'{"key": "a", "candidates": ["a", "a"]}', 422, "candidates"),
    (b'{"key": "a", "candidates": "a"}', 422, "candidates"), (b'{"key": "a", "candidates": [1]}', 422, "candidates[0]"),
    (b'{"key": "a", "probabilities": 1}', 422, "probabilities"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "field"), BODIES, ids=lambda value: str(value)[:60])
def test_bodies_that_cannot_be(shop: Service, body: bytes, status: int, field: str | None) -> None:
    answer = shop.ask("POST", SHOP + "/decide", body)
    message, found = failure(answer, status, {400: "malformed", 422: "invalid"}[status])
    assert found == field
    assert RULE.search(message), message
    assert shop.get(SHOP + "/status")["decisions"] == 0


def test_texts_of_all_kinds_come_back_as_they_are(service: Service) -> None:
    arms = [
        "é",
        "e\u0301",
        "\U0001f600",
        "a b",
        "a/b",
        "..",
        "%41",
        "<b>",
        "'",
        "\\",
        "\u2028",
        "x" * 200,
    ]
    service.create(arms=arms)
    for arm in arms:
        made = service.decide(arm, candidates=[arm], unit=arm, probabilities=True)
        assert made["probabilities"] == {arm: 1.0}
        found = service.get(f"{SHOP}/decisions/{made['decision']}")
        assert (found["unit"], found["arm"]) == (arm, arm)
        assert service.reward(made["decision"], 1, id=arm, final=True) == "accepted"
    service.later(1)
    assert service.post(SHOP + "/erase", {"unit": "é"}) == {"erased": 1}


def test_unknown_decisions(shop: Service) -> None:
    for number in ("x", "%00", "a" * 24, "A" * 5000, "%ff", "%25", "' OR 1=1 --"):
        failure(shop.ask("GET", f"{SHOP}/decisions/{number}"), 404, "not_found")


# --- feedback


def test_rewards_count_once_and_their_sum_counts(shop: Service) -> None:
    made = shop.decide("k")["decision"]
    assert shop.reward(made, 0.25) == "accepted"
    assert shop.reward(made, 0.25) == "duplicate"
    assert shop.reward(made, 0.5, id="second") == "accepted"
    shop.later(20)
    assert shop.reward(made, 0.5, id="second") == "duplicate"
    assert shop.reward(made, 9.0, id="third") == "late"
    found = shop.get(f"{SHOP}/decisions/{made}")
    assert (found["status"], found["reward"], found["due"]) == ("mature", 0.75, START + 20)
    rows = [
        (row["id"], row["reward"], row["final"], row["late"], row["time"])
        for row in found["rewards"]
    ]
    assert rows == [
        ("", 0.25, False, False, START), ("second", 0.5, False, False, START), ("third", 9.0, False, True, START + 20),
    ]  # fmt: skip


def test_a_conflicting_reward_names_the_first_and_nothing_is_taken_in(shop: Service) -> None:
    first, second = shop.decide("1")["decision"], shop.decide("2")["decision"]
    shop.reward(first, 0.25)
    shop.now += 1
    batch = [{"decision": second, "reward": 1}, {"decision": first, "reward": 0.5}]
    answer = shop.ask("POST", SHOP + "/rewards", {"rewards": batch})
    message, _ = failure(answer, 409, "conflict")
    assert first in message
    assert "0.25" in message
    assert shop.get(f"{SHOP}/decisions/{second}")["rewards"] == []
    twice = [{"decision": second, "reward": 1}, {"decision": second, "reward": 2}]
    failure(shop.ask("POST", SHOP + "/rewards", {"rewards": twice}), 409, "conflict")
    same = [{"decision": second, "reward": 1}, {"decision": second, "reward": 1}]
    found = shop.post(SHOP + "/rewards", {"rewards": same})["results"]
    assert found == [{"decision": second, "status": status} for status in ("accepted", "duplicate")]


def test_a_reward_and_a_shown_event_before_their_decision_are_parked(tmp_path: Path) -> None:
    # The id follows from the key: another store with the same secret makes the same one.
    with serving(tmp_path / "other.db") as other:
        other.create(reward_window_s=10)
        number = other.decide("k")["decision"]
    with serving(tmp_path / "store.db") as shop:
        shop.create(reward_window_s=10)
        assert shop.reward(number, 0.5) == "parked"
        assert shop.reward(number, 0.5) == "duplicate"
        failure(
            shop.ask("POST", SHOP + "/rewards", {"rewards": [{"decision": number, "reward": 1}]}),
            409,
            "conflict",
        )
        assert (
            shop.post(SHOP + "/shown", {"decisions": [number]})["results"][0]["status"] == "parked"
        )
        assert shop.get(SHOP + "/status")["parked"] == 1
        assert shop.decide("k")["decision"] == number
        assert shop.get(SHOP + "/status")["parked"] == 0
        shop.later(20)
        found = shop.get(f"{SHOP}/decisions/{number}")
        assert (found["reward"], found["shown"]) == (0.5, START)


def test_a_final_reward_closes_a_decision_that_goes_on_waiting(shop: Service) -> None:
    made = shop.decide("k")["decision"]
    assert shop.reward(made, 1, final=True) == "accepted"
    assert shop.reward(made, 1, id="more") == "late"
    shop.later(0)
    found = shop.get(f"{SHOP}/decisions/{made}")
    assert (found["status"], found["reward"]) == ("waiting", None)
    shop.later(found["due"] - START)
    found = shop.get(f"{SHOP}/decisions/{made}")
    assert (found["status"], found["reward"]) == ("mature", 1.0)


REWARDS: list[tuple[bytes, int, str | None]] = [
    (b"1e308", 422, "rewards[0].reward"), (b"1e400", 422, "rewards[0].reward"), (b"-1.1e9", 422, "rewards[0].reward"),
    (b"NaN", 400, None), (b"Infinity", 400, None), (b"-Infinity", 400, None), (b"null", 422, "rewards[0].reward"),
    (b'"1"', 422, "rewards[0].reward"), (b"true", 422, "rewards[0].reward"), (b"9" * 400, 422, "rewards[0].reward"),
    (b'1, "id": null', 422, "rewards[0].id"), (b'1, "id": "\\u0000"', 422, "rewards[0].id"),
    (b'1, "id": "%b"' % (b"i" * 201), 422, "rewards.id"), (b'1, "final": 1', 422, "rewards[0].final"),
    (b'1, "weight": 1', 422, "rewards[0].weight"),
]  # fmt: skip


@pytest.mark.parametrize(("reward", "status", "field"), REWARDS, ids=lambda value: str(value)[:60])
def test_rewards_that_cannot_be(
    shop: Service, reward: bytes, status: int, field: str | None
) -> None:
    made = shop.decide("k")["decision"]
    body = b'{"rewards": [{"decision": "%b", "reward": %b}]}' % (made.encode(), reward)
    code = {400: "malformed", 422: "invalid"}[status]
    message, found = failure(shop.ask("POST", SHOP + "/rewards", body), status, code)
    assert found == field
    assert RULE.search(message), message
    assert shop.get(f"{SHOP}/decisions/{made}")["rewards"] == []


def test_feedback_that_is_empty_or_not_ours(shop: Service) -> None:
    body: Any
    for path, body, field in (
        ("/rewards", {}, "rewards"), ("/rewards", {"rewards": []}, "rewards"), ("/shown", {"decisions": []}, "decisions"),
        ("/rewards", {"rewards": [{"reward": 1}]}, "rewards[0].decision"), ("/rewards", {"rewards": [{"decision": "x"}]}, "rewards[0].reward"),
        ("/shown", {"decisions": [""]}, "decisions[0]"), ("/shown", {"decisions": "x"}, "decisions"),
    ):  # fmt: skip
        _, found = failure(shop.ask("POST", SHOP + path, body), 422, "invalid")
        assert found == field
    for path, body in (
        ("/rewards", {"rewards": [{"decision": "x", "reward": 1}]}), ("/shown", {"decisions": ["é"]}),
    ):  # fmt: skip
        _, found = failure(shop.ask("POST", SHOP + path, body), 422, "forged_decision")
        assert found == "decision"


def test_rewards_stay_in_their_range_as_a_sum(service: Service) -> None:
    service.create(reward_range=[0, 1])
    made = service.decide("k")["decision"]
    assert service.reward(made, 0.75) == "accepted"
    body = {"rewards": [{"decision": made, "reward": 0.75, "id": "more"}]}
    _, field = failure(service.ask("POST", SHOP + "/rewards", body), 422, "invalid")
    assert field == "reward"
    assert service.reward(made, 0.25, id="more") == "accepted"


def test_missing_rewards_count_as_said_and_only_what_was_shown_counts(service: Service) -> None:
    for name, settings in (
        ("zero", {}), ("half", {"missing_reward": 0.5}), ("dropped", {"missing_reward": None}),
        ("seen", {"requires_shown": True}),
    ):  # fmt: skip
        service.create(name, reward_window_s=10, **settings)
    made = {
        name: service.decide("k", name)["decision"] for name in ("zero", "half", "dropped", "seen")
    }
    other = [service.decide(key, "seen")["decision"] for key in ("shown", "rewarded")]
    answer = service.post(E + "/seen/shown", {"decisions": [other[0], other[0]]})
    assert [each["status"] for each in answer["results"]] == ["accepted", "duplicate"]
    service.reward(other[1], 0.25, "seen")
    service.later(20)

    def learned(name: str, number: str) -> Any:
        return service.get(f"{E}/{name}/decisions/{number}")["reward"]

    assert [learned(name, number) for name, number in made.items()] == [0.0, 0.5, None, None]
    assert [learned("seen", number) for number in other] == [0.0, 0.25]
    assert service.get(f"{E}/seen/decisions/{other[0]}")["shown"] == START


def test_status_counts_by_arm(shop: Service) -> None:
    made = shop.post(SHOP + "/decide", {"key": "k", "count": 30})["decisions"]
    for each in made[:10]:
        shop.reward(each["decision"], 1.0)
    shop.later(20)
    shop.reward(made[29]["decision"], 1.0)
    waits = shop.decide("waits")
    found = shop.get(SHOP + "/status")
    rows = {row["arm"]: row for row in found.pop("arms")}
    assert found == {
        "decisions": 31, "mature": 30, "waiting": 1, "parked": 0, "decisions_per_s": 31 / 60, "snapshot": 2,
        "snapshot_age_s": 0.0,
    }  # fmt: skip
    for arm, row in rows.items():
        drawn = [each["arm"] == arm for each in made]
        waiting = int(waits["arm"] == arm)
        assert row == {
            "arm": arm, "status": "active", "decisions": sum(drawn) + waiting, "rewards": sum(drawn[:10]),
            "late": int(drawn[29]), "missing": sum(drawn[10:]), "waiting": waiting,
        }  # fmt: skip
    shop.now += 61
    assert shop.get(SHOP + "/status")["decisions_per_s"] == 0
    assert shop.get(SHOP + "/status")["snapshot_age_s"] == 61


# --- the log


def test_the_export_reads_back_and_its_audit_is_the_live_one(
    service: Service, tmp_path: Path
) -> None:
    service.create(reward_window_s=10, floor=0.1)
    for number in range(60):
        made = service.decide(str(number), candidates=["a", "c"] if number % 3 == 0 else None)
        if number % 2:
            service.reward(made["decision"], {"a": 0.2, "b": 0.5, "c": 0.9, "d": 0.4}[made["arm"]])
        if number == 30:
            service.post(SHOP + "/arms", {"add": ["d"], "pause": ["b"]})
        service.later(1)
    service.later(100)
    waiting = service.decide("waits")
    answer = service.ask("GET", SHOP + "/export")
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert int(answer.headers["content-length"]) == len(answer.content)
    table = pq.read_table(io.BytesIO(answer.content))
    assert len(table) == 61
    assert table.column("decision").to_pylist()[-1] == waiting["decision"]
    assert table.column("mature").to_pylist() == [True] * 60 + [False]
    for chances, candidates, arm, propensity in zip(
        *(
            table.column(name).to_pylist()
            for name in ("probabilities", "candidates", "arm", "propensity")
        ),
        strict=True,
    ):
        assert min(chances) >= 0.1
        assert chances[candidates.index(arm)] == propensity
    mature = tmp_path / "log.parquet"
    pq.write_table(table.filter(table.column("mature")), mature)
    (tmp_path / "all.parquet").write_bytes(answer.content)
    log = logs.read(tmp_path / "all.parquet")
    assert log.problems() == {}
    assert log.query("SELECT count(*) AS n FROM valid")["n"][0] == 61
    offline = audit(mature, Exponential(3.0), reward_range=(0, 1), floor=0.1)
    live = service.get(SHOP + "/audit")
    assert live["floor"] == 0.1
    assert live["snapshot"] == service.get(SHOP)["snapshot"]
    assert live["decisions"] == offline.decisions == 60
    assert live["source"] == "experiment shop"
    assert "/tmp" not in json.dumps(live)
    for line, row in zip(offline.lines, live["lines"], strict=True):
        for name in ("arm", "shows", "verdict"):
            assert row[name] == getattr(line, name)
        for name in (
            "exposure",
            "exposure_low",
            "exposure_high",
            "fair_share",
            "fair_low",
            "fair_high",
        ):
            assert row[name] == pytest.approx(getattr(line, name), abs=1e-12)
        assert row["fair_share"] >= 0.1 - 1e-12 or row["arm"] == "b" or row["arm"] == "d"
    assert live["fairness_regret_per_decision"] == pytest.approx(
        offline.fairness_regret_per_decision
    )


def test_exports_leave_nothing_behind_and_may_be_empty(
    shop: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    for count in (0, 1):
        answer = shop.ask("GET", SHOP + "/export", headers={"Range": "bytes=9-3"})
        assert answer.status_code == 200
        assert pq.read_table(io.BytesIO(answer.content)).num_rows == count
        assert list(folder.iterdir()) == []
        shop.decide("k")
    failure(shop.ask("GET", E + "/nowhere/export"), 404, "not_found")


def test_audits_say_why_there_is_none(shop: Service) -> None:
    failure(shop.ask("GET", SHOP + "/audit"), 409, "conflict")
    shop.decide("k")
    failure(shop.ask("GET", SHOP + "/audit"), 409, "conflict")
    shop.create("any", policy={"kind": "Uniform"}, reward_window_s=1)
    shop.decide("k", "any")
    shop.later(20)
    failure(shop.ask("GET", E + "/any/audit"), 409, "conflict")
    for query, field in (
        ("alpha=2", "alpha"), ("alpha=x", "alpha"), ("alpha=nan", "alpha"), ("low=inf", "low"), ("alpha=", "alpha"),
        ("beta=1", "query"), ("low=2&high=1", None), ("low=-1e308&high=1e308", None),
    ):  # fmt: skip
        _, found = failure(shop.ask("GET", f"{SHOP}/audit?{query}"), 422, "invalid")
        assert found == field
    found = shop.get(SHOP + "/audit?alpha=0.2&low=-1&high=2")
    assert (found["alpha"], found["lowest_reward"], found["highest_reward"]) == (0.2, -1.0, 2.0)


def test_an_audit_that_broke_off_counts_nothing_twice(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairx.store.logbook.CHUNK", 5)
    for page in range(4):
        shop.post(SHOP + "/decide", {"key": str(page), "count": 6})
        shop.later(20)
        if page == 0:
            assert shop.get(SHOP + "/audit")["decisions"] == 6
    passed = iter([None, None])

    def broken(name: str) -> None:
        try:
            next(passed)
        except StopIteration:
            raise KeyError(name) from None

    with monkeypatch.context() as patch:
        patch.setattr("fairx.store.crash_points.reach", broken)
        failure(shop.ask("GET", SHOP + "/audit?alpha=0.1"), 500, "internal")
    for alpha in (0.1, 0.2):
        assert shop.get(f"{SHOP}/audit?alpha={alpha}")["decisions"] == 24


def test_audits_of_many_questions_are_not_all_kept(shop: Service) -> None:
    shop.decide("k")
    shop.later(20)
    audits = shop.application.audits
    first = shop.get(SHOP + "/audit")
    shop.now += 1
    assert shop.get(SHOP + "/audit") == first  # kept: the time is that of the first
    assert audits.cache._most == KEPT
    audits.cache._most = 3
    for alpha in (0.1, 0.2, 0.3, 0.4):
        shop.get(f"{SHOP}/audit?alpha={alpha}")
    assert len(audits.cache) == 3


def test_a_unit_is_erased(service: Service) -> None:
    service.create(policy=LINEAR, dimension=1, reward_window_s=10)
    rows = [[1.0], [2.0], [3.0]]
    mine = [service.decide(str(i), contexts=rows, unit="me") for i in range(3)]
    other = service.decide("other", contexts=rows, unit="you")
    assert service.post(SHOP + "/erase", {"unit": "nobody"}) == {"erased": 0}
    assert service.post(SHOP + "/erase", {"unit": "me"}) == {"erased": 3}
    assert service.post(SHOP + "/erase", {"unit": "me"}) == {"erased": 0}
    for made in mine:
        found = service.get(f"{SHOP}/decisions/{made['decision']}")
        assert "unit" not in found
        assert "contexts" not in found
        assert found["arm"] == made["arm"]
    found = service.get(f"{SHOP}/decisions/{other['decision']}")
    assert (found["unit"], found["contexts"]) == ("you", rows)
    service.later(20)
    assert service.get(SHOP + "/status")["mature"] == 4
    _, field = failure(service.ask("POST", SHOP + "/erase", {"unit": ""}), 422, "invalid")
    assert field == "unit"


def test_drawn_frequencies_match_the_propensities(service: Service) -> None:
    """With n independent decisions of known chances p, a count is within 5 standard deviations
    sqrt(n p (1 - p)) with a chance of 1 - 6e-7 for each of 3 arms; the seed is new each time."""
    service.create(policy={"kind": "FairXEG", "merit": POLICY["merit"], "epsilon": 0.3}, floor=0.05)
    made = [
        each
        for page in range(3)
        for each in service.post(
            SHOP + "/decide", {"key": f"{page}", "count": 1000, "probabilities": True}
        )["decisions"]
    ]
    for arm in ("a", "b", "c"):
        chance = made[0]["probabilities"][arm]
        drawn = sum(each["arm"] == arm for each in made)
        assert abs(drawn - 3000 * chance) < 5 * math.sqrt(3000 * chance * (1 - chance))


# --- around it


def test_actions_are_on_record_newest_first(shop: Service) -> None:
    shop.now += 1
    shop.post(SHOP + "/pause")
    shop.post(SHOP + "/resume")
    shop.post(SHOP + "/arms", {"add": ["d"]})
    shop.post(SHOP + "/erase", {"unit": "u"})
    token = shop.post("/v1/tokens", {"name": "site", "role": "decide", "experiment": "shop"})
    shop.ask("DELETE", f"/v1/tokens/{token['id']}")
    shop.ask("DELETE", SHOP)
    found = shop.get("/v1/actions")["actions"]
    assert [row["action"] for row in found] == [
        "deleted", "revoke token", "create token", "erase", "arms", "running", "paused", "create",
    ]  # fmt: skip
    assert found[-1] == {
        "time": START, "actor": "no-auth", "action": "create", "experiment": "shop", "detail": {"arms": ["a", "b", "c"]},
    }  # fmt: skip
    assert token["token"] not in json.dumps(found)
    assert "u" not in [row["detail"].get("unit") for row in found]


def test_tokens_are_shown_once(service: Service) -> None:
    made = service.ask("POST", "/v1/tokens", {"name": "site", "role": "read"})
    assert made.status_code == 201
    token = made.json()
    assert token.keys() == {"id", "name", "role", "experiment", "created", "token"}
    listed = service.get("/v1/tokens")["tokens"]
    assert listed == [{name: value for name, value in token.items() if name != "token"}]
    assert service.ask("DELETE", f"/v1/tokens/{token['id']}").status_code == 204
    assert service.get("/v1/tokens") == {"tokens": []}
    for gone in (token["id"], "nobody", "%00"):
        failure(service.ask("DELETE", f"/v1/tokens/{gone}"), 404, "not_found")
    for bad, field in (
        ({"name": "", "role": "read"}, "name"), ({"name": "a", "role": "root"}, "role"), ({"name": "a"}, "role"),
        ({"name": "a", "role": "read", "experiment": "a b"}, "experiment"), ({"name": "a\n", "role": "read"}, "name"),
    ):  # fmt: skip
        _, found = failure(service.ask("POST", "/v1/tokens", bad), 422, "invalid")
        assert found == field


def test_health_readiness_and_metrics(shop: Service) -> None:
    assert shop.get("/healthz") == {"status": "ok"}
    assert shop.get("/readyz") == {"status": "ready"}
    made = shop.decide("k")["decision"]
    shop.decide("k")
    shop.reward(made, 1)
    shop.reward(made, 1)
    failure(shop.ask("GET", E + "/nowhere"), 404, "not_found")
    shop.later(20)
    shop.now += 5
    text = shop.ask("GET", "/metrics")
    assert text.headers["content-type"].startswith("text/plain")
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text.text)
        for sample in family.samples
    }
    assert samples["fairx_decisions_total", "shop"] == 1
    assert samples["fairx_repeated_total", "shop"] == 1
    assert samples["fairx_rewards_total", "accepted", "shop"] == 1
    assert samples["fairx_rewards_total", "duplicate", "shop"] == 1
    assert samples["fairx_matured_total", "shop"] == 1
    assert samples["fairx_failures_total", "404"] == 1
    assert samples["fairx_snapshot_age_seconds", "shop"] == 5
    assert samples["fairx_decide_seconds_count",] == 2
    shop.runtime.ready = False
    answer = shop.ask("GET", "/readyz")
    failure(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    assert shop.get("/healthz") == {"status": "ok"}


def test_paths_and_methods_that_are_not_served(shop: Service) -> None:
    for path in (
        "/nothing",
        "/v1",
        E + "/",
        SHOP + "/",
        SHOP + "/decide/",
        SHOP + "/decide/x",
        E + "//decide",
        "/v1/tokens/",
    ):
        for method in ("GET", "POST"):
            if (method, path) != ("POST", E + "//decide"):
                failure(shop.ask(method, path), 404, "not_found")
    for method, path, allowed in (
        ("PUT", E, "GET, HEAD, POST"), ("DELETE", E, "GET, HEAD, POST"), ("OPTIONS", SHOP, "DELETE, GET, HEAD"),
        ("PATCH", SHOP, "DELETE, GET, HEAD"), ("GET", SHOP + "/decide", "POST"), ("PUT", SHOP + "/rewards", "POST"),
        ("PUT", SHOP + "/shown", "POST"), ("GET", SHOP + "/pause", "POST"), ("POST", "/healthz", "GET, HEAD"),
        ("TRACE", "/openapi.json", "GET, HEAD"),
    ):  # fmt: skip
        answer = shop.ask(method, path)
        failure(answer, 405, "method_not_allowed")
        assert ", ".join(sorted(answer.headers["allow"].split(", "))) == allowed
    assert shop.ask("HEAD", SHOP + "/decide").status_code == 405
    assert shop.ask("HEAD", SHOP).status_code == 200
    assert shop.ask("HEAD", E + "/nowhere").status_code == 404
    for method, path in (
        ("GET", SHOP),
        ("POST", SHOP + "/decide"),
        ("POST", SHOP + "/pause"),
        ("GET", "/healthz"),
    ):
        _, field = failure(shop.ask(method, path + "?x=1", {"key": "k"}), 422, "invalid")
        assert field == "query"


def test_a_store_that_cannot_be_written_is_503_and_nothing_is_lost(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import apsw

    first = shop.decide("k")
    database = shop.runtime._writing.writer.database
    assert database is not None

    def full(*_: Any) -> Any:
        raise apsw.FullError("disk is full")

    monkeypatch.setattr(database, "rows", full)
    answer = shop.ask("POST", SHOP + "/decide", {"key": "other"})
    failure(answer, 503, "unavailable")
    assert int(answer.headers["retry-after"]) >= 1
    assert shop.decide("k") == first  # a new connection
    shop.decide("other")
    assert shop.get("/readyz") == {"status": "ready"}


def test_our_mistakes_are_logged_and_say_nothing(
    shop: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("a detail of ours")

    monkeypatch.setattr("fairx.service.views.status", broken)
    answer = shop.ask("GET", SHOP + "/status")
    message, field = failure(answer, 500, "internal")
    assert "detail" not in message
    assert field is None
    assert "a detail of ours" in caplog.text


def test_requests_at_once_get_their_own_answers(shop: Service) -> None:
    async def together() -> list[Any]:
        asks = [
            shop._ask("POST", SHOP + "/decide", {"key": str(i % 20)}, None, {}) for i in range(60)
        ]
        return list(await asyncio.gather(*asks))

    found = [answer.json() for answer in shop.runner.run(together())]
    assert len({each["decision"] for each in found}) == 20
    assert found[:20] == found[20:40] == found[40:]
    assert shop.get(SHOP + "/status")["decisions"] == 20


def test_a_pause_is_not_undone_by_what_is_under_way(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def race(action: str, path: str) -> None:
        fold = asyncio.ensure_future(shop.runtime.fold())
        await asyncio.sleep(0)  # the fold knows the experiment as it was
        answer = await shop._ask(action, path, None, None, {})
        assert answer.is_success
        await fold

    change = shop.runtime.change

    async def pause_first(write: Any) -> Any:
        monkeypatch.setattr(shop.runtime, "change", change)
        assert (await shop._ask("POST", SHOP + "/pause", None, None, {})).is_success
        return await change(write)

    monkeypatch.setattr(shop.runtime, "change", pause_first)
    assert shop.post(SHOP + "/arms", {"add": ["d"]})["status"] == "paused"
    failure(shop.ask("POST", SHOP + "/decide", {"key": "new"}), 409, "conflict")
    shop.post(SHOP + "/resume")
    shop.decide("1")
    shop.now += 20
    shop.runner.run(race("POST", SHOP + "/pause"))
    failure(shop.ask("POST", SHOP + "/decide", {"key": "new"}), 409, "conflict")
    shop.post(SHOP + "/resume")
    shop.decide("2")
    shop.now += 20
    shop.runner.run(race("DELETE", SHOP))
    failure(shop.ask("GET", SHOP), 404, "not_found")


def test_limits_are_clear(tmp_path: Path) -> None:
    limits = Limits(body_bytes=2000, candidates=3, arms=4, dimension=2, events=5, experiments=2)
    with serving(tmp_path / "store.db", limits) as service:
        service.create(arms=["a", "b", "c", "d"])

        def refused(path: str, body: Any, field: str) -> None:
            message, found = failure(service.ask("POST", path, body), 422, "invalid")
            assert found == field
            assert "--limit-" in message

        refused(E, GOOD | {"arms": list("abcde")}, "arms")
        refused(E, GOOD | {"policy": LINEAR, "dimension": 3}, "dimension")
        refused(SHOP + "/arms", {"add": ["e"]}, "arms")
        refused(SHOP + "/decide", {"key": "k", "candidates": list("abcd")}, "candidates")
        refused(SHOP + "/decide", {"key": "k", "count": 6}, "count")
        refused(SHOP + "/shown", {"decisions": ["x"] * 6}, "decisions")
        refused(SHOP + "/rewards", {"rewards": [{"decision": "x", "reward": 1}] * 6}, "rewards")
        service.create("second")
        refused(E, GOOD, "experiments")
        answer = service.ask("POST", SHOP + "/decide", b" " * 2001)
        message, _ = failure(answer, 413, "too_large")
        assert message == "body must be at most 2000 bytes: see --limit-body-bytes"
        failure(service.ask("POST", E, b" " * 2001), 413, "too_large")
        assert service.ask("POST", SHOP + "/decide", b'{"key": "k"}' + b" " * 1988).is_success


def test_numbers_are_exact(shop: Service) -> None:
    """What goes through JSON and the store comes back to the last bit."""
    values = np.random.default_rng(1).normal(size=20) * 10.0 ** np.arange(-10, 10)
    values = np.clip(values, -1e9, 1e9)
    for number, value in enumerate(values.tolist()):
        made = shop.decide(str(number))["decision"]
        shop.reward(made, value)
        shop.later(20)
        assert shop.get(f"{SHOP}/decisions/{made}")["reward"] == value


def test_the_log_of_an_experiment_is_its_own(service: Service) -> None:
    for name in ("one", "two"):
        service.create(name, reward_window_s=1)
        service.post(f"{E}/{name}/decide", {"key": "k", "count": 5 if name == "one" else 3})
    service.later(5)
    table: pa.Table = pq.read_table(io.BytesIO(service.ask("GET", E + "/two/export").content))
    assert table.num_rows == 3
    assert service.get(E + "/one/audit")["decisions"] == 5
    assert service.get(E + "/two/status")["decisions"] == 3


@pytest.mark.service
def test_a_postgresql_that_is_away_is_503_for_all_that_need_it(
    postgres: Any, database_url: str
) -> None:
    with serving(database_url) as shop:
        shop.create(reward_window_s=10)
        made = shop.decide("k")
        shop.get(SHOP + "/status")
        postgres.crash()
        reward = {"rewards": [{"decision": made["decision"], "reward": 1}]}
        for method, path, body in (
            ("GET", "/status", None), ("GET", f"/decisions/{made['decision']}", None), ("GET", "/export", None),
            ("GET", "/audit", None), ("POST", "/decide", {"key": "k"}), ("POST", "/rewards", reward),
            ("POST", "/shown", {"decisions": [made["decision"]]}), ("POST", "/pause", None),
            ("POST", "/arms", {"add": ["d"]}), ("POST", "/erase", {"unit": "u"}),
        ):  # fmt: skip
            answer = shop.ask(method, SHOP + path, body)
            failure(answer, 503, "unavailable")
            assert answer.headers["retry-after"] == "1"
        failure(shop.ask("GET", "/readyz"), 503, "unavailable")
        postgres.start()
        assert shop.decide("k") == made
        assert shop.get(SHOP + "/status")["decisions"] == 1
        assert shop.get("/readyz") == {"status": "ready"}


def test_what_one_process_creates_another_finds_at_once(database_url: str) -> None:
    with serving(database_url, auth=True) as one, serving(database_url, auth=True) as other:
        one.create("shop")
        token = one.post("/v1/tokens", {"name": "page", "role": "decide"})["token"]
        decide = f"{E}/shop/decide"
        assert other.ask("POST", decide, {"key": "k"}, token=token).is_success
        one.create("second")
        assert other.ask("POST", f"{E}/none/decide", {"key": "k"}).status_code == 404
        assert other.get(f"{E}/second")["name"] == "second"


def test_an_experiment_that_cannot_be_folded_keeps_no_other_waiting(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        for name in ("bad", "good"):
            service.create(name, reward_window_s=1)
            service.decide("k", name)

        def spoil(database: Any) -> None:
            database.rows("UPDATE statistics SET body = x'00' WHERE experiment = 1")

        service.runner.run(service.runtime.change(spoil))
        service.later(2)
        assert service.get(f"{E}/good/status")["mature"] == 1
        assert service.get(f"{E}/bad/status")["mature"] == 0
