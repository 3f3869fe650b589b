"""The store, on SQLite and on PostgreSQL: what is written once, learned once and found again."""

from __future__ import annotations

import hashlib
import random
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairx.errors import BrokenFile, FairxError, UnknownArm
from fairx.policies.counts import Counts
from fairx.policies.fair_beta_ts import BetaPosterior
from fairx.policies.fair_eg import Estimates
from fairx.policies.fair_gamma_ts import GammaPosterior
from fairx.policies.fair_ts import Posterior
from fairx.policies.fixed import Shares
from fairx.policies.optimism import Box
from fairx.rules import InvalidValue
from fairx.settings import KINDS
from fairx.store import Store, Verified, located, verify, writer
from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.decisions import Decision, Recorded, write_decisions
from fairx.store.errors import Conflict, NotFound, Unavailable
from fairx.store.events import Batch, Reward, Shown
from fairx.store.experiments import Changes, change_arms, create, erase, set_status
from fairx.store.folding import AT_ONCE, fold
from fairx.store.identity import is_ours, minted
from fairx.store.rewards import note_shown, take_in
from fairx.store.settings import COUNTING, checked
from fairx.store.snapshots import Snapshot, experiments, newest
from fairx.store.sqlite import SQLite, check_version
from fairx.store.statistics import empty, learn, state_of
from fairx.store.writer import DECISIONS, OTHER, REWARDS, Writer

SECRET = b"a secret of the tests"
FAIR_TS = {
    "kind": "FairXTS",
    "merit": {"kind": "Exponential", "steepness": 3},
    "prior_std": 1,
    "reward_std": 0.5,
}
FAIR_LIN_TS = FAIR_TS | {"kind": "FairXLinTS"}
FAIR_UCB = {"kind": "FairXUCB", "merit": FAIR_TS["merit"], "width": 0.5}
KL_UCB = FAIR_UCB | {"bounds": [0, 1], "interval": "kl"}
WINDOW = 100.0


class Site:
    """A store with one experiment and a clock of its own; decides by the newest snapshot."""

    def __init__(
        self, database: Database, arms: Sequence[str] = ("a", "b", "c"), seed: int = 5, **about: Any
    ) -> None:
        self.database, self.now = database, 1000.0
        given = {"policy": FAIR_TS, "reward_window_s": WINDOW} | about
        drawn = patch("secrets.token_bytes", random.Random(seed).randbytes)
        with drawn, database.transaction():
            self.hold(create(database, "shop", arms, checked(given), self.now, "test"))

    def hold(self, snapshot: Snapshot) -> Snapshot:
        self.snapshot, self.experiment = snapshot, snapshot.experiment
        self.decider = Decider(snapshot)
        return snapshot

    def id(self, key: str) -> str:
        return minted(SECRET, self.experiment.id, key, 0)

    def made(self, key: str, candidates: Any = None, contexts: Any = None, unit: Any = None) -> Any:
        """Return a decision that is not on record, with the end of its window."""
        found = self.decider.candidates(candidates, contexts)
        position, chances = self.decider.decide(self.id(key), found)
        asked = hashlib.sha256(repr((candidates, contexts, unit)).encode()).digest()
        decision = Decision(
            self.id(key), self.experiment.id, self.now, self.snapshot.version,
            int(found.arms[position]), position, found.named, chances.tobytes(),
            found.contexts.tobytes() or None, unit, asked, propensity=float(chances[position]),
        )  # fmt: skip
        return decision, self.now + self.experiment.settings.reward_window_s

    def decide(self, key: str, *asked: Any) -> Recorded:
        with self.database.transaction():
            (found,) = write_decisions(self.database, [self.made(key, *asked)])
        if isinstance(found, Exception):
            raise found
        return found

    def rewards(self, *given: Reward) -> list[str]:
        with self.database.transaction():
            (found,) = take_in(self.database, [Batch(self.experiment, given, self.now)])
        if isinstance(found, Exception):
            raise found
        return found

    def reward(self, key: str, value: float, id: str = "", final: bool = False) -> str:  # noqa: A002
        return self.rewards(Reward(self.id(key), value, id, final))[0]

    def shown(self, *keys: str) -> list[str]:
        with self.database.transaction():
            return note_shown(
                self.database, self.experiment, [Shown(self.id(key)) for key in keys], self.now
            )

    def arms(self, **changes: list[str]) -> Snapshot:
        with self.database.transaction():
            found = change_arms(
                self.database, self.experiment, Changes(**changes), self.now, "test"
            )
        return self.hold(found)

    def fold(self, limit: int = AT_ONCE) -> Snapshot | None:
        with self.database.transaction():
            found = fold(self.database, self.experiment, self.now, limit)
        return None if found is None else self.hold(found)

    def close_windows(self) -> Snapshot | None:
        self.now += WINDOW
        return self.fold()

    def learned(self) -> list[tuple[Any, ...]]:
        sql = "SELECT d.id, m.reward, m.rewards FROM matured m JOIN decisions d ON d.sequence = m.sequence ORDER BY m.number"
        return self.database.rows(sql)

    def verify(self) -> Verified:
        with self.database.transaction():
            return verify(self.database, SECRET)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "sqlite":
        return located(f"sqlite:///{tmp_path}/store.db")
    return located(request.getfixturevalue("database_url"))


@pytest.fixture
def database(store: Store) -> Iterator[Database]:
    found = store.writer()
    yield found
    found.close()


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[SQLite]:
    """Return a store on SQLite, for what does not depend on the kind of the database."""
    found = SQLite(tmp_path / "store.db", write=True)
    yield found
    found.close()


def count(database: Database, table: str) -> int:
    found: int = database.rows(f"SELECT count(*) FROM {table}")[0][0]
    return found


# Decisions.


def test_a_key_decides_once(database: Database) -> None:
    site = Site(database)
    first = site.decide("k")
    assert not first.repeated
    site.reward("k", 1.0, final=True)
    site.close_windows()  # a new snapshot would give other probabilities
    again = site.decide("k")
    assert again.repeated
    assert again.decision == first.decision
    assert site.made("k")[0] != first.decision
    assert count(database, "decisions") == 1


def test_a_key_twice_in_one_transaction_decides_once(database: Database) -> None:
    site = Site(database)
    with database.transaction():
        asked = [site.made("k"), site.made("other"), site.made("k")]
        found: Any = write_decisions(database, asked)
    assert [each.repeated for each in found] == [False, False, True]
    assert found[0].decision == found[2].decision
    assert (count(database, "decisions"), count(database, "waiting")) == (2, 2)


def test_another_request_may_not_use_a_key(database: Database) -> None:
    site = Site(database)
    site.decide("k", ["a", "b"])
    with pytest.raises(Conflict, match="key must be new"):
        site.decide("k", ["a", "c"])
    with database.transaction():  # those beside it do not suffer
        found = write_decisions(database, [site.made("k"), site.made("new")])
    assert isinstance(found[0], Conflict)
    assert isinstance(found[1], Recorded)


def test_what_is_asked_for_must_be_on_offer(database: Database) -> None:
    site = Site(database)
    site.arms(pause=["b"], remove=["c"])
    assert site.decider.candidates(["a", "b"], None).left_out == ("b",)
    assert site.decider.candidates(None, None).arms.tolist() == [0]
    with pytest.raises(FairxError, match="no arm is on offer"):
        site.decider.candidates(["b"], None)
    for name in ("c", "unknown"):
        with pytest.raises(UnknownArm, match=name):
            site.decider.candidates(["a", name], None)
    for wrong in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="at least one arm, each once"):
            site.decider.candidates(wrong, None)
    with pytest.raises(ValueError, match="contexts must be left out"):
        site.decider.candidates(None, [[1.0]])


@pytest.mark.parametrize(
    "contexts", [None, [[1.0, 2.0]], [[1.0]] * 3, [[1.0, float("nan")]] * 3, [[1e10, 0.0]] * 3]
)
def test_contexts_that_break_a_rule_are_refused(lite: SQLite, contexts: Any) -> None:
    site = Site(lite, policy=FAIR_LIN_TS, dimension=2)
    with pytest.raises(ValueError, match="contexts"):
        site.decider.candidates(None, contexts)


def test_contexts_of_paused_candidates_are_left_out(lite: SQLite) -> None:
    site = Site(lite, policy=FAIR_LIN_TS, dimension=1)
    site.arms(pause=["b"])
    found = site.decider.candidates(["c", "b", "a"], [[3.0], [2.0], [1.0]])
    assert found.arms.tolist() == [2, 0]
    assert found.contexts.tolist() == [[3.0], [1.0]]


@given(st.text(), st.integers(1, 5), st.integers(0, 3))
def test_ids_follow_from_the_key_and_are_signed(key: str, experiment: int, index: int) -> None:
    found = minted(SECRET, experiment, key, index)
    assert found == minted(SECRET, experiment, key, index)
    assert is_ours(SECRET, experiment, found)
    others = (
        found[:-1] + ("A" if found[-1] != "A" else "B"),
        found + "=",
        found[::-1],
        found[:-1],
        "",
    )
    assert not any(is_ours(SECRET, experiment, other) for other in others)
    assert not is_ours(SECRET, experiment + 1, found)
    assert not is_ours(b"another", experiment, found)
    assert found != minted(SECRET, experiment, key, index + 1)


# Rewards.


def test_a_reward_counts_once(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    assert [site.reward("k", 1.0) for _ in range(3)] == ["accepted", "duplicate", "duplicate"]
    site.close_windows()
    assert site.learned() == [(site.id("k"), 1.0, 1)]
    assert site.reward("k", 1.0) == "duplicate"
    assert site.fold() is None


def test_rewards_of_different_ids_add_up(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    values = [0.1] * 10 + [1e8, -1e8]
    for i, value in enumerate(values):
        assert site.reward("k", value, str(i)) == "accepted"
    site.close_windows()
    assert site.learned() == [(site.id("k"), 1.0, 12)]  # rounded once


def test_a_reward_before_its_decision_is_parked(database: Database) -> None:
    site = Site(database)
    assert site.reward("k", 1.0) == "parked"
    assert site.reward("k", 1.0) == "duplicate"
    site.now += 10 * WINDOW
    site.decide("k")
    assert site.fold() is None
    assert site.reward("k", 2.0, "more") == "accepted"
    site.close_windows()
    assert site.learned() == [(site.id("k"), 3.0, 2)]


def test_a_final_reward_before_its_decision_closes_it(database: Database) -> None:
    site = Site(database)
    assert site.reward("k", 1.0, final=True) == "parked"
    site.decide("k")
    assert site.reward("k", 1.0, "more") == "late"
    assert site.fold() is None
    site.close_windows()
    assert site.learned() == [(site.id("k"), 1.0, 1)]


def test_a_reward_after_the_window_is_late(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    site.now += WINDOW  # the window has closed, though nobody has folded
    assert site.reward("k", 1.0) == "late"
    assert site.reward("k", 1.0) == "duplicate"
    site.fold()
    assert site.reward("k", 1.0, "later") == "late"
    assert site.learned() == [(site.id("k"), 0.0, 0)]


def test_a_final_reward_closes_a_decision_that_goes_on_waiting(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    found = site.rewards(
        Reward(site.id("k"), 1.0, "first"),
        Reward(site.id("k"), 2.0, "last", final=True),
        Reward(site.id("k"), 4.0, "after"),
    )
    assert found == ["accepted", "accepted", "late"]
    assert site.fold() is None
    site.close_windows()
    assert site.learned() == [(site.id("k"), 3.0, 2)]


def test_a_conflicting_reward_is_refused_with_all_of_its_batch(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    site.decide("other")
    site.reward("k", 1.0, "click")
    with pytest.raises(Conflict, match=r"reward 'click' 1\.0 since 1000\.000: another one, 0\.5"):
        site.rewards(Reward(site.id("other"), 1.0), Reward(site.id("k"), 0.5, "click"))
    with pytest.raises(Conflict, match="has the reward 1"):  # also within one request
        site.rewards(Reward(site.id("other"), 1.0), Reward(site.id("other"), 0.0))
    assert count(database, "rewards") == 1
    assert site.reward("other", 1.0) == "accepted"


def test_requests_in_one_transaction_meet_each_other(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    batches = [
        Batch(site.experiment, [Reward(site.id("k"), value, final=True)], site.now)
        for value in (1.0, 1.0, 0.0)
    ]
    with database.transaction():
        found = take_in(database, batches)
    assert found[:2] == [["accepted"], ["duplicate"]]
    assert isinstance(found[2], Conflict)
    assert count(database, "rewards") == 1


def test_the_sum_of_rewards_must_be_in_range(database: Database) -> None:
    site = Site(database, reward_range=[0, 1], missing_reward=0.5)
    site.decide("k")
    assert site.reward("k", 0.75) == "accepted"
    with pytest.raises(ValueError, match=r"reward must be from 0 to 1, not 1\.5 in all"):
        site.reward("k", 0.75, "more")
    with pytest.raises(ValueError, match="reward must be from 0 to 1"):
        site.reward("not yet there", -1.0)
    assert site.reward("k", 0.25, "more") == "accepted"
    assert count(database, "rewards") == 2


@pytest.mark.parametrize(
    ("missing", "sums"), [(0.0, [1.0, 0.0]), (0.25, [1.0, 0.25]), (None, [0.0, 0.0])]
)
def test_what_a_missing_reward_counts_as(database: Database, missing: Any, sums: Any) -> None:
    site = Site(database, ["only"], missing_reward=missing)
    site.decide("k")
    snapshot = site.close_windows()
    assert snapshot is not None
    assert (snapshot.sums.tolist(), snapshot.watermark) == (sums, 1)
    assert site.learned() == [(site.id("k"), missing, 0)]


def test_what_was_not_shown_counts_for_nothing_where_that_is_required(database: Database) -> None:
    site = Site(database, requires_shown=True)
    for key in ("shown", "rewarded", "neither", "rewarded late"):
        site.decide(key)
    assert site.shown("shown", "early", "shown") == ["accepted", "parked", "duplicate"]
    assert site.shown("shown") == ["duplicate"]
    site.reward("rewarded", 1.0)
    site.now += WINDOW
    site.reward("rewarded late", 1.0)
    site.decide("early")
    site.now += WINDOW
    site.fold()
    found = {decision: value for decision, value, _ in site.learned()}
    expected = {"shown": 0.0, "rewarded": 1.0, "neither": None, "rewarded late": None, "early": 0.0}
    assert found == {site.id(key): value for key, value in expected.items()}
    assert site.verify().problems == ()


def test_what_is_shown_after_its_window_changes_nothing(database: Database) -> None:
    site = Site(database, requires_shown=True)
    site.decide("k")
    site.close_windows()
    site.shown("k")
    assert site.learned() == [(site.id("k"), None, 0)]
    assert site.verify().problems == ()


# Arms and experiments.


def test_arms_come_and_go_and_keep_what_was_learned(database: Database) -> None:
    site = Site(database, ["a", "b"])
    for i in range(4):
        site.decide(f"k{i}", ["a"])
        site.reward(f"k{i}", 1.0)
    site.close_windows()
    site.arms(add=["c"], pause=["b"])
    assert [(arm.name, arm.status) for arm in site.snapshot.arms] == [
        ("a", "active"), ("b", "paused"), ("c", "active"),
    ]  # fmt: skip
    assert site.snapshot.sums.tolist() == [4.0, 0.0, 0.0, 4.0, 0.0, 0.0]
    site.arms(resume=["b"], remove=["a"])
    assert site.decider.candidates(None, None).arms.tolist() == [1, 2]
    site.arms(add=["a"])  # it has its number and its statistics again
    assert site.snapshot.sums.tolist() == [4.0, 0.0, 0.0, 4.0, 0.0, 0.0]
    assert site.decider.candidates(None, None).arms.tolist() == [0, 1, 2]
    assert site.snapshot.version == 5
    assert newest(database, site.experiment).digest() == site.snapshot.digest()
    assert site.verify().problems == ()


def test_a_change_of_arms_happens_as_a_whole(database: Database) -> None:
    site = Site(database, ["a", "b"], floor=0.4)
    for error, changes in (
        (Conflict, {"pause": ["a"], "add": ["b"]}),
        (NotFound, {"pause": ["a"], "resume": ["c"]}),
        (NotFound, {"remove": ["a", "a"]}),
        (Conflict, {"pause": ["a"], "remove": ["b"]}),
        (ValueError, {"add": ["c"]}),  # 3 * 0.4 > 1
    ):
        with pytest.raises(error):
            site.arms(**changes)
    assert newest(database, site.experiment).version == 1
    assert count(database, "arms") == 2
    site.arms(add=["c"], pause=["a"])
    with pytest.raises(ValueError, match=r"floor must be at most 0\.333333 with 3 arms"):
        site.arms(resume=["a"])


def test_a_floor_that_the_arms_cannot_have_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match=r"floor must be at most 0\.5 with 2 arms, not 0\.51"):
        Site(database, ["a", "b"], floor=0.51)
    assert count(database, "experiments") == 0


@pytest.mark.parametrize(
    ("policy", "dimension"), [(FAIR_TS, 0), (FAIR_LIN_TS, 2), (FAIR_UCB, 0), (KL_UCB, 0)]
)
@pytest.mark.parametrize("floor", [0.05, 0.25])
def test_a_floor_is_mixed_in(lite: SQLite, policy: Any, dimension: int, floor: float) -> None:
    site = Site(lite, "abcd", policy=policy, dimension=dimension, floor=floor)
    plain = site.experiment.settings._replace(floor=0.0)
    fair = Decider(site.snapshot._replace(experiment=site.experiment._replace(settings=plain)))
    for key in range(50):
        names = None if key % 2 else ["b", "d", "a"]
        arms = 4 if names is None else 3
        contexts = [[0.1 * i, key] for i in range(arms)] if dimension else None
        candidates = site.decider.candidates(names, contexts)
        _, found = site.decider.decide(site.id(str(key)), candidates)
        _, before = fair.decide(site.id(str(key)), candidates)
        np.testing.assert_allclose(found, floor + (1 - arms * floor) * before, rtol=0, atol=1e-15)
        assert found.min() >= floor - 1e-16
        assert abs(found.sum() - 1) < 1e-12


def test_names_are_taken_until_an_experiment_is_deleted(database: Database) -> None:
    site = Site(database)
    site.decide("k")
    assert Site(database).experiment == site.experiment  # the same request
    with pytest.raises(Conflict, match="experiment 'shop' exists"):
        Site(database, ["a"])
    with database.transaction():
        set_status(database, site.experiment, "deleted", site.now, "test")
    assert experiments(database) == []
    with pytest.raises(NotFound, match="'shop' does not exist"):
        site.arms(add=["d"])
    other = Site(database)
    assert other.experiment.id != site.experiment.id
    assert other.id("k") != site.id("k")
    assert not other.decide("k").repeated
    assert other.verify() == Verified(experiments=2, snapshots=2, decisions=2)


def test_administrative_actions_are_on_record(database: Database) -> None:
    site = Site(database)
    site.arms(add=["d"])
    with database.transaction():
        set_status(database, site.experiment, "paused", site.now, "someone")
        erase(database, site.experiment, "nobody", site.now, "test")
    rows = database.rows("SELECT actor, action, experiment, detail FROM actions ORDER BY id")
    assert rows == [
        ("test", "create", "shop", '{"arms": ["a", "b", "c"]}'),
        ("test", "arms", "shop", '{"add": ["d"]}'),
        ("someone", "paused", "shop", "{}"),
        ("test", "erase", "shop", '{"decisions": 0}'),
    ]


# Erasing.


@pytest.mark.parametrize("dimension", [0, 2])
def test_a_unit_is_forgotten_and_the_log_can_still_be_verified(
    database: Database, dimension: int
) -> None:
    policy = FAIR_LIN_TS if dimension else FAIR_TS
    site = Site(database, ["a", "b"], policy=policy, dimension=dimension)
    contexts = [[1.0, 0.5], [0.0, 2.0]] if dimension else None
    for round_ in range(3):
        for i in range(6):
            site.decide(f"{round_} {i}", None, contexts, "anna" if i % 2 else "bert")
            site.reward(f"{round_} {i}", i / 6)
            site.now += WINDOW / 8
        site.fold()  # some of each round wait
    before = site.snapshot.sums.copy()
    with database.transaction():
        assert erase(database, site.experiment, "anna", site.now, "test") == 9
        assert erase(database, site.experiment, "anna", site.now, "test") == 0
    rows = database.rows("SELECT unit, contexts, erased FROM decisions WHERE unit IS NULL")
    assert len(rows) == 9
    assert all(row[1] is None and row[2] == site.now for row in rows)
    assert newest(database, site.experiment).sums.tolist() == before.tolist()
    assert site.decide("0 1", None, contexts, "anna").repeated  # the digest of the request is gone
    site.close_windows()
    site.decide("after", None, contexts)
    found = site.verify()
    assert found.problems == ()
    assert found.erased == (0 if not dimension else found.erased)
    assert found.decisions == 19


# Statistics.


def linear_site(database: Database, decisions: int = 40, **about: Any) -> tuple[Site, Any, Any]:
    """Decide and reward; return the contexts of the arms chosen, and the rewards."""
    site = Site(database, policy=FAIR_LIN_TS, dimension=3, **about)
    rng = np.random.default_rng(7)
    chosen, rewards = np.empty((decisions, 3)), rng.normal(size=decisions)
    for i in range(decisions):
        contexts = rng.normal(size=(3, 3))
        found = site.decide(f"k{i}", None, contexts.tolist())
        chosen[i] = contexts[found.decision.position]
        site.reward(f"k{i}", float(rewards[i]))
        site.now += 1.0  # so that they mature in this order
    return site, chosen, rewards


def test_linear_statistics_are_the_sums_and_the_posterior(database: Database) -> None:
    site, chosen, rewards = linear_site(database)
    snapshot = site.close_windows()
    assert snapshot is not None
    assert snapshot.sums[0] == 40
    np.testing.assert_allclose(snapshot.sums[1:10].reshape(3, 3), chosen.T @ chosen, rtol=1e-13)
    np.testing.assert_allclose(snapshot.sums[10:], rewards @ chosen, rtol=1e-12)
    state = state_of(site.experiment.settings, snapshot.sums, 3)
    precision = 0.25 * np.eye(3) + chosen.T @ chosen  # (reward_std / prior_std)**2
    np.testing.assert_allclose(
        state.estimate, np.linalg.solve(precision, rewards @ chosen), rtol=1e-11
    )
    inverse = state.factor.T @ np.diag(state.scales) @ state.factor
    np.testing.assert_allclose(inverse, np.linalg.inv(precision), rtol=1e-11)
    assert site.verify().problems == ()


@pytest.mark.parametrize("dimension", [0, 3])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_sums_of_shards_add_up(dimension: int, data: st.DataObject) -> None:
    settings_ = checked({"policy": FAIR_LIN_TS if dimension else FAIR_TS, "dimension": dimension})
    rows = data.draw(st.integers(0, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    cut = data.draw(st.integers(0, rows))
    arms, contexts = rng.integers(4, size=rows).tolist(), rng.normal(size=(rows, dimension))
    rewards = rng.normal(size=rows)
    whole, first, second = (empty(settings_, 4) for _ in range(3))
    learn(settings_, whole, arms, contexts, rewards)
    learn(settings_, first, arms[:cut], contexts[:cut], rewards[:cut])
    learn(settings_, second, arms[cut:], contexts[cut:], rewards[cut:])
    np.testing.assert_allclose(first + second, whole, rtol=0, atol=1e-13 * max(rows, 1))


@pytest.mark.parametrize("limit", [1, 7, 500])
def test_sums_do_not_depend_on_how_often_is_folded(database: Database, limit: int) -> None:
    site, chosen, rewards = linear_site(database, 30)
    site.now += WINDOW
    folds = 0
    while site.fold(limit):
        folds += 1
    assert folds == -(-30 // limit)
    expected = np.zeros(13)
    for x, r in zip(chosen, rewards, strict=True):  # in the order of their windows
        expected += np.concatenate(([1.0], np.outer(x, x).ravel(), r * x))
    assert site.snapshot.sums.tobytes() == expected.tobytes()
    assert site.snapshot.watermark == 30
    assert site.verify() == Verified(1, folds + 1, 30, 30)


def test_the_arms_posterior_follows_from_counts(database: Database) -> None:
    site = Site(database)
    given: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for i in range(30):
        found = site.decide(f"k{i}", [["a", "b"], ["b", "a"]][i % 2])
        site.reward(f"k{i}", i / 7)
        given[found.decision.arm].append(i / 7)
    site.close_windows()
    state = state_of(site.experiment.settings, site.snapshot.sums, 3)
    for arm, values in given.items():
        precision = 1.0 + len(values) / 0.25
        np.testing.assert_allclose(state.means[arm], sum(values) / 0.25 / precision, rtol=1e-13)
        np.testing.assert_allclose(state.stds[arm], precision**-0.5, rtol=1e-13)


@pytest.mark.parametrize("kind", COUNTING)
def test_only_intervals_are_optimistic_of_new_arms(kind: str) -> None:
    """A kind that is served anew must say which it is: `state_of` goes by the class of its state."""
    given = {
        "merit": FAIR_TS["merit"],
        "prior_std": 1,
        "reward_std": 1,
        "epsilon": 0.1,
        "width": 0.5,
    }
    about = {name: given[name] for name in KINDS[kind]._fields if name in given}
    settings = checked({"policy": {"kind": kind, **about}})
    state = state_of(settings, np.array([4.0, 0.0, 2.0, 0.0]), 2)
    assert type(state) in (Posterior, BetaPosterior, GammaPosterior, Estimates, Box, Counts, Shares)
    if kind != "Uniform":
        assert state.pulls.tolist() == [4.0, 1.0 if kind == "FairXUCB" else 0.0]


def test_a_new_arm_of_ucb_is_as_wide_as_after_one_pull(database: Database) -> None:
    """It does not take all decisions until its first is mature, as playing it once first would."""
    site = Site(database, ["a", "b"], policy=FAIR_UCB)
    for i in range(20):
        site.decide(f"k{i}")
        site.reward(f"k{i}", i % 2)
    site.close_windows()
    site.arms(add=["new"])
    state = state_of(site.experiment.settings, site.snapshot.sums, 3)
    assert state.pulls.tolist()[2] == 1
    assert state.reward_sums[2] == 0.5  # the mean of all
    _, chances = site.decider.decide(site.id("next"), site.decider.candidates(None, None))
    assert 0.2 < chances[2] < 0.9
    assert site.snapshot.sums[[2, 5]].tolist() == [0.0, 0.0]  # nothing was learned
    first = Site.__new__(Site)
    first.hold(site.snapshot._replace(sums=np.zeros(6)))
    _, chances = first.decider.decide(site.id("next"), first.decider.candidates(None, None))
    np.testing.assert_allclose(chances, 1 / 3)


# Verification.


@pytest.fixture(params=["counts", "linear"])
def good(request: pytest.FixtureRequest, lite: SQLite) -> Site:
    """Return a log with decisions that are mature and others that wait."""
    if request.param == "linear":
        site, _, _ = linear_site(lite, 12)
        site.now = 1000.0 + WINDOW + 8
        site.fold()
        site.decide("last", None, np.eye(3).tolist())
        return site
    site = Site(lite)
    for i in range(12):
        site.decide(f"k{i}", [None, ["c", "a"]][i % 2])
        site.reward(f"k{i}", i / 5)
        if i in (3, 7, 8):
            site.close_windows()
    site.arms(add=["d"])
    site.decide("last")
    return site


def test_a_good_log_has_no_problem(good: Site) -> None:
    found = good.verify()
    assert found.problems == ()
    assert (found.decisions, found.matured) == (13, 9)
    passed: list[int] = []
    assert verify(good.database, None, passed.append) == found
    assert sum(passed) == 13
    assert verify(good.database, b"another secret").problems != ()


BYTE, STEEP = bytes(range(8)), '"steepness": '
TAMPERING = {
    "a probability": ("UPDATE decisions SET probabilities = CAST(? || substr(probabilities, 9) AS BLOB) WHERE sequence = 2", (BYTE,), "probabilities"),
    "an arm": ("UPDATE decisions SET arm = (arm + 1) % 3 WHERE sequence = 13", (), "its arm"),
    "the arm of a mature decision": ("UPDATE decisions SET arm = (arm + 1) % 3 WHERE sequence = 2", (), "differ|its arm"),
    "the position": ("UPDATE decisions SET slot = 1 - slot WHERE sequence = 13", (), "its arm"),
    "a decision's snapshot": ("UPDATE decisions SET snapshot = 99 WHERE sequence = 13", (), "no snapshot"),
    "a decision's id": ("UPDATE decisions SET id = 'x' || substr(id, 2) WHERE sequence = 13", (), "signature"),
    "a decision gone": ("DELETE FROM decisions WHERE sequence = 13", (), "12 decisions, but"),
    "a mature decision gone": ("DELETE FROM decisions WHERE sequence = 1", (), "has no decision"),
    "a reward": ("UPDATE rewards SET value = value + 1 WHERE decision = (SELECT id FROM decisions WHERE sequence = 1)", (), "was learned as"),
    "a reward gone": ("DELETE FROM rewards WHERE decision = (SELECT id FROM decisions WHERE sequence = 1)", (), "was learned as"),
    "a reward made late": ("UPDATE rewards SET late = 1 WHERE decision = (SELECT id FROM decisions WHERE sequence = 1)", (), "was learned as"),
    "what was learned": ("UPDATE matured SET reward = reward + 1 WHERE number = 2", (), "was learned as"),
    "a mature row gone": ("DELETE FROM matured WHERE number = 2", (), "are not all there"),
    "the last mature row gone": ("DELETE FROM matured WHERE number = 9", (), "are not all there"),
    "a waiting row gone": ("DELETE FROM waiting WHERE sequence = 13", (), "wait and"),
    "statistics": ("UPDATE statistics SET body = CAST(? || substr(body, 9) AS BLOB)", (np.array([3.5]).tobytes(),), "differ from the fold"),
    "the watermark": ("UPDATE statistics SET watermark = 1", (), "not those of the last snapshot"),
    "a digest": ("UPDATE snapshots SET digest = 'x' WHERE version = 2", (), "snapshot 2 differs"),
    "a snapshot gone": ("DELETE FROM snapshots WHERE version = 1", (), "snapshot 1 is missing"),
    "the last snapshot gone": ("DELETE FROM snapshots WHERE version = (SELECT max(version) FROM snapshots)", (), ""),
    "an arm's status": ("UPDATE arms SET status = 'paused' WHERE place = 1", (), "differs"),
    "an arm's name": ("UPDATE arms SET name = 'x' WHERE place = 1", (), "differs"),
    "candidates": ("UPDATE decisions SET candidates = ? WHERE sequence = 13", (b"\7\0\0\0",), ""),
    "contexts": ("UPDATE decisions SET contexts = x'00' WHERE sequence = 13", (), ""),
    "a mature decision's arm": ("UPDATE decisions SET arm = 99 WHERE sequence = 1", (), ""),
    "a mature decision's position": ("UPDATE decisions SET slot = 99 WHERE sequence = 1", (), ""),
    "a mature decision's contexts": ("UPDATE decisions SET contexts = x'00' WHERE sequence = 1", (), ""),
    "the body of statistics": ("UPDATE statistics SET body = x'00'", (), ""),
    "new arms gone": ("DELETE FROM arms WHERE place = 2", (), ""),
    "the first arm gone": ("DELETE FROM arms WHERE place = 0", (), ""),
    "settings": ("UPDATE experiments SET settings = replace(settings, ? || 3, ? || 4)", (STEEP, STEEP), "probabilities"),
    "an erasure": ("UPDATE decisions SET contexts = NULL, erased = 1 WHERE sequence = 2 AND contexts IS NOT NULL", (), "differ from the fold"),
    "statistics gone": ("DELETE FROM statistics", (), ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_is_found(good: Site, kind: str) -> None:
    sql, values, message = TAMPERING[kind]
    if good.experiment.settings.dimension and kind == "the arm of a mature decision":
        message = "its arm"
    good.database.rows(sql, values)
    if kind == "an erasure" and not good.experiment.settings.dimension:
        return  # there are no contexts to erase
    problems = good.verify().problems
    assert problems
    assert any(re.search(message, problem) for problem in problems), problems


# The file.


def test_the_version_of_sqlite_is_checked() -> None:
    for version in ("3.44.6", "3.44.7", "3.50.7", "3.50.10", "3.51.3", "3.52.0", "4.0.0"):
        check_version(version)
    for version in ("3.40.1", "3.44.5", "3.45.9", "3.50.6", "3.51.2"):
        with pytest.raises(RuntimeError, match=f"not {version}"):
            check_version(version)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    store = located(f"sqlite:///{tmp_path}/store.db")
    first = store.writer()
    with pytest.raises(OSError, match=r"in use by process \d+: SQLite serves one process"):
        store.writer()
    first.close()
    store.writer().close()


def test_readers_do_not_write_and_see_what_is_committed(store: Store) -> None:
    database, reader = store.writer(), None
    try:
        site = Site(database)
        reader = store.reader()
        site.decide("k")
        with reader.transaction():
            assert count(reader, "decisions") == 1
            site.decide("other")
            assert count(reader, "decisions") == 1  # one state throughout
        with pytest.raises(Exception, match=r"read-?only"):
            reader.rows("DELETE FROM decisions")
        assert count(reader, "decisions") == 2
    finally:
        database.close()
        if reader is not None:
            reader.close()


@pytest.mark.parametrize("content", [b"no database" * 100, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(BrokenFile, match="must be a store of fairx"):
        SQLite(path, write=True)
    path.unlink()
    SQLite(path, write=True).close()  # the lock was let go


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        SQLite(tmp_path / "nowhere" / "store.db", write=True)
    with pytest.raises(OSError, match="cannot open"):
        SQLite(tmp_path / "store.db", write=False)


def _spoilt(site: Site) -> None:
    write_decisions(site.database, [site.made("k")])
    change_arms(site.database, site.experiment, Changes(remove=["z"]), site.now, "test")


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    site = Site(database)
    with pytest.raises(NotFound), database.transaction():
        _spoilt(site)
    assert count(database, "decisions") == 0
    assert not site.decide("k").repeated


@pytest.mark.parametrize("address", ["sqlite:///", "mysql://x", "store.db", ""])
def test_addresses_are_checked(address: str) -> None:
    with pytest.raises(ValueError, match="store must be sqlite:///PATH or postgresql://"):
        located(address)


# Several processes on PostgreSQL.


def test_two_processes_fold_each_decision_once(database_url: str) -> None:
    store = located(database_url)
    one, two = store.writer(), store.writer()
    try:
        site = Site(one)
        for i in range(20):
            site.decide(f"k{i}")
        site.now += WINDOW
        with one.transaction():
            first = fold(one, site.experiment, site.now, limit=15)
            with two.transaction():  # the other one is at it
                assert fold(two, site.experiment, site.now) is None
        with two.transaction():
            second = fold(two, site.experiment, site.now)
        assert first is not None
        assert second is not None
        assert (first.watermark, second.watermark, second.version) == (15, 20, 3)
        for each in (one, two):
            assert each.news()
            while each.news():  # one for each snapshot
                pass
        assert site.verify().problems == ()
    finally:
        one.close()
        two.close()


def test_a_fold_passes_over_what_a_reward_has_locked(database_url: str) -> None:
    store = located(database_url)
    one, two = store.writer(), store.writer()
    try:
        site = Site(one)
        for key in ("k", "other"):
            site.decide(key)
        batch = Batch(site.experiment, [Reward(site.id("k"), 1.0)], site.now)
        site.now += WINDOW
        with one.transaction():
            assert take_in(one, [batch]) == [["accepted"]]
            with two.transaction():
                assert fold(two, site.experiment, site.now) is not None
        assert [row[0] for row in site.learned()] == [site.id("other")]
        site.fold()
        assert site.learned()[1] == (site.id("k"), 1.0, 1)
        assert site.verify().problems == ()
    finally:
        one.close()
        two.close()


# The writer.


def tell(outcomes: list[tuple[Any, Any]]) -> None:
    for done, outcome in outcomes:
        done(outcome)


class Asking:
    """A writer, asked from here."""

    def __init__(self, connect: Callable[[], Database]) -> None:
        self.writer = Writer(connect, tell)

    def submit(self, kind: str, asked: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        self.writer.submit(kind, asked, answer.set_result)
        return answer

    def ask(self, kind: str, asked: Any) -> Any:
        return self.submit(kind, asked).result(30)


def test_a_request_that_fails_does_not_spoil_the_others(store: Store) -> None:
    database = store.writer()
    site = Site(database)
    database.close()
    asking = Asking(store.writer)
    held = threading.Event()
    waits = asking.submit(OTHER, lambda database: held.wait(30))  # so that all are in one group
    good = [asking.submit(DECISIONS, site.made(f"k{i}")) for i in range(3)]
    bad = asking.submit(OTHER, lambda database: database.rows("SELECT nothing"))
    rewards = Batch(site.experiment, [Reward(site.id("k0"), 1.0)], site.now)
    more = asking.submit(REWARDS, rewards)
    held.set()
    assert waits.result(30)
    assert [each.result(30).repeated for each in good] == [False] * 3
    assert isinstance(bad.result(30), Exception)
    assert more.result(30) == ["accepted"]
    late = [asking.submit(DECISIONS, site.made(f"last {i}")) for i in range(3)]
    asking.writer.close()  # writes what was asked for
    assert all(each.done() for each in late)
    reader = store.reader()
    assert count(reader, "decisions") == 6
    reader.close()


def test_more_is_asked_about_than_a_statement_takes(store: Store) -> None:
    """PostgreSQL takes 65,535 values: more was a lost connection, for all in the same transaction."""
    database = store.writer()
    site = Site(database)
    site.decide("here")
    rewards = [Reward(site.id(f"k{i}"), 1.0) for i in range(33_000)]
    assert site.rewards(*rewards, Reward(site.id("here"), 1.0)) == ["parked"] * 33_000 + [
        "accepted"
    ]
    assert site.shown(*(f"k{i}" for i in range(33_000))) == ["parked"] * 33_000
    database.close()


def test_a_transaction_has_so_many_rewards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """512 requests of 1,000 were one: others waited for all of it."""
    monkeypatch.setattr(writer, "MOST_EVENTS", 5)
    sizes: list[int] = []

    def counted(database: Database, batches: list[Batch]) -> Any:
        sizes.append(sum(len(batch.rewards) for batch in batches))
        return take_in(database, batches)

    monkeypatch.setitem(writer.TOGETHER, REWARDS, counted)
    database = store.writer()
    site = Site(database)
    database.close()
    asking, held = Asking(store.writer), threading.Event()
    waits = asking.submit(OTHER, lambda database: held.wait(30))
    given = [[Reward(site.id(f"k{i} {j}"), 1.0) for j in range(2)] for i in range(8)]
    found = [asking.submit(REWARDS, Batch(site.experiment, each, site.now)) for each in given]
    held.set()
    assert waits.result(30)
    assert [each.result(30) for each in found] == [["parked"] * 2] * 8
    assert sum(sizes) == 16
    assert max(sizes) == 6
    asking.writer.close()


def test_the_writer_comes_back_when_the_connection_does(postgres: Any, database_url: str) -> None:
    store = located(database_url)
    database = store.writer()
    site = Site(database)
    database.close()
    asking = Asking(store.writer)
    assert isinstance(asking.ask(DECISIONS, site.made("before")), Recorded)
    postgres.disconnect()
    assert isinstance(asking.ask(DECISIONS, site.made("lost")), Unavailable)
    assert isinstance(asking.ask(DECISIONS, site.made("after")), Recorded)
    postgres.crash()
    assert isinstance(asking.ask(DECISIONS, site.made("lost")), Unavailable)
    assert isinstance(asking.ask(DECISIONS, site.made("lost")), Unavailable)
    healthy = [asking.writer.healthy]
    postgres.start()
    assert isinstance(asking.ask(DECISIONS, site.made("lost")), Recorded)
    assert [*healthy, asking.writer.healthy] == [False, True]
    asking.writer.close()


def test_a_database_that_lacks_letters_is_refused_until_its_store_is_there(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for encoding in ("LATIN1", "SQL_ASCII"):
        store = located(postgres.create_database(encoding))
        with pytest.raises(ValueError, match=rf"UTF8, not {encoding}: createdb --encoding=UTF8"):
            store.writer()
        with monkeypatch.context() as before:
            before.setattr("fairx.store.postgres.PostgreSQL._check_encoding", lambda _: None)
            store.writer().close()
        database = store.writer()  # of SQL_ASCII it was refused: "version 5, not b'5'"
        site = Site(database)
        site.decide("caf\N{LATIN SMALL LETTER E WITH ACUTE}")
        assert count(database, "decisions") == 1
        if encoding == "LATIN1":  # it was a mistake of ours: 500
            with pytest.raises(InvalidValue, match=r"letters that the database has: .*LATIN1"):
                site.arms(add=["\N{CJK UNIFIED IDEOGRAPH-65E5}"])
        database.close()
        postgres.drop_database(store.address)


def test_two_writers_that_want_the_same_are_both_answered(database_url: str) -> None:
    """Late and parked rewards have no row to lock: unique keys and locks meet, and are tried again."""
    store = located(database_url)
    database = store.writer()
    site = Site(database)
    for i in range(40):
        site.decide(f"k{i}")
    site.close_windows()
    database.close()
    writers = [Asking(store.writer), Asking(store.writer)]
    start = threading.Barrier(2)

    def created(name: str) -> Callable[[Database], Snapshot]:
        return lambda database: create(database, name, ["a"], site.experiment.settings, 0.0, "test")

    def rewards(asking: Asking, turn: int) -> list[Any]:
        found = []
        for i in range(0, 40, 2):
            keys = [f"k{i}", f"k{i + 1}", f"new {i}"][::turn]
            given = [Reward(site.id(key), 1.0) for key in keys]
            start.wait(30)
            answers = asking.ask(REWARDS, Batch(site.experiment, given, site.now))
            found.append(answers[::turn] if isinstance(answers, list) else answers)
            start.wait(30)
            found.append(asking.ask(OTHER, created(f"x{i}")))
        return found

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(rewards, *each) for each in zip(writers, (1, -1), strict=True)]
        first, second = (each.result(60) for each in asked)
    for one, two in zip(first[::2], second[::2], strict=True):
        assert {tuple(one), tuple(two)} == {("late", "late", "parked"), ("duplicate",) * 3}
    for one, two in zip(first[1::2], second[1::2], strict=True):
        assert isinstance(one, Snapshot)  # of the same experiment, for who asks again as well
        assert two.experiment == one.experiment
    for each in writers:
        each.writer.close()
