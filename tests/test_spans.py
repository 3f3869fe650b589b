"""Stretches of a log, as slices of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairx.evaluation import Logged, logged
from fairx.evaluation.spans import mean_rewards, split


def made(decisions: int) -> Any:
    """Return a log of four arms, the last of them never shown, with all columns there are."""
    rng = np.random.default_rng(decisions)
    arms = rng.integers(0, 3, decisions)
    return Logged(
        arms=arms,
        rewards=rng.random(decisions),
        propensities=np.full(decisions, 0.25),
        candidates=np.tile(np.arange(4), (decisions, 1)),
        contexts=rng.random((decisions, 4, 2)),
        units=arms // 2,
        probabilities=np.full((decisions, 4), 0.25),
    )


@pytest.mark.parametrize("piece", [1, 3, 7, 100])
@pytest.mark.parametrize("share", [0.03, 0.3, 0.5, 0.97])
def test_a_span_is_a_slice_whatever_the_pieces(
    monkeypatch: pytest.MonkeyPatch, piece: int, share: float
) -> None:
    log = made(30)
    monkeypatch.setattr(logged, "PIECE", piece)
    middle = round(share * 30)
    for span, rows in zip(split(log, share), (slice(middle), slice(middle, None)), strict=True):
        pieces = list(span.pieces())
        assert span.decisions == len(log.arms[rows]) == sum(len(one.arms) for one in pieces)
        assert all(0 < len(one.arms) <= piece for one in pieces)
        for name in set(log._fields) - {"names"}:
            whole = np.concatenate([getattr(one, name) for one in pieces])
            np.testing.assert_array_equal(whole, getattr(log, name)[rows])
        assert all(one.names == log.names == span.names for one in pieces)
        assert span.problems == {}


def test_an_arm_never_shown_has_the_mean_of_all() -> None:
    log = made(40)
    each = [log.rewards[log.arms == arm].mean() for arm in range(3)]
    assert mean_rewards(log) == pytest.approx([*each, log.rewards.mean()], abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0, 0.01])
def test_either_side_has_a_decision(share: float) -> None:
    with pytest.raises(ValueError, match="share must leave some of 30 decisions on either side"):
        split(made(30), share)
