"""Slates on record: a row for each place, made once, rewarded by place, and made again."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pyarrow.parquet as pq
import pytest
from asking import SECRET, E, Service, failure, serving
from lossy import LossyDisk
from test_store import WINDOW, Site, count

from fairx import Exponential, fair_exposure
from fairx.compiled.entries import interpreted
from fairx.errors import BrokenFile
from fairx.rules import InvalidValue
from fairx.slates import place_weights
from fairx.store import Store, located, verify
from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.events import Reward, Shown
from fairx.store.identity import minted, place_id
from fairx.store.rewards import note_shown
from fairx.store.settings import COUNTING, LINEAR
from fairx.store.slates import AskedSlate, slate_rows, write_slates
from fairx.store.spool import Spool
from fairx.store.sqlite import SQLite

MERIT = {"kind": "Exponential", "steepness": 3}
FAIR_EG = {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.0}
FAIR_LIN_TS = {"kind": "FairXLinTS", "merit": MERIT, "prior_std": 1, "reward_std": 0.5}
MORE: dict[str, dict[str, Any]] = {
    "FairXTS": {"merit": MERIT, "prior_std": 1, "reward_std": 0.5},
    "FairXBetaTS": {"merit": MERIT},
    "FairXGammaTS": {"merit": MERIT},
    "FairXUCB": {"merit": MERIT, "width": 0.5},
    "FairXEG": {"merit": MERIT, "epsilon": 0.1},
    "EG": {"epsilon": 0.1},
    "Uniform": {},
    "FairXLinTS": {"merit": MERIT, "prior_std": 1, "reward_std": 0.5},
    "FairXLinEG": {"merit": MERIT, "epsilon": 0.1, "ridge": 1.0},
    "LinEG": {"epsilon": 0.1, "ridge": 1.0},
}
PLACES = [1.0, 0.6, 0.3]
ARMS = ("a", "b", "c", "d", "e")
ROWS = np.random.default_rng(3).normal(size=(5, 2)).tolist()


class Page(Site):
    """A site that also decides slates."""

    def asked(self, key: str, places: Any = PLACES, candidates: Any = None, contexts: Any = None,
              unit: str | None = None) -> AskedSlate:  # fmt: skip
        weights, found = place_weights(places), self.decider.candidates(candidates, contexts)
        drawn = self.decider.decide_slate(self.id(key), found, weights)
        about = (self.experiment.id, self.now, self.snapshot.version)
        request = (unit, repr((places, candidates, contexts, unit)).encode())
        rows = slate_rows(self.id(key), about, found, drawn, weights, request)
        return AskedSlate(rows, len(weights), self.now + WINDOW)

    def slates(self, *asked: AskedSlate) -> list[Any]:
        with self.database.transaction():
            return write_slates(self.database, asked)

    def place(self, key: str, place: int | None, value: float, **more: Any) -> str:
        return self.rewards(Reward(self.id(key), value, place=place, **more))[0]

    def seen(self, *given: Shown) -> list[str]:
        with self.database.transaction():
            return note_shown(self.database, self.experiment, given, self.now)

    def arms_of(self, key: str) -> list[int]:
        sql = "SELECT arm FROM decisions WHERE substr(id, 1, 24) = ? ORDER BY place"
        return [arm for (arm,) in self.database.rows(sql, (self.id(key),))]


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[SQLite]:
    found = SQLite(tmp_path / "store.db", write=True)
    yield found
    found.close()


@pytest.fixture
def page(lite: SQLite) -> Page:
    return Page(lite, ARMS, policy=FAIR_EG)


@pytest.fixture
def linear(lite: SQLite) -> Page:
    return Page(lite, ARMS, policy=FAIR_LIN_TS, dimension=2)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path / "store.db") as running:
        running.create(arms=ARMS, policy=FAIR_EG, reward_window_s=WINDOW)
        yield running


def learn_means(page: Page) -> np.ndarray[Any, Any]:
    """Let the policy know means; return them."""
    means = np.array([0.1, 0.4, 0.5, 0.8, 0.9])
    page.hold(page.snapshot._replace(sums=np.concatenate([np.full(5, 10.0), 10 * means])))
    return means


# The draw.


@pytest.mark.parametrize("floor", [0.0, 0.15])
def test_exposures_are_fair_above_the_floor(lite: SQLite, floor: float) -> None:
    page = Page(lite, ARMS, policy=FAIR_EG, floor=floor)
    means, total = learn_means(page), sum(PLACES)
    fair = fair_exposure(Exponential(3), means, PLACES)
    found = page.decider.decide_slate(
        page.id("k"), page.decider.candidates(None, None), np.array(PLACES)
    )
    expected = (1 - 5 * floor) * fair + floor * total
    np.testing.assert_allclose(found.exposures, expected, rtol=1e-12)
    assert found.exposures.min() >= floor * total - 1e-12


def test_arms_are_shown_as_their_exposures_and_propensities_say(page: Page) -> None:
    learn_means(page)
    candidates, weights = page.decider.candidates(None, None), np.array(PLACES)
    n, seen, chances = 1500, np.zeros((5, 3)), np.zeros((5, 3))
    for i in range(n):
        drawn = page.decider.decide_slate(page.id(f"k{i}"), candidates, weights)
        assert len(set(drawn.positions.tolist())) == 3
        seen[drawn.positions, range(3)] += 1
        chances[drawn.positions, range(3)] = drawn.propensities
    np.testing.assert_allclose(chances.sum(0), 1)  # all that can be were seen
    np.testing.assert_allclose(chances @ weights, drawn.exposures)
    # Hoeffding at one in a million for each arm and place.
    assert np.abs(seen / n - chances).max() < math.sqrt(math.log(2e6) / (2 * n))


@pytest.mark.parametrize("settings", [{"policy": FAIR_EG}, {"policy": FAIR_LIN_TS, "dimension": 2}])
def test_one_place_has_the_probabilities_of_a_single_decision(
    lite: SQLite, settings: dict[str, Any]
) -> None:
    page = Page(lite, ARMS, floor=0.1, **settings)
    contexts = ROWS if "dimension" in settings else None
    candidates = page.decider.candidates(None, contexts)
    _, chances = page.decider.decide(page.id("k"), candidates)
    chances = chances.copy()
    drawn = page.decider.decide_slate(page.id("k"), candidates, np.ones(1))
    np.testing.assert_allclose(drawn.exposures, chances, rtol=1e-14)
    assert drawn.propensities[0] == pytest.approx(chances[drawn.positions[0]], rel=1e-12)


@pytest.mark.skipif(not interpreted(), reason="compiles each policy, which finds nothing else")
@pytest.mark.parametrize("kind", COUNTING + LINEAR)
def test_every_served_policy_has_slates(lite: SQLite, kind: str) -> None:
    dimension = 2 if kind in LINEAR else 0
    policy = MORE[kind] | {"kind": kind}
    page = Page(lite, ARMS, policy=policy, dimension=dimension, floor=0.05)
    for key in ("k", "l", "m"):
        (found,) = page.slates(page.asked(key, contexts=ROWS if dimension else None))
        assert not found.repeated
        for place in (1, 2, 3):
            page.place(key, place, place / 4)
        page.close_windows()
    assert page.verify().problems == ()


def test_fewer_candidates_than_places_fill_the_first(page: Page) -> None:
    (found,) = page.slates(page.asked("k", 4, ["b", "d"]))
    assert sorted(row.arm for row in found.rows) == [1, 3]
    (again,) = page.slates(page.asked("k", 4, ["b", "d"]))
    assert again == found._replace(repeated=True)
    assert page.verify().problems == ()


# Once.


def test_of_two_in_one_go_the_second_repeats_or_contradicts_the_first(page: Page) -> None:
    first, same, other = (page.asked("k", places) for places in (PLACES, PLACES, [1.0, 0.5]))
    found, again, conflict, new = page.slates(first, same, other, page.asked("new"))
    assert (found.repeated, again.repeated, new.repeated) == (False, True, False)
    assert again.rows == found.rows
    assert "other candidates, contexts or places" in str(conflict)
    assert count(page.database, "decisions") == count(page.database, "waiting") == 6


def _check_spool(page: Page) -> None:
    """A slate is fed to an audit once, when all of its places are mature, in whatever order."""
    spool = Spool(page.experiment)

    def fed() -> dict[str, list[int]]:
        folder = spool.extend(page.database)
        assert folder is not None
        rows = [row for path in folder.iterdir() for row in pq.read_table(path).to_pylist()]
        found: dict[str, list[int]] = {}
        for row in rows:
            found.setdefault(row["decision"], []).append(row["place"])
        return {decision: sorted(places) for decision, places in found.items()}

    before = {page.id("k"): [1, 2, 3], page.id("single"): [1]}
    assert fed() == before
    page.slates(page.asked("l"), page.asked("m", 2))
    for place in (3, 1, 2):  # final closes a place, and its window makes it mature
        page.place("l", place, 1.0, final=True)
        page.fold()
        assert fed() == before
    page.close_windows()
    assert fed() == before | {page.id("l"): [1, 2, 3], page.id("m"): [1, 2]} == fed()
    spool.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_slate_is_written_whole_on_either_database(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    address = f"sqlite:///{tmp_path}/s.db" if kind == "sqlite" else None
    store = located(address or request.getfixturevalue("database_url"))
    database = store.writer()
    try:
        page = Page(database, ARMS, policy=FAIR_EG)
        (found,) = page.slates(page.asked("k"))
        page.decide("single")
        assert page.place("k", 3, 1.0, final=True) == "accepted"
        assert page.slates(page.asked("k")) == [found._replace(repeated=True)]
        page.fold()
        assert page.learned() == []
        page.close_windows()
        assert sorted(row[1:] for row in page.learned()) == [*[(0.0, 0)] * 3, (1.0, 1)]
        assert page.verify().problems == ()
        _check_spool(page)
        _set_back(database)
    finally:
        database.close()
    _check_older(store)


@pytest.mark.parametrize("keep", [0.0, 0.5])
def test_a_cut_while_a_slate_is_written_leaves_all_of_its_places_or_none(
    tmp_path: Path, keep: float
) -> None:
    found = set()
    with LossyDisk(tmp_path, keep, seed=1) as disk:
        database = SQLite(tmp_path / "store.db", write=True, vfs=disk.vfs)
        page = Page(database, ARMS, policy=FAIR_EG)
        for number, changes in enumerate(range(0, 40, 3)):
            disk.cut_after(changes)
            with suppress(apsw.IOError, apsw.FullError, apsw.CantOpenError):
                page.slates(page.asked(f"k{number}"))
            disk.cut()
            database.connection.close(force=True)
            database.close()
            database = page.database = SQLite(tmp_path / "store.db", write=True, vfs=disk.vfs)
            found.add(len(page.arms_of(f"k{number}")))
            (again,) = page.slates(page.asked(f"k{number}"))
            assert len(again.rows) == 3
            assert count(database, "waiting") == 3 * (number + 1)
        assert page.verify().problems == ()
        database.close()
    assert found == {0, 3}


def _set_back(database: Database) -> None:
    """Make of a store one of the version before slates."""
    with database.transaction():
        database.rows("DELETE FROM decisions WHERE place > 1")
        for column in ("place", "weight", "propensity"):
            database.rows(f"ALTER TABLE decisions DROP COLUMN {column}")
        database.rows("UPDATE meta SET value = '1' WHERE name = 'version'")


def _check_older(store: Store) -> None:
    reader = store.reader()
    with reader.transaction():
        assert reader.rows("SELECT DISTINCT place, weight, propensity FROM decisions") == [
            (None,) * 3
        ]
    reader.close()
    database = store.writer()
    database.close()
    reader = store.reader()
    assert reader.rows("SELECT value FROM meta WHERE name = 'version'") == [("5",)]
    assert reader.rows("SELECT count(place) FROM decisions") == [(0,)]
    reader.close()


# Rewards by place.


def test_each_place_is_one_observation_of_its_arm(page: Page) -> None:
    page.slates(page.asked("k"), page.asked("l"))
    given = {("k", 1): 0.5, ("k", 3): 1.0, ("l", 2): 0.25}
    for (key, place), value in given.items():
        assert page.place(key, place, value) == "accepted"
    assert page.place("k", 1, 0.25, id="order", final=True) == "accepted"
    assert page.place("k", 1, 1.0, id="late") == "late"
    assert page.place("k", 2, 0.0, id="late") == "accepted"  # only that place was closed
    page.close_windows()
    pulls, sums = np.zeros(5), np.zeros(5)
    for key in ("k", "l"):
        for place, arm in enumerate(page.arms_of(key), 1):
            pulls[arm] += 1
            sums[arm] += given.get((key, place), 0.0) + 0.25 * ((key, place) == ("k", 1))
    np.testing.assert_array_equal(page.snapshot.sums, [*pulls, *sums])
    assert page.snapshot.watermark == 6
    assert page.verify().problems == ()


def test_a_place_is_named_where_there_are_places_and_only_there(page: Page) -> None:
    page.slates(page.asked("k"))
    page.decide("single")
    for key, place, message in (
        ("k", None, "be given: decision .* is a slate"),
        ("k", 4, "be one of .*, not 4"),
        ("single", 1, "be left out: decision .* is no slate"),
        ("single", 2, "be left out"),
    ):
        with pytest.raises(InvalidValue, match=f"place must {message}"):
            page.place(key, place, 1.0)
    assert count(page.database, "rewards") == 0
    assert page.place("k", 2, 1.0) == "accepted"
    assert page.place("k", 2, 1.0) == "duplicate"
    with pytest.raises(Exception, match=r"at place 2 has the reward 1\.0 .* another one, 0\.5"):
        page.place("k", 2, 0.5)


def test_a_reward_that_comes_first_waits_for_its_place(page: Page) -> None:
    assert page.place("k", 2, 1.0, final=True) == "parked"
    page.slates(page.asked("k"))
    page.close_windows()
    assert (place_id(page.id("k"), 2), 1.0, 1) in page.learned()
    assert page.verify().problems == ()


def test_the_context_of_each_place_is_learned_from(linear: Page) -> None:
    linear.slates(linear.asked("k", contexts=ROWS))
    for place in (1, 2, 3):
        linear.place("k", place, place / 2)
    linear.close_windows()
    rows, rewards = np.array(ROWS)[linear.arms_of("k")], np.array([0.5, 1.0, 1.5])
    expected = [3.0, *(rows.T @ rows).ravel(), *(rewards @ rows)]
    np.testing.assert_allclose(linear.snapshot.sums, expected, rtol=1e-12)
    assert linear.verify().problems == ()


# The log made again.


@pytest.fixture(params=["counts", "linear"])
def good(request: pytest.FixtureRequest) -> Page:
    page: Page = request.getfixturevalue("page" if request.param == "counts" else "linear")
    contexts = ROWS if page.decider.dimension else None
    for i in range(3):
        page.slates(page.asked(f"k{i}", contexts=contexts))
        page.place(f"k{i}", 2, i / 4)
        page.close_windows()
    return page


TAMPERING = {
    "an exposure": ("UPDATE decisions SET probabilities = zeroblob(40) WHERE sequence = 7", "its exposures"),
    "a propensity": ("UPDATE decisions SET propensity = propensity * 0.999 WHERE sequence = 8", "its propensity at place 2"),
    "a weight": ("UPDATE decisions SET weight = 0.5 WHERE sequence = 8", "its exposures|its propensity|its arm"),
    "weights that rise": ("UPDATE decisions SET weight = 2 WHERE sequence = 8", "weights must be not increasing"),
    "an arm": ("UPDATE decisions SET arm = (arm + 1) % 5 WHERE sequence = 9", "its arm at place 3"),
    "a position": ("UPDATE decisions SET slot = (slot + 1) % 5 WHERE sequence = 9", "its arm at place 3"),
    "a place": ("UPDATE decisions SET place = 4 WHERE sequence = 9", "place 3 is not on record"),
    "a place gone": ("DELETE FROM decisions WHERE sequence = 8", "place 2 is not on record|has no decision"),
    "the first place gone": ("DELETE FROM decisions WHERE sequence = 7", "place 1 is not on record|cannot be"),
    "the last place gone": ("DELETE FROM decisions WHERE sequence = 9", "its exposures|wait and"),
    "a place of another request": ("UPDATE decisions SET asked = 'x' WHERE sequence = 9", "another request"),
    "candidates": ("UPDATE decisions SET candidates = X'00000000' WHERE sequence = 9", "another request"),
    "a reward": ("UPDATE rewards SET value = 0.9 WHERE decision LIKE '%.2'", "was learned as"),
    "the place of a reward": ("UPDATE rewards SET decision = substr(decision, 1, 24)", "was learned as"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_is_found(good: Page, kind: str) -> None:
    assert good.verify().problems == ()
    sql, message = TAMPERING[kind]
    good.database.rows(sql)
    problems = good.verify().problems
    assert any(re.search(message, problem) for problem in problems), problems


def test_another_context_of_a_place_is_found(linear: Page) -> None:
    linear.slates(linear.asked("k", contexts=ROWS))
    linear.database.rows("UPDATE decisions SET contexts = zeroblob(16) WHERE place = 3")
    assert "its context at place 3" in linear.verify().problems[0]


# The service.


def test_a_slate_is_decided_once_whatever_happens(service: Service) -> None:
    first = service.decide("k", places=PLACES, probabilities=True, unit="u")
    assert [each["place"] for each in first["slate"]] == [1, 2, 3]
    assert sum(first["exposures"].values()) == pytest.approx(sum(PLACES))
    service.reward(first["decision"], 1.0, place=1)
    service.later(WINDOW)
    asked: dict[str, Any] = {"places": PLACES, "probabilities": True, "unit": "u"}
    assert service.decide("k", **asked) == first
    service.post(f"{E}/shop/arms", {"pause": list(ARMS[:3])})
    assert service.decide("k", **asked) == first
    assert len(service.decide("new", places=PLACES)["slate"]) == 2
    service.post(f"{E}/shop/pause")
    assert service.decide("k", **asked) == first
    failure(service.ask("POST", f"{E}/shop/decide", {"key": "x", "places": 2}), 409, "conflict")
    reader = service.runtime.store.reader()
    assert verify(reader, SECRET).problems == ()
    reader.close()


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"places": [1.0, 0.5]}, 409, "key"),
        ({"places": 3}, 409, "key"),
        ({"places": PLACES, "candidates": ["a", "b", "c"]}, 409, "key"),
        ({}, 409, "key"),
        ({"places": [0.5, 1.0]}, 422, "places"),
        ({"places": [0.0, 0.0]}, 422, "places"),
        ({"places": []}, 422, "places"),
        ({"places": 0}, 422, "places"),
        ({"places": 101}, 422, "places"),
        ({"places": [-1.0]}, 422, "places[0]"),
        ({"places": "three"}, 422, "places"),
        ({"places": PLACES, "count": 2}, 422, "count"),
    ],
)
def test_another_request_of_a_key_and_bad_places_are_refused(
    service: Service, body: dict[str, Any], status: int, field: str
) -> None:
    service.decide("k", places=PLACES)
    answer = service.ask("POST", f"{E}/shop/decide", {"key": "k"} | body)
    message, found = failure(answer, status, "conflict" if status == 409 else "invalid")
    assert found == field, message
    failure(service.ask("POST", f"{E}/shop/decide", {"key": "single", "places": 0}), 422, "invalid")


def test_a_key_of_a_single_decision_gets_no_slate(service: Service) -> None:
    service.decide("k")
    answer = service.ask("POST", f"{E}/shop/decide", {"key": "k", "places": 2})
    assert failure(answer, 409, "conflict")[1] == "key"
    reader = service.runtime.store.reader()
    assert count(reader, "decisions") == 1
    reader.close()


def test_events_name_places_and_so_do_their_results(service: Service) -> None:
    found = service.decide("k", places=2)["decision"]
    events = [{"decision": found, "place": 2}, {"decision": found, "place": 1}]
    answer = service.post(f"{E}/shop/shown", {"decisions": events})
    assert answer["results"] == [each | {"status": "accepted"} for each in events]
    message, field = failure(
        service.ask("POST", f"{E}/shop/shown", {"decisions": [found]}), 422, "invalid"
    )
    assert (field, "be given" in message) == ("place", True)
    given = [each | {"reward": 0.5} for each in events]
    answer = service.post(f"{E}/shop/rewards", {"rewards": given})
    assert answer["results"] == [each | {"status": "accepted"} for each in events]
    about = service.get(f"{E}/shop/decisions/{found}")
    assert [each["place"] for each in about["slate"]] == [1, 2]
    assert [each["rewards"][0]["reward"] for each in about["slate"]] == [0.5, 0.5]
    assert [each["weight"] for each in about["slate"]] == [1.0, 1.0]
    assert {each["status"] for each in about["slate"]} == {"waiting"}
    far = {"decision": found, "reward": 1.0, "place": 101}
    answer = service.ask("POST", f"{E}/shop/rewards", {"rewards": [far]})
    assert "at most 100, not 101" in failure(answer, 422, "invalid")[0]
    forged = service.ask("POST", f"{E}/shop/rewards", {"rewards": [
        {"decision": found + ".2", "reward": 1.0}]})  # fmt: skip
    failure(forged, 422, "forged_decision")


def test_only_places_that_were_shown_count_where_that_is_asked(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(arms=ARMS, policy=FAIR_EG, reward_window_s=9.0, requires_shown=True)
        made = service.decide("k", places=PLACES)
        service.post(f"{E}/shop/shown", {"decisions": [{"decision": made["decision"], "place": 2}]})
        service.reward(made["decision"], 1.0, place=1)
        service.later(10)
        about = service.get(f"{E}/shop/decisions/{made['decision']}")
        assert [each["reward"] for each in about["slate"]] == [1.0, 0.0, None]


def test_a_unit_is_forgotten_at_all_places(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(arms=ARMS, policy=FAIR_LIN_TS, dimension=2, reward_window_s=9.0)
        made = service.decide("k", places=PLACES, contexts=ROWS, unit="u")
        assert service.get(f"{E}/shop/decisions/{made['decision']}")["contexts"] == ROWS
        service.later(10)
        service.decide("l", places=PLACES, contexts=ROWS)
        assert service.post(f"{E}/shop/erase", {"unit": "u"}) == {"erased": 1}
        reader = service.runtime.store.reader()
        sql = "SELECT count(contexts), count(unit), count(erased) FROM decisions WHERE snapshot = 1"
        assert reader.rows(sql) == [(0, 0, 3)]
        found = verify(reader, SECRET)
        assert (found.problems, found.erased, found.decisions) == ((), 3, 6)
        reader.close()
        assert service.decide("k", places=PLACES, contexts=ROWS)["slate"] == made["slate"]
        answer = service.ask("POST", f"{E}/shop/decide", {"key": "k", "contexts": ROWS})
        failure(answer, 409, "conflict")


# A store of before.


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """Return a store that fairx wrote before there were slates."""
    path = tmp_path / "older.db"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "data/store-1.db.gz").read_bytes()))
    return path


def test_a_store_of_before_is_read_as_it_is(older: Path) -> None:
    before = older.read_bytes()
    reader = located(f"sqlite:///{older}").reader()
    found = verify(reader, SECRET)
    reader.close()
    assert (found.problems, found.decisions, found.matured) == ((), 12, 6)
    assert older.read_bytes() == before


def test_a_store_of_before_is_served_on_and_has_slates(older: Path) -> None:
    with serving(older) as service:
        service.now += 60
        for i in range(6):
            service.decide(f"k{i}", candidates=["c", "a"] if i % 2 else None)
        reader = service.runtime.store.reader()
        assert count(reader, "decisions") == 12  # all of them were repeated
        made = service.decide("page", places=2)
        waiting = minted(SECRET, service.runtime.decider("shop").snapshot.experiment.id, "k4", 0)
        assert service.reward(waiting, 1.0, final=True) == "accepted"
        assert service.reward(made["decision"], 1.0, place=1) == "accepted"
        service.later(200)
        found = verify(reader, SECRET)
        assert (found.problems, found.decisions, found.matured) == ((), 14, 14)
        reader.close()


def test_a_store_of_later_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = SQLite(path, write=True)
    database.rows("UPDATE meta SET value = '99' WHERE name = 'version'")
    database.close()
    with pytest.raises(BrokenFile, match="must have version 5, not 99"):
        SQLite(path, write=True)


def test_a_decider_is_ready_for_slates_when_the_last_one_was(service: Service) -> None:
    first = service.runtime.decider("shop")
    assert [first.is_drawing, bool(service.decide("k", places=2)), first.is_drawing] == [0, 1, 1]
    service.later(2 * WINDOW)
    now: Decider = service.runtime.decider("shop")
    assert now is not first
    assert now.is_drawing


# The log.


def test_the_export_has_a_row_for_each_place(service: Service, tmp_path: Path) -> None:
    service.decide("single")
    plain = _exported(service, tmp_path)
    assert not {"place", "weight", "exposures"} & set(plain.column_names)
    made = service.decide("k", places=PLACES, probabilities=True)
    service.reward(made["decision"], 0.5, place=2)
    service.later(WINDOW)
    rows = _exported(service, tmp_path).to_pylist()
    assert [row["place"] for row in rows] == [1, 1, 2, 3]
    assert "probabilities" not in rows[0]
    assert (rows[0]["exposures"], rows[0]["weight"]) == (plain["probabilities"].to_pylist()[0], 1.0)
    for row, placed, weight in zip(rows[1:], made["slate"], PLACES, strict=True):
        assert {name: row[name] for name in ("arm", "place", "propensity")} == placed
        assert (row["decision"], row["weight"]) == (made["decision"], weight)
        assert (row["candidates"], row["exposures"]) == (
            list(ARMS),
            list(made["exposures"].values()),
        )
    assert [row["reward"] for row in rows] == [0.0, 0.0, 0.5, 0.0]


def _exported(service: Service, folder: Path) -> Any:
    (folder / "log.parquet").write_bytes(service.ask("GET", f"{E}/shop/export").content)
    return pq.read_table(folder / "log.parquet")


def test_the_live_audit_goes_by_places_once_there_is_a_slate(service: Service) -> None:
    service.decide("single")
    service.later(WINDOW + 1)
    assert "probabilities" in service.get(f"{E}/shop/audit")["regret_from"]
    service.decide("k", places=2)
    service.later(WINDOW + 1)
    for alpha in (0.1, 0.2):  # other questions, for the answer is kept
        found = service.get(f"{E}/shop/audit?alpha={alpha}")
        assert (found["decisions"], found["alpha"], found["exposure_from"]) == (
            2,
            alpha,
            "exposures",
        )
        assert sum(line["shows"] for line in found["lines"]) == 3
        assert sum(line["exposure"] for line in found["lines"]) == pytest.approx(1)
