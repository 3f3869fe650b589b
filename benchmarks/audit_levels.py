"""How often fair systems are accused while the world moves, and how soon unfair ones are found.

python benchmarks/audit_levels.py levels [RUNS]   # fair at every decision, 25 looks, nominal 5 %
python benchmarks/audit_levels.py hidden [RUNS]   # half of its share, hidden behind drift and contexts
python benchmarks/audit_levels.py broken [RUNS]   # fair logs that break a condition
python benchmarks/audit_levels.py learned [RUNS]  # FairX-TS while it learns
python benchmarks/audit_levels.py weak [RUNS]     # propensities of the arms shown alone
python benchmarks/audit_levels.py once [RUNS]     # a single look
python benchmarks/audit_levels.py strata [RUNS]   # the box, as it is and hour by hour
python benchmarks/audit_levels.py power           # decisions until an arm at 80 % is accused
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

sys.path.insert(0, "tests")
import fair_systems as systems
from fair_systems import Maker, Played, cut, exponential, shifted, spaced

from fairx import Exponential
from fairx.auditing import audit
from fairx.auditing.beside import Trial, besides, trial
from fairx.auditing.beside import once as at_once
from fairx.auditing.chosen import Shown, nothing_shown
from fairx.auditing.decisions import part
from fairx.auditing.implied import Decisions, Family
from fairx.auditing.once import Look
from fairx.auditing.shares import Pools
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


def learned(runs: str = "400") -> None:
    """Judge FairX-TS while it learns."""
    for arms, steepness in ((2, 4.0), (5, 4.0), (10, 10.0)):
        rng, merit = np.random.default_rng(7), EXP4._replace(steepness=steepness)
        played = systems.learning(rng, int(runs), 4000, arms, exponential(steepness))
        found = [first(one, merit, _looks(4000, 25), None) for one in played]
        rate = np.isfinite(found).mean()
        print(f"FairX-TS, {arms} arms, exp{steepness:g}: {rate:.1%} of {runs} accused", flush=True)


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


def weak(runs: str = "400") -> None:
    """Judge fair systems of all arms by the propensities of those shown, at 25 looks."""
    for name, (maker, merit) in FAIR.items():
        if not merit.steepness or merit.floor or "candidates" in name:
            continue
        rng, looks, accused = np.random.default_rng(7), _looks(4000, 25), 0
        for _ in range(int(runs)):
            accused += _weakly_accused(systems.played(rng, *maker(rng, 4000)), merit, looks)
        print(f"{name}: {accused / int(runs):.1%} of {runs} fair runs accused", flush=True)


def _weakly_accused(some: Played, merit: Family, looks: list[int]) -> bool:
    arms, rows = some.chances.shape[1], some.arms.size
    propensities = some.chances[np.arange(rows), some.arms]
    whole = Shown(some.rewards, some.arms, np.zeros(rows, np.int64), propensities)
    found, done, test = nothing_shown(arms, 1), 0, trial(merit, 0.05, arms, among_all=True)
    for look in looks:
        while done < look:
            last = min(done + max(16, done // 16), look)
            found = found.add(whole.rows(slice(done, last)), merit, np.array([float(arms)]))
            done = last
        pools = Pools(np.zeros(arms, np.int64), np.arange(arms), np.array([float(look)]))
        shows = np.bincount(some.arms[:look], minlength=arms).astype(float)
        judged = besides([found.evidence(pools, shows)], test)
        if any(one.accused != "unclear" for one in judged):
            return True
    return False


def once(runs: str = "200") -> None:
    for name, (maker, merit) in FAIR.items():
        rng, accused = np.random.default_rng(7), dict.fromkeys(("bonferroni", "bh"), 0)
        for _ in range(int(runs)):
            played = systems.played(rng, *maker(rng, 6000))
            arms = played.chances.shape[1]
            (found,) = running(systems.decisions(played), arms, merit, [6000])
            for correction in accused:
                test = at_once(
                    found.evidence(), trial(merit, 0.05, arms), 0.05, Look(True, correction)
                )
                judged = besides([found.evidence()], test)
                accused[correction] += any(one.accused != "unclear" for one in judged)
        rates = ", ".join(f"{what} {number / int(runs):.1%}" for what, number in accused.items())
        print(f"{name}: {rates} of {runs} fair runs accused", flush=True)


def strata(runs: str = "40") -> None:
    """Let the box judge daily cycles whose day is 1,000 decisions, without any probabilities."""
    start = pd.Timestamp("2026-01-01")
    for by in (None, "time:hour"):
        rng, accused = np.random.default_rng(7), 0
        for _ in range(int(runs)):
            some = systems.played(rng, *systems.daily(FOUR)(rng, 20_000))
            time = start + pd.to_timedelta(np.arange(20_000) * 86.4, unit="s")
            table = pd.DataFrame({"arm": some.arms, "reward": some.rewards, "time": time})
            found = audit(table, Exponential(4), by=by)
            accused += any(line.verdict in ("under", "over") for line in found.lines)
        print(
            f"box by {by}: {accused / int(runs):.0%} of {runs} fair daily cycles accused",
            flush=True,
        )


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
        "levels": levels, "hidden": hidden, "broken": broken, "weak": weak, "once": once,
        "learned": learned, "strata": strata, "power": power,
    }  # fmt: skip
    COMMANDS[sys.argv[1]](*sys.argv[2:])
