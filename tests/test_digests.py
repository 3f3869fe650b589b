"""Results are those of before, bit for bit, for the same seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from digests import FILE, PARTS, digests, plain

from fairx import Bandit

STORED = json.loads(FILE.read_text("utf-8"))


@pytest.mark.parametrize("part", PARTS)
def test_results_are_those_of_before(part: str) -> None:
    assert digests(part) == STORED[part]


def test_a_digest_notices_the_last_bit() -> None:
    assert plain(1.0) != plain(1.0 + 2**-52)


def test_a_bandit_saved_before_goes_on() -> None:
    bandit = Bandit.load(Path(__file__).parent / "data" / "bandit-1.npz")
    decision = bandit.act([[1.0, 0.5], [0.2, 1.0]])
    assert (decision.id, decision.arm, bandit.pending) == (3, "c", (1, 2, 3))
    assert decision.probability == 0.6188225619920364
