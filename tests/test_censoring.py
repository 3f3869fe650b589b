"""When a decision is learned from must not depend on what came of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import START, Service, serving
from hypothesis import given
from hypothesis import strategies as st
from test_promises import EAGER
from test_store import Site
from test_store_slates import Page

from fairx import Exponential, audit
from fairx.service.clock import SteadyClock
from fairx.store import located
from fairx.store.decisions import write_decisions
from fairx.store.events import Batch, Reward
from fairx.store.folding import fold
from fairx.store.rewards import take_in
from fairx.store.spool import Spool
from fairx.store.sqlite import SQLite

ROUNDS, WINDOW, MEAN, STEPS = 6_000, 2000, 0.3, 100


def feedback(rng: Any, arm: int, decision: str) -> list[tuple[int, Reward]]:
    """Return rewards of a visit and after how many rounds they come; the first arm's are fast.

    Both arms are clicked equally often, and of both as many clicks come after the window. All
    else differs: how soon clicks come, whether they are marked final, whether silence is told.
    """
    clicked, how = rng.random() < MEAN, rng.random()
    if not clicked:
        silent = how < (0.05, 0.6)[arm]
        return [(int(rng.integers(1500)), Reward(decision, 0.0, final=True))] if silent else []
    if how < 0.1:
        return [(WINDOW + 500, Reward(decision, 1.0, final=True))]
    delay = int(rng.integers(*((0, 20), (300, 1900))[arm]))
    return [(delay, Reward(decision, 1.0, final=how < (0.95, 0.3)[arm]))]


def played(folder: Path, seed: int) -> tuple[float, list[str]]:
    """Return the mean probability of the slow arm, and what audits said on the way."""
    rng = np.random.default_rng(seed)
    database = SQLite(folder / "store.db", write=True)
    database.rows("PRAGMA synchronous = OFF")  # nothing is cut here
    site = Site(database, ["fast", "slow"], seed, policy=EAGER, reward_window_s=WINDOW)
    start, total, verdicts = site.now, 0.0, []
    arriving: dict[int, list[Reward]] = {}
    spool = Spool(site.experiment)
    for step in range(0, ROUNDS, STEPS):
        made = []
        for t in range(step, step + STEPS):
            site.now = start + t
            made.append(site.made(f"k{t}"))
            decision = made[-1][0]
            total += np.frombuffer(decision.probabilities)[1]
            for delay, reward in feedback(rng, decision.arm, decision.id):
                arriving.setdefault((t + delay) // STEPS + 1, []).append(reward)
        with database.transaction():
            write_decisions(database, made)
            take_in(
                database, [Batch(site.experiment, arriving.pop(step // STEPS + 1, []), site.now)]
            )
            snapshot = fold(database, site.experiment, site.now)
        if snapshot is not None:
            site.hold(snapshot)
        log = spool.extend(database) if (step // STEPS) % 30 == 29 else None
        if log is not None:
            lines = audit(log, Exponential(6), reward_range=(0, 1)).lines
            verdicts += [line.verdict for line in lines]
    spool.close()
    database.close()
    return total / ROUNDS, verdicts


def test_equal_arms_are_shown_equally_whatever_is_final_late_missing_or_fast(
    tmp_path: Path,
) -> None:
    """As in `test_late_feedback_is_not_unfair`, the mean of six runs has a deviation of 0.006.

    When a final reward made its decision mature at once, the share of the slow arm was 0.17.
    """
    shares = []
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        share, verdicts = played(folder, seed)
        shares.append(share)
        assert verdicts
        assert set(verdicts) == {"unclear"}
    assert abs(np.mean(shares) - 0.5) < 0.02


def slow_share_of_pages(folder: Path, seed: int) -> float:
    """Return how much of the exposure two slow arms have beside two fast ones, on two places."""
    rng = np.random.default_rng(seed)
    database = SQLite(folder / "store.db", write=True)
    database.rows("PRAGMA synchronous = OFF")
    page = Page(
        database,
        ["fast", "slow", "fast too", "slow too"],
        seed,
        policy=EAGER,
        reward_window_s=WINDOW,
    )
    start, total, arriving = page.now, 0.0, dict[int, list[Reward]]()
    for step in range(0, ROUNDS, STEPS):
        slates = []
        for t in range(step, step + STEPS):
            page.now = start + t
            slates.append(page.asked(f"k{t}", [1.0, 0.5])._replace(due=page.now + WINDOW))
            total += np.frombuffer(slates[-1].rows[0].probabilities)[1::2].sum() / 1.5
            for row in slates[-1].rows:
                for delay, reward in feedback(rng, row.arm % 2, page.id(f"k{t}")):
                    placed = reward._replace(place=row.place)
                    arriving.setdefault((t + delay) // STEPS + 1, []).append(placed)
        page.slates(*slates)
        page.rewards(*arriving.pop(step // STEPS + 1, []))
        page.fold()
    database.close()
    return total / ROUNDS


def test_equal_arms_are_shown_equally_on_pages_too(tmp_path: Path) -> None:
    """Each place is final, late, silent or fast by itself. The mean of ten has a deviation of 0.004.

    When a final reward made its place mature at once, the share of the slow arms was 0.17.
    """
    shares = []
    for seed in range(10):
        (tmp_path / str(seed)).mkdir()
        shares.append(slow_share_of_pages(tmp_path / str(seed), seed))
    assert abs(np.mean(shares) - 0.5) < 0.02


def test_a_final_reward_closes_a_decision_and_the_window_makes_it_mature(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(reward_window_s=100)
        first, silent = service.decide("first")["decision"], service.decide("silent")["decision"]
        assert service.reward(first, 1, id="click", final=True) == "accepted"
        assert service.reward(first, 1, id="more") == "late"
        service.later(99)
        assert statuses(service, first, silent) == ["waiting", "waiting"]
        service.later(1)
        assert statuses(service, first, silent) == ["mature", "mature"]


def statuses(service: Service, *decisions: str) -> list[str]:
    """Return whether decisions wait or are mature."""
    return [service.get(f"/v1/experiments/shop/decisions/{each}")["status"] for each in decisions]


# Clocks.


def test_a_step_of_the_clock_matures_nothing_early(tmp_path: Path) -> None:
    """One that is set two hours ahead for a second, and then back, by 100 decisions."""
    wall, beat = [START], [0.0]
    with serving(tmp_path / "store.db") as service:
        service.runtime.clock = SteadyClock(lambda: wall[0], lambda: beat[0])
        service.create(reward_window_s=3600)
        service.decide("k", count=100)
        for ahead in (7200.0, 7200.0, 0.0):
            beat[0] += 1.0
            wall[0] = START + beat[0] + ahead
            service.later(0)
        assert service.get("/v1/experiments/shop/status")["waiting"] == 100
        beat[0] += 3600.0
        wall[0] += 3600.0
        service.later(0)
        assert service.get("/v1/experiments/shop/status")["waiting"] == 0


@given(
    st.lists(st.tuples(st.floats(0.001, 1000), st.floats(-1e6, 1e6)), min_size=1, max_size=20),
)
def test_a_clock_goes_on_evenly_whatever_is_set(steps: list[tuple[float, float]]) -> None:
    wall, beat = [START], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: beat[0])
    before = clock()
    for seconds, wrong in steps:
        beat[0] += seconds
        wall[0] = START + beat[0] + wrong
        now = clock()
        assert 0.99 * seconds - 1e-6 <= now - before <= 1.01 * seconds + 1e-6
        before = now


def test_a_clock_follows_drift_and_tells_of_steps(caplog: pytest.LogCaptureFixture) -> None:
    wall, beat = [START], [0.0]
    clock = SteadyClock(lambda: wall[0], lambda: beat[0])
    for _ in range(1000):
        beat[0] += 60.0
        wall[0] += 60.003
        clock()
    assert abs(clock() - wall[0]) < 0.01
    assert not caplog.records
    wall[0] -= 7200
    clock()
    assert caplog.records[0].__dict__["seconds_ahead"] == pytest.approx(-7200, abs=1)
    assert clock.apart == pytest.approx(-7200, abs=1)


def test_a_process_whose_clock_is_wrong_does_not_write_to_postgresql(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr("fairx.store.postgres.time.time", lambda: now + 7200)
    with pytest.raises(
        ValueError, match=r"within 10 s of the database's, but is 7,(199|2\d\d) s ahead"
    ):
        located(database_url).writer()
    located(database_url).reader().close()  # to look does no harm
