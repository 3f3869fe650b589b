"""Slow and obvious: pseudo-rewards by loops over the rows of a log, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from audit_oracle import Row, Setting

from fairx import Affine, Exponential

BETS = [0.95 / 2**i for i in range(16)]
LOOKS = 20


def form(setting: Setting) -> tuple[float, float, float]:
    """Return steepness, offset and exponent for rewards scaled to 0..1."""
    low, high = setting.reward_range
    merit: Any = setting.merit
    if isinstance(merit, Exponential):
        return merit.steepness * (high - low), 0.0, 1.0
    offset = merit.intercept / merit.slope if isinstance(merit, Affine) else merit.offset
    return 0.0, (offset + low) / (high - low), getattr(merit, "exponent", 1.0)


def value(
    setting: Setting, row: Row, arms: Sequence[str], level: float, reward: float
) -> tuple[float, float, float, float]:
    """Return a group's value and counter for a scaled reward, its part, and the decision's level."""
    steepness, offset, exponent = form(setting)
    names, chances = row["candidates"], row["probabilities"]
    rest = 1 - len(names) * setting.floor
    parts = [max((chance - setting.floor) / rest, 1e-12) for chance in chances]
    if steepness:
        toward, start = [1.0] * len(parts), [math.log(part) / steepness for part in parts]
    else:
        toward, start = [part ** (1 / exponent) for part in parts], [-offset] * len(parts)
    total = sum(c * d for c, d in zip(chances, toward, strict=True))
    there = [i for i, part in enumerate(parts) if part > 1e-12]
    low = max(-start[i] / toward[i] for i in there)
    high = min((1 - start[i]) / toward[i] for i in there)
    guess = (level - sum(c * k for c, k in zip(chances, start, strict=True))) / total
    guess = (low + high) / 2 if low > high else min(max(guess, low), high)
    means = [k + guess * d for k, d in zip(start, toward, strict=True)]
    far = [max(abs(m), abs(1 - m)) for m in means]
    inside = [name in arms for name in names]
    at = names.index(row["arm"])
    share = sum(c * d / total for c, d, i in zip(chances, toward, inside, strict=True) if i)
    own = max(f for f, i in zip(far, inside, strict=True) if i)
    others = max((f for f, i in zip(far, inside, strict=True) if not i), default=1.0)
    bound = max((1 - share) * own, share * others)
    found = (inside[at] - share) * (reward - means[at]) / bound
    if steepness:
        counter = share * (1 - share) / bound
    elif inside[at]:
        counter = (1 - share) * guess * toward[at] / bound
    else:
        counter = share * (reward - means[at]) / bound
    average = sum(c * m for c, m in zip(chances, means, strict=True))
    part = sum((c - setting.floor) / rest for c, i in zip(chances, inside, strict=True) if i)
    return found, counter, part, average + reward - means[at]


def ordered(setting: Setting) -> list[Row]:
    rows = list(setting.rows)
    return sorted(rows, key=lambda row: row["time"]) if setting.has("time") else rows


def cuts(decisions: int) -> list[tuple[int, int]]:
    """Return the pieces that are judged by one level: 16 decisions or a 16th, to the next look."""
    ends = sorted({round(decisions * i / LOOKS) for i in range(1, LOOKS + 1)} - {0})
    found, done = [], 0
    while done < decisions:
        stop = min(end for end in ends if end > done)
        last = min(done + max(16, done // 16), stop)
        found.append((done, last))
        done = last
    return found


def levels(setting: Setting) -> list[float]:
    """Return the level by which each decision is judged, learned from those before its piece."""
    rows, low, high = ordered(setting), *setting.reward_range
    level, weight, found = 0.5, 1.0, []
    for first, last in cuts(len(rows)):
        found += [level] * (last - first)
        seen = []
        for row in rows[first:last]:
            if row["reward"] is not None:
                reward = (row["reward"] - low) / (high - low)
                seen.append(value(setting, row, [row["arm"]], level, reward)[3])
        kept = weight * 0.5 ** (len(seen) / 500)
        weight = kept + len(seen)
        level = min(max((kept * level + math.fsum(seen)) / weight, 0.0), 1.0)
    return found


def stakes(setting: Setting) -> list[float]:
    steepness, offset, exponent = form(setting)
    lack = (
        -math.log(0.8) / steepness if steepness else (0.8 ** (-1 / exponent) - 1) * (0.5 + offset)
    )
    best = math.log2(0.95 / min(0.95, 2.4 * lack))
    weights = [1 / (1 + (i - best) ** 2) for i in range(16)]
    return [weight / sum(weights) for weight in weights]


def lowest(values: Sequence[float], setting: Setting, error: float, two: bool = False) -> float:
    """Return the sum of means below which the mixture of bets is above 1 / error, by bisection."""
    won = []
    for bet in BETS:
        series = -math.log(1 - bet) - bet
        one = math.fsum(bet * y - series * y**2 for y in values)
        after = series - bet**2 / 2 - bet**3 / 3
        four = math.fsum(
            bet * y - bet**2 / 2 * y**2 + bet**3 / 3 * y**3 - after * y**4 for y in values
        )
        won.append(one if two else max(one, four))

    def refuted(total: float) -> bool:
        logs = [
            math.log(part) + gain - bet * total
            for part, gain, bet in zip(stakes(setting), won, BETS, strict=True)
        ]
        top = max(logs)
        total_won = top + math.log(sum(math.exp(one - top) for one in logs))
        return bool(total_won > -math.log(error))

    low, high = -1e8, 1e8
    for _ in range(200):
        low, high = (
            ((low + high) / 2, high) if refuted((low + high) / 2) else (low, (low + high) / 2)
        )
    return low


def divided(one: float, other: float) -> float:
    if other:
        return one / other
    return math.nan if one == 0 else math.copysign(math.inf, one)


def lacks(setting: Setting, least: Any, most: Any, labels: int) -> tuple[float, float]:
    """Return between what an arm lacks, of values and counters at either end."""
    steepness, offset, _ = form(setting)
    error = setting.alpha / 2 / (labels if labels > 2 else 1)
    part = 1.0 if steepness else 0.9
    low = lowest([v for v, _ in least], setting, part * error)
    high = -lowest([-v for v, _ in most], setting, part * error)
    few = many = math.fsum(c for _, c in least)
    if not steepness:
        scale = 1 + 2 * offset
        few = max(lowest([c for _, c in least], setting, 0.1 * error, two=True), 0.0)
        turned = [-c / scale for _, c in most]
        many = -scale * lowest(turned, setting, 0.1 * error, two=True)
    return divided(low, many if low > 0 else few), divided(high, few if high > 0 else many)


def ratio(setting: Setting, lack: float) -> float | None:
    steepness, _, exponent = form(setting)
    if math.isnan(lack):
        return None
    try:
        left = 1 + lack if 1 + lack >= 1e-9 else 0.0
        found = math.exp(-steepness * lack) if steepness else left**-exponent
    except (OverflowError, ZeroDivisionError):
        return None
    return found if math.isfinite(found) else None


def beside(setting: Setting, arms: Sequence[str]) -> Row:
    """Return what one arm, or one group, had beside the others."""
    low, high = setting.reward_range
    known, least, most, parts = [], [], [], []
    labels = len(setting.arms()) + len(setting.members())
    for row, level in zip(ordered(setting), levels(setting), strict=True):
        if not set(arms) & set(row["candidates"]):
            continue
        if row["reward"] is not None:
            reward = (row["reward"] - low) / (high - low)
            found = value(setting, row, arms, level, reward)
            known.append(found[:2])
            parts.append(found[1] * found[2])
        else:
            ends = [value(setting, row, arms, level, end) for end in (0.0, 1.0)]
            least.append((min(e[0] for e in ends), min(e[1] for e in ends)))
            most.append((max(e[0] for e in ends), max(e[1] for e in ends)))
    lack = lacks(setting, known, known, labels)
    counters = math.fsum(c for _, c in known)
    now = divided(math.fsum(v for v, _ in known), counters) if counters > 0 else math.nan
    part = divided(math.fsum(parts), counters)
    ratios = [ratio(setting, one) for one in (now, lack[1], lack[0])]
    share = [None if one is None else part + (1 - part) * one for one in ratios]
    missing = any(row["reward"] is None for row in setting.rows)
    wide = lacks(setting, known + least, known + most, labels)
    bounds = [ratio(setting, one) for one in (wide[1], wide[0])] if missing else [None, None]
    names = ("beside", "beside_low", "beside_high", "of_share", "of_share_low", "of_share_high")
    accused = "under" if lack[0] > 0 else "over" if lack[1] < 0 else "unclear"
    return {
        **dict(zip(names, (*ratios, *share), strict=True)),
        "beside_least": bounds[0],
        "beside_most": bounds[1],
        "accused": accused,
        "seen": any(v != 0 for v, _ in known),
    }


# Only the propensity of the arm shown is known


def deepest(setting: Setting, size: int, level: float) -> float:
    """Return the most that the value of an arm shown can be below 0, as the audit bounds it."""
    steepness, rest = form(setting)[0], 1 - size * setting.floor
    x = top = min(steepness * max(level, 0.0), 600.0)
    for _ in range(8):
        x = max(top - 1 + rest * math.exp(-x), 0.0)
    return (math.exp(x) / rest - 1) * (1 - rest * math.exp(-x)) / steepness


def kappa(setting: Setting, row: Row, reward: float) -> float:
    """Return what an arm of part 1 would have to bring, at most what a fair pool allows."""
    steepness, size = form(setting)[0], len(setting.candidates(row))
    part = (row["propensity"] - setting.floor) / (1 - size * setting.floor)
    found = reward - math.log(max(part, 1e-12)) / steepness
    return min(found, most_kappa(setting, row))


def most_kappa(setting: Setting, row: Row) -> float:
    steepness, size = form(setting)[0], len(setting.candidates(row))
    return 1 + math.log(1 + (size - 1) * math.exp(steepness)) / steepness


def shown_values(
    setting: Setting, row: Row, arm: str, level: float, ends: tuple[float, float]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return value and counter of either side; the rewards are those if the arm or another was shown."""
    own = row["arm"] == arm
    factor = 1 / row["propensity"] - 1 if own else -1.0
    most, size = most_kappa(setting, row), len(setting.candidates(row))
    under, over = (kappa(setting, row, end) for end in (ends if own else ends[::-1]))
    scale = max(most - level, deepest(setting, size, level))
    return (factor * (under - level) / scale, 1 / scale), (factor * (1 - over / most), 1 / most)


def shown_levels(setting: Setting) -> list[float]:
    rows, (low, high) = ordered(setting), setting.reward_range
    level, weight, found = 0.5, 1.0, []
    for first, last in cuts(len(rows)):
        found += [level] * (last - first)
        seen = [
            kappa(setting, row, (row["reward"] - low) / (high - low))
            for row in rows[first:last]
            if row["reward"] is not None
        ]
        kept = weight * 0.5 ** (len(seen) / 500)
        weight = kept + len(seen)
        level = (kept * level + math.fsum(seen)) / weight
    return found


def shown_beside(setting: Setting, arm: str) -> Row:
    """Return what one arm had beside all arms, itself included."""
    low, high = setting.reward_range
    under, over, lost_under, lost_over = [], [], [], []
    for row, level in zip(ordered(setting), shown_levels(setting), strict=True):
        if arm not in setting.candidates(row):
            continue
        if row["reward"] is not None:
            reward = (row["reward"] - low) / (high - low)
            one, other = shown_values(setting, row, arm, level, (reward, reward))
            under.append(one)
            over.append(other)
        else:
            one, other = shown_values(setting, row, arm, level, (0.0, 1.0))
            lost_under.append(one)
            lost_over.append(other)
    error = setting.alpha / 2 / len(setting.arms())

    def lacks_of(first: Any, second: Any) -> tuple[float, float]:
        return (
            divided(lowest([v for v, _ in first], setting, error), math.fsum(c for _, c in first)),
            divided(
                -lowest([v for v, _ in second], setting, error, two=True),
                math.fsum(c for _, c in second),
            ),
        )

    lack, wide = lacks_of(under, over), lacks_of(under + lost_under, over + lost_over)
    counters = math.fsum(c for _, c in under)
    now = divided(math.fsum(v for v, _ in under), counters) if counters > 0 else math.nan
    offers = sum(arm in setting.candidates(row) for row in setting.rows)
    part = sum(row["arm"] == arm for row in setting.rows) / offers
    ratios = [ratio(setting, one) for one in (now, lack[1], lack[0])]
    missing = any(row["reward"] is None for row in setting.rows)
    bounds = [ratio(setting, one) for one in (wide[1], wide[0])] if missing else [None, None]
    return {
        **dict(zip(("beside", "beside_low", "beside_high"), ratios, strict=True)),
        "of_share": None
        if ratios[0] is None
        else part + (1 - part) * ratios[0] ** (1 / (1 - part)),
        "beside_least": bounds[0],
        "beside_most": bounds[1],
        "accused": "under" if lack[0] > 0 else "over" if lack[1] < 0 else "unclear",
        "seen": part > 0,
    }
