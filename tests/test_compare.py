"""Paired differences: what shares its luck is compared run by run, or not at all."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from fairx import TS, Exponential, FairXTS, FairXUCB, Result, compare, environments, simulate

MERIT = Exponential(4)
WORLD = environments.Bernoulli([0.3, 0.5, 0.6])


def played(policy: Any, world: Any = WORLD, judge: Any = MERIT, **options: Any) -> Result:
    return simulate(policy, world, judge, **{"rounds": 200, "seed": 1, "runs": 6} | options)


@functools.cache
def fair() -> Result:
    """Play when a test asks for it: at import, each worker of the tests would, and compile."""
    return played(FairXTS(MERIT, 1, 0.5))


@functools.cache
def usual() -> Result:
    return played(TS(1, 0.5))


def test_differences_are_those_of_scipy_run_by_run() -> None:
    found = compare(fair=fair(), usual=usual())
    for one in found.differences:
        a, b = (result.curves()[one.measure][:, -1] for result in (fair(), usual()))
        expected = stats.ttest_rel(a, b).confidence_interval(0.95)
        assert (one.low, one.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
        assert one.value == pytest.approx((a - b).mean())
        assert (one.first, one.second, one.runs) == ("fair", "usual", 6)
    assert [one.measure for one in found.differences] == [
        "fairness_regret",
        "reward_regret",
        "reward_earned",
    ]
    assert found.differences[0].verdict == "lower"
    frame = found.to_frame()
    assert frame["verdict"].tolist() == [one.verdict for one in found.differences]
    assert "lower" in found._repr_html_()  # type: ignore[attr-defined]


def test_runs_are_paired_by_their_numbers_not_by_their_places() -> None:
    shuffled = played(TS(1, 0.5), runs=[4, 9, 2, 0])
    found = compare(fair=fair(), usual=shuffled)
    rows = [0, 2, 4]
    a, b = fair().fairness_regret[rows, -1], usual().fairness_regret[rows, -1]
    assert found.differences[0].value == pytest.approx((a - b).mean())
    assert found.notes == ("only the 3 runs that all have are compared",)


def test_names_are_those_given_or_of_the_policies() -> None:
    assert compare(fair(), usual()).differences[0].first == "FairXTS"
    other = played(FairXTS(MERIT, 1, 0.25))
    assert "reward_std=0.25" in compare(fair(), other).differences[0].second
    assert len(compare(fair(), usual(), third=other).differences) == 3 * 3
    with pytest.raises(ValueError, match="must be told apart"):
        compare(fair(), fair())
    with pytest.raises(ValueError, match="at least two to be compared, not 1"):
        compare(fair())


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: played(TS(1, 0.5), seed=2), "their seed differs, 1 and 2"),
        (lambda: played(TS(1, 0.5), judge=Exponential(5)), "their judge differs"),
        (lambda: played(TS(1, 0.5), environments.Bernoulli([0.3, 0.5])), "their environment"),
        (lambda: played(TS(1, 0.5), rounds=100), "their rounds differs, 200 and 100"),
        (lambda: played(TS(1, 0.5), runs=[7]), "runs in common"),
    ],
)
def test_what_cannot_be_compared_says_why(other: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        compare(fair(), other())


def test_one_run_and_another_version_are_noted() -> None:
    alone = compare(played(TS(1, 0.5), runs=1), fair())
    assert alone.differences[0].verdict == "undecided"
    assert alone.differences[0].high == math.inf
    assert "one run says nothing" in repr(alone)
    old = usual()._replace(provenance=usual().provenance._replace(version="0.0.9"))
    assert "fairx 0.0.9 and" in repr(compare(fair(), old))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_equal_policies_are_told_apart_no_more_often_than_alpha(correlation: float) -> None:
    """Each side in at most 2.5 % of 4,000 nulls of ten runs, up to four standard errors."""
    rng, nulls, runs = np.random.default_rng(1), 4000, 10
    shared, own = math.sqrt(correlation), math.sqrt(1 - correlation)
    base = played(TS(1, 0.5), rounds=1, runs=runs, checkpoints=1)
    said: list[str] = []
    for _ in range(nulls):
        luck = rng.normal(size=(runs, 1)) * shared
        pair = [
            base._replace(fairness_regret=luck + own * rng.normal(size=(runs, 1))) for _ in "ab"
        ]
        said.append(compare(a=pair[0], b=pair[1]).differences[0].verdict)
    bound = 0.025 + 4 * math.sqrt(0.025 * 0.975 / nulls)
    assert said.count("lower") / nulls < bound
    assert said.count("higher") / nulls < bound


@pytest.mark.compiled
def test_pairing_decides_what_unpaired_runs_do_not() -> None:
    """FairX-UCB and FairX-TS share their luck: the paired interval is the narrower one."""
    ucb = played(FairXUCB(MERIT, 0.1), rounds=2000, runs=8)
    fair = played(FairXTS(MERIT, 1, 0.5), rounds=2000, runs=8)
    found = compare(ucb, fair).differences[2]
    a, b = (result.reward_earned[:, -1] for result in (ucb, fair))
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert found.high - found.low < welch.high - welch.low
