"""Named features: columns that stay, values that are refused by name, and what columns mean."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairx import Bandit, Exponential, FairXLinEG, FairXLogisticTS, Logged, evaluate
from fairx.features import Category, Features, Number
from fairx.features.tokens import hashed

SHOP = Features(
    visit={
        "device": Category(["phone", "desktop"], optional=True),
        "hour": Number(mean=12, std=6, optional=True),
        "country": Category(["de", "fr"], others=True),
    },
    arms={"arm": Category(["a", "b", "c"]), "price": Number(mean=20, std=10)},
    crosses=[("device", "arm"), ("hour", "price")],
)
OPEN = Features(
    visit={"query": Category(), "hour": Number(12, 6)},
    arms={"arm": Category()},
    crosses=[("query", "arm")],
    hashed=32,
)
VISIT = {"device": "phone", "hour": 18, "country": "it"}
PRICES = [{"arm": "a", "price": 10}, {"arm": "c", "price": 35}]
NAMES = """intercept, device=phone, device=desktop, device is missing, hour, hour is missing, country=de,
country=fr, country is another, arm=a, arm=b, arm=c, price, device=phone * arm=a, device=phone * arm=b,
device=phone * arm=c, device=desktop * arm=a, device=desktop * arm=b, device=desktop * arm=c,
device is missing * arm=a, device is missing * arm=b, device is missing * arm=c, hour * price,
hour is missing * price"""


def test_columns_are_those_of_the_definition() -> None:
    assert SHOP.names == tuple(NAMES.replace("\n", " ").split(", "))
    assert SHOP.dimension == 24
    first, second = SHOP.rows(VISIT, PRICES)
    named = {name: value for name, value in zip(SHOP.names, first, strict=True) if value}
    assert named == {
        "intercept": 1, "device=phone": 1, "hour": 1, "country is another": 1, "arm=a": 1,
        "price": -1, "device=phone * arm=a": 1, "hour * price": -1,
    }  # fmt: skip
    named = {name: value for name, value in zip(SHOP.names, second, strict=True) if value}
    assert (named["price"], named["hour * price"], named["device=phone * arm=c"]) == (1.5, 1.5, 1)


def test_what_is_missing_has_a_column_of_its_own() -> None:
    for gap in (None, float("nan"), np.float64("nan")):
        row = SHOP.rows({"device": gap, "country": "de"}, PRICES[:1])[0]
        named = {name for name, value in zip(SHOP.names, row, strict=True) if value}
        assert {"device is missing", "hour is missing", "device is missing * arm=a"} <= named
        assert "hour" not in named


# Of the hash that was pinned with the first version of features: they are never to change.
PINNED = {
    "[]": (1, 3),
    '[["device","phone"]]': (1, 8),
    '[["price",null]]': (-1, 10),
    '[["hour",true]]': (-1, 7),
    '[["query","Grüße"],["arm","a"]]': (1, 9),
}


@pytest.mark.parametrize("text", PINNED)
def test_the_hash_is_pinned(text: str) -> None:
    token = tuple((name, found) for name, found in json.loads(text))
    column, sign = hashed(token, 16)
    assert (int(sign), column) == PINNED[text]


DIGESTS = "from test_features import *; print(digest_of(SHOP, VISIT, PRICES), digest_of(OPEN, ASKED, TWO))"
ASKED, TWO = {"query": "shoes", "hour": 6}, [{"arm": "a"}, {"arm": 7}]


def digest_of(features: Features, visit: Any, arms: Any) -> str:
    return hashlib.sha256(features.rows(visit, arms).tobytes()).hexdigest()[:16]


def test_contexts_are_the_same_in_every_process() -> None:
    found = set()
    for seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", DIGESTS], cwd=Path(__file__).parent, env=environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found.add(done.stdout.strip())
    assert found == {"387b3e842918657d eceafac0ae24a71b"}


@given(
    st.lists(st.sampled_from(["shoes", "hats", "", "a=b", "x * y"]), min_size=1, max_size=4),
    st.floats(-1e6, 1e6),
)
def test_hashed_rows_are_sums_over_tokens(arms: list[str], hour: float) -> None:
    rows = OPEN.rows({"query": "shoes", "hour": hour}, [{"arm": arm} for arm in arms])
    for row, arm in zip(rows, arms, strict=True):
        expected = np.zeros(32)
        query, name = ("query", "shoes"), ("arm", arm)
        tokens = {(): 1.0, (query,): 1.0, (("hour", None),): (hour - 12) / 6, (name,): 1.0}
        for token, value in (tokens | {(query, name): 1.0}).items():
            column, sign = hashed(token, 32)
            expected[column] += sign * value
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_collisions_are_told() -> None:
    few = OPEN._replace(hashed=3)
    seen = [(ASKED, TWO)]
    meanings = few.meanings(seen)
    told = [text.lstrip("-") for texts in meanings.values() for text in texts]
    assert sorted(told) == sorted(
        ["intercept", "hour", "query=shoes", "arm=a", "arm=7", "query=shoes * arm=a", "query=shoes * arm=7"]
    )  # fmt: skip
    assert few.collisions(seen) == {c: texts for c, texts in meanings.items() if len(texts) > 1}
    assert few.collisions(seen)
    assert not SHOP.collisions()
    assert list(SHOP.meanings().values()) == [(name,) for name in SHOP.names]
    with pytest.raises(ValueError, match="hashed must be left out for names"):
        _ = few.names


@pytest.mark.parametrize(
    ("visit", "arm", "message"),
    [
        ({"device": "fone"}, {}, "feature 'device' must be one of phone, desktop, not 'fone': did"),
        ({"hour": "noon"}, {}, "feature 'hour' must be finite, not 'noon'"),
        ({"hour": float("inf")}, {}, "feature 'hour' must be finite, not inf"),
        ({"country": None}, {}, "feature 'country' must be given: a kind with optional=True"),
        ({"country": 2.5}, {}, "feature 'country' must be a text or a whole number, not 2.5"),
        ({"devise": "phone"}, {}, "feature 'devise' must be declared: did you mean 'device'?"),
        ({"price": 1}, {}, "feature 'price' must be declared: declared are device, hour, country"),
        ({}, {"price": None}, "feature 'price' must be given"),
        ({}, {"arm": "d"}, "feature 'arm' must be one of a, b, c, not 'd'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(visit: Any, arm: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        SHOP.rows(VISIT | visit, [PRICES[0] | arm])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Features({"a": 3}), "the kind of feature 'a' must be Number"),
        (lambda: Features({"a": Number}), "the kind of feature 'a' must be Number"),
        (lambda: Features({1: Number()}), "visit must have names that are texts, not 1"),
        (lambda: Features({"a": Number()}, {"a": Number()}), "feature 'a' must be declared once"),
        (lambda: Features({"a": Number()}, crosses=["ab"]), "crosses must be pairs of features"),
        (lambda: Features({"hour": Number()}, crosses=[("hour", "hours")]), "crosses must name"),
        (lambda: Features({"a": Category()}), "feature 'a' must have values where features are"),
        (lambda: Features({"a": Category()}, hashed=0), "hashed must be a whole number"),
        (lambda: Features(intercept=False), "the number of features must be"),
        (lambda: Category("ab"), "values must be a list, not 'ab'"),
        (lambda: Category([1, "1"]), "values must be distinct"),
        (lambda: Number(std=0), "std must be positive"),
        (lambda: SHOP.rows(VISIT, [3]), "features must be a table or mappings"),
        (lambda: SHOP.rows(VISIT, {"arm": "a"}), "feature 'arm' must be a column, not 'a'"),
        (lambda: SHOP.rows(VISIT, {"arm": ["a"], "price": []}), "columns must be of one length"),
    ],
)
def test_bad_declarations_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_tables_of_others_are_as_mappings() -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    visits: list[Any] = [VISIT, {"device": None, "hour": None, "country": "fr"}]
    expected = SHOP.contexts(visits, PRICES)
    assert expected.shape == (2, 2, 24)
    columns = {name: [visit[name] for visit in visits] for name in VISIT}
    arms = pandas.DataFrame(PRICES)
    for table in (columns, pandas.DataFrame(columns), arrow.table(columns)):
        np.testing.assert_array_equal(SHOP.contexts(table, arms), expected)
    whole = pandas.DataFrame({"query": [3, None], "hour": [1, 2]})  # the gap makes 3.0 of 3
    assert (
        OPEN.rows(whole.to_dict("records")[0], TWO) == OPEN.rows({"query": 3, "hour": 1}, TWO)
    ).all()
    missing = pandas.DataFrame({"device": pandas.array([pandas.NA], "string"), "country": ["de"]})
    assert SHOP.contexts(missing, PRICES)[0, 0, 3] == 1


def test_a_bandit_takes_features(tmp_path: Path) -> None:
    """It decides as one that is given the rows, from its file too."""
    policy = FairXLinEG(Exponential(4), epsilon=0.1, ridge=1)
    named = Bandit(policy, ["a", "b", "c"], seed=1, features=SHOP)
    plain = Bandit(policy, ["a", "b", "c"], SHOP.dimension, seed=1)
    prices = {"a": {"price": 10}, "b": {"price": 20}, "c": {"price": 30}}
    for step in range(4):
        if step == 2:
            named.save(tmp_path / "bandit.npz")
            named = Bandit.load(tmp_path / "bandit.npz")
            assert named.features == SHOP
        given = {"visit": VISIT, "arms": prices}
        rows = SHOP.rows(VISIT, [{"arm": arm} | prices[arm] for arm in "abc"])
        one, other = named.act(given), plain.act(rows)
        assert one.arm == other.arm
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
        named.learn(one, 1.0)
        plain.learn(other, 1.0)
    some = named.act({"visit": VISIT, "arms": [{"price": 1}]}, candidates=["b"])
    assert some.probability == 1.0
    for wrong, message in (
        ({"visit": VISIT, "arms": [{"price": 1}]}, "contexts must have the features of each of 3"),
        (np.eye(3), "contexts must be {'visit': ..., 'arms': ...}"),
        ({"visit": VISIT}, "feature 'price' must be given"),
    ):
        with pytest.raises(ValueError, match=message.replace("{", r"\{")):
            named.act(wrong)
    with pytest.raises(ValueError, match="dimension must be left out, or that of the features, 24"):
        Bandit(policy, 2, 3, seed=1, features=SHOP)


def test_an_evaluation_takes_features() -> None:
    """A policy that was trained on names is evaluated on a table of the log."""
    features = Features({"device": Category(["phone", "desktop"])}, {"arm": Category(["a", "b"])},
                        crosses=[("device", "arm")])  # fmt: skip
    rng, merit = np.random.default_rng(0), Exponential(4)
    bandit = Bandit(FairXLogisticTS(merit, 1), ["a", "b"], seed=0, features=features)
    for _ in range(50):
        device = str(rng.choice(["phone", "desktop"]))
        decision = bandit.act({"visit": {"device": device}})
        bandit.learn(decision, float((decision.arm == "a") == (device == "phone")))
    devices, arms = rng.choice(["phone", "desktop"], 400), rng.integers(2, size=400)
    rewards = ((arms == 0) == (devices == "phone")).astype(float)
    contexts = features.contexts({"device": devices}, {"arm": ["a", "b"]})
    log = Logged(arms, rewards, np.full(400, 0.5), contexts=contexts, names=("a", "b"))
    estimate = bandit.state.estimate

    def learned(rows: Any) -> Any:
        weights = np.exp(4 / (1 + np.exp(-rows @ estimate)))
        return weights / weights.sum(axis=-1, keepdims=True)

    found = evaluate(log, learned)
    assert found.reward > 0.75  # a uniform policy has 0.5, the best has 1, exp(4) has 0.98
