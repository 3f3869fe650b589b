"""Line 7 of Algorithm 1 with several places: optimistic means where no arm can have more than a place.

docs/optimism.md has the theorem: where no arm wants another mean, the value is the largest there is.
"""

from __future__ import annotations

from typing import Any

from fairx.compiled import kernel, outlined
from fairx.merit import Merit
from fairx.numerics.elementary import exp
from fairx.slates.places import Page
from fairx.slates.target import pool, ratio, share_places
from fairx.types import Indices, Vector

from .peaks import peak_means

SAME = 1e-12  # a gain that is smaller, relative to what is compared, is rounding
VECTORS = 6  # how many vectors of working memory a search takes


@kernel
def deploy_capped(
    merit: Merit, state: Any, arms: Indices, passes: int, page: Page, work: Vector, out: Vector
) -> None:
    """Write the fair exposures of the most optimistic means; count the step, and if it was proved."""
    means = work[: len(arms)]
    _, proved = optimistic_means(merit, state, arms, passes, page, work[len(arms) :], means)
    page.steps[0] += 1.0
    page.steps[1] += 1.0 if proved else 0.0
    share_places(merit, means, page, out)


@kernel
def optimistic_means(
    merit: Merit, state: Any, arms: Indices, passes: int, page: Page, work: Vector, means: Vector
) -> tuple[float, bool]:
    """Write the most optimistic means found; return their value, and whether it is proved the most.

    The search starts with all arms at the high end. Where it ends at what is not proved the best, it
    starts again from the optimum of one place, and the better end is taken: never below that optimum.
    """
    n = len(arms)
    for position in range(n):
        means[position] = state.high[arms[position]]
    value, proved = climb_blocks(merit, state, arms, passes, page, work[n:], means)
    if not proved:
        again = work[:n]
        peak_means(merit, state, arms, passes, work[n : 2 * n], again)
        other, proved = climb_blocks(merit, state, arms, passes, page, work[n:], again)
        if other > value:
            value = other
            for position in range(n):
                means[position] = again[position]
    return value, proved


@outlined
def climb_blocks(
    merit: Merit, state: Any, arms: Indices, passes: int, page: Page, work: Vector, means: Vector
) -> tuple[float, bool]:
    """Move `means` while what they promise rises; return it, and whether it is proved the most.

    Dinkelbach's method with a level for each block: an arm goes where f(m) (m - level) is largest. If
    all moves together do not raise the value, the first that does so alone is made.
    """
    n = len(arms)
    levels, others, wanted = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    tried = work[3 * n : 4 * n]
    value = promise_blocks(merit, means, page, levels)
    for _ in range(passes):
        if want(merit, state, arms, levels, means, wanted) == 0:
            return value, True
        found = promise_blocks(merit, wanted, page, others)
        for position in range(n):
            tried[position] = wanted[position]
        if not found > value:
            found = move_one(merit, page, value, means, wanted, others, tried)
        if not found > value:
            break
        value = found
        for position in range(n):
            means[position], levels[position] = tried[position], others[position]
    return value, False


@kernel
def promise_blocks(merit: Merit, means: Vector, page: Page, levels: Vector) -> float:
    """Return the expected reward that `means` promise; write the level of each arm, that of its block.

    The level of a block is the reward that it expects for each unit of exposure.
    """
    n = len(means)
    logs = page.logs[:n]
    for position in range(n):
        logs[position] = merit.log(means[position])
    blocks = pool(logs, page)
    last, places, total = blocks - 1, page.starts[blocks], 0.0
    if n > places:
        for position in range(n):
            total += page.shares[position] * means[position]
        total *= ratio(logs[page.top[places - 1]], page.heads[last])
    value = 0.0
    for block in range(last, -1, -1):
        for i in range(page.starts[block], page.starts[block + 1]):
            position = page.top[i]
            total += ratio(logs[position], page.heads[block]) * means[position]
        level = total / page.merits[block]
        for position in range(n if block == last else 0):
            levels[position] = level
        for i in range(page.starts[block], page.starts[block + 1]):
            levels[page.top[i]] = level
        value += page.amounts[block] * level
        total = 0.0
    return value


@kernel
def want(
    merit: Merit, state: Any, arms: Indices, levels: Vector, means: Vector, wanted: Vector
) -> int:
    """Write the mean that each arm would have at its level; return how many are other than now."""
    moves = 0
    for position in range(len(arms)):
        arm, level, now = arms[position], levels[position], means[position]
        peak = merit.peak(state.low[arm], state.high[arm], level)
        wanted[position] = now
        if peak != now:
            gain = exp(merit.log(peak) - merit.log(now)) * (peak - level) - (now - level)
            if gain > SAME * max(abs(peak - level), abs(now - level)):
                wanted[position] = peak
                moves += 1
    return moves


@kernel
def move_one(
    merit: Merit, page: Page, value: float, means: Vector, wanted: Vector, levels: Vector,
    tried: Vector,
) -> float:  # fmt: skip
    """Make the first of the wanted moves that raises the value alone; return the value."""
    for position in range(len(means)):
        tried[position] = means[position]
    for position in range(len(means)):
        if wanted[position] != means[position]:
            tried[position] = wanted[position]
            found = promise_blocks(merit, tried, page, levels)
            if found > value:
                return found
            tried[position] = means[position]
    return value
