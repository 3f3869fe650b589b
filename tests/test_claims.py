"""Verdicts: runs that agree with the paper in everything, and runs that contradict it."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from outcomes import MEANS, Made, exposures, panel, regrets

from fairx import Affine, Exponential, fair_probabilities
from fairx.experiments import read
from fairx.experiments.outcome import Outcome, Panel
from fairx.experiments.problem import Problem
from fairx.experiments.specification import Experiment
from fairx.report import Claim, claims, decide
from fairx.report.claims import LOOKS, STATEMENTS, UNDECIDED, corrected, looks, settled
from fairx.report.claims.claim import Rule
from fairx.report.estimates import known
from fairx.types import Matrix

RUNS = 10
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
    Made(1000, 1, 4100),
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
    """Return all merits, the regrets of the steepest one `trend` times those of the others."""
    problem = Problem(data="yeast", setting=setting)
    *flatter, steepest = (6, 8, 10, 12) if setting == "mab" else (1, 2, 3)
    panels = [
        panel(dict(zip(labels, scaled(makes, factor), strict=True)), c, RUNS)
        for c, factor in ((steepest, 1.0), *((c, 1 / trend) for c in flatter))  # not in order
    ]
    return regrets(name, *panels, problem=problem)


def one(
    name: str, labels: tuple[str, ...], makes: list[Made], c: float = 10, setting: str = "mab"
) -> Outcome:
    problem = Problem(data="yeast", setting=setting)
    made = dict(zip(labels, makes, strict=True))
    return regrets(name, panel(made, c, RUNS, world=setting), problem=problem)


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
        "fig3": one("fig3", LINEAR, scaled(linear, 1, wrong), 3, "linear"),
        "figA6": one("figA6", LINEAR, scaled(linear, 1, right), 2, "well-specified"),
    }


AGREEING = claims(outcomes(LIKE_PAPER, agrees=True))
CONTRARY = claims(outcomes(EG_WINS, agrees=False))
CLUMSY = claims(outcomes(EG_FAILS, agrees=False))


def test_claims_are_in_the_same_order_whatever_was_run() -> None:
    assert [c.sentence for c in claims({})] == [c.sentence for c in AGREEING]
    assert len({(c.sentence, c.where) for c in AGREEING}) == len(AGREEING)


@pytest.mark.parametrize("number", range(len(AGREEING)))
def test_each_claim_holds_where_it_should_and_is_contradicted_where_it_should(number: int) -> None:
    agreeing, contrary, clumsy = (found[number] for found in (AGREEING, CONTRARY, CLUMSY))
    if not agreeing.figures:
        assert {c.verdict for c in (agreeing, contrary, clumsy)} == {"not run"}
        return
    assert (agreeing.verdict, agreeing.holm) == ("holds", "holds"), agreeing
    failed = [c for c in (contrary, clumsy) if c.verdict == "contradicted"]
    assert failed, (contrary, clumsy)


@pytest.mark.parametrize("claim", claims({}), ids=lambda claim: claim.sentence[:40])
def test_nothing_was_run(claim: Claim) -> None:
    assert (claim.verdict, claim.holm, claim.runs) == ("not run", "not run", 0)
    assert math.isnan(claim.value)
    assert math.isnan(claim.low)
    reasons = ("not among the outcomes", "neither fig", "Yahoo!", "theorem")
    assert any(words in claim.note for words in reasons)


def find(found: list[Claim], words: str) -> Claim:
    return next(claim for claim in found if words in claim.sentence)


def test_values_are_the_derived_ones() -> None:
    expected = {
        "regret of FairX-TS grows": 0.5,
        "violates fairness more": 900 - 700,
        "best reward regret": 20 + 50,
        "surprisingly well": 800 / 700,
        "does not win on reward": 30 + 50,
        "does not win on fairness": 800 - 700,
        "suffer much larger": 50_000 / 900,
        "low reward regret": 30 / (100_000 + 30),
        "the larger the difference": 200 - 200 / 2,
        "the larger the variance": 2,
        "no longer converges": 1,
        "converges better": 0.5,
        "no clear winner": -140 / 800,  # FairX-LinTS on reward; the others are 160 and 200 behind
        "trade-offs": 140 / 800,  # FairX-LinTS is 200 fairer, FairX-LinUCB earns 140 more
        "only slightly lower": 0.9719,
        "TS puts virtually all": 1,
    }
    for words, value in expected.items():
        assert find(AGREEING, words).value == pytest.approx(value, rel=2e-3), words


def test_claims_tell_whose_extreme_it_is() -> None:
    assert "arm 11 in 10 of 10 runs" in find(AGREEING, "TS puts virtually all").note
    assert find(AGREEING, "suffer much larger").note.startswith("UCB to FairX-UCB (gradient) at")
    assert find(AGREEING, "trade-offs").note == (
        "FairX-LinTS is fairer, FairX-LinUCB (gradient) earns more"
    )
    assert "100 at c = 6 (" in find(AGREEING, "the larger the difference").note


def test_the_arm_is_that_of_the_paper() -> None:
    """Everything on arm 12 is a contradiction, and no mere concentration."""
    shown: Matrix = np.eye(len(MEANS))[[12] * RUNS]
    found = claims({"fig1": exposures(dict.fromkeys(MAB, (shown, shown)), MEANS)})
    claim = find(found, "TS puts virtually all")
    assert (claim.value, claim.verdict) == (0, "contradicted")
    assert "together they have 1.00" in claim.note


def test_a_claim_counts_once() -> None:
    sentences = [claim.sentence for claim in AGREEING]
    assert len(set(sentences)) == len(sentences)
    assert not any("exact" in sentence or "our solver" in sentence for sentence in sentences)
    assert find(AGREEING, "suffer much larger").figures == ("fig2", "figA1")
    note = find(AGREEING, "violates fairness").note
    assert note.startswith("with our exact solver, by itself: 250 [")
    assert note.endswith("holds")


def test_either_figure_shows_what_both_show() -> None:
    found = one("fig2", MAB, list(LIKE_PAPER))
    for name in ("fig2", "figA1"):
        assert find(claims({name: found}), "violates fairness").verdict == "holds"
    more = panel(dict(zip(MAB, EG_WINS, strict=True)), runs=RUNS + 1)
    both = {"fig2": found, "figA1": regrets("figA1", more)}
    claim = find(claims(both), "violates fairness")
    assert (claim.runs, claim.verdict) == (RUNS + 1, "contradicted")  # the one with more runs


def test_slower_growth_than_the_bound_is_called_better() -> None:
    makes = [made._replace(exponent=0.1) for made in LIKE_PAPER]
    claim = find(claims({"fig2": one("fig2", MAB, makes)}), "regret of FairX-TS grows")
    assert claim.value == pytest.approx(0.1)
    assert claim.verdict == "contradicted"
    assert "better than predicted" in claim.note


def test_a_tie_is_undecided() -> None:
    makes = [Made(700, reward=20, deviation=0.1)] * 6
    found = claims({"fig2": one("fig2", MAB, makes)})
    for words in ("does not win on fairness", "does not win on reward", "best reward", "violates"):
        claim = find(found, words)
        assert (claim.verdict, claim.holm) == (UNDECIDED, UNDECIDED)
        assert "10 runs do not tell" in claim.note


def test_differences_are_those_of_each_run() -> None:
    """Runs that share their luck differ by 2 per cent each, though they are 50 per cent apart."""
    makes = [Made(1000, reward=500, deviation=0.5)] * 6
    found = one("fig2", MAB, makes)
    (drawn,) = found.panels
    ucb = drawn.curves[2]
    more = ucb.result._replace(fairness_regret=ucb.result.fairness_regret * 1.02)
    curves = (*drawn.curves[:2], ucb._replace(results=(more,)), *drawn.curves[3:])
    outcome = found._replace(panels=(drawn._replace(curves=curves),))
    claim = find(claims({"fig2": outcome}), "violates fairness")
    assert (claim.verdict, claim.paired) == ("holds", True)
    assert claim.value == pytest.approx(20)
    # Shuffled runs are put in order by their numbers.
    turned = more._replace(fairness_regret=more.fairness_regret[::-1], runs=more.runs[::-1])
    curves = (*drawn.curves[:2], ucb._replace(results=(turned,)), *drawn.curves[3:])
    again = find(
        claims({"fig2": found._replace(panels=(drawn._replace(curves=curves),))}), "violates"
    )
    assert again[7:10] == pytest.approx(claim[7:10])
    # Another seed shares nothing.
    other = more._replace(provenance=more.provenance._replace(seed=9))
    curves = (*drawn.curves[:2], ucb._replace(results=(other,)), *drawn.curves[3:])
    apart = find(
        claims({"fig2": found._replace(panels=(drawn._replace(curves=curves),))}), "violates"
    )
    assert (apart.verdict, apart.paired) == (UNDECIDED, False)


def test_different_problems_are_not_paired() -> None:
    assert find(AGREEING, "converges better").paired is False
    assert find(AGREEING, "follows the square root").paired is None
    assert find(AGREEING, "the larger the variance").paired is True


def test_a_policy_that_was_not_played() -> None:
    makes = dict(zip(MAB[:-1], LIKE_PAPER, strict=False))
    claim = find(claims({"fig2": regrets("fig2", panel(makes))}), "FairX-EG does not win")
    assert (claim.verdict, claim.note) == ("not run", "FairX-EG was not played for c = 10")


def test_an_outcome_without_panels_or_with_one() -> None:
    found = claims({"fig2": regrets("fig2")})
    assert find(found, "violates fairness").note == "fig2 has no panel yet"
    found = claims({"figA1": one("figA1", MAB, list(LIKE_PAPER), 6)})
    assert find(found, "violates fairness").note == "figA1 has no panel at c = 10 yet"


def test_other_merits_have_no_steepness() -> None:
    found: list[Panel] = [
        panel({})._replace(merit=Affine(slope, 0.5)) for slope in (6.0, 8, 10, 12)
    ]
    claim = find(claims({"figA1": regrets("figA1", *found)}), "variance of the runs")
    assert claim.verdict == "not run"


@pytest.mark.parametrize("name", ["figA1", "figA2", "figA3", "figA4"])
def test_a_claim_about_every_merit_needs_every_merit(name: str) -> None:
    found = outcomes(LIKE_PAPER, agrees=True)[name]
    steepest = 12 if found.experiment.problem.setting == "mab" else 3
    fewer = {name: found._replace(panels=found.panels[1:])}
    about_all = [one for one in claims(fewer) if name in one.figures and "c)" in one.sentence]
    about_all += [one for one in claims(fewer) if name in one.figures and "steeper" in one.sentence]
    assert len(about_all) == 4
    for claim in about_all:
        assert claim.verdict == "not run"
        assert claim.note == f"the claim is about every c, and {name} has no c = {steepest} yet"


def test_one_merit_is_not_every_merit() -> None:
    """Figure 2 is one panel of A1: what it shows at c = 10 is not said to hold at every c."""
    alone, whole = one("fig2", MAB, list(LIKE_PAPER)), outcomes(LIKE_PAPER, agrees=True)["figA1"]
    claim = find(claims({"fig2": alone}), "suffer much larger")
    assert (claim.verdict, claim.runs) == ("not run", 0)
    assert claim.note == "the claim is about every c, and fig2 has no c = 6, 8, 12 yet"
    others = tuple(drawn for drawn in whole.panels if drawn.merit != Exponential(10))
    both = {"fig2": alone, "figA1": whole._replace(panels=others)}
    assert find(claims(both), "suffer much larger").verdict == "holds"


def test_the_merits_of_claims_are_those_of_the_figures() -> None:
    for statement in STATEMENTS:
        if statement.every:
            ((*_, name),) = statement.needs
            (figure_,) = read(name)
            assert list(figure_.merits) == [Exponential(c) for c in statement.every], name


def test_rows_without_what_was_earned() -> None:
    found = outcomes(LIKE_PAPER, agrees=True)["figA2"]
    drawn, *others = found.panels
    curves = tuple(
        curve._replace(
            results=(
                curve.result._replace(
                    reward_earned=np.full_like(curve.result.reward_earned, np.nan)
                ),
            )
        )
        for curve in drawn.curves
    )
    found = found._replace(panels=(drawn._replace(curves=curves), *others))
    claim = find(claims({"figA2": found}), "low reward regret (mediamill")
    assert (claim.verdict, "older version" in claim.note) == ("not run", True)


def test_a_single_run_decides_nothing() -> None:
    makes = dict(zip(MAB, LIKE_PAPER, strict=True))
    claim = find(claims({"fig2": regrets("fig2", panel(makes, runs=1))}), "violates fairness")
    assert claim.verdict == UNDECIDED
    assert "so few runs have no interval" in claim.note
    two = regrets("figA1", *(panel(makes, c, runs=2) for c in (6, 8, 10, 12)))
    claim = find(claims({"figA1": two}), "variance of the runs")
    assert (claim.verdict, claim.runs) == (UNDECIDED, 2)


def test_small_scales_are_no_excuse_but_are_said() -> None:
    found = one("fig2", MAB, list(EG_WINS))
    found = found._replace(experiment=found.experiment._replace(scale="smoke"))
    claim = find(claims({"fig2": found}), "violates fairness")
    assert claim.verdict == "contradicted"
    assert claim.note.endswith("at smoke scale; the claim is about the paper's")


def claim_with(p_value: float, verdict: str = "holds", runs: int = 10) -> Claim:
    return AGREEING[0]._replace(p_value=p_value, verdict=verdict, holm="", runs=runs)


def test_holms_correction() -> None:
    """By hand, 0.05 over 4, 3, 2, 1: the third fails, and with it the fourth."""
    p_values = [0.04, 0.0125, 0.016, 0.026]
    found = corrected([claim_with(p) for p in p_values])
    assert [claim.holm for claim in found] == [UNDECIDED, "holds", "holds", UNDECIDED]
    known_one = corrected([claim_with(math.nan, runs=0), claim_with(0.05, "contradicted")])
    assert [claim.holm for claim in known_one] == ["holds", "contradicted"]


def test_p_values_are_where_the_interval_begins_to_decide() -> None:
    noisy = [made._replace(deviation=0.6) for made in LIKE_PAPER]
    for claim, statement in zip(claims({"fig2": one("fig2", MAB, noisy)}), STATEMENTS, strict=True):
        if claim.verdict != "not run":
            assert (claim.p_value <= 0.05) == (claim.verdict != UNDECIDED), statement.sentence
    assert Rule(low=0).p_value(known(1.0)) == pytest.approx(1e-12, rel=2e-3)
    assert Rule(low=0).p_value(known(0.0)) == 1


def test_looks_are_fixed_and_cost_a_fifth_each() -> None:
    assert looks(10, 200) == [10, 21, 45, 95, 200]
    assert looks(10, 1000) == [10, 32, 100, 316, 1000]
    for first in (1, 2, 3, 5, 10, 20, 40):
        for cap in (*range(first + 4, first + 60), 1000, 10**6):
            found_looks = looks(first, cap)
            assert found_looks[0::4] == [first, cap]
            assert len(found_looks) == LOOKS
            assert all(np.diff(found_looks) > 0), (first, cap)
        with pytest.raises(
            ValueError, match=f"--decide must be a whole number of at least {first + 4}"
        ):
            looks(first, first + 3)
    found = outcomes(LIKE_PAPER, agrees=True)
    once, often = (find(claims(found, looks=n), "the larger the difference") for n in (1, 5))
    assert often.low < once.low
    assert often.p_value == pytest.approx(min(1, 5 * once.p_value))


def test_what_was_decided_stays_so() -> None:
    before = [claim_with(0.001), claim_with(0.3, UNDECIDED), claim_with(0.3, UNDECIDED)]
    now = [
        claim_with(0.4, UNDECIDED, 20),
        claim_with(0.01, "contradicted", 20),
        claim_with(math.nan, "not run", 0),
    ]
    found = settled(before, now)
    assert [claim.verdict for claim in found] == ["holds", "contradicted", UNDECIDED]
    assert [claim.runs for claim in found] == [10, 20, 10]
    assert settled([], now)[0].verdict == UNDECIDED


def few_claims(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    chosen = [one for one in STATEMENTS if any(each in one.sentence for each in words)]
    verdicts = importlib.import_module("fairx.report.claims.verdicts")  # `claims` is a function too
    monkeypatch.setattr(verdicts, "STATEMENTS", chosen)


def test_runs_are_added_until_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference of 200 among 10 runs that are 4,000 apart: the looks after the first tell."""
    few_claims(monkeypatch, "violates fairness", "best reward")
    rng, asked = np.random.default_rng(1), []
    noise = {label: rng.normal(size=(200, 1)) for label in MAB}

    def played(experiment: Experiment) -> Outcome:
        asked.append((experiment.name, experiment.runs))
        made = panel(dict(zip(MAB, LIKE_PAPER, strict=True)), runs=experiment.runs)
        curves = [
            curve._replace(
                results=(
                    curve.result._replace(
                        fairness_regret=curve.result.fairness_regret
                        + 300 * noise[curve.label][: experiment.runs]
                    ),
                )
            )
            for curve in made.curves
        ]
        return Outcome(experiment, (made._replace(curves=tuple(curves)),))

    told: list[Any] = []
    first = one("fig2", MAB, list(LIKE_PAPER)).experiment._replace(runs=RUNS)
    other = first._replace(name="fig1")  # whose claims are not asked for
    outcomes, found = decide([first, other], 200, played, lambda *said: told.append(said))
    assert {claim.verdict for claim in found} == {"holds"}
    assert [claim.runs for claim in found] == [10, asked[-1][1]]
    assert asked[:2] == [("fig2", 10), ("fig1", 10)]
    assert asked[2:] == [("fig2", runs) for runs in looks(10, 200)[1 : len(told)]]
    assert 1 < len(told) < 5
    assert outcomes["fig2"].experiment.runs == asked[-1][1]


def test_runs_are_added_up_to_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    few_claims(monkeypatch, "violates fairness")
    ties = [Made(700, deviation=0.1)] * 6
    (drawn,) = one("fig2", MAB, ties).panels
    asked = []

    def played(experiment: Experiment) -> Outcome:
        asked.append(experiment.runs)
        there = experiment.runs <= 21  # the others are not played, as for --report-only
        return Outcome(experiment, (drawn,) if there else ())

    outcomes, (claim,) = decide([one("fig2", MAB, ties).experiment._replace(runs=10)], 200, played)
    assert asked == [10, 21, 45, 95, 200]
    assert claim.verdict == UNDECIDED
    assert outcomes["fig2"].experiment.runs == 21
