"""Decisions among many arms on record: a digest in the place of long lists, which are told again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pyarrow.parquet as pq
import pytest
from asking import SECRET, E, Service, serving

from fairx.store import Verified, compact, located, verify
from fairx.store.compact import digest_of, is_digest

ARMS = [f"arm {i}" for i in range(150)]
SOME = ARMS[149:3:-1]
TOLD = {"kind": "Exp3", "gamma": 0.2}
MERIT = {"kind": "Exponential", "steepness": 3.0}
GREEDY = {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.1}
FORGETTING = {"kind": "Discounted", "policy": GREEDY, "discount": 0.8}


def fill(service: Service) -> list[Any]:
    """Decide among many arms, some named, some slates; return what was answered."""
    service.create(arms=ARMS, reward_window_s=10)
    answers = []
    for i in range(5):
        answers.append(service.decide(f"k{i}", probabilities=True))
        service.reward(answers[-1]["decision"], i % 2)
        answers.append(service.decide(f"n{i}", candidates=SOME, probabilities=True))
        answers.append(service.decide(f"p{i}", places=3, probabilities=True))
        service.later(10 + i)
        if i == 2:
            service.post(f"{E}/shop/arms", {"add": ["new"], "remove": ["arm 1"]})
    return answers


def verified(path: Path) -> Verified:
    reader = located(f"sqlite:///{path}").reader()
    try:
        return verify(reader, SECRET)
    finally:
        reader.close()


def test_long_lists_are_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "store.db", tmp_path / "whole.db"
    with serving(path) as service:
        service.later(0)
        answers = fill(service)
        exported = service.ask("GET", f"{E}/shop/export").content
        again = [
            *(service.decide(f"k{i}", probabilities=True) for i in range(5)),
            *(service.decide(f"n{i}", candidates=SOME, probabilities=True) for i in range(5)),
            *(service.decide(f"p{i}", places=3, probabilities=True) for i in range(5)),
        ]
        assert sorted(map(str, again)) == sorted(map(str, answers))
        for each in answers:
            known = service.get(f"{E}/shop/decisions/{each['decision']}")
            names = ("probabilities", "exposures")
            assert [known.get(name) for name in names] == [each.get(name) for name in names]
    (tmp_path / "log.parquet").write_bytes(exported)
    rows = pq.read_table(tmp_path / "log.parquet").to_pylist()
    assert [row["decision"] for row in rows[:3]] == [each["decision"] for each in answers[:3]]
    for row in rows:
        (made,) = (each for each in answers if each["decision"] == row["decision"])
        chances = made.get("probabilities") or made.get("exposures")
        assert dict(zip(row["candidates"], row["exposures"], strict=True)) == chances
        if "arm" in made:
            assert row["propensity"] == made["propensity"] == chances[made["arm"]]
    monkeypatch.setattr(compact, "LONGEST", 1 << 20)
    with serving(whole) as service:
        fill(service)
    assert path.stat().st_size < whole.stat().st_size
    assert verified(path).problems == verified(whole).problems == ()


def test_a_decision_among_10_000_arms_takes_a_kilobyte(tmp_path: Path) -> None:
    path, arms = tmp_path / "store.db", [f"arm number {i}" for i in range(10_000)]
    with serving(path) as service:
        service.create(arms=arms, policy={"kind": "Uniform"}, reward_window_s=10)
        named = service.runtime.limits.candidates
        service.post(f"{E}/shop/decide", {"key": "first", "candidates": arms[:named]})
        service.later(0)
        before = size(path)
        for i in range(20):
            service.decide(f"k{i}")
            service.decide(f"n{i}", candidates=arms[:named])
        service.later(20)
        assert (size(path) - before) / 40 < 1000


def size(path: Path) -> int:
    connection = apsw.Connection(str(path))
    ((found,),) = connection.execute("SELECT sum(pgsize - unused) FROM dbstat").fetchall()
    connection.close()
    assert isinstance(found, int)
    return found


TAMPERING = {
    "the digest of probabilities": ("UPDATE decisions SET probabilities = randomblob(25) WHERE sequence = 1", "its probabilities differ"),
    "a propensity": ("UPDATE decisions SET propensity = 0.5 WHERE sequence = 1", "its propensity differs"),
    "candidates": ("UPDATE pools SET candidates = zeroblob(length(candidates))", "its candidates are not those"),
    "candidates gone": ("DELETE FROM pools", "its candidates are no longer on record"),
    "which candidates": (
        "INSERT INTO pools VALUES (X'{digest}', X'{body}'); UPDATE decisions SET candidates = X'{digest}' WHERE length(candidates) = 25",
        "its probabilities differ",
    ),
    "kept sums": ("UPDATE checkpoints SET body = zeroblob(length(body))", "the sums kept after .* differ"),
}  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("compact") / "store.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairx.store.folding.every", lambda snapshot: 4)
        with serving(path) as service:
            fill(service)
    return path.read_bytes()


@pytest.mark.parametrize("kind", TAMPERING)
def test_a_change_is_noticed_without_the_secret(tmp_path: Path, filled: bytes, kind: str) -> None:
    path, (statements, message) = tmp_path / "store.db", TAMPERING[kind]
    path.write_bytes(filled)
    assert verified(path).problems == ()
    other = np.arange(147, dtype="<i4").tobytes()
    connection = apsw.Connection(str(path))
    connection.execute(statements.format(digest=digest_of(other).hex(), body=other.hex()))
    connection.close()
    reader = located(f"sqlite:///{path}").reader()
    problems = verify(reader).problems
    reader.close()
    assert any(re.search(message, problem) for problem in problems), problems


def test_digests_are_no_lists() -> None:
    assert is_digest(digest_of(b""))
    assert not any(is_digest(bytes(4 * n)) for n in range(100))


def test_what_a_policy_is_told_stays_on_record(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with serving(path) as service:
        service.create(arms=ARMS, policy=TOLD, reward_window_s=10)
        for i in range(4):
            made = service.decide(f"k{i}", candidates=SOME)
            service.reward(made["decision"], i % 2)
            service.later(6)
        service.later(20)
    connection = apsw.Connection(str(path))
    sizes = connection.execute(
        "SELECT DISTINCT length(probabilities), length(candidates) FROM decisions"
    )
    assert list(sizes) == [(8 * len(SOME), 25)]
    connection.close()
    assert verified(path).problems == ()


def test_what_a_policy_that_forgets_decided_is_told_again(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(arms=ARMS, policy=FORGETTING, reward_window_s=10)
        answers = []
        for i in range(6):
            answers.append(service.decide(f"k{i}", probabilities=True))
            service.reward(answers[-1]["decision"], i / 5)  # no two means are the same
            service.later(6)
        again = [service.get(f"{E}/shop/decisions/{each['decision']}") for each in answers]
        assert [each["probabilities"] for each in again] == [
            each["probabilities"] for each in answers
        ]
        assert len({str(each["probabilities"]) for each in answers}) > 2
