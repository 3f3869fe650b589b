"""What an evaluation says of itself: its diagnostics by loops, its cautions at their thresholds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fairx.evaluation import Logged, confidence_sequence, evaluate
from fairx.evaluation.support import Diagnostics, cautions

GOOD = Diagnostics(
    effective_sample_size=100.0, largest_weight=3.0, mean_weight=1.0, mean_weight_error=0.05,
    unsupported=0.0, clipped=0.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"mean_weight": 1.199}, []),
        ({"mean_weight": 0.801}, []),
        ({"mean_weight": 1.201}, ["the mean weight is 1.2, not 1"]),
        ({"mean_weight": 0.799}, ["the mean weight is 0.799, not 1"]),
        ({"mean_weight_error": 0.0}, []),
        (
            {"mean_weight": 0.9, "unsupported": 0.1, "mean_weight_error": 0.0},
            ["0.1 of the policy's"],
        ),
        ({"clipped": 0.25}, ["clipping at 7 cut off 0.25 of the weight"]),
    ],
)
def test_cautions(change: dict[str, float], said: list[str]) -> None:
    """The mean weight must be 1 less what has no support, but for four standard errors."""
    found = cautions(GOOD._replace(**change), 7.0)
    assert len(found) == len(said)
    assert all(one.startswith(words) for one, words in zip(found, said, strict=True))


@pytest.mark.parametrize("clip", [None, 1.5])
@pytest.mark.parametrize("units", [None, 7])
def test_diagnostics(clip: float | None, units: int | None) -> None:
    """A log of 40 decisions among three arms, of which one is never shown."""
    rng = np.random.default_rng(3)
    arms = rng.integers(0, 2, 40)
    wanted = np.array([0.3, 0.695, 0.005])
    given: dict[str, Any] = {"names": ("a", "b", "c"), "rewards": rng.random(40), "arms": arms}
    given |= {"propensities": rng.uniform(0.2, 0.8, 40)}
    if units:
        given |= {"units": np.arange(40) % units}
    log = Logged(**given)
    found = evaluate(log, wanted, "ips", clip=clip)
    raw = [float(wanted[arm] / p) for arm, p in zip(arms, log.propensities, strict=True)]
    used = [weight if clip is None else min(weight, clip) for weight in raw]
    mean = sum(raw) / 40
    groups = [
        [raw[i] - mean for i in range(40) if units and i % units == u] for u in range(units or 0)
    ]
    parts = [sum(group) for group in groups] or [weight - mean for weight in raw]
    average = sum(parts) / len(parts)
    variance = sum((part - average) ** 2 for part in parts) / (len(parts) - 1)
    expected = Diagnostics(
        effective_sample_size=sum(used) ** 2 / sum(weight**2 for weight in used),
        largest_weight=max(raw),
        mean_weight=mean,
        mean_weight_error=math.sqrt(len(parts) * variance) / 40,
        unsupported=0.005,
        clipped=0.0 if clip is None else 1 - sum(used) / sum(raw),
    )
    assert found.diagnostics == pytest.approx(expected, rel=1e-9)
    assert found.cautions == cautions(found.diagnostics, clip)
    assert found.exposures == pytest.approx(wanted)
    pairs = zip(used, log.rewards, strict=True)
    assert found.reward == pytest.approx(sum(w * r for w, r in pairs) / 40)
    told = found.to_dict()
    assert told["arms"][2] == {"arm": "c", "exposure": pytest.approx(0.005)}
    assert told["diagnostics"] == found.diagnostics._asdict()
    assert set(told) == set(found._fields) - {"names", "exposures", "looks"} | {"arms", "level"}


def test_what_has_no_support_is_named_the_worst_first() -> None:
    log = Logged(
        arms=np.array([0, 1]), rewards=np.ones(2), propensities=np.full(2, 0.5),
        names=tuple("abcdefghi"),
    )  # fmt: skip
    shares = np.array([0.3, 0.3, 0.01, 0.09, 0.02, 0.08, 0.05, 0.15, 0.0])
    words = r"h \(0.15\), d \(0.09\), f \(0.08\), g \(0.05\), e \(0.02\) and 1 more; leave"
    with pytest.raises(ValueError, match=f"not 0.4 of its probability .*: {words}"):
        evaluate(log, shares)
    assert evaluate(log, shares, max_unsupported=0.41).diagnostics.unsupported == pytest.approx(0.4)


@pytest.mark.parametrize(("estimator", "folds"), [("dm", 1), ("dr", 1), ("dr", 3)])
def test_an_arm_that_a_model_never_saw_is_expected_to_bring_what_all_do(
    estimator: str, folds: int
) -> None:
    """The second arm is shown once, so that one of three folds is modelled without it."""
    arms = np.array([0, 0, 0, 1, 0, 0])
    rewards = np.array([1.0, 0.0, 0.5, 0.25, 1.0, 0.5])
    log = Logged(arms=arms, rewards=rewards, propensities=np.full(6, 0.5), names=("a", "b", "c"))
    wanted = np.array([0.5, 0.2, 0.3])
    total = 0.0
    for i, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        used = [j for j in range(6) if folds == 1 or j % folds != i % folds]
        every = float(np.mean(rewards[used]))
        seen = [[rewards[j] for j in used if arms[j] == one] for one in range(3)]
        model = [float(np.mean(one)) if one else every for one in seen]
        total += float(wanted @ model)
        total += float(wanted[arm] / 0.5 * (reward - model[arm])) if estimator == "dr" else 0.0
    found = evaluate(log, wanted, estimator, folds=folds, max_unsupported=1)
    assert found.reward == pytest.approx(total / 6, abs=1e-12)


@pytest.mark.parametrize("looks", [[0, 5], [5, 11], [0], [11], [-1, 3]])
def test_looks_are_after_a_decision(looks: list[int]) -> None:
    with pytest.raises(ValueError, match="looks must be from 1 to 10 decisions"):
        confidence_sequence(np.ones(10), np.ones(10), looks=looks)
    assert confidence_sequence(np.ones(10), np.ones(10), looks=[1, 10]).lows.shape == (2,)
