"""How often fair systems are accused while the world moves, and how soon unfair ones are found.

python benchmarks/audit_levels.py levels [RUNS]   # fair at every decision, 25 looks, nominal 5 %
python benchmarks/audit_levels.py hidden [RUNS]   # half of its share, hidden behind drift and contexts
python benchmarks/audit_levels.py broken [RUNS]   # fair logs that break a condition
python benchmarks/audit_levels.py power           # decisions until an arm at 80 % is accused
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

sys.path.insert(0, "tests")
import fair_systems as systems
from fair_systems import Maker, Played, cut, exponential, shifted, spaced

from fairx.auditing.beside import Trial, besides, trial
from fairx.auditing.decisions import part
from fairx.auditing.implied import Decisions, Family
from fairx.auditing.wealth import Running, nothing

EXP4, EXP10 = Family(4.0, 0.0, 1.0, 0.0), Family(10.0, 0.0, 1.0, 0.0)
AFFINE = Family(0.0, 0.1, 1.0, 0.0)
FOUR, TEN = exponential(4), exponential(10)
FAIR: dict[str, tuple[Maker, Family]] = {
    "steady, 2 arms, exp4": (systems.steady(2, FOUR), EXP4),
    "steady, 10 arms, exp10": (systems.steady(10, TEN), EXP10),
    "daily cycle of one mean, exp4": (systems.daily(FOUR), EXP4),
    "daily cycle, half as large": (systems.daily(FOUR, 0.2), EXP4),
    "two contexts, exp4": (systems.contexts(FOUR), EXP4),
    "ten arms walking, exp10": (systems.walking(10, TEN), EXP10),
    "two arms walking, exp4": (systems.walking(2, FOUR), EXP4),
    "waves, 10 arms, exp10": (systems.waves(10, TEN), EXP10),
    "waves, 10 arms, mean + .1": (systems.waves(10, shifted(0.1)), AFFINE),
    "changing candidates, exp10": (systems.pools(10, TEN), EXP10),
    "floor of .02, waves, exp4": (systems.floored(10, FOUR, 0.02), EXP4._replace(floor=0.02)),
}
POWER: dict[str, tuple[Maker, Family, int, float | None, int, int]] = {
    "10 arms, exp4, best": (spaced(10, FOUR), EXP4, 9, None, 20_000, 60),
    "10 arms, exp4, worst": (spaced(10, FOUR), EXP4, 0, None, 90_000, 40),
    "2 arms, exp4, best": (spaced(2, FOUR), EXP4, 1, None, 2_000, 200),
    "2 arms, exp4, worst": (spaced(2, FOUR), EXP4, 0, None, 20_000, 100),
    "10 arms, rewards of sd .1, best": (spaced(10, FOUR), EXP4, 9, 0.1, 4_000, 100),
    "10 arms, mean + .1, best": (spaced(10, shifted(0.1)), AFFINE, 9, None, 20_000, 40),
    "200 arms, exp10, best": (spaced(200, TEN), EXP10, 199, None, 900_000, 5),
}


def running(some: Decisions, arms: int, merit: Family, looks: list[int]) -> Iterator[Running]:
    """Yield the sums at each look, judged by levels as an audit does."""
    found, done = nothing(arms), 0
    for look in looks:
        while done < look:
            last = min(done + min(max(16, done // 16), 4096), look)
            found, done = found.add(part(some, done, last), merit), last
        yield found


def first(played: Played, merit: Family, looks: list[int], arm: int | None) -> float:
    """Return after how many decisions any arm is accused, or that arm of having too little."""
    arms = played.chances.shape[1]
    test: Trial = trial(merit, 0.05, arms)
    for found in running(systems.decisions(played), arms, merit, looks):
        accused = [one.accused for one in besides([found.evidence()], test)]
        if accused[arm] == "under" if arm is not None else set(accused) != {"unclear"}:
            return found.decisions
    return np.inf


def _looks(decisions: int, number: int) -> list[int]:
    found: list[int] = np.unique(np.geomspace(50, decisions, number).astype(int)).tolist()
    return found


def levels(runs: str = "400") -> None:
    for name, (maker, merit) in FAIR.items():
        rng, looks = np.random.default_rng(7), _looks(4000, 25)
        found = [
            first(systems.played(rng, *maker(rng, 4000)), merit, looks, None)
            for _ in range(int(runs))
        ]
        print(f"{name}: {np.isfinite(found).mean():.1%} of {runs} fair runs accused", flush=True)


def hidden(runs: str = "40") -> None:
    for name, (maker, merit) in FAIR.items():
        if merit.floor:
            continue
        rng, looks = np.random.default_rng(8), _looks(20_000, 60)
        found = [
            first(systems.played(rng, *cut(maker, 0, 0.5)(rng, 20_000)), merit, looks, 0)
            for _ in range(int(runs))
        ]
        share, median = np.isfinite(found).mean(), np.median(found)
        print(f"{name}: found in {share:.0%} of {runs}, median after {median:,.0f}", flush=True)


def broken(runs: str = "200") -> None:
    """Break the conditions that pseudo-rewards need."""
    for name, spoil in {
        "a fifth of one arm's zeros lost": _lost,
        "in the order of arrival": _late,
    }.items():
        rng, looks = np.random.default_rng(9), _looks(8000, 25)
        found = []
        for _ in range(int(runs)):
            played = spoil(rng, systems.played(rng, *systems.steady(2, FOUR)(rng, 10_000)))
            found.append(first(played, EXP4, looks, None))
        print(f"{name}: {np.isfinite(found).mean():.0%} of {runs} fair runs accused", flush=True)


def _lost(rng: np.random.Generator, some: Played) -> Played:
    lost = (some.arms == 0) & (some.rewards == 0) & (rng.random(some.arms.size) < 0.2)
    return Played(some.chances[~lost], some.arms[~lost], some.rewards[~lost])


def _late(rng: np.random.Generator, some: Played) -> Played:
    """Successes come at once, failures when they are given up."""
    arrival = np.arange(some.arms.size) + np.where(some.rewards > 0, 0, 3000)
    order = np.argsort(arrival, kind="stable")
    return Played(some.chances[order], some.arms[order], some.rewards[order])


def power(only: str = "") -> None:
    for name, (maker, merit, arm, deviation, decisions, runs) in POWER.items():
        if only not in name:
            continue
        rng, looks = np.random.default_rng(7), _looks(decisions, 150)
        short = cut(maker, arm, 0.8)
        found = [
            first(systems.played(rng, *short(rng, decisions), deviation), merit, looks, arm)
            for _ in range(runs)
        ]
        print(f"{name}: median {np.median(found):,.0f} of {runs} runs", flush=True)


if __name__ == "__main__":
    COMMANDS: dict[str, Callable[..., None]] = {
        "levels": levels, "hidden": hidden, "broken": broken, "power": power,
    }  # fmt: skip
    COMMANDS[sys.argv[1]](*sys.argv[2:])
