"""Slow and obvious: the rest of an audit, in plain Python on top of `audit_oracle`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

from audit_oracle import (
    NO_GROUP,
    POWERS,
    Row,
    Setting,
    exposure,
    interval,
    line,
    mean_boxes,
    means,
    merits_at,
    rewards_of,
    shares,
    targets,
)
from scipy import stats

MOMENTS = 40


def delta_half(setting: Setting, arm: str) -> float | None:
    """Return half a 95 % interval of a fair share; None beside an arm without rewards."""
    merits, now = merits_at(setting, 1.0), means(setting)
    slopes = dict.fromkeys(merits, 0.0)  # of the share, by the mean of each arm
    for row in setting.rows:
        arms = setting.candidates(row)
        rest = (1 - len(arms) * setting.floor) / len(setting.rows)
        if arm not in arms or not rest:
            continue
        if not all(rewards_of(setting, other) for other in arms):
            return None
        total = sum(merits[other] for other in arms)
        for other in arms:
            part = (arm == other) - merits[other] / total
            slope = setting.merit.log_slope(now[other])
            slopes[other] += rest * merits[arm] / total * part * slope
    variance = 0.0
    for other, slope in slopes.items():
        seen = rewards_of(setting, other)
        if seen:
            spread = sum(reward**2 for reward in seen) / len(seen) - now[other] ** 2
            variance += slope**2 * max(spread, 0.0) / len(seen)
    return stats.norm.ppf(0.975) * math.sqrt(variance)  # type: ignore[no-any-return]


def arm_facts(setting: Setting, arm: str) -> Row:
    """Return what is known of one arm's rewards."""
    rows, seen = [row for row in setting.rows if row["arm"] == arm], rewards_of(setting, arm)
    mean, box, half = means(setting)[arm], mean_boxes(setting)[arm], delta_half(setting, arm)
    fair = shares(setting, merits_at(setting, 1.0))[arm]
    delays = [
        row["reward_time"] - row["time"] for row in rows if row.get("reward_time") is not None
    ]
    known = [
        row["reward_time"] - row["time"]
        for row in rows
        if row.get("reward_time") is not None and row.get("reward") is not None
    ]
    timed = setting.has("reward_time")
    return {
        "rewards": len(seen),
        "missing": len(rows) - len(seen),
        "late": sum(delay > setting.late for delay in delays) if timed else None,
        "delay": sum(known) / len(known) if known else None,
        "mean": mean,
        "mean_low": box[0],
        "mean_high": box[1],
        **{
            name: math.exp(setting.merit.log(at))
            for name, at in (("merit", mean), ("merit_low", box[0]), ("merit_high", box[1]))
        },
        "delta_low": None if half is None else fair - half,
        "delta_high": None if half is None else fair + half,
        "group": setting.groups.get(arm, NO_GROUP) if setting.groups else None,
    }


@cache
def lines(setting: Setting) -> list[Row]:
    return [line(setting, arm, [arm]) for arm in setting.arms()]


def groups(setting: Setting) -> list[Row]:
    return [line(setting, name, arms) for name, arms in setting.members().items()]


def regrets(setting: Setting) -> list[float] | None:
    """Return the regret of each decision, or its estimate from the propensity; None without."""
    merits, found = merits_at(setting, 1.0), []
    for row in setting.rows:
        fair = targets(setting, row, merits)
        if setting.has("probabilities"):
            pairs = zip(row["candidates"], row["probabilities"], strict=True)
            found.append(sum(abs(chance - fair[arm]) for arm, chance in pairs))
        elif setting.has("propensity"):
            found.append(2 * max(0.0, 1 - fair[row["arm"]] / row["propensity"]))
    return found or None


def over_time(setting: Setting) -> list[Row]:
    """Return the mean regret of each stretch of time that has a decision."""
    found = regrets(setting)
    times = [row["time"] for row in setting.rows] if setting.has("time") else [0.0]
    start, each = min(times), (max(times) - min(times)) / MOMENTS
    if found is None or not each:
        return []
    parts: dict[int, list[float]] = {}
    for time, regret in zip(times, found, strict=True):
        parts.setdefault(min(math.floor((time - start) / each), MOMENTS - 1), []).append(regret)
    return [
        {
            "start": start + i * each,
            "stop": start + (i + 1) * each,
            "decisions": len(part),
            "fairness_regret_per_decision": sum(part) / len(part),
        }
        for i, part in sorted(parts.items())
    ]


def gini(values: Sequence[float]) -> float:
    """Return half the mean distance of all pairs, over the mean."""
    pairs = sum(abs(one - other) for one in values for other in values)
    return pairs / (2 * len(values) * sum(values))


def lorenz(values: Sequence[float], points: int) -> list[float]:
    """Return what the least have together, at as many equal steps, on straight lines between."""
    ordered, found = sorted(values), []
    for i in range(points):
        whole, part = divmod(i * len(values) / (points - 1), 1)
        here = ordered[int(whole)] if int(whole) < len(values) else 0.0
        found.append((sum(ordered[: int(whole)]) + part * here) / sum(values))
    return found


def sample_ratio(setting: Setting) -> Row:
    """Return whether shows fit the probabilities, or propensities are too small."""
    arms, number = setting.arms(), len(setting.rows)
    shows = {arm: sum(row["arm"] == arm for row in setting.rows) for arm in arms}
    named, chances = list[str](), list[float]()
    if setting.has("probabilities"):
        expected = {arm: number * exposure(setting, [arm])[0] for arm in arms}
        for arm in arms:
            low, high = interval(shows[arm], number, setting.alpha / len(arms), 0.0, 1.0)
            if not low - 1e-9 <= expected[arm] / number <= high + 1e-9:
                named.append(arm)
        cells = [(shows[arm], expected[arm]) for arm in arms if expected[arm] >= 5]
        small = [(shows[arm], expected[arm]) for arm in arms if expected[arm] < 5]
        cells.append((sum(one for one, _ in small), sum(other for _, other in small)))
        cells = [cell for cell in cells if cell[1] > 0]
        statistic = sum((one - other) ** 2 / other for one, other in cells)
        p_value = stats.chi2.sf(statistic, max(len(cells) - 1, 1))
        return {"p_value": p_value, "mismatched": tuple(named)}
    if not setting.has("propensity"):
        return {"p_value": None, "mismatched": ()}
    for arm in arms:
        offered = sum(arm in setting.candidates(row) for row in setting.rows)
        known = [row["propensity"] for row in setting.rows if row["arm"] == arm]
        spread = max(sum((1 - p) / p**2 for p in known), 1e-12 * offered**2)
        found = stats.norm.cdf((offered - sum(1 / p for p in known)) / math.sqrt(spread))
        chances.append(found * len(arms))
        named += [arm] if chances[-1] < setting.alpha else []
    return {"p_value": min(1.0, *chances), "mismatched": tuple(named)}


def sensitivity(setting: Setting) -> list[Row]:
    """Return verdicts and distance for each power."""
    found = []
    for i, power in enumerate(POWERS):
        counts = Counter(one["verdicts"][i] for one in lines(setting))
        fair = shares(setting, merits_at(setting, power))
        apart = sum(abs(exposure(setting, [arm])[0] - fair[arm]) for arm in fair)
        verdicts = {name: counts[name] for name in ("under", "over", "unclear")}
        found.append({"power": power, **verdicts, "distance": apart})
    return found


def notes(setting: Setting, left_out: int) -> list[str]:
    """Return how each sentence that is due begins."""
    vectors, known = setting.has("probabilities"), setting.has("propensity")
    number = len(setting.rows)
    missing = sum(row["reward"] is None for row in setting.rows)
    unrewarded = sum(not rewards_of(setting, arm) for arm in setting.arms())
    ungrouped = len(setting.members().get(NO_GROUP, []))
    said = (
        (
            left_out,
            f"{left_out} of {number + left_out} rows {'has' if left_out == 1 else 'have'} a problem",
        ),
        (not setting.has("candidates"), "The log does not say which arms were on offer:"),
        (not vectors, "The log does not have the probabilities of all candidates:"),
        (not (vectors or known), "The log has no propensities:"),
        (known and not vectors, "The fairness regret is estimated from the propensities"),
        (not setting.has("time"), "The log has no times:"),
        (missing, f"{missing} {'decision has' if missing == 1 else 'decisions have'} no reward."),
        (unrewarded, f"{unrewarded} {'arm has' if unrewarded == 1 else 'arms have'} no reward."),
        (ungrouped, f"{ungrouped} {'arm has' if ungrouped == 1 else 'arms have'} no group."),
    )
    return [words for holds, words in said if holds]
