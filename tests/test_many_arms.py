"""Audits of experiments of many arms: bounded, kept when they fail, and of one budget."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from asking import E, Service, failure, serving

from fairx import Exponential
from fairx.auditing import audit
from fairx.logs import read
from fairx.service.budget import Budget
from fairx.service.cache import Cache
from fairx.store import many_arms, scratch
from fairx.store.errors import Conflict, Overloaded

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "live_audit.py"
MERIT = {"kind": "Exponential", "steepness": 3.0}
GREEDY = {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.1}
ARMS = [f"arm {i}" for i in range(many_arms.MANY + 10)]


def fill(service: Service, arms: list[str] = ARMS) -> None:
    """Decide among many arms, in some decisions named, as they come and go."""
    service.create(arms=arms, policy=GREEDY, reward_window_s=10, floor=0.0001)
    for i in range(60):
        named: Any = {"candidates": arms[5:190]} if i % 3 == 0 else {}
        made = service.decide(f"k{i}", **named)
        if i % 4:
            service.reward(made["decision"], float(i % 5 == 0))
        if i == 30:
            service.post(f"{E}/shop/arms", {"add": ["new"], "remove": [arms[0]]})
        service.later(4)
    service.later(10)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving(tmp_path_factory.mktemp("many") / "store.db") as service:
        fill(service)
        yield service


def test_the_audit_is_that_of_the_export_without_probabilities(
    filled: Service, tmp_path: Path
) -> None:
    found = filled.get(f"{E}/shop/audit")
    exported = tmp_path / "log.parquet"
    exported.write_bytes(filled.ask("GET", f"{E}/shop/export").content)
    log = read(exported, {"probabilities": "", "decision": "", "unit": ""})
    wanted = audit(log, Exponential(3.0), floor=0.0001)
    log.connection.close()
    assert found["judged_by"] == wanted.judged_by == "pseudo-rewards of the arms shown"
    assert (found["decisions"], len(found["lines"])) == (60, 211)
    for name in ("exposure", "fair_share", "fair_low", "fair_high", "verdict"):
        given = [line[name] for line in found["lines"]]
        assert given == pytest.approx([getattr(line, name) for line in wanted.lines])
    assert found["fairness_regret_per_decision"] == pytest.approx(
        wanted.fairness_regret_per_decision
    )


def test_it_goes_on_as_decisions_become_mature(filled: Service) -> None:
    for i in range(5):
        filled.decide(f"more {i}")
    filled.later(20)
    assert filled.get(f"{E}/shop/audit?alpha=0.04")["decisions"] == 65


def test_too_many_lists_are_refused_and_the_refusal_is_kept(
    filled: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_arms, "MOST", 60_000)
    filled.application.audits._spools.clear()
    for _ in range(2):
        message, _ = failure(filled.ask("GET", f"{E}/shop/audit?alpha=0.03"), 409, "conflict")
        assert "2 different lists of candidates among so many arms are too many" in message
    assert filled.application.audits._spools[1]._parts == []


def asked(cache: Any, snapshot: Any, *question: Any) -> Any:
    return asyncio.run(cache.of(snapshot, *question))


def test_failures_are_kept_for_a_snapshot_and_rest(filled: Service) -> None:
    snapshot, calls = filled.runtime.decider("shop").snapshot, []

    async def fail(snapshot: Any) -> None:
        calls.append(snapshot.version)
        raise Conflict("no")

    cache: Any = Cache(fail)
    for version in (1, 1, 1):
        with pytest.raises(Conflict):
            asked(cache, snapshot._replace(version=version))
    assert calls == [1]
    with pytest.raises(Conflict):
        asked(cache, snapshot._replace(version=2))  # it was quick: it may be tried again
    assert calls == [1, 2]


def test_all_questions_have_one_budget(filled: Service) -> None:
    snapshot, now = filled.runtime.decider("shop").snapshot, [0.0]
    budget = Budget(0.25, 10.0, lambda: now[0])

    async def make(snapshot: Any, question: int) -> int:
        budget.use(6.0)  # as if it had taken so long
        return question

    cache: Any = Cache(make, fresh=0.0, budget=budget)
    assert [asked(cache, snapshot, i) for i in range(2)] == [0, 1]
    with pytest.raises(Overloaded, match="try again in 8 s"):
        asked(cache, snapshot, 2)
    assert asked(cache, snapshot, 1) == 1  # as it was
    now[0] = 9.0
    assert asked(cache, snapshot, 2) == 2


def test_large_experiments_are_counted_once_for_all_who_ask(
    filled: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """20 clients that asked for the counts of 280,000 decisions had each decision take 2 to 3 s."""
    reads, read = [], filled.runtime.read

    async def slow(function: Any) -> Any:
        reads.append(function)
        await asyncio.sleep(0.5)  # then it is kept for 5 s
        return await read(function)

    async def together(count: int) -> list[int]:
        asked = [filled._ask("GET", f"{E}/shop/status", None, None, {}) for _ in range(count)]
        return [each.json()["decisions"] for each in await asyncio.gather(*asked)]

    before = filled.get(f"{E}/shop/status")["decisions"]
    monkeypatch.setattr(filled.runtime, "read", slow)
    assert filled.runner.run(together(20)) == [before] * 20
    assert len(reads) == 1
    filled.decide("counted at once, as there are few")
    assert filled.get(f"{E}/shop/status")["decisions"] == before + 1
    monkeypatch.setattr("fairx.service.audits.LARGE", before)
    filled.get(f"{E}/shop/status")
    filled.decide("counted later")
    assert filled.get(f"{E}/shop/status")["decisions"] == before + 1
    assert len(reads) == 3


def test_files_of_a_killed_process_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "from fairx.store import scratch; import os, sys; print(scratch.folder('audit-'), flush=True); {}"
    environment = {"TMPDIR": str(tmp_path)}
    import os

    environment = os.environ | environment
    killed = subprocess.run(
        [sys.executable, "-c", script.format("os.kill(os.getpid(), 9)")],
        env=environment, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    live = subprocess.Popen(
        [sys.executable, "-c", script.format("sys.stdin.read()")],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert live.stdout is not None
    kept = live.stdout.readline().strip()
    assert Path(killed).is_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert scratch.remove_leftovers() == 1
    assert (Path(killed).exists(), Path(kept).is_dir()) == (False, True)
    live.communicate()
    assert not Path(kept).exists()


@pytest.mark.service
@pytest.mark.skipif(not BENCHMARK.exists(), reason="not part of the sdist: use a clone")
def test_an_audit_of_5_000_arms_fits_into_its_memory() -> None:
    """With a list of probabilities for each decision DuckDB ran out of it at 6,000 decisions."""
    command = [sys.executable, str(BENCHMARK), "--arms", "5000", "--decisions", "10000"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "10,000 decisions judged by pseudo-rewards" in found
    assert max(map(int, re.findall(r"peak so far (\d+) MB", found))) < 512
