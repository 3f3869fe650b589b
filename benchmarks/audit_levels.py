"""How often fair systems are accused while the world moves, and how soon unfair ones are found.

python benchmarks/audit_levels.py levels [RUNS] [NAME]  # fair at every decision, 25 looks, nominal 5 %
python benchmarks/audit_levels.py box [RUNS]      # the same by the box, where means stay
python benchmarks/audit_levels.py slates [RUNS]   # fair pages of six or eight arms on three places
python benchmarks/audit_levels.py late [RUNS]     # an arm that enters half-way, no candidates logged
python benchmarks/audit_levels.py hidden [RUNS]   # unfair ones, hidden in contexts, in time, behind drift
python benchmarks/audit_levels.py broken [RUNS]   # fair logs that break a condition
python benchmarks/audit_levels.py weak [RUNS]     # propensities of the arms shown alone
python benchmarks/audit_levels.py once [RUNS]     # a single look
python benchmarks/audit_levels.py strata [RUNS]   # the box, as it is and hour by hour
python benchmarks/audit_levels.py power           # decisions until an arm at 80 % is accused

Each row is kept in results/audit_levels.json once it is done, and not computed again: remove the file to begin anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, "tests")
import fair_systems as systems
from fair_systems import Maker, Played, cut, exponential, shifted, spaced

from fairx import Affine, Exponential, fair_probabilities
from fairx.auditing import audit
from fairx.auditing.beside import Trial, besides, trial
from fairx.auditing.beside import once as at_once
from fairx.auditing.chosen import Shown, nothing_shown
from fairx.auditing.decisions import Look, part
from fairx.auditing.families import Family, family
from fairx.auditing.implied import Decisions
from fairx.auditing.lines import lines
from fairx.auditing.merits import estimated
from fairx.auditing.once import Look as Declared
from fairx.auditing.shares import Pools
from fairx.auditing.slates.pages import Slates
from fairx.auditing.slates.running import SlateJudge, no_slates
from fairx.auditing.wealth import Running, nothing

EXP4, EXP10 = Family(4.0, 0.0, 1.0, 0.0), Family(10.0, 0.0, 1.0, 0.0)
AFFINE = Family(0.0, 0.1, 1.0, 0.0)
FOUR, TEN = exponential(4), exponential(10)
Plays = Callable[[np.random.Generator, int], Iterator[Played]]  # so many runs
ROUNDS, KEPT = 4000, Path("results") / "audit_levels.json"


def plays(maker: Maker, deviation: float | None = None, missing: float = 0.0) -> Plays:
    """Return runs of a system, of coins or of rewards of a deviation, some of which go missing."""

    def make(rng: np.random.Generator, runs: int) -> Iterator[Played]:
        for _ in range(runs):
            one = systems.played(rng, *maker(rng, ROUNDS), deviation)
            lost = rng.random(ROUNDS) < missing
            yield one._replace(rewards=np.where(lost, np.nan, one.rewards)) if missing else one

    return make


def learning(arms: int, steepness: float) -> Plays:
    """Return runs of FairX-TS while it learns."""
    return lambda rng, runs: iter(systems.learning(rng, runs, ROUNDS, arms, exponential(steepness)))


def answering(answer: str) -> Plays:
    return lambda rng, runs: iter(systems.answering(rng, runs, ROUNDS, FOUR, answer))


STEADY: dict[str, tuple[Plays, Family]] = {
    "steady, 2 arms, exp4": (plays(systems.steady(2, FOUR)), EXP4),
    "steady, 10 arms, exp10": (plays(systems.steady(10, TEN)), EXP10),
    "steady, 10 arms, mean + .1": (plays(systems.steady(10, shifted(0.1))), AFFINE),
    "steady, 200 arms, exp10": (plays(systems.steady(200, TEN)), EXP10),
    "steady, 2 arms, rewards of sd .1": (plays(systems.steady(2, FOUR), 0.1), EXP4),
    "steady, 2 arms, 30 % missing at random": (plays(systems.steady(2, FOUR), None, 0.3), EXP4),
}
MOVING: dict[str, tuple[Plays, Family]] = {
    "daily cycle of one mean, exp4": (plays(systems.daily(FOUR)), EXP4),
    "daily cycle, half as large": (plays(systems.daily(FOUR, 0.2)), EXP4),
    "two contexts, exp4": (plays(systems.contexts(FOUR)), EXP4),
    "one of ten arms wears out, exp4": (plays(systems.wearing(10, FOUR)), EXP4),
    "ten arms walking, exp10": (plays(systems.walking(10, TEN)), EXP10),
    "two arms walking and jumping, exp4": (plays(systems.walking(2, FOUR)), EXP4),
    "waves, 10 arms, exp10": (plays(systems.waves(10, TEN)), EXP10),
    "waves, 10 arms, mean + .1": (plays(systems.waves(10, shifted(0.1))), AFFINE),
    "chances down to 1e-4, 2 arms, exp10": (plays(systems.turns(2, TEN)), EXP10),
    "chances down to 1e-4, 10 arms, exp10": (plays(systems.turns(10, TEN)), EXP10),
    "chances down to 1e-5, 200 arms, exp10": (plays(systems.turns(200, TEN)), EXP10),
}
OTHERS: dict[str, tuple[Plays, Family]] = {
    "changing candidates, exp10": (plays(systems.pools(10, TEN)), EXP10),
    "floor of .02, waves, exp4": (
        plays(systems.floored(10, FOUR, 0.02)), EXP4._replace(floor=0.02)),
    "an adversary sets the means, 2 arms, exp4": (answering("adversarial"), EXP4),
    "arms bore who sees them, 2 arms, exp4": (answering("bored"), EXP4),
    "means follow rewards of before, 2 arms, exp4": (answering("delayed"), EXP4),
    "FairX-TS while it learns, 2 arms, exp4": (learning(2, 4.0), EXP4),
    "FairX-TS while it learns, 5 arms, exp4": (learning(5, 4.0), EXP4),
    "FairX-TS while it learns, 10 arms, exp10": (learning(10, 10.0), EXP10),
}  # fmt: skip
FAIR = STEADY | MOVING | OTHERS
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


def row(command: str, name: str, runs: str, rate: Callable[[], Any]) -> None:
    """Print a row: the one that is kept, or one that is computed now, and kept."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    key = f"{command} {runs}: {name}"
    if key not in kept:
        found = rate()
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept | {key: found}, indent=1) + "\n", "utf-8")
        kept[key] = found
    print(key, kept[key], flush=True)


def levels(runs: str = "400", only: str = "") -> None:
    """Judge fair systems by pseudo-rewards, all or those that are called so."""
    for name, (make, merit) in FAIR.items():
        if only in name:
            row("levels", name, runs, partial(_accused, make, merit, runs))


def _accused(make: Plays, merit: Family, runs: str) -> float:
    looks = _looks(ROUNDS, 25)
    some = make(np.random.default_rng(7), int(runs))
    return float(np.mean([np.isfinite(first(one, merit, looks, None)) for one in some]))


def box(runs: str = "400") -> None:
    """Judge steady arms by the box, with exposure from probabilities and from shows."""
    for arms, merit in (
        (2, Exponential(4)),
        (10, Exponential(10)),
        (10, Affine(1, 0.1)),
        (200, Exponential(10)),
    ):
        for exact in (True, False):
            name = f"steady, {arms} arms, {merit}, {'probabilities' if exact else 'shows'}"
            rate = partial(_boxed, arms, merit, exact, int(runs))
            row("box", name, runs, rate)


def _boxed(arms: int, merit: Any, exact: bool, runs: int) -> float:
    from test_audit import tally_of

    rng, looks, accused = np.random.default_rng(7), _looks(20_000, 25), 0
    for _ in range(runs):
        means, shows, sums, found = (
            rng.uniform(0.2, 0.8, arms),
            np.zeros(arms),
            np.zeros(arms),
            False,
        )
        chances = fair_probabilities(merit, means)
        for rounds in np.diff(looks, prepend=0):
            new = rng.multinomial(rounds, chances)
            shows, sums = shows + new, sums + rng.binomial(new, means)
            tally = tally_of(shows, sums, chances * shows.sum() if exact else None)
            merits = estimated(tally, merit, 0.05 if exact else 0.025, (0.0, 1.0))
            judged = lines(tally, merits, np.arange(arms), tally.arms, 0.025 / arms)
            found |= any(line.verdict != "unclear" for line in judged)
        accused += found
    return accused / runs


PAGES: dict[str, tuple[int, float, Any, Any, bool, float]] = {
    "8 arms, exp2, no cap binds": (8, 0.1, [1, 0.6, 0.5], Exponential(2), False, 0.0),
    "6 arms, exp4, caps bind": (6, 0.45, [1, 0.5, 0.25], Exponential(4), False, 0.0),
    "8 arms, exp2, no cap binds, clicks": (8, 0.1, [1, 0.6, 0.5], Exponential(2), True, 0.0),
    "6 arms, exp4, caps bind, clicks": (6, 0.45, [1, 0.5, 0.25], Exponential(4), True, 0.0),
    "6 arms, exp4, places alike": (6, 0.45, [1, 1, 1], Exponential(4), False, 0.0),
    "6 arms, mean + .1": (6, 0.45, [1, 0.5, 0.25], Affine(1, 0.1), False, 0.0),
    "unfair: 8 arms, exp2, one at half": (8, 0.1, [1, 0.6, 0.5], Exponential(2), False, np.log(2) / 2),
    "unfair: 6 arms, exp4, caps bind, one at half": (
        6, 0.45, [1, 0.5, 0.25], Exponential(4), False, np.log(2) / 4),
}  # fmt: skip


def slates(runs: str = "400") -> None:
    """Judge pages of three places, 800 in all, while means go up and down in waves."""
    for name, settings in PAGES.items():
        row("slates", name, runs, partial(_paged, settings, int(runs)))


def _paged(settings: tuple[int, float, Any, Any, bool, float], runs: int) -> float:
    """Return how many runs have an accused arm at any of 25 looks: the first, where it lacks something."""
    arms, height, weights, merit, clicks, lacks = settings
    form, rng, accused = family(merit, (0.0, 1.0), 0.0), np.random.default_rng(7), 0
    assert form is not None
    judge = SlateJudge(form, 0.0, 1.0, np.zeros(arms, np.int64), 0, clicks)
    for _ in range(runs):
        phase = np.arange(arms) * rng.uniform(0, 6)
        wave = 0.5 + height * np.sin(2 * np.pi * np.arange(400)[:, None] / 400 + phase)
        means = np.tile(wave, (2, 1))
        some = systems.paged(rng, means, weights, merit, lacks, clicks)
        accused += _page_accused(some, judge, slice(0, 1) if lacks else slice(None))
    return accused / runs


def _page_accused(some: Slates, judge: SlateJudge, arms: slice) -> bool:
    number = judge.groups.size
    found, done, test = (
        Look(no_slates(number, 3), None, 0.0),
        0,
        Trial(judge.merit, 0.05 / 2 / number),
    )
    for look in _looks(800, 25):
        while done < look:
            last = min(done + max(16, done // 16), look)
            found, done = judge.add(found, some.part(done, last), 0.0), last
        judged = besides([found.arms.evidence()], test)
        if any(one.accused != "unclear" for one in judged[arms]):
            return True
    return False


def late(runs: str = "400") -> None:
    """Judge three arms of equal merit, the third from half-way, by the whole audit."""
    for known in ("propensities", "nothing but shows"):
        row("late", f"an arm enters half-way, {known}", runs, partial(_late_arm, known, int(runs)))


def _late_arm(known: str, runs: int) -> float:
    rng, accused = np.random.default_rng(7), 0
    looks = np.linspace(ROUNDS / 2, ROUNDS, 26)[1:].astype(int).tolist()
    for _ in range(runs):
        offered = np.where(np.arange(ROUNDS) < ROUNDS / 2, 2, 3)
        table = pd.DataFrame({"arm": rng.integers(offered), "time": np.arange(float(ROUNDS))})
        table["reward"] = (rng.random(ROUNDS) < 0.5).astype(float)
        if known == "propensities":
            table["propensity"] = 1 / offered
        accused += any(
            line.verdict in ("under", "over")
            for look in looks
            for line in audit(table[:look], Exponential(4)).lines
        )
    return accused / runs


def _by_context(chances: Any, means: Any) -> Any:
    """Half of its share before one kind of readers, and so much before the other that sums are fair."""
    first = means[:, 0] > 0.5
    short = (
        0.5 * chances[first, 0].mean() / chances[~first, 0].mean() * first.mean() / (~first).mean()
    )
    return np.where(first, 0.5, np.minimum(1 + short, 0.95 / chances[:, 0]))


def _by_time(chances: Any, means: Any) -> Any:
    """Half of its share in the first half of the log, and what it lacks in the second."""
    return np.where(np.arange(len(chances)) < len(chances) / 2, 0.5, 1.5)


def _at_night(chances: Any, means: Any) -> Any:
    """Half of its share in a third of each day of 1,000 decisions, else fair."""
    return np.where(np.arange(len(chances)) % 1000 < 333, 0.5, 1.0)


HIDDEN: dict[str, tuple[Maker, Family]] = {
    "at half, daily cycle": (cut(systems.daily(FOUR), 0, 0.5), EXP4),
    "at half, two contexts": (cut(systems.contexts(FOUR), 0, 0.5), EXP4),
    "at half, ten arms walking, exp10": (cut(systems.walking(10, TEN), 0, 0.5), EXP10),
    "at half, two arms walking": (cut(systems.walking(2, FOUR), 0, 0.5), EXP4),
    "at half, waves of 10 arms, mean + .1": (cut(systems.waves(10, shifted(0.1)), 0, 0.5), AFFINE),
    "at half, changing candidates, exp10": (cut(systems.pools(10, TEN), 0, 0.5), EXP10),
    "at half in a third of each day, daily cycle": (cut(systems.daily(FOUR), 0, _at_night), EXP4),
    "at half in the first half, 1.5 in the second": (cut(spaced(10, FOUR), 0, _by_time), EXP4),
    "at half before one kind of readers, fair in sum": (cut(systems.contexts(FOUR), 0, _by_context), EXP4),
}  # fmt: skip


def hidden(runs: str = "100") -> None:
    """Judge unfair systems: how many are found after 20,000 decisions, and after how many."""
    for name, (maker, merit) in HIDDEN.items():
        row("hidden", name, runs, partial(_found, maker, merit, int(runs), slice(None)))
    name, (maker, merit) = (
        "the same, those readers alone",
        HIDDEN["at half before one kind of readers, fair in sum"],
    )
    row("hidden", name, runs, partial(_found, maker, merit, int(runs), 0.5))


def _found(maker: Maker, merit: Family, runs: int, above: Any) -> list[float | None]:
    rng, looks, found = np.random.default_rng(8), _looks(20_000, 60), []
    for _ in range(runs):
        chances, means = maker(rng, 20_000)
        if above == 0.5:
            kept = means[:, 0] > above
            chances, means = chances[kept], means[kept]
        some = systems.played(rng, chances, means)
        found.append(first(some, merit, [look for look in looks if look <= len(means)], 0))
    middle = float(np.median(found))
    return [float(np.isfinite(found).mean()), middle if np.isfinite(middle) else None]


def broken(runs: str = "200") -> None:
    """Break the conditions that pseudo-rewards need."""
    for name, spoil in {
        "a fifth of one arm's zeros lost": _lost,
        "in the order of arrival": _late,
        "users of 40 decisions who are shown one arm and reward it alike": _by_user,
        "the same, the first decision of each user (--unit)": _first_of_user,
    }.items():
        row("broken", name, runs, partial(_spoiled, spoil, int(runs)))


def _spoiled(spoil: Callable[[np.random.Generator, Played], Played], runs: int) -> float:
    rng, looks, accused = np.random.default_rng(9), _looks(8000, 25), 0
    for _ in range(runs):
        some = spoil(rng, systems.played(rng, *systems.steady(2, FOUR)(rng, 10_000)))
        looks = [look for look in looks if look <= some.arms.size]
        accused += np.isfinite(first(some, EXP4, looks, None))
    return accused / runs


def _by_user(rng: np.random.Generator, some: Played) -> Played:
    user = np.repeat(np.arange(250), 40)
    return Played(some.chances[user], some.arms[user], some.rewards[user])


def _first_of_user(rng: np.random.Generator, some: Played) -> Played:
    """Return what `--unit` leaves of them: tests compare the two."""
    return Played(some.chances[:250], some.arms[:250], some.rewards[:250])


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
    for name, (make, merit) in FAIR.items():
        if merit.steepness and not merit.floor and "candidates" not in name:
            row("weak", name, runs, partial(_weak_rate, make, merit, int(runs)))


def _weak_rate(make: Plays, merit: Family, runs: int) -> float:
    looks, some = _looks(ROUNDS, 25), make(np.random.default_rng(7), runs)
    return float(np.mean([_weakly_accused(one, merit, looks) for one in some]))


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


def once(runs: str = "400") -> None:
    """Judge fair systems by a single look."""
    for name, (make, merit) in FAIR.items():
        row("once", name, runs, partial(_once_rates, make, merit, int(runs)))


def _once_rates(make: Plays, merit: Family, runs: int) -> dict[str, float]:
    accused = dict.fromkeys(("bonferroni", "bh"), 0)
    for one in make(np.random.default_rng(7), runs):
        arms = one.chances.shape[1]
        (found,) = running(systems.decisions(one), arms, merit, [ROUNDS])
        for correction in accused:
            look = Declared(True, correction)
            test = at_once(found.evidence(), trial(merit, 0.05, arms), 0.05, look)
            judged = besides([found.evidence()], test)
            accused[correction] += any(one.accused != "unclear" for one in judged)
    return {name: number / runs for name, number in accused.items()}


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
        "levels": levels, "box": box, "slates": slates, "late": late, "hidden": hidden, "broken": broken,
        "weak": weak, "once": once, "strata": strata, "power": power,
    }  # fmt: skip
    COMMANDS[sys.argv[1]](*sys.argv[2:])
