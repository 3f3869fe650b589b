"""The six promises of the service, each a test that is named after it."""

from __future__ import annotations

import hashlib
import math
import random
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lossy import LossyDisk
from scipy.stats import chi2
from test_store import FAIR_LIN_TS, FAIR_TS, FAIR_UCB, SECRET, Site, tell

from fairx.store import Verified, located, verify
from fairx.store.arms import arms_at
from fairx.store.decisions import Recorded, write_decisions
from fairx.store.events import Batch, Reward
from fairx.store.events import Shown as ShownEvent
from fairx.store.experiments import Changes, change_arms
from fairx.store.folding import fold
from fairx.store.rewards import note_shown, take_in
from fairx.store.snapshots import Snapshot, experiments, newest
from fairx.store.sqlite import SQLite
from fairx.store.writer import DECISIONS, OTHER, REWARDS, Writer


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SQLite]:
    found = SQLite(tmp_path / "store.db", write=True)
    yield found
    found.close()


# 1. Acknowledged means durable.


class Traffic:
    """Clients that ask a writer, each for the next thing when the last is answered or refused."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site, self.random = site, random.Random(seed)
        self.acknowledged: list[tuple[Any, Any]] = []  # what was asked for, and the answer
        self.refused = 0
        keys = [f"k{i}" for i in range(40)]
        jobs: list[tuple[str, Any]] = [(DECISIONS, site.made(key)) for key in keys]
        for i, key in enumerate(keys):
            jobs.append((REWARDS, Batch(site.experiment, [Reward(site.id(key), i / 8)], site.now)))
            jobs.append((OTHER, Shown(site, site.id(key))))
        jobs += [(OTHER, Added(site, f"arm {i}")) for i in range(8)]
        self.random.shuffle(jobs)
        self.jobs = jobs

    def run(self, writer: Writer, clients: int = 4) -> None:
        with ThreadPoolExecutor(clients) as pool:
            for done in [pool.submit(self.client, writer, i, clients) for i in range(clients)]:
                done.result()

    def client(self, writer: Writer, first: int, step: int) -> None:
        for kind, asked in self.jobs[first::step]:
            answer: Future[Any] = Future()
            writer.submit(kind, asked, answer.set_result)
            outcome = answer.result(30)
            if isinstance(outcome, Exception):
                self.refused += 1
            else:
                self.acknowledged.append((asked, outcome))

    def lost(self, database: SQLite) -> list[Any]:
        """Return what was acknowledged and is not there."""
        return [
            asked for asked, outcome in self.acknowledged if not there(database, asked, outcome)
        ]


class Shown:
    """A shown event to write."""

    def __init__(self, site: Site, decision: str) -> None:
        self.site, self.decision = site, decision

    def __call__(self, database: Any) -> list[str]:
        return note_shown(
            database, self.site.experiment, [ShownEvent(self.decision)], self.site.now
        )


class Added:
    """An arm to add."""

    def __init__(self, site: Site, arm: str) -> None:
        self.site, self.arm = site, arm

    def __call__(self, database: Any) -> Snapshot:
        changes = Changes(add=[self.arm])
        return change_arms(database, self.site.experiment, changes, self.site.now, "test")


def there(database: SQLite, asked: Any, outcome: Any) -> bool:
    """Tell whether what was acknowledged is on record, as it was acknowledged."""
    if isinstance(outcome, Recorded):
        sql = "SELECT arm, probabilities FROM decisions WHERE id = ?"
        made = outcome.decision
        return database.rows(sql, (made.id,)) == [(made.arm, made.probabilities)]
    if isinstance(outcome, Snapshot):
        return arms_at(database, outcome.experiment.id, outcome.version) == outcome.arms
    if isinstance(asked, Shown):
        return bool(database.rows("SELECT 1 FROM shown WHERE decision = ?", (asked.decision,)))
    (reward,) = asked.rewards
    sql = "SELECT value FROM rewards WHERE decision = ?"
    return database.rows(sql, (reward.decision,)) == [(reward.value,)]


def cut_under_load(folder: Path, keep: float, seed: int, synchronous: str) -> tuple[int, int]:
    """Lose the power twice under load and once after; return how much was acknowledged, and lost."""
    path, chance = folder / "store.db", random.Random(seed)

    with LossyDisk(folder, keep, seed) as disk:

        def opened() -> SQLite:
            found = SQLite(path, write=True, vfs=disk.vfs)
            found.rows(f"PRAGMA synchronous = {synchronous}")
            found.rows("PRAGMA wal_autocheckpoint = 20")  # so that cuts meet checkpoints too
            return found

        database = opened()
        site = Site(database)
        database.close()
        traffic = Traffic(site, seed)
        writer = Writer(opened, tell)
        begun = threading.Timer(0.01, disk.cut_after, [chance.randrange(60)])
        disk.cut_after(chance.randrange(150))
        begun.start()
        traffic.run(writer)
        begun.join()
        disk.cut()
        writer.close()
        database = opened()
        assert database.connection.execute("PRAGMA integrity_check").get == "ok"
        lost = traffic.lost(database)
        if synchronous == "FULL":
            assert verify(database, SECRET).problems == ()
        database.close()
    return len(traffic.acknowledged), len(lost)


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.95])
def test_acknowledged_means_durable(tmp_path: Path, keep: float) -> None:
    """In 8 runs with three power cuts each; kill -9 is in test_crashes."""
    acknowledged = lost = 0
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found = cut_under_load(folder, keep, seed, "FULL")
        acknowledged, lost = acknowledged + found[0], lost + found[1]
    assert acknowledged > 400  # of 8 * 128: the cuts were felt, and did not stop all
    assert lost == 0


def test_without_a_sync_at_each_commit_acknowledged_would_not_mean_durable(tmp_path: Path) -> None:
    """The test above can fail: where SQLite syncs at checkpoints alone, it does."""
    lost = 0
    for seed in range(8):
        folder = tmp_path / str(seed)
        folder.mkdir()
        lost += cut_under_load(folder, 0.0, seed, "NORMAL")[1]
    assert lost > 0


# 2. A reward counts once.


@given(data=st.data(), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_a_reward_counts_once(data: st.DataObject, seed: int) -> None:
    """Decisions and rewards sent several times, in any order, in any batches: the same sums."""
    keys, names = ["x", "y", "z"], ["", "click"]
    values = {
        (key, name): (i + 1) / 7
        for i, (key, name) in enumerate((k, n) for k in keys for n in names)
    }
    events: list[Any] = [*keys, *values] * data.draw(st.integers(1, 3))
    random.Random(seed).shuffle(events)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SQLite(Path(folder) / "store.db", write=True)) as database,
    ):
        site = Site(database)
        while events:
            event = events.pop()
            if isinstance(event, str):
                site.decide(event)
                continue
            batch = [event]
            while events and isinstance(events[-1], tuple) and data.draw(st.booleans()):
                batch.append(events.pop())
            site.rewards(*(Reward(site.id(key), values[key, name], name) for key, name in batch))
            if data.draw(st.booleans()):
                assert site.fold() is None
        snapshot = site.close_windows()
        assert snapshot is not None
        expected = np.zeros((2, 3))
        for row in database.rows("SELECT id, arm FROM decisions ORDER BY sequence"):
            key = next(key for key in keys if site.id(key) == row[0])
            expected[:, row[1]] += 1.0, math.fsum(values[key, name] for name in names)
        assert snapshot.sums.tobytes() == expected.tobytes()
        assert site.verify().problems == ()


# 3. Same idempotency key, same answer.


def test_same_key_same_answer_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = SQLite(path, write=True)
    site = Site(database)
    first = {f"k{i}": site.decide(f"k{i}").decision for i in range(20)}
    site.reward("k0", 5.0)
    site.close_windows()
    site.arms(add=["d"])
    database.close()
    database = site.database = SQLite(path, write=True)
    site.hold(newest(database, *experiments(database)))
    assert {key: site.decide(key).decision for key in first} == first
    assert any(site.made(key)[0].arm != made.arm for key, made in first.items())
    database.close()


def test_same_key_same_answer_across_workers(database_url: str) -> None:
    """Two workers hold different snapshots and are asked for the same keys at the same time."""
    store = located(database_url)
    one = Site(store.writer())
    two = Site.__new__(Site)
    two.database, two.now = store.writer(), one.now
    two.hold(one.snapshot)
    keys = [f"k{i}" for i in range(60)]
    for key in ("seen", "seen too"):
        one.decide(key)
        one.reward(key, 5.0)
    one.close_windows()  # two has not heard of it
    assert [one.made(key)[0].arm for key in keys] != [two.made(key)[0].arm for key in keys]
    start = threading.Barrier(2)

    def answers(site: Site, order: Sequence[str]) -> dict[str, Recorded]:
        start.wait()
        return {key: site.decide(key) for key in order}

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(answers, site, keys) for site in (one, two)]
        first, second = (each.result(30) for each in asked)
    for key in keys:
        assert first[key].decision == second[key].decision
        assert first[key].repeated != second[key].repeated
    assert one.verify().problems == ()
    one.database.close()
    two.database.close()


# 4. Every decision can be re-derived.

MASK = 2**64 - 1


def bits(key: int, position: int) -> int:
    """SplitMix64 (Steele, Lea and Flood 2014) at a position."""
    z = (key + position * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def unit(key: int, position: int) -> float:
    return (bits(key, position) >> 12) / 2**52


def derived(seed: bytes, decision: str, sums: Any, numbers: Any, floor: float) -> tuple[Any, float]:
    """Return the probabilities of FairX-TS, and the uniform number, from what is on record."""
    digest = hashlib.blake2b(decision.encode(), digest_size=32, key=seed).digest()
    keys = [int.from_bytes(digest[i : i + 8], "little") for i in range(0, 32, 8)]
    pulls, totals = np.array(sums).reshape(2, -1)[:, numbers]
    weight = 1 / (0.5**2 / 1**2 + pulls)  # reward_std**2 / prior_std**2
    normals = [
        math.sqrt(-2 * math.log(1 - unit(keys[0], i))) * math.cos(2 * math.pi * (unit(keys[1], i) - 0.5))
        for i in range(len(numbers))
    ]  # fmt: skip
    merits = np.exp(3.0 * (totals * weight + 0.5 * np.sqrt(weight) * np.array(normals)))
    fair = merits / merits.sum()
    return floor + (1 - len(numbers) * floor) * fair, unit(keys[2], 0)


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_every_decision_can_be_rederived(database: SQLite, floor: float) -> None:
    site = Site(database, "abcd", floor=floor)
    for i in range(150):
        site.decide(f"k{i}", [None, ["c", "a"], ["d", "b", "a"]][i % 3])
        site.reward(f"k{i}", i % 7 / 6)
        if i % 10 == 9:
            site.close_windows()
    seed = site.experiment.seed
    sums, upto = np.zeros((2, 4)), 0
    for version, watermark in database.rows(
        "SELECT version, watermark FROM snapshots ORDER BY version"
    ):
        sql = "SELECT d.arm, m.reward FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.number > ? AND m.number <= ? ORDER BY m.number"
        for arm, reward in database.rows(sql, (upto, watermark)):
            sums[:, arm] += 1.0, reward
        upto = watermark
        columns = "id, arm, slot, candidates, probabilities"
        for decision, arm, position, candidates, probabilities in database.rows(
            f"SELECT {columns} FROM decisions WHERE snapshot = ?", (version,)
        ):
            numbers = (
                list(range(4)) if candidates is None else list(np.frombuffer(candidates, "<i4"))
            )
            expected, u = derived(seed, decision, sums, numbers, floor)
            np.testing.assert_allclose(np.frombuffer(probabilities), expected, rtol=1e-12, atol=0)
            ends = np.cumsum(expected)
            assert np.abs(ends - u).min() > 1e-12  # else rounding may decide
            assert position == np.searchsorted(ends, u, side="right")
            assert numbers[position] == arm
    assert upto == 150
    assert site.verify() == Verified(1, 16, 150, 150)


# 5. Propensities are the truth.

LEVEL = 1e-6  # of a false alarm, were the ids not always the same


def misfit(chances: list[Any], positions: list[int], bins: int = 5) -> tuple[float, float]:
    """Return a chi-square of the positions drawn, and the bound that it keeps to.

    Positions are counted from the most likely to the least, and decisions are put in bins by how
    likely that is, which depends on the probabilities p_i alone. Given these, draws are independent:
    in each bin the sum of (one at the position drawn) - p_i has the covariance sum of
    diag(p_i) - p_i p_i', its square in that metric is chi-square with K - 1 degrees of freedom, and
    bins add up.
    """
    p = np.array(chances)
    ranks = np.argsort(-p, axis=1, kind="stable")
    drawn = (ranks == np.array(positions)[:, None]) * 1.0
    p = np.take_along_axis(p, ranks, axis=1)
    total = 0.0
    for part in np.array_split(np.argsort(p[:, 0], kind="stable"), bins):
        covariance = np.diag(p[part].sum(axis=0)) - p[part].T @ p[part]
        gap = (drawn[part] - p[part]).sum(axis=0)
        total += float(gap @ np.linalg.pinv(covariance, hermitian=True) @ gap)
    return total, float(chi2.isf(LEVEL, bins * (p.shape[1] - 1)))


PROPENSITIES: dict[str, tuple[dict[str, Any], Any]] = {
    "FairXTS": ({"policy": FAIR_TS}, None),
    "FairXTS with a floor": ({"policy": FAIR_TS, "floor": 0.15}, None),
    "FairXTS with candidates": ({"policy": FAIR_TS}, ["d", "a", "c"]),
    "FairXUCB": ({"policy": FAIR_UCB}, None),
    "FairXLinTS": ({"policy": FAIR_LIN_TS, "dimension": 2, "floor": 0.02}, None),
}  # fmt: skip


@pytest.mark.compiled
@pytest.mark.parametrize("kind", PROPENSITIES)
def test_propensities_are_the_truth(database: SQLite, kind: str) -> None:
    about, candidates = PROPENSITIES[kind]
    site = Site(database, "abcd", **about)
    rng = np.random.default_rng(3)
    dimension = site.experiment.settings.dimension

    def contexts() -> Any:
        return 4 * rng.normal(size=(len(candidates or "abcd"), dimension)) if dimension else None

    for i in range(30):  # so that arms differ
        arm = site.decide(f"k{i}", candidates, contexts()).decision.arm
        site.reward(f"k{i}", arm / 3)
    site.close_windows()
    chances, positions = [], []
    for i in range(10_000):
        position, found = site.decider.decide(
            site.id(f"n{i}"), site.decider.candidates(candidates, contexts())
        )
        chances.append(found.copy())
        positions.append(position)
    statistic, bound = misfit(chances, positions)
    assert statistic < bound
    # It can fail: these are the probabilities of the same policy with more of a floor.
    wrong = [0.7 * each + 0.3 / len(each) for each in chances]
    assert misfit(wrong, positions)[0] > bound


# 6. Late feedback is not unfair.

ROUNDS, LATE_WINDOW, MEAN, STEPS = 10_000, 5000, 0.3, 100
DELAYS = (50, 800)
EAGER = {
    "kind": "FairXTS", "merit": {"kind": "Exponential", "steepness": 6},
    "prior_std": 1.0, "reward_std": 1.0,
}  # fmt: skip


def slow_share_of_the_store(folder: Path, seed: int) -> float:
    """Return the mean probability of the slow arm, through the store; a round is a second."""
    rng = np.random.default_rng(seed)
    database = SQLite(folder / "store.db", write=True)
    database.rows("PRAGMA synchronous = OFF")  # nothing is cut here
    site = Site(database, ["fast", "slow"], seed, policy=EAGER, reward_window_s=LATE_WINDOW)
    start, total = site.now, 0.0
    arriving: dict[int, list[Reward]] = {}
    for step in range(0, ROUNDS, STEPS):
        made = []
        for t in range(step, step + STEPS):
            site.now = start + t
            decision, due = site.made(f"k{t}")
            made.append((decision, due))
            total += np.frombuffer(decision.probabilities)[1]
            when = (t + DELAYS[decision.arm]) // STEPS + 1
            value = float(rng.random() < MEAN)
            arriving.setdefault(when, []).append(Reward(decision.id, value))
        with database.transaction():
            assert len(write_decisions(database, made)) == STEPS
            for rewards in filter(None, [arriving.pop(step // STEPS, [])]):
                take_in(database, [Batch(site.experiment, rewards, site.now)])
            snapshot = fold(database, site.experiment, site.now)
        if snapshot is not None:
            site.hold(snapshot)
    database.close()
    return total / ROUNDS


def slow_share_of_the_naive(seed: int) -> float:
    """The same, where a pull counts when it is decided, and a reward when it arrives."""
    rng = np.random.default_rng(seed)
    normals, uniforms = rng.normal(size=(ROUNDS, 2)), rng.random((ROUNDS, 2))
    pulls, totals = np.zeros(2), np.zeros(2)
    arriving: dict[int, list[tuple[int, float]]] = {}
    total = 0.0
    for t in range(ROUNDS):
        for arm, value in arriving.pop(t, []):
            totals[arm] += value
        weight = 1 / (1.0 + pulls)
        draw = totals * weight + np.sqrt(weight) * normals[t]
        slow = 1 / (1 + math.exp(6 * (draw[0] - draw[1])))
        total += slow
        arm = int(uniforms[t, 0] < slow)
        pulls[arm] += 1
        arriving.setdefault(t + DELAYS[arm], []).append((arm, float(uniforms[t, 1] < MEAN)))
    return total / ROUNDS


@pytest.mark.compiled
def test_late_feedback_is_not_unfair(tmp_path: Path) -> None:
    """Equal merit, slow feedback, and half of the exposure all the same.

    The share of one run has a standard deviation of 0.014, mostly from the few rewards that are
    mature when learning begins; the mean of six has 0.006, so that 0.02 is more than three. Counting
    pulls at decision time, as services with counters do, is off by five times as much.
    """
    held, naive = [], []
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        held.append(slow_share_of_the_store(folder, seed))
        naive.append(slow_share_of_the_naive(seed))
    assert abs(np.mean(held) - 0.5) < 0.02
    assert abs(np.mean(naive) - 0.40) < 0.03
