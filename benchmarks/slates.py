"""Slates: exactness, optimism with caps against all corners, and speed beside a sort and the nearest way.

python benchmarks/slates.py [exact] [near] [corners] [early] [speed] [public]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from problems import Floats, yeast
from scipy import optimize
from timing import Bar, Task, fastest, number, print_bars, print_table

import fairx
from fairx.compiled import entry
from fairx.numerics.streams import word
from fairx.policies.capped_optimism import VECTORS, optimistic_means, promise_blocks
from fairx.policies.optimism import Box, empty_box, set_interval
from fairx.policies.peaks import peak_means
from fairx.slates import new_page
from fairx.slates.drawing import draw, fill_propensities
from fairx.slates.places import WHOLE
from fairx.slates.target import expose, pool, spread

sys.path.insert(0, "tests")
from oracles import least_apart

PASSES = 100
SIZES = ((14, 3), (100, 10), (1000, 10), (100_000, 10))
KEY = np.uint64(7)
SAME = 1e-9  # two values that differ by less are one

MakeBox = Callable[[Any, np.random.Generator, int], Box]
NEAR = 0.001  # chances at a place that differ by less are near
WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "equal": lambda _, k: np.ones(k),
    "logarithmic": lambda _, k: weights_of(k, 1),
    "uniform, sorted": lambda rng, k: np.sort(rng.random(k))[::-1].copy(),
}


def main() -> None:
    chosen = sys.argv[1:] or list(STEPS)
    for step in chosen:
        STEPS[step]()


def weights_of(places: int, kind: int) -> Floats:
    """Return equal weights, or those that fall by the logarithm of the place."""
    return (1 / np.log2(np.arange(2, places + 2))) ** (kind % 2)


@entry
def one_problem(page, logs, bits, table):  # type: ignore[no-untyped-def]
    """Write exposures, a slate, and the whole table."""
    n = len(logs)
    expose(logs, page, pool(logs, page), page.exposures[:n])
    draw(page, n, bits)
    fill_propensities(page, n, table)


def run_exact(problems: int = 10_000) -> None:
    """Print how far the marginals are from the target, over random problems of all kinds."""
    rng, worst, bundled = np.random.default_rng(0), np.zeros(3), 0
    start = new_page(np.ones(1), 1), np.zeros(1), np.uint64(0), np.zeros((1, 1))
    run, _ = one_problem.ready((), lambda run, _: run(*start))
    for trial in range(problems):
        n = int(rng.integers(1, 30 if trial % 10 else 400))
        k = max(1, min(n - trial % 2, int(rng.integers(1, 12))))
        logs = -rng.choice([0.1, 1, 6, 690]) * rng.random(n)
        logs[rng.random(n) < (trial % 3 == 0) * 0.3] = -np.inf
        weights = weights_of(k, trial) * np.where(np.arange(k) > 0, rng.random(k) > 0.05, 1)
        weights = np.sort(weights)[::-1].copy()
        page, table = new_page(weights, n), np.zeros((n, k))
        run(page, logs, rng.integers(2**64, dtype=np.uint64), table)
        bundled += n > page.order.size
        found = abs(table @ weights - page.exposures).max(), abs(table.sum(0) - 1).max()
        worst = np.maximum(worst, [*found, -table.min()])
    print(
        f"\nExactness: {problems:,} random problems, {bundled:,} of them with rows that are shared\n"
    )
    off, columns, below = worst
    print(f"  table @ weights - target {off:.1e}, columns - 1 {columns:.1e}, below 0 {below:.1e}")
    print_bars([Bar("marginals / 1e-12", max(worst) / 1e-12, at_most=1)])


def run_near(problems: int = 10_000) -> None:
    """Print how far chances at places are apart of two arms whose means differ by a millionth.

    Where they are far apart a linear program tells how near they could be, for these exposures.
    """
    rng, rows, over = np.random.default_rng(5), [], []
    start = new_page(np.ones(1), 1), np.zeros(1), np.uint64(0), np.zeros((1, 1))
    run, _ = one_problem.ready((), lambda run, _: run(*start))
    for label, weigh in WEIGHTS.items():
        found = []
        for _ in range(problems):
            k = int(rng.integers(2, 12))
            means = rng.random(max(k, int(rng.choice([3, 5, 14, 30, 60, 100, 300]))))
            means[1] = means[0] + 1e-6
            page, table = new_page(weigh(rng, k), means.size), np.zeros((means.size, k))
            run(
                page,
                rng.choice([0.5, 2, 4, 10]) * means,
                rng.integers(2**64, dtype=np.uint64),
                table,
            )
            found.append(abs(table[0] - table[1]).max())
            if found[-1] > NEAR:
                over.append(found[-1] - least_apart(page.exposures, page.weights, 0, 1))
        cells = (*np.quantile(found, [0.5, 0.99, 1]), np.mean(np.array(found) > NEAR))
        rows.append([label, *(f"{cell:.1g}" for cell in cells[:3]), f"{cells[3]:.2%}"])
    heads = ("weights", "median", "99 %", "most", f"over {NEAR}")
    print_table(f"Chances of two near arms, apart; {problems:,} problems each", heads, rows)
    print_bars([Bar("over the least possible, thousandths", 1000 * max(over), at_most=5)])


@entry
def solve_box(merit, state, arms, page, work, found):  # type: ignore[no-untyped-def]
    """Write what blockwise Dinkelbach, one-place optimism and the best corner promise; and the proof."""
    n = len(arms)
    means, levels = work[:n], work[n : 2 * n]
    found[0], proved = optimistic_means(merit, state, arms, PASSES, page, work[n:], means)
    found[3] = 1.0 if proved else 0.0
    peak_means(merit, state, arms, PASSES, levels, means)
    found[1] = promise_blocks(merit, means, page, levels)
    found[2] = found[1]
    for corner in range(1 << n):
        for arm in range(n):
            means[arm] = state.high[arm] if (corner >> arm) & 1 else state.low[arm]
        found[2] = max(found[2], promise_blocks(merit, means, page, levels))


def random_box(merit: Any, rng: np.random.Generator, arms: int) -> Box:
    """Return intervals of arms that were pulled 1 to 60 times."""
    mean, half = rng.random(arms), rng.random() / np.sqrt(rng.integers(1, 60, arms))
    return box_of(merit, np.maximum(mean - half, 0), np.minimum(mean + half, 1))


def early_box(merit: Any, rng: np.random.Generator, arms: int) -> Box:
    """Return the intervals of width 1 of the first rounds, which are wider than rewards."""
    mean, half = 0.8 * rng.random(arms), 1 / np.sqrt(rng.integers(1, 25, arms))
    return box_of(merit, mean - half, mean + half)


def box_of(merit: Any, low: Floats, high: Floats) -> Box:
    """Return a box with these ends."""
    box = empty_box(low.size)
    box.pulls[:], box.reward_sums[:] = 1, (low + high) / 2
    for arm in range(low.size):
        set_interval(box, arm, low[arm], high[arm], merit)
    return box


def run_corners() -> None:
    """Print how often the capped optimistic step is the best corner, and how often it is proved."""
    merits = (fairx.Exponential(2), fairx.Exponential(10), fairx.Affine(10, 0.05))
    print_corners("Optimism with caps", merits, (2, 3), random_box, least=98)


def run_early() -> None:
    """Print the same for boxes as wide as in the first rounds."""
    merits = fairx.Exponential(4), fairx.Exponential(10)
    print_corners("Optimism with caps, first rounds", merits, (3, 5), early_box, least=0)


def print_corners(
    name: str, merits: Sequence[Any], places: Sequence[int], make: MakeBox, least: float
) -> None:
    """Print what the capped step is beside all corners, for random boxes, and whether `least` % are best."""
    rng, rows, bars, problems, arms = np.random.default_rng(1), [], [], 1000, 8
    for merit in merits:
        for k in places:
            boxes = (make(merit, rng, arms) for _ in range(problems))
            found = np.array([solved(merit, box, k, trial) for trial, box in enumerate(boxes)])
            best = (found[:, 0] > found[:, 2] - SAME).mean()
            lost = (found[:, 2] - found[:, 0]).max()
            below = (found[:, 0] < found[:, 1] - SAME).sum()
            one = (found[:, 1] > found[:, 2] - SAME).mean()
            wrong = ((found[:, 3] > 0) & (found[:, 0] < found[:, 2] - SAME)).sum()
            cells = [f"{best:.1%}", f"{found[:, 3].mean():.1%}", f"{lost:.1e}", f"{one:.1%}"]
            rows.append([f"{merit}, {k} places", *cells])
            bars.append((best, below, wrong))
    title = f"{name}, K = {arms}, {problems:,} problems each"
    heads = ("problem", "best", "proved", "most lost", "one-place way best")
    print_table(title, heads, rows)
    print_bars(
        [
            Bar("best, of all corners, %, at least", 100 * min(b[0] for b in bars), at_least=least),
            Bar("below the one-place way", sum(b[1] for b in bars), at_most=0),
            Bar("proved, yet not the best", sum(b[2] for b in bars), at_most=0),
        ]
    )


def solved(merit: Any, box: Box, k: int, trial: int) -> Floats:
    """Return what three ways promise for one box, and whether the first was proved."""
    arms = box.low.size
    page, found = new_page(weights_of(k, trial), arms), np.zeros(4)
    rest = np.arange(arms), page, np.empty(VECTORS * arms), found
    run, low = ready_box(merit, box, rest)
    run(low, box, *rest)
    return found


_ready: dict[str, Any] = {}


def ready_box(merit: Any, box: Box, rest: Any) -> Any:
    """Compile once for each merit."""
    if repr(merit) not in _ready:
        run, (low,) = solve_box.ready((merit,), lambda run, low: run(*low, box, *rest))
        _ready[repr(merit)] = run, low
    return _ready[repr(merit)]


@entry
def make_slates(page, probabilities, rounds):  # type: ignore[no-untyped-def]
    """Make the exposures, a slate and its propensities, from the probabilities of a policy."""
    n = probabilities.shape[1]
    for t in range(rounds):
        spread(probabilities[t % len(probabilities)], page, page.exposures[:n])
        draw(page, n, word(KEY, t))


def slates_of(arms: int, k: int, kind: int, steepness: float, whole: int = WHOLE) -> Any:
    """Return a function that makes so many slates."""
    rng = np.random.default_rng(arms)
    rows = [
        fairx.fair_probabilities(fairx.Exponential(steepness), rng.random(arms)) for _ in range(50)
    ]
    page, found = new_page(weights_of(k, kind), arms, whole), np.array(rows)
    run, _ = make_slates.ready((), lambda run, _: run(page, found, 0))
    return lambda rounds: run(page, found, rounds)


def run_speed() -> None:
    """Print what a slate takes, beside a sort of 1,000 numbers by NumPy."""
    numbers = np.random.default_rng(0).random((200, 1000))
    tasks = {"np.sort of 1,000 numbers": Task(lambda n: [np.sort(row) for row in numbers[:n]], 200)}
    for arms, k in SIZES:
        for steepness in (4, 10):
            name = f"K = {arms:,}, {k} places, c = {steepness}"
            tasks[name] = Task(slates_of(arms, k, 1, steepness), max(10, 200_000 // arms))
    tasks["a row for each of 1,000"] = Task(slates_of(1000, 10, 1, 4, whole=1000), 50)
    found = fastest(tasks, 15, clock=time.process_time)
    sort = found["np.sort of 1,000 numbers"]
    rows = [[name, number(1e6 * time), number(time / sort)] for name, time in found.items()]
    print_table("Target, draw and propensities: microseconds", ("what", "each", "/ sort"), rows)
    large = max(found[name] for name in found if name.startswith("K = 1,000,"))
    print_bars([Bar("K = 1,000, 10 places / sort", large / sort, at_most=2)])


def target_by_slsqp(merits: Floats, places: int) -> Floats:
    """Return inclusion probabilities nearest to proportional ones, as a general solver finds them."""
    wanted = places * merits / merits.sum()
    found = optimize.minimize(
        lambda x: ((x - wanted) ** 2).sum(),
        np.full(merits.size, places / merits.size),
        jac=lambda x: 2 * (x - wanted),
        method="SLSQP",
        bounds=[(0, 1)] * merits.size,
        constraints=[{"type": "eq", "fun": lambda x: x.sum() - places, "jac": np.ones_like}],
    )
    return np.asarray(np.clip(found.x, 0, 1))


def rounded(exposures: Floats, rng: np.random.Generator) -> Floats:
    """Return a set with these inclusion probabilities, by dependent rounding of pairs."""
    x = exposures.copy()
    while True:
        left = np.flatnonzero((x > 1e-9) & (x < 1 - 1e-9))
        if left.size < 2:
            return np.round(x)
        i, j = left[:2]
        up, down = min(1 - x[i], x[j]), min(x[i], 1 - x[j])
        step = up if rng.random() < down / (up + down) else -down
        x[i], x[j] = x[i] + step, x[j] - step


def run_public() -> None:
    """Print what a round takes that solves for the target and rounds it, in SciPy and NumPy."""
    rng, problem = np.random.default_rng(0), yeast()
    merits = np.exp(problem.steepness * problem.means)

    def play(rounds: int) -> None:
        for _ in range(rounds):
            rounded(target_by_slsqp(merits, 3), rng)

    ours = "fairx: exposures, slate, propensities"
    tasks = {
        ours: Task(slates_of(14, 3, 0, 10), 20_000),
        "SLSQP, dependent rounding": Task(play, 20),
    }
    found = fastest(tasks, 9, clock=time.process_time)
    rows = [[name, number(1e6 * time), number(time / found[ours])] for name, time in found.items()]
    print_table(
        "One round, K = 14, three equal places: microseconds", ("way", "each", "/ fairx"), rows
    )
    theirs = found["SLSQP, dependent rounding"]
    print_bars([Bar("SLSQP and rounding / fairx", theirs / found[ours], at_least=100)])


STEPS = {
    "exact": run_exact,
    "near": run_near,
    "corners": run_corners,
    "early": run_early,
    "speed": run_speed,
    "public": run_public,
}

if __name__ == "__main__":
    main()
