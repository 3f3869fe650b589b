"""Slow and obvious: an audit by loops over the rows of a log, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

POWERS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
NO_GROUP = "(no group)"
Row = dict[str, Any]
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Setting:
    """A log without problems, as rows, and how it is to be judged."""

    rows: Sequence[Row]
    merit: Any
    floor: float = 0.0
    groups: Mapping[str, str] | None = None
    alpha: float = 0.05
    reward_range: Interval = (0.0, 1.0)
    late: float = math.inf
    part: float = 1.0  # of alpha, for means

    def has(self, column: str) -> bool:
        return column in self.rows[0]

    def arms(self) -> list[str]:
        """Return all arms that were shown or on offer."""
        offered = [arm for row in self.rows for arm in row.get("candidates", ())]
        return sorted({row["arm"] for row in self.rows} | set(offered))

    def candidates(self, row: Row) -> list[str]:
        return list(row["candidates"]) if self.has("candidates") else self.arms()

    def propensity(self, row: Row) -> float:
        if self.has("propensity"):
            return float(row["propensity"])
        return float(row["probabilities"][row["candidates"].index(row["arm"])])

    def members(self) -> dict[str, list[str]]:
        """Return the arms of each group."""
        if not self.groups:
            return {}
        found: dict[str, list[str]] = {}
        for arm in self.arms():
            found.setdefault(self.groups.get(arm, NO_GROUP), []).append(arm)
        return dict(sorted(found.items()))


def interval(total: float, count: float, alpha: float, low: float, high: float) -> Interval:
    """Return the always-valid interval of an average: bets at 20 rates either way, by bisection."""
    if not count:
        return low, high
    span = high - low
    scaled = (total - count * low) / span
    rates: list[Interval] = [
        (sign * 8.0 / 2**i, 1 / (i + 1)) for i in range(20) for sign in (1, -1)
    ]
    weight = sum(part for _, part in rates)

    def refuted(mean: float) -> bool:
        logs: list[float] = []
        for rate, part in rates:
            owed = 1 + mean * math.expm1(rate)
            if owed <= 0:
                return scaled > 0
            logs.append(math.log(part / weight) + rate * scaled - count * math.log(owed))
        top = max(logs)
        return top + math.log(sum(math.exp(one - top) for one in logs)) >= math.log(1 / alpha)

    ends = []
    for end in (0.0, 1.0):
        inside, outside = scaled / count, end
        for _ in range(100):
            half = (inside + outside) / 2
            inside, outside = (inside, half) if refuted(half) else (half, outside)
        ends.append(low + span * outside)
    return ends[0], ends[1]


def targets(setting: Setting, row: Row, merits: Mapping[str, float]) -> dict[str, float]:
    """Return what each candidate should have had: the floor, and merit's part of the rest."""
    arms = setting.candidates(row)
    total, rest = sum(merits[arm] for arm in arms), 1 - len(arms) * setting.floor
    return {arm: setting.floor + rest * merits[arm] / total for arm in arms}


def shares(setting: Setting, merits: Mapping[str, float]) -> dict[str, float]:
    """Return the fair share of each arm: the average of its targets over all decisions."""
    found = dict.fromkeys(setting.arms(), 0.0)
    for row in setting.rows:
        for arm, part in targets(setting, row, merits).items():
            found[arm] += part / len(setting.rows)
    return found


def rewards_of(setting: Setting, arm: str) -> list[float]:
    found = [row["reward"] for row in setting.rows if row["arm"] == arm]
    return [reward for reward in found if reward is not None]


@cache
def means(setting: Setting) -> dict[str, float]:
    """Return the mean of each arm; where it has no reward, that of all rewards."""
    every = [row["reward"] for row in setting.rows if row["reward"] is not None]
    each = {arm: rewards_of(setting, arm) for arm in setting.arms()}
    return {arm: math.fsum(r or every) / len(r or every) for arm, r in each.items()}


def bernstein(values: Sequence[float], error: float) -> float:
    """Return a lower end of the mean of values from 0 to 1, by the squares about two centres."""
    mean, bets = sum(values) / len(values), [0.95 / 2**i for i in range(16)]
    weight = sum(1 / (i + 3) for i in range(16))
    below = min(max(math.floor(mean * 16), 0), 15)
    found = 0.0
    for centre in (below / 16, (below + 1) / 16):
        total = math.fsum(x - centre for x in values)
        about = math.fsum((x - centre) ** 2 for x in values)
        low, high = -1e6, 1e6
        for _ in range(100):
            half = (low + high) / 2
            logs = [
                bet * (total - half)
                - (-math.log(1 - bet) - bet) * about
                - math.log((i + 3) * weight)
                for i, bet in enumerate(bets)
            ]
            top = max(logs)
            refuted = top + math.log(sum(math.exp(x - top) for x in logs)) > -math.log(error)
            low, high = (half, high) if refuted else (low, half)
        found = max(found, centre + low / len(values))
    return min(found, mean)


def within(values: Sequence[float], alpha: float, low: float, high: float) -> Interval:
    """Return the better ends of two intervals, with nine tenths of alpha and with one."""
    plain = interval(math.fsum(values), len(values), 0.9 * alpha, low, high)
    if not values:
        return plain
    scaled, error = [(value - low) / (high - low) for value in values], 0.1 * alpha / 2 / 17
    ends = bernstein(scaled, error), 1 - bernstein([1 - value for value in scaled], error)
    spread = [low + (high - low) * end for end in ends]
    return max(plain[0], spread[0]), min(plain[1], spread[1])


@cache
def mean_boxes(setting: Setting) -> dict[str, Interval]:
    """Return the intervals that hold all means at once; shows alone leave half of alpha."""
    alpha = setting.part * setting.alpha / (1 if setting.has("probabilities") else 2)
    arms = setting.arms()
    found = {}
    for arm in arms:
        seen = rewards_of(setting, arm)
        found[arm] = within(seen, alpha / len(arms), *setting.reward_range)
    return found


def exposure(setting: Setting, arms: Sequence[str]) -> tuple[float, float, float]:
    """Return what arms had together: of the probabilities, or of the shows with an interval."""
    number = len(setting.rows)
    if setting.has("probabilities"):
        pairs = [
            pair
            for row in setting.rows
            for pair in zip(row["candidates"], row["probabilities"], strict=True)
        ]
        known = math.fsum(chance for arm, chance in pairs if arm in arms) / number
        return known, known, known
    shows = sum(row["arm"] in arms for row in setting.rows)
    alpha = setting.alpha / 2 / (len(setting.arms()) + len(setting.members()))
    return shows / number, *interval(shows, number, alpha, 0.0, 1.0)


@cache
def wide_boxes(setting: Setting) -> dict[str, Interval]:
    """Return the intervals with each missing reward at either end."""
    alpha = setting.part * setting.alpha / (1 if setting.has("probabilities") else 2)
    arms, (low, high), found = setting.arms(), setting.reward_range, {}
    for arm in arms:
        rewards = [row["reward"] for row in setting.rows if row["arm"] == arm]
        ends = [
            within([end if one is None else one for one in rewards], alpha / len(arms), low, high)
            for end in (low, high)
        ]  # fmt: skip
        found[arm] = (ends[0][0], ends[1][1])
    return found


def fair_interval(
    setting: Setting, arms: Sequence[str], power: float, boxes: dict[str, Interval] | None = None
) -> Interval:
    """Return the least and most that arms can be due together: their merits at one end each."""
    ends = []
    for own, others in ((0, 1), (1, 0)):
        merits = {
            arm: math.exp(power * setting.merit.log(box[own if arm in arms else others]))
            for arm, box in (boxes or mean_boxes(setting)).items()
        }
        found = shares(setting, merits)
        ends.append(sum(found[arm] for arm in arms))
    return ends[0], ends[1]


def divided(one: float, other: float) -> float:
    """Return a ratio: 1 of nothing and nothing, else infinite of something and nothing."""
    return one / other if other else (math.inf if one else 1.0)


def verdict(shown: Interval, fair: Interval) -> str:
    if shown[1] < fair[0] - 1e-9:
        return "under"
    return "over" if shown[0] > fair[1] + 1e-9 else "unclear"


def merits_at(setting: Setting, power: float) -> dict[str, float]:
    return {arm: math.exp(power * setting.merit.log(mean)) for arm, mean in means(setting).items()}


def lost(setting: Setting, arms: Sequence[str]) -> Row:
    """Return the fair shares whatever the missing rewards were, where some are."""
    if all(row["reward"] is not None for row in setting.rows):
        return {"fair_least": None, "fair_most": None}
    least, most = fair_interval(setting, arms, 1.0, wide_boxes(setting))
    return {"fair_least": least, "fair_most": most}


def line(setting: Setting, name: str, arms: Sequence[str]) -> Row:
    """Return one arm's or one group's line."""
    now, low, high = exposure(setting, arms)
    found = shares(setting, merits_at(setting, 1.0))
    fair = sum(found[arm] for arm in arms)
    least, most = fair_interval(setting, arms, 1.0)
    boxes = [fair_interval(setting, arms, power) for power in POWERS]
    return {
        "arm": name,
        "shows": sum(row["arm"] in arms for row in setting.rows),
        "exposure": now,
        "exposure_low": low,
        "exposure_high": high,
        "fair_share": fair,
        "fair_low": least,
        "fair_high": most,
        "difference": now - fair,
        "difference_low": low - most,
        "difference_high": high - least,
        "ratio": divided(now, fair),
        "ratio_low": divided(low, most),
        "ratio_high": divided(high, least),
        **lost(setting, arms),
        "box": verdict((low, high), (least, most)),
        "verdicts": tuple(verdict((low, high), box) for box in boxes),
    }
