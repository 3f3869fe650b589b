"""Verdicts: runs that agree with the paper in everything, and runs that contradict it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from outcomes import MEANS, RUNS, Made, exposures, panel, regrets

from fairx import Affine, Exponential, fair_probabilities
from fairx.experiments.outcome import Outcome, Panel
from fairx.experiments.specification import Problem
from fairx.report import Claim, claims
from fairx.types import Matrix

MAB = ("UCB", "TS", "FairX-UCB (gradient)", "FairX-UCB (exact)", "FairX-TS", "FairX-EG")
LINEAR = (
    "LinUCB",
    "LinTS",
    "FairX-LinUCB (gradient)",
    "FairX-LinUCB (ascent)",
    "FairX-LinTS",
    "FairX-LinEG",
)
LIKE_PAPER = (
    Made(50_000, 1, -900),
    Made(50_000, 1, -900),
    Made(900, reward=-50),
    Made(950, reward=-60),
    Made(700, reward=20),
    Made(800, reward=30),
)
EG_WINS = (  # and everything else is the other way round too
    Made(1500, 1, 10),
    Made(1500, 1, 10),
    Made(900, 1, 4000),
    Made(900, 1, 4000),
    Made(1000, 1, 4000),
    Made(300, 1, -100),
)
EG_FAILS = (*LIKE_PAPER[:5], Made(5000, 0.1, 900))


def scaled(makes: tuple[Made, ...], factor: float, exponent: float | None = None) -> list[Made]:
    return [
        made._replace(fairness=made.fairness * factor, exponent=exponent or made.exponent)
        for made in makes
    ]


def figure(
    name: str, labels: tuple[str, ...], makes: tuple[Made, ...], trend: float, setting: str = "mab"
) -> Outcome:
    """Return two merits, the regrets of the steeper one times `trend`."""
    problem = Problem(data="yeast", setting=setting)
    panels = [
        panel(dict(zip(labels, scaled(makes, factor), strict=True)), c)
        for c, factor in ((10, trend), (5, 1))  # not in order
    ]
    return regrets(name, *panels, problem=problem)


def one(name: str, labels: tuple[str, ...], makes: list[Made], setting: str = "mab") -> Outcome:
    problem = Problem(data="yeast", setting=setting)
    return regrets(name, panel(dict(zip(labels, makes, strict=True))), problem=problem)


def fig1(*, agrees: bool) -> Outcome:
    means = np.where(agrees | (np.arange(14) != 12), MEANS, 0.1)  # arm 12 no match for 11
    fair = fair_probabilities(Exponential(4), means)
    noise = np.random.default_rng(0).normal(0, 0.0005, (RUNS, len(means)))
    near: Matrix = fair + noise
    single: Matrix = np.eye(len(means))[[11] * RUNS]
    half = 0.7 * near + 0.3 * single
    if not agrees:
        return exposures(dict.fromkeys(MAB, (half, half)), means)
    fairly = (0.9 * near + 0.1 / len(means), near)
    return exposures(
        {label: (single, single) if "X" not in label else fairly for label in MAB}, means
    )


def outcomes(makes: tuple[Made, ...], *, agrees: bool) -> dict[str, Outcome]:
    """Return every figure but Yahoo's."""
    trend = 2.0 if agrees else 0.5
    wrong, right = (1.0, 0.5) if agrees else (0.5, 0.95)
    linear = tuple(made._replace(reward=made.reward * 2) for made in makes)
    return {
        "fig1": fig1(agrees=agrees),
        "fig2": one("fig2", MAB, list(makes)),
        "figA1": figure("figA1", MAB, makes, trend),
        "figA2": figure("figA2", MAB, makes, trend),
        "figA3": figure("figA3", LINEAR, linear, trend, "linear"),
        "figA4": figure("figA4", LINEAR, linear, trend, "linear"),
        "fig3": one("fig3", LINEAR, scaled(linear, 1, wrong), "linear"),
        "figA6": one("figA6", LINEAR, scaled(linear, 1, right), "well-specified"),
    }


AGREEING = claims(outcomes(LIKE_PAPER, agrees=True))
CONTRARY = claims(outcomes(EG_WINS, agrees=False))
CLUMSY = claims(outcomes(EG_FAILS, agrees=False))


def test_claims_are_in_the_same_order_whatever_was_run() -> None:
    assert [c.sentence for c in claims({})] == [c.sentence for c in AGREEING]
    assert len({(c.sentence, c.where) for c in AGREEING}) == len(AGREEING)


@pytest.mark.parametrize("number", range(len(AGREEING)))
def test_each_claim_holds_where_it_should_and_fails_where_it_should(number: int) -> None:
    agreeing, contrary, clumsy = (found[number] for found in (AGREEING, CONTRARY, CLUMSY))
    if "Yahoo" in agreeing.sentence:
        assert {c.verdict for c in (agreeing, contrary, clumsy)} == {"not run"}
        return
    assert agreeing.verdict == "holds", agreeing
    assert agreeing.reason == ""
    failed = [c for c in (contrary, clumsy) if c.verdict == "does not hold"]
    assert failed, (contrary, clumsy)
    assert all(c.reason for c in failed)


@pytest.mark.parametrize("claim", claims({}), ids=lambda claim: claim.sentence[:40])
def test_nothing_was_run(claim: Claim) -> None:
    assert claim.verdict == "not run"
    assert claim.value == ""
    assert math.isnan(claim.low)
    assert "not among the outcomes" in claim.reason or "Yahoo!" in claim.reason


def find(found: list[Claim], words: str) -> Claim:
    return next(claim for claim in found if words in claim.sentence)


def test_values_are_the_derived_ones() -> None:
    assert find(AGREEING, "regret of FairX-TS grows").value == pytest.approx(0.5)
    assert find(AGREEING, "violates fairness more").value == pytest.approx(900 - 700)
    assert find(AGREEING, "best reward regret").value == pytest.approx(20 + 50)
    assert find(AGREEING, "surprisingly well").value == pytest.approx(800 / 700)
    assert find(AGREEING, "does not win on reward").value == pytest.approx(30 + 50)
    assert (
        find(AGREEING, "suffer much larger").value == "55.6: UCB to FairX-UCB (gradient) at c = 10"
    )
    assert find(AGREEING, "the larger the difference").value == pytest.approx(2 * 200 - 200)
    assert find(AGREEING, "no longer converges").value == "1.00 (FairX-LinEG)"
    assert find(AGREEING, "converges better").value == "0.50 (FairX-LinUCB (gradient))"


def test_claims_tell_which_arm_it_was() -> None:
    assert find(AGREEING, "TS puts virtually all").value == "1.000 (arm 11 in 5 of 5)"
    assert find(AGREEING, "only slightly lower").value == "0.972: arm 12 to arm 11"


def test_slower_growth_than_the_bound_is_called_better() -> None:
    makes = [made._replace(exponent=0.1) for made in LIKE_PAPER]
    claim = find(claims({"fig2": one("fig2", MAB, makes)}), "regret of FairX-TS grows")
    assert claim.value == pytest.approx(0.1)
    assert claim.verdict == "does not hold"
    assert "better than predicted" in claim.reason


def test_a_tie_is_no_win() -> None:
    makes = [Made(700, reward=20, deviation=0.1)] * 6
    found = claims({"fig2": one("fig2", MAB, makes)})
    assert find(found, "does not win on fairness").verdict == "holds"
    assert find(found, "best reward").verdict == "does not hold"


def test_a_policy_that_was_not_played() -> None:
    makes = dict(zip(MAB[:-1], LIKE_PAPER, strict=False))
    claim = find(claims({"fig2": regrets("fig2", panel(makes))}), "FairX-EG does not win")
    assert (claim.verdict, claim.reason) == ("not run", "FairX-EG was not played for c = 10")


def test_an_outcome_without_panels_or_with_one() -> None:
    found = claims({"fig2": regrets("fig2"), "figA1": one("figA1", MAB, list(LIKE_PAPER))})
    assert find(found, "violates fairness").reason == "fig2 has no panel yet"
    assert "two exponential merits" in find(found, "variance of the runs (yeast, no").reason


def test_other_merits_have_no_steepness() -> None:
    found: list[Panel] = [panel({})._replace(merit=Affine(1.0, 0.5))] * 2
    claim = find(claims({"figA1": regrets("figA1", *found)}), "variance of the runs")
    assert claim.verdict == "not run"


def test_a_single_run_decides_nothing() -> None:
    makes = dict(zip(MAB, LIKE_PAPER, strict=True))
    found = claims({"fig2": regrets("fig2", panel(makes, runs=1))})
    claim = find(found, "violates fairness")
    assert claim.verdict == "does not hold"
    assert claim.reason.startswith("a single run has no interval")


def test_small_scales_are_no_excuse_but_are_said() -> None:
    found = one("fig2", MAB, list(EG_WINS))
    found = found._replace(experiment=found.experiment._replace(scale="smoke"))
    claim = find(claims({"fig2": found}), "violates fairness")
    assert claim.verdict == "does not hold"
    assert claim.reason.endswith("(at smoke scale; the claim is about the paper's)")
