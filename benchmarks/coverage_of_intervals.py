"""How often intervals hold the value of a policy, over many synthetic logs, and how fast.

python benchmarks/coverage_of_intervals.py    # about a minute; --logs 100 for a tenth
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Bar, print_bars, print_table

from fairx import Exponential, fair_probabilities
from fairx.evaluation import Evaluation, Logged, confidence_sequence, evaluate

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEANS = np.array([0.05, 0.1, 0.2, 0.3, 0.45, 0.6])
LOGGING = np.array([0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
FAIR = fair_probabilities(Exponential(4), MEANS)
VALUE = float(FAIR @ MEANS)
ROWS = 2000
FLOOR = 0.02


def fixed(logs: int, rng: np.random.Generator, logging: Floats) -> list[Logged]:
    """Return logs of a policy that stays the same."""
    arms = rng.choice(MEANS.size, p=logging, size=(logs, ROWS))
    rewards = (rng.random(arms.shape) < MEANS[arms]).astype(float)
    return [Logged(a, r, logging[a]) for a, r in zip(arms, rewards, strict=True)]


def learning(logs: int, rng: np.random.Generator, drift: float) -> tuple[Floats, ...]:
    """Return weights, rewards and the value so far: the logging policy follows its rewards."""
    pulls, sums = np.ones((logs, MEANS.size)), np.full((logs, MEANS.size), 0.3)
    weights, rewards, values = np.empty((3, logs, ROWS))
    each = np.arange(logs)
    for row in range(ROWS):
        shares = np.exp(4 * sums / pulls)
        shares *= (1 - FLOOR * MEANS.size) / shares.sum(axis=1, keepdims=True)
        shares += FLOOR
        arms = (rng.random((logs, 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
        means = MEANS + drift * (1 + np.sin(row / 200))
        reward = rng.random(logs) < means[arms]
        weights[:, row], rewards[:, row] = FAIR[arms] / shares[each, arms], reward
        values[:, row] = FAIR @ means
        pulls[each, arms] += 1
        sums[each, arms] += reward
    return weights, rewards, np.cumsum(values, axis=1) / np.arange(1, ROWS + 1)


def fixed_time(logs: int) -> None:
    """Print the coverage of the intervals for one look."""
    rng = np.random.default_rng(1)
    plain, even = fixed(logs, rng, LOGGING), fixed(logs, rng, np.full(MEANS.size, 1 / MEANS.size))
    weights, rewards, _ = learning(logs, rng, 0.0)
    asked: dict[str, tuple[list[Logged], Callable[[Logged], Evaluation]]] = {
        "IPS, normal": (plain, lambda log: evaluate(log, FAIR, "ips")),
        "SNIPS, normal (delta method)": (plain, lambda log: evaluate(log, FAIR, "snips")),
        "DM, normal (delta method)": (plain, lambda log: evaluate(log, FAIR, "dm")),
        "DR, normal, 5 folds": (plain, lambda log: evaluate(log, FAIR, "dr")),
        "replay of uniform logs, normal": (even, lambda log: evaluate(log, FAIR, "replay", seed=1)),
        "SNIPS, bootstrap, 300 resamples": (
            plain,
            lambda log: evaluate(
                log, FAIR, "snips", interval="bootstrap", resamples=300, seed=1
            ),
        ),
    }  # fmt: skip
    rows, bars = [], []
    for name, (some, ask) in asked.items():
        found = [ask(log) for log in some]
        share = 100 * float(np.mean([one.low <= VALUE <= one.high for one in found]))
        width = float(np.mean([one.high - one.low for one in found]))
        rows.append([name, f"{share:.1f}", f"{width:.4f}"])
        bars += [Bar(f"{name}, %", share, at_least=93), Bar(f"{name}, %", share, at_most=97)]
    means = (weights * rewards).mean(axis=1)
    errors = (weights * rewards).std(axis=1) / np.sqrt(ROWS)
    share = 100 * float(np.mean(np.abs(means - VALUE) <= 1.96 * errors))
    rows.append(
        ["IPS, normal, a logging policy that learns", f"{share:.1f}", f"{3.92 * errors.mean():.4f}"]
    )
    title = f"95 % intervals for one look: {logs} logs of {ROWS} decisions, {MEANS.size} arms"
    print_table(title, ("interval", "holds, %", "width"), rows)
    print_bars(bars)


def every_time(logs: int) -> None:
    """Print how often sequences hold at every look, beside normal intervals looked at as often."""
    rows, bars = [], []
    looks = np.arange(1, ROWS + 1, 2)
    for name, drift, bound in (
        ("a logging policy that learns", 0.0, None),
        ("the same, a bound on weights known", 0.0, float(FAIR.max()) / FLOOR),
        ("the same, and means that drift", 0.1, None),
    ):
        weights, rewards, values = learning(logs, np.random.default_rng(2), drift)
        kept, naive, widths = 0, 0, []
        for w, r, value in zip(weights, rewards, values, strict=True):
            found = confidence_sequence(w, r, weight_bound=bound, looks=looks)
            now = value[looks - 1]
            kept += bool(((found.lows <= now) & (now <= found.highs)).all())
            sums, squares = (np.cumsum((w * r) ** power)[looks - 1] / looks for power in (1, 2))
            error = np.sqrt(np.maximum(squares - sums**2, 0) / looks)
            naive += bool((np.abs(sums - now) <= 1.96 * error)[looks > 200].all())
            widths.append([found.highs[-1] - found.lows[-1], 3.92 * error[-1]])
        ends = np.mean(widths, axis=0)
        shares = [f"{100 * count / logs:.1f}" for count in (kept, naive)]
        rows.append([name, *shares, *(f"{end:.4f}" for end in ends)])
        bars.append(Bar(f"{name}, %", 100 * kept / logs, at_least=95))
    title = f"95 % at all of {looks.size} looks, {logs} logs (normal: looks after 200 decisions)"
    headers = ("log", "sequence holds, %", "normal holds, %", "last width", "of normal")
    print_table(title, headers, rows)
    print_bars(bars)


def speed(decisions: int) -> None:
    """Print how many decisions a second are evaluated."""
    rng = np.random.default_rng(3)
    shares = np.full(20, 0.05)
    arms = rng.integers(20, size=decisions)
    rewards = (rng.random(decisions) < 0.1 + arms / 40).astype(float)
    log = Logged(arms, rewards, shares[arms])
    target = fair_probabilities(Exponential(4), np.arange(20) / 20)
    rows = []
    for estimator in ("ips", "snips", "dm", "dr", "replay"):
        start, used = time.perf_counter(), time.process_time()
        evaluate(log, target, estimator)
        passed, used = time.perf_counter() - start, time.process_time() - used
        rates = [f"{decisions / each / 1e6:.2f}" for each in (passed, used)]
        rows.append([estimator, *rates])
    headers = ("estimator", "million decisions/s", "of CPU time")
    print_table(f"Speed: {decisions:,} decisions of 20 arms, one process", headers, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=1000)
    options = parser.parse_args()
    fixed_time(options.logs)
    every_time(options.logs)
    speed(1_000_000)
