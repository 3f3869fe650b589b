"""Several places: fair exposures, draws that have them, exact propensities, optimism with caps."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import oracles
import pytest
from cases import CONVENTIONAL, FAIR, YEAST, contexts, name
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import means, merits
from test_simulation import Softmax

from fairx import UCB, Affine, Exponential, FairXUCB, Uniform, fair_exposure, fair_probabilities
from fairx.compiled import entry, interpreted
from fairx.policies.base import inner_form
from fairx.policies.capped_optimism import VECTORS
from fairx.policies.exposing import deploy_slate, exposer_of
from fairx.policies.optimism import Exact, empty_box, set_interval
from fairx.slates import draw_slate, new_page, place_weights, slate_propensities
from fairx.slates.drawing import draw, fill_propensities
from fairx.slates.places import WHOLE
from fairx.slates.target import MANY, expose, fill_exposures, pool, ready_to_fill, spread

LOGARITHMIC = 1 / np.log2(np.arange(2, 12))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0.5, 0.6], "weights must be not increasing, not 0.6 after 0.5"),
        ([1, -0.5], "weights must be at least 0, not -0.5"),
        ([0, 0], "weights must be positive for the first place, not all 0"),
        ([1, math.nan], "weights must be finite, not nan at"),
        ([math.inf, 1], "weights must be finite, not inf at"),
        ([1e308, 1e308], "weights must have a finite sum, not inf"),
        ([], "weights must be at least one, not none"),
        (0, "weights must be a whole number of at least 1, not 0"),
        (True, "weights must be a whole number of at least 1, not True"),
        (1.5, "weights must be a whole number of at least 1, not 1.5"),
        ("3", "weights must"),
        ([[1, 1]], "weights must have shape"),
        (4, "weights must be at most one for each arm, not 4 for 3 arms"),
        ([1, 1, 1, 0], "weights must be at most one for each arm, not 4 for 3 arms"),
        (10**15, "weights must be at most one for each arm, not 1000000000000000 for 3 arms"),
    ],
)
def test_weights_that_are_none_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fair_exposure(Exponential(1), [0.1, 0.2, 0.3], weights)


def test_more_places_than_memory_are_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="weights must be at most 1000000, not 1000000000000000"):
        draw_slate([1.0], 10**15, rng)
    many = np.full(20_000, 0.5)
    with pytest.raises(ValueError, match="weights must be fewer to draw slates from 20000 arms"):
        draw_slate(many, 10_000, rng)
    np.testing.assert_allclose(fair_exposure(Exponential(0), many, 10_000), 0.5)


@pytest.mark.skipif(interpreted(), reason="compares with compiled code")
def test_exposures_of_very_many_arms_have_the_bits_of_interpreted_ones() -> None:
    means, weights = np.random.default_rng(1).random(MANY + 1), LOGARITHMIC[:4]
    page, out = new_page(weights, means.size, whole=0), np.empty(means.size)
    page.logs[:] = 4 * means
    fill_exposures.interpreted(page, out)
    np.testing.assert_array_equal(fair_exposure(Exponential(4), means, weights), out)


def test_a_number_of_places_stands_for_as_many_ones() -> None:
    np.testing.assert_array_equal(place_weights(3), np.ones(3))
    found = fair_exposure(Exponential(4), YEAST, 3)
    np.testing.assert_array_equal(found, fair_exposure(Exponential(4), YEAST, [1, 1, 1]))


@given(merits(), means())
def test_one_place_has_the_bits_of_fair_probabilities(merit: Any, values: list[float]) -> None:
    found = fair_exposure(merit, values, [1])
    np.testing.assert_array_equal(found, fair_probabilities(merit, values))


@st.composite
def places(draw: Any, most: int) -> list[float]:
    """Weights of 1 to `most` places: equal, falling, with ties, with zeros at the end."""
    sizes = st.sampled_from([1.0, 1.0, 0.63, 0.5, 0.25, 1e-3, 0.0])
    found = sorted(draw(st.lists(sizes, min_size=1, max_size=most)), reverse=True)
    return found if found[0] > 0 else [1.0, *found[1:]]


@st.composite
def hard_problems(draw: Any) -> tuple[list[float], list[float]]:
    """Logarithms of merits over 300 orders of magnitude, with zeros and ties; and weights."""
    some = st.sampled_from([0.0, -1e-9, -0.7, -3.0, -50.0, -690.0, -math.inf])
    any_one = st.one_of(some, st.floats(-690, 0))
    logs = draw(st.lists(any_one, min_size=1, max_size=9))
    return logs, draw(places(len(logs)))


def exposures_of(logs: Any, weights: Any) -> Any:
    found, page = np.array(logs, float), new_page(np.array(weights, float), len(logs))
    out = np.empty(len(logs))
    with np.errstate(all="ignore"):
        expose(found, page, pool(found, page), out)
    return out


@settings(max_examples=150)
@given(hard_problems())
def test_exposures_are_those_of_exact_fractions(problem: Any) -> None:
    logs, weights = problem
    merits = [Fraction(math.exp(log)) if log > -math.inf else Fraction(0) for log in logs]
    if sum(merits[i] > 0 for i in range(len(logs))) < sum(w > 0 for w in weights):
        merits = [merit + Fraction(1, 10**400) for merit in merits]  # those with none are alike
    exact = oracles.fair_exposure(merits, [Fraction(w) for w in weights])
    np.testing.assert_allclose(exposures_of(logs, weights), exact, atol=2e-14, rtol=0)


def test_merits_beyond_the_range_of_numbers_are_told_apart() -> None:
    found = fair_exposure(Exponential(1000), [0.9, 0.10, 0.05, 0.0499], 2)
    np.testing.assert_allclose(found, [1, 1, math.exp(-50), math.exp(-50.1)], rtol=1e-12)


@given(hard_problems())
def test_no_arm_can_have_more_for_its_merit_unless_another_with_less_has_less(problem: Any) -> None:
    """Of two neighbours, exposure per merit falls only where the first ones fill their places."""
    logs, weights = problem
    found, order = exposures_of(logs, weights), np.argsort([-log for log in logs], kind="stable")
    filled = np.cumsum(found[order])[: len(weights)] >= np.cumsum(weights) - 1e-12
    for i in range(len(logs) - 1):
        first, second = order[i], order[i + 1]
        if logs[second] > -math.inf and not (i < len(weights) and filled[i]):
            ratio = math.exp(logs[second] - logs[first])
            assert found[second] == pytest.approx(found[first] * ratio, rel=1e-9, abs=1e-14)


def test_probabilities_stand_for_merits() -> None:
    page, out = new_page(LOGARITHMIC[:5], 14), np.empty(14)
    for steepness in (1, 4, 10):
        p = fair_probabilities(Exponential(steepness), YEAST)
        spread(p, page, out)
        exact = fair_exposure(Exponential(steepness), YEAST, LOGARITHMIC[:5])
        np.testing.assert_allclose(out, exact, atol=1e-14)


@np.errstate(all="ignore")
def drawn(exposures: Any, weights: Any, bits: Any, whole: int = WHOLE) -> tuple[Any, Any, Any]:
    """Return the arms shown, their propensities, and those of all arms at all places."""
    page = new_page(np.array(weights, float), len(exposures), whole)
    page.exposures[:] = exposures
    used = draw(page, len(exposures), np.uint64(bits))
    table = np.zeros((len(exposures), len(weights)))
    fill_propensities(page, len(exposures), table)
    return page.shown[:used], page.propensities[:used], table


@settings(max_examples=150)
@example(([0.0], [1.0]), 0, WHOLE)
@example(([0.0, -math.inf, -math.inf], [1.0, 0.0]), 5, 1)
@given(hard_problems(), st.integers(0, 2**64 - 1), st.sampled_from([1, WHOLE]))
def test_propensities_have_the_exposures_exactly(problem: Any, bits: int, whole: int) -> None:
    logs, weights = problem
    exposures = exposures_of(logs, weights)
    shown, propensities, table = drawn(exposures, weights, bits, whole)
    np.testing.assert_array_equal(table, drawn(exposures, weights, 3, whole)[2])  # IPS has no bias
    np.testing.assert_allclose(table @ weights, exposures, atol=1e-13)
    np.testing.assert_allclose(table.sum(0), 1.0, atol=1e-13)
    assert table.min() >= -1e-15
    assert table.sum(1).max() <= 1 + 1e-13
    assert len({*shown.tolist()}) == len(weights)
    np.testing.assert_array_equal(table[shown, np.arange(len(weights))], propensities)
    assert propensities.min() > 0


def hostile(rng: np.random.Generator) -> tuple[Any, Any]:
    """Logarithms of merits over 300 orders, of 0, with ties and near ties; weights that end in zeros."""
    arms = int(rng.choice([1, 2, 3, 5, 14, 30, 128, 129, 200]))
    k = int(rng.choice([1, arms, max(1, arms - 1), min(arms, 10)]))
    logs = [
        rng.uniform(-690, 690, arms), np.where(rng.random(arms) < 0.5, -math.inf, rng.normal(size=arms)),
        rng.choice([0.0, 1.0], arms), rng.normal(0, 10.0 ** rng.uniform(-15, 0), arms),
        np.full(arms, -math.inf),
    ][rng.integers(5)]  # fmt: skip
    falling = np.sort(rng.random(k))[::-1]
    zeros = np.where(np.arange(k) < max(1, k // 2), falling, 0.0)
    choices = [np.ones(k), falling, zeros, 10.0 ** -np.sort(rng.uniform(0, 300, k))]
    return logs, np.ascontiguousarray(choices[rng.integers(4)])


@pytest.mark.skipif(interpreted(), reason="takes 2,000 draws")
def test_hostile_problems_by_the_thousand() -> None:
    rng = np.random.default_rng(13)
    for _ in range(2000):
        logs, weights = hostile(rng)
        page, exposures = new_page(weights, len(logs), whole=0), np.empty(len(logs))
        page.logs[:] = logs
        ready_to_fill()(page, exposures)
        table = slate_propensities(exposures, weights)
        slate = draw_slate(exposures, weights, rng)
        assert np.abs(table @ weights - exposures).max() < 1e-12 * weights.sum()
        np.testing.assert_allclose(table.sum(0), 1.0, atol=1e-12)
        assert np.unique(slate.arms).size == weights.size
        assert slate.propensities.min() > 0


@pytest.mark.parametrize(("arms", "k"), [(200, 3), (300, 10), (131, 32), (1000, 10)])
@pytest.mark.parametrize("steepness", [0.0, 4.0, 40.0])
def test_rows_that_are_shared_have_the_exposures_exactly(
    arms: int, k: int, steepness: float
) -> None:
    rng = np.random.default_rng(arms + k)
    weights = np.append(LOGARITHMIC, np.full(22, 0.2))[:k]
    exposures = fair_exposure(Exponential(steepness), rng.random(arms), weights)
    shown, propensities, table = drawn(exposures, weights, 7)
    np.testing.assert_array_equal(table, drawn(exposures, weights, 8)[2])
    np.testing.assert_allclose(table @ weights, exposures, atol=1e-13)
    np.testing.assert_allclose(table.sum(0), 1.0, atol=1e-13)
    np.testing.assert_array_equal(table[shown, np.arange(k)], propensities)
    assert np.unique(shown).size == k


def test_fewer_candidates_than_places_use_the_first() -> None:
    slate = draw_slate([1.0, 0.5], [1, 0.5, 0.2], np.random.default_rng(0))
    np.testing.assert_array_equal(slate.arms, [0, 1])
    np.testing.assert_array_equal(slate.propensities, [1, 1])


@pytest.mark.parametrize(
    ("exposures", "message"),
    [
        ([1.2, 0.3], "exposures must be at most 1 for 1 arms together, not 1.2"),
        ([0.5, 0.5], "exposures must have the sum of the weights, 1.5, not 1"),
        ([1.6, -0.1], "exposures must be at least 0, not -0.1"),
    ],
)
def test_exposures_that_no_ranking_has_are_refused(exposures: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_slate(exposures, [1, 0.5], np.random.default_rng(0))


@entry
def draw_many(page, candidates, bits, counts, expected, together, table):  # type: ignore[no-untyped-def]
    """Draw once for each of `bits`: count places and pairs, and add up propensities."""
    for i in range(len(bits)):
        used = draw(page, candidates, bits[i])
        fill_propensities(page, candidates, table)
        for position in range(candidates):
            for place in range(used):
                expected[position, place] += table[position, place]
        for place in range(used):
            counts[page.shown[place], place] += 1
            for other in range(used):
                together[page.shown[place], page.shown[other]] += 1


def many_draws(exposures: Any, weights: Any, rounds: int, whole: int = WHOLE) -> tuple[Any, ...]:
    """Return counts by arm and place, what is expected of them, and counts of pairs."""
    n, k = len(exposures), len(weights)
    page = new_page(np.array(weights, float), n, whole)
    page.exposures[:] = exposures
    bits = np.random.default_rng(1).integers(2**64, size=rounds, dtype=np.uint64)
    counts, expected, together = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, n))
    rest = (counts, expected, together, np.zeros((n, k)))
    run, _ = draw_many.ready((), lambda run, _: run(page, n, bits[:0], *rest))
    run(page, n, bits, *rest)
    return counts, expected, together


@pytest.mark.compiled
@pytest.mark.parametrize("whole", [1, WHOLE])
@pytest.mark.parametrize("weights", [LOGARITHMIC[:3], np.ones(3), np.array([1.0, 0.5, 0.5, 0.0])])
def test_frequencies_are_the_propensities(weights: Any, whole: int) -> None:
    """By chi-square, at a chance of 1e-6: draws are a multinomial at each place. Some are nearly alike."""
    means = np.linspace(0, 1, 30)
    means[26:28] = means[25] * np.array([1 + 1e-6, 1 + 1e-3])
    exposures = fair_exposure(Exponential(4), means, weights)
    counts, expected, _ = many_draws(exposures, weights, 100_000, whole)
    for place in range(len(weights)):
        seen, meant = counts[:, place], expected[:, place]
        common = meant >= 5
        seen = np.append(seen[common], seen[~common].sum())
        meant = np.append(meant[common], meant[~common].sum())
        seen, meant = seen[meant > 0], meant[meant > 0]
        statistic = ((seen - meant) ** 2 / meant).sum()
        assert statistic < stats.chi2.isf(1e-6, len(meant) - 1)


compiled_alone = pytest.mark.skipif(interpreted(), reason="takes 100,000 draws")


@compiled_alone
@pytest.mark.parametrize(("arms", "whole"), [(14, WHOLE), (30, 1)])
def test_no_pair_is_kept_apart(arms: int, whole: int) -> None:
    """If swaps were with the nearest alone, 22 of the 91 pairs of yeast would never be shown together."""
    means = YEAST if arms == 14 else np.linspace(0, 0.75, 30)
    exposures = fair_exposure(Exponential(4), means, 3)
    _, _, together = many_draws(exposures, np.ones(3), 200_000, whole)
    assert together[~np.eye(arms, dtype=bool)].min() > 0


def test_near_equal_arms_have_near_equal_places() -> None:
    """Of two arms of yeast 1 % apart, swaps with the nearest alone show one 58 %, the other 90 %."""
    means, weights = np.append(YEAST, YEAST[11] * 0.99), LOGARITHMIC[:3]
    exposures = fair_exposure(Exponential(4), means, weights)
    table = slate_propensities(exposures, weights)
    a, b = table[11], table[14]
    assert exposures[14] == pytest.approx(exposures[11], rel=0.04)
    np.testing.assert_allclose(a, b, atol=0.06)
    assert a.sum() == pytest.approx(b.sum(), abs=0.04)


@pytest.mark.parametrize("whole", [1, WHOLE])
@pytest.mark.parametrize(("arms", "k"), [(3, 3), (5, 3), (14, 10), (14, 13), (60, 10)])
def test_what_differs_by_a_millionth_is_shown_at_the_same_places(
    arms: int, k: int, whole: int
) -> None:
    """Else, up to 0.99: with three arms on three places the second was never on the last."""
    rng = np.random.default_rng(arms + k)
    for steepness in (0.5, 2.0, 4.0, 10.0):
        means = rng.random(arms)
        means[2] = means[1] * (1 - 1e-6)
        exposures = fair_exposure(Exponential(steepness), means, 1 / np.log2(np.arange(2, k + 2)))
        _, _, table = drawn(exposures, 1 / np.log2(np.arange(2, k + 2)), 1, whole)
        np.testing.assert_allclose(table[1], table[2], atol=0.001)
        np.testing.assert_allclose(
            table @ (1 / np.log2(np.arange(2, k + 2))), exposures, atol=1e-13
        )


def test_chances_are_as_near_as_random_weights_allow() -> None:
    """Of two arms whose means differ by a millionth; 30,000 problems are in benchmarks/slates.py."""
    rng = np.random.default_rng(28760)
    for trial in range(40):
        k = int(rng.integers(2, 9))
        arms, weights = k + trial % 2 * int(rng.integers(6)), np.sort(rng.random(k))[::-1].copy()
        means = rng.random(arms)
        means[1] = means[0] + 1e-6
        exposures = fair_exposure(Exponential(rng.choice([2, 10])), means, weights)
        _, _, table = drawn(exposures, weights, 1)
        least = oracles.least_apart(exposures, weights, 0, 1)
        assert least - 1e-9 < np.abs(table[0] - table[1]).max() < least + 0.003


@pytest.mark.parametrize("scale", [1e-300, 1e-305, 0.3, 1e300])
def test_chances_do_not_depend_on_the_unit_of_weights(scale: float) -> None:
    """Below 1e-300 all were taken to want the same: the first place was shared by who needs it alone."""
    weights = np.array([1, 0.5, 0.2])
    exposures = fair_exposure(Exponential(4), [0.1, 0.5, 0.9, 0.3], scale * weights)
    table = slate_propensities(exposures, scale * weights)
    plain = slate_propensities(exposures / scale, weights)
    np.testing.assert_allclose(table, plain, rtol=1e-9)
    np.testing.assert_allclose(table @ weights, exposures / scale, rtol=1e-9)


def test_a_place_that_one_arm_needs_is_its_own() -> None:
    """Weights leave hardly any room: the chances of two arms that are near must differ."""
    weights = np.array([1, 0.99953, 0.99274, 0.72955, 0.10584])
    exposures = np.array([0.99977, 0.99976, 0.97503, 0.74726, 0.10584])
    _, _, table = drawn(exposures, weights, 1)
    least = oracles.least_apart(exposures, weights, 0, 1)
    assert least > 0.02
    assert np.abs(table[0] - table[1]).max() == pytest.approx(least, abs=1e-9)


def test_what_only_rounding_tells_apart_is_the_same() -> None:
    exposures = np.array([0.5, 0.5 + 1e-15, 0.5 - 1e-15, 0.5, 0.5])
    _, _, table = drawn(exposures, [1.0, 1.0, 0.5], 1)
    np.testing.assert_allclose(table, 0.2, atol=1e-13)


@pytest.mark.parametrize("arms", [3, 5, 129])
def test_equal_arms_have_equal_chances(arms: int) -> None:
    """Their order is drawn, each as likely as another: a propensity is the average over all orders."""
    weights = [1, 0.63, 0.5]
    table = slate_propensities(np.full(arms, sum(weights) / arms), weights)
    np.testing.assert_allclose(table, 1 / arms, rtol=1e-12)


@compiled_alone
@pytest.mark.parametrize(("arms", "whole"), [(3, WHOLE), (5, WHOLE), (40, 1)])
def test_equal_arms_are_seen_alike(arms: int, whole: int) -> None:
    counts, expected, together = many_draws(
        np.full(arms, 2.13 / arms), [1, 0.63, 0.5], 100_000, whole
    )
    statistic = ((counts - expected) ** 2 / expected).sum(0)
    assert (statistic < stats.chi2.isf(1e-6, arms - 1)).all()
    assert together[~np.eye(arms, dtype=bool)].min() > 0


def test_weights_of_inverse_propensity_have_the_mean_1() -> None:
    """Two arms tie: before their chances were averaged, 1 / propensity of one place had the mean 0.5."""
    exposures = fair_exposure(Exponential(1), [0.5, 0.5, 1, 0.3], [1, 0.63, 0.5, 0.1])
    counts, table = np.zeros((4, 4)), slate_propensities(exposures, [1, 0.63, 0.5, 0.1])
    for bits in range(2000):
        shown, propensities, _ = drawn(exposures, [1, 0.63, 0.5, 0.1], bits)
        counts[shown, np.arange(4)] += 1 / propensities
    deviation = np.sqrt((1 / table[table > 0] - 1) / 2000)
    assert (abs(counts[table > 0] / 2000 - 1) < 5.5 * deviation).all()


def test_a_slate_follows_from_its_generator() -> None:
    exposures = fair_exposure(Exponential(2), YEAST, [1, 0.5, 0.5])
    one, two = (draw_slate(exposures, [1, 0.5, 0.5], np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.arms, two.arms)
    np.testing.assert_array_equal(one.propensities, two.propensities)


@pytest.mark.skipif(interpreted(), reason="compares with compiled code")
@pytest.mark.parametrize("arms", [5, 14, 300])
def test_compiled_slates_have_the_bits_of_interpreted_ones(arms: int) -> None:
    rng, weights = np.random.default_rng(arms), LOGARITHMIC[:5]
    exposures = fair_exposure(Exponential(5), rng.random(arms), weights)
    for seed in range(5):
        table = slate_propensities(exposures, weights)
        slate = draw_slate(exposures, weights, np.random.default_rng(seed))
        bits = np.random.default_rng(seed).integers(2**64, dtype=np.uint64)
        shown, propensities, plain = drawn(exposures, weights, bits)
        np.testing.assert_array_equal(slate.arms, shown)
        np.testing.assert_array_equal(slate.propensities, propensities)
        np.testing.assert_array_equal(table, plain)


def filled_box(merit: Any, low: Any, high: Any) -> Any:
    state = empty_box(len(low))
    with np.errstate(all="ignore"):
        for arm in range(len(low)):
            state.pulls[arm], state.reward_sums[arm] = 1.0, (low[arm] + high[arm]) / 2
            set_interval(state, arm, low[arm], high[arm], merit)
    return state


@np.errstate(all="ignore")
def optimistic(merit: Any, low: Any, high: Any, weights: Any) -> tuple[Any, bool]:
    """Return the means that the solver finds, and whether it proved them the best."""
    n, page, state = len(low), new_page(weights, len(low)), filled_box(merit, low, high)
    work, out = np.empty(VECTORS * n), np.empty(n)
    Exact().deploy_on_places(merit, state, np.arange(n), page, work, out)
    np.testing.assert_array_equal(out, fair_exposure(merit, work[:n], weights))
    return work[:n].copy(), page.steps[1] == 1.0


def value(merit: Any, means: Any, weights: Any) -> float:
    return float(fair_exposure(merit, means, weights) @ means)


def test_optimism_about_two_places_is_not_that_about_one() -> None:
    low, high = np.array([1.0, 0, 0]), np.array([1.0, 0.2, 0.2])
    means, proved = optimistic(Exponential(10), low, high, np.ones(2))
    np.testing.assert_array_equal(means, high)
    assert proved
    assert value(Exponential(10), means, np.ones(2)) == pytest.approx(1.2)
    one, _ = optimistic(Exponential(10), low, high, np.ones(1))
    np.testing.assert_array_equal(one, low)


def random_box(rng: Any, arms: int) -> tuple[Any, Any]:
    centre, half = rng.random(arms), rng.random() / np.sqrt(rng.integers(1, 60, arms))
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


@pytest.mark.parametrize("merit", [Exponential(2), Exponential(10), Affine(10, 0.05)], ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_capped_optimism_against_all_corners(merit: Any, k: int) -> None:
    rng, lost = np.random.default_rng(k), []
    for trial in range(8):
        low, high = random_box(rng, 5)
        weights = LOGARITHMIC[:k] if trial % 2 else np.ones(k)
        corners = itertools.product(*zip(low, high, strict=True))
        best = max(value(merit, np.array(m), weights) for m in corners)
        means, proved = optimistic(merit, low, high, weights)
        one, _ = optimistic(merit, low, high, np.ones(1))
        found = value(merit, means, weights)
        assert found >= value(merit, one, weights) - 1e-12
        assert not proved or found > best - 1e-9
        assert value(merit, means, weights) == pytest.approx(
            oracles.places_value(merit, means, weights), abs=1e-12
        )
        lost.append(best - found)
    assert np.mean(np.array(lost) > 1e-9) <= 0.25


@pytest.mark.parametrize("policy", [*FAIR[:7], *CONVENTIONAL], ids=name)
def test_every_policy_has_exposures_that_a_ranking_has(policy: Any) -> None:
    features, rng, weights = contexts()[0], np.random.default_rng(0), np.array([1, 0.6, 0.6])
    state = policy.start(4, 5)
    for _ in range(6):
        found = exposed(policy, state, features, weights, rng)
        slate = draw_slate(found, weights, rng)  # it refuses what no ranking has
        for arm in slate.arms:
            observe_interpreted(policy, state, int(arm), features[arm], float(rng.random() < 0.5))
    one = exposed(policy, state, features, np.ones(1), np.random.default_rng(2))
    alone, (normals, work) = np.empty(4), policy.needs(4, 5)
    numbers = np.random.default_rng(2).standard_normal(normals)
    policy.propose(state, np.arange(4), features, numbers, np.empty(work), alone)
    np.testing.assert_allclose(one, alone, atol=1e-13)


@np.errstate(all="ignore")
def exposed(policy: Any, state: Any, features: Any, weights: Any, rng: Any) -> Any:
    """Return exposures, interpreted."""
    (normals, work), out = policy.needs(4, 5), np.empty(4)
    rest = rng.standard_normal(normals), np.empty(work), new_page(weights, 4), out
    exposer_of(policy).expose_arms(policy, state, np.arange(4), features, *rest)
    return out


@np.errstate(all="ignore")
def observe_interpreted(policy: Any, state: Any, arm: int, context: Any, reward: float) -> None:
    policy.absorb(state, arm, context, reward, np.empty(policy.needs(4, 5)[1]))


@pytest.mark.skipif(interpreted(), reason="compares with compiled code")
@pytest.mark.parametrize("policy", [FAIR[0], FAIR[2], CONVENTIONAL[2]], ids=name)
def test_compiled_exposures_have_the_bits_of_interpreted_ones(policy: Any) -> None:
    features, rng, weights = contexts()[0], np.random.default_rng(0), np.array([1, 0.6, 0.6])
    state = policy.start(4, 5)
    for seed in range(12):
        observe_interpreted(policy, state, seed % 4, features[0], rng.random())
        draws = (np.random.default_rng(seed) for _ in range(2))
        plain = exposed(policy, state, features, weights, next(draws))
        found = deploy_slate(policy, state, np.arange(4), features, weights, next(draws))
        np.testing.assert_array_equal(found, plain)


def test_conventional_policies_rank_by_score() -> None:
    ucb, _, eg = CONVENTIONAL[:3]
    for policy, expected in ((ucb, [0.5, 1, 0, 0]), (eg, [0.4875, 0.9375, 0.0375, 0.0375])):
        state, none = policy.start(4, 0), np.empty((4, 0))
        for arm, reward in enumerate([0.8, 0.9, 0.7, 0.1]):
            observe_interpreted(policy, state, arm, none[0], reward)
        found = exposed(policy, state, none, np.array([1, 0.5]), np.random.default_rng(0))
        np.testing.assert_allclose(found, expected, atol=1e-15)


def test_arms_that_were_never_pulled_are_shown_first() -> None:
    policy = FairXUCB(Exponential(4), width=0.1)
    state, none = policy.start(4, 0), np.empty((4, 0))
    for arm, reward in ((0, 0.2), (2, 0.9)):
        observe_interpreted(policy, state, arm, none[0], reward)
    found = exposed(policy, state, none, np.array([1, 0.5, 0.25]), np.random.default_rng(0))
    np.testing.assert_array_equal(found, [0, 1, 0.25, 0.5])


def test_a_policy_of_others_stands_on_its_probabilities() -> None:
    assert type(exposer_of(inner_form(Uniform()))).__name__ == "ByProbability"
    assert type(exposer_of(FAIR[0])).__name__ == "ByItself"
    assert exposer_of(CONVENTIONAL[2]).epsilon == 0.1


def test_exposures_of_a_policy_of_others() -> None:
    policy, rng = Softmax(4.0), np.random.default_rng(0)
    state, offer = policy.start(4, 0), (np.arange(4), np.empty((4, 0)))
    found = deploy_slate(policy, state, *offer, [1, 0.5], rng)
    np.testing.assert_allclose(found, 0.375, rtol=1e-3)
    state[:] = math.nan
    with pytest.raises(ValueError, match="probabilities must be one for each arm on offer"):
        deploy_slate(policy, state, *offer, [1, 0.5], rng)


class Floored(UCB):
    """One that gives each arm a part of what UCB gives the best."""

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = 1.0 / len(arms)


def test_a_subclass_that_overrides_propose_is_followed() -> None:
    assert type(exposer_of(Floored(0.1))).__name__ == "ByProbability"
    assert type(exposer_of(UCB(0.1))).__name__ == "ByScore"
