"""Named features in the service: declared with an experiment, given by name with each decision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import LINEAR, E, Service, failure, serving

from fairx.features.given import features_given
from fairx.service.limits import Limits
from fairx.store import located, verify
from fairx.store.settings import checked, dumped

SHOP = E + "/shop"
# Not in the order of the alphabet: columns are in the order that is given.
FEATURES = {
    "visit": {
        "hour": {"kind": "Number", "mean": 12, "std": 6, "optional": True},
        "device": {"kind": "Category", "values": ["phone", "desktop"], "others": True},
    },
    "arms": {"price": {"kind": "Number"}, "arm": {"kind": "Category", "values": ["a", "b", "c"]}},
    "crosses": [["device", "arm"]],
}
VISIT = {"hour": 21, "device": "phone"}
PRICES = {"a": {"price": 1}, "b": {"price": 2}, "c": {"price": 3}}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path / "store.db") as running:
        running.create(policy=LINEAR, features=FEATURES, reward_window_s=10)
        yield running


def rows(arms: str, visit: Any = VISIT) -> Any:
    """Return what the contexts of these arms must be."""
    features = features_given(FEATURES)
    assert features is not None
    return features.rows(visit, [{"arm": arm, **PRICES[arm]} for arm in arms]).tolist()


def test_contexts_are_those_of_the_features(service: Service) -> None:
    about = service.get(SHOP)
    features = features_given(about["features"])
    assert features == features_given(FEATURES)
    assert features is not None
    assert features.names[1] == "hour"  # what a column means
    assert about["dimension"] == features.dimension
    given = {"visit": VISIT, "arms": PRICES}
    made = service.decide("k", contexts=given, candidates=["c", "a"])
    assert service.get(f"{SHOP}/decisions/{made['decision']}")["contexts"] == rows("ca")
    listed = {"arms": [PRICES["c"], PRICES["a"]], "visit": {"device": "phone", "hour": 21}}
    assert service.decide("l", contexts=listed, candidates=["c", "a"])["decision"]
    made = service.decide("m", contexts=given)
    assert service.get(f"{SHOP}/decisions/{made['decision']}")["contexts"] == rows("abc")
    service.post(SHOP + "/arms", {"pause": ["b"]})
    made = service.decide("n", contexts=given, candidates=["b", "c"])
    assert service.get(f"{SHOP}/decisions/{made['decision']}")["contexts"] == rows("c")
    made = service.decide("o", contexts=given)
    assert service.get(f"{SHOP}/decisions/{made['decision']}")["contexts"] == rows("ac")
    encoded = service.decide("p", contexts=rows("ac"))  # by a client that does it itself
    assert service.get(f"{SHOP}/decisions/{encoded['decision']}")["contexts"] == rows("ac")


def test_a_key_is_answered_again_whatever_the_order_of_names(service: Service) -> None:
    first = service.decide("k", contexts={"visit": VISIT, "arms": PRICES})
    turned = {"arms": PRICES, "visit": dict(reversed(VISIT.items()))}
    assert service.decide("k", contexts=turned) == first
    answer = service.ask(
        "POST",
        SHOP + "/decide",
        {"key": "k", "contexts": {"visit": VISIT | {"hour": 3}, "arms": PRICES}},
    )
    assert answer.status_code == 409


def test_what_was_learned_is_verified_and_features_survive_a_restart(tmp_path: Path) -> None:
    given = {"visit": VISIT, "arms": PRICES}
    with serving(tmp_path / "store.db") as running:
        running.create(policy=LINEAR, features=FEATURES, reward_window_s=1)
        for number in range(20):
            made = running.decide(str(number), contexts=given)
            running.reward(made["decision"], float(made["arm"] == "b"))
        running.later(5)
        probabilities = running.decide("q", contexts=given, probabilities=True)["probabilities"]
    with serving(tmp_path / "store.db") as running:
        again = running.decide("q", contexts=given, probabilities=True)["probabilities"]
        assert again == probabilities
        assert np.isclose(sum(again.values()), 1)
    found = verify(located(f"sqlite:///{tmp_path}/store.db").reader())
    assert not found.problems


@pytest.mark.parametrize(
    ("contexts", "said"),
    [
        ({"visit": VISIT | {"our": 1}, "arms": PRICES}, "feature 'our' must be declared: did you"),
        ({"visit": {"hour": 3}, "arms": PRICES}, "feature 'device' must be given"),
        ({"visit": VISIT | {"hour": "late"}, "arms": PRICES}, "feature 'hour' must be finite"),
        ({"visit": VISIT, "arms": [{"price": 1}]}, "features of each of 3 arms on offer, not of 1"),
        ({"visit": VISIT, "arms": {"a": {"price": 1}}}, "contexts must fit the features"),
        ({"vist": VISIT}, "be {'visit': ..., 'arms': ...}"),
        (None, "feature 'device' must be given"),
        ({"visit": VISIT | {"hour": 1e300}, "arms": PRICES}, "contexts must be from"),
        ({"visit": 3, "arms": PRICES}, "have the features of the visit by name, not 3"),
        ({"visit": VISIT, "arms": [1, 2, 3]}, "mappings of features by name, not 1"),
        ({"visit": VISIT, "arms": 3}, "contexts must fit the features"),
        ({"visit": VISIT, "arms": "abc"}, "contexts must fit the features"),
        ({"visit": VISIT, "arms": None}, "contexts must fit the features"),
        ({"visit": VISIT, "arms": {"price": [1, 2, {}]}}, "feature 'price' must be finite"),
        (
            {"visit": VISIT | {"device": ["phone"]}, "arms": PRICES},
            "feature 'device' must be a text",
        ),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_by_name(service: Service, contexts: Any, said: str) -> None:
    answer = service.ask("POST", SHOP + "/decide", {"key": "k", "contexts": contexts})
    message, field = failure(answer, 422, "invalid")
    assert field == "contexts"
    assert said in message
    assert service.get(SHOP + "/status")["decisions"] == 0


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({"visits": {}}, "not 'visits': did you mean 'visit'?"),
        ({"visit": {"hour": {"kind": "Nmber"}}}, "be Category or Number"),
        ({"visit": {"hour": {"kind": "Number", "men": 1}}}, "did you mean 'mean'?"),
        ({"visit": {"hour": 3}}, "the kind of feature 'hour' must be"),
        ({"visit": [3]}, "features.visit must be kinds by name"),
        ({"visit": {}, "crosses": [["hour", "arm"]]}, "crosses must name features"),
        ({"visit": {"q": {"kind": "Category"}}}, "feature 'q' must have values"),
        ({"hashed": 0}, "hashed must be a whole number"),
        ({"hashed": 1000, "visit": {"q": {"kind": "Category"}}}, "features must be at most 256"),
    ],
    ids=str,
)
def test_bad_declarations_are_refused(service: Service, features: Any, said: str) -> None:
    body = {"name": "other", "arms": ["a"], "policy": LINEAR, "features": features}
    message, _ = failure(service.ask("POST", E, body), 422, "invalid")
    assert said in message


def test_crosses_that_would_fill_the_memory_are_refused(service: Service) -> None:
    many = {"kind": "Category", "values": [str(number) for number in range(5_000)]}
    body = {
        "name": "other", "arms": ["a"], "policy": LINEAR,
        "features": {"visit": {"one": many, "two": many}, "crosses": [["one", "two"]]},
    }  # fmt: skip
    message, _ = failure(service.ask("POST", E, body), 422, "invalid")
    assert "columns must be at most 100,000 in all, not 25,010,000" in message


def test_contexts_by_name_need_features(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits()) as running:
        running.create(policy=LINEAR, dimension=2)
        asked = {"key": "k", "contexts": {"visit": {}}}
        message, _ = failure(running.ask("POST", SHOP + "/decide", asked), 422, "invalid")
        assert "this experiment declares no features" in message
        assert "features" not in running.get(SHOP)


def test_what_a_store_keeps_of_others_is_as_before() -> None:
    settings = checked({"policy": LINEAR, "dimension": 2})
    assert "features" not in dumped(settings, "seed")
    named = checked({"policy": LINEAR, "features": FEATURES})
    assert "features" in dumped(named, "seed")
