"""`Bandit.act` and `Bandit.learn` from Python among few arms and among 100,000.

    python benchmarks/many_arms_bandit.py [--arms 100 100000] [--rounds 20000]

Microseconds of processor time for one decision and its reward, the least of five passes, after all arms were
pulled once where the policy asks for it.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fairx import Bandit, Exponential, FairXEG, FairXUCB, Uniform

MERIT = Exponential(4.0)
POLICIES: dict[str, Any] = {
    "FairXEG": FairXEG(MERIT, 0.1),
    "FairXUCB": FairXUCB(MERIT, 0.3),
    "Uniform": Uniform(),
}


def play(bandit: Bandit, means: list[float], uniforms: list[float]) -> None:
    """Decide and learn once for each number."""
    for uniform in uniforms:
        decision = bandit.act()
        bandit.learn(decision, float(uniform < means[decision.arm]))


def measured(policy: Any, arms: int, rounds: int) -> tuple[float, float]:
    """Return microseconds a decision and its reward take, and seconds that the first pulls took."""
    rng = np.random.default_rng(0)
    means, bandit = rng.uniform(size=arms).tolist(), Bandit(policy, arms=arms, seed=1)
    play(bandit, means, [0.5] * 50)  # compiles
    begun = time.process_time()
    if policy is POLICIES["FairXUCB"]:
        play(bandit, means, rng.random(arms).tolist())
    first, least = time.process_time() - begun, float("inf")
    for _ in range(5):
        uniforms = rng.random(rounds // 5).tolist()
        begun = time.process_time()
        play(bandit, means, uniforms)
        least = min(least, (time.process_time() - begun) / len(uniforms))
    return least * 1e6, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--rounds", type=int, default=20_000)
    options = parser.parse_args()
    print(f"{'policy':9} {'arms':>8} {'µs':>6} {'ratio':>6} {'first pulls, s':>15}")
    for name, policy in POLICIES.items():
        least = 0.0
        for arms in options.arms:
            took, first = measured(policy, arms, options.rounds)
            least = least or took
            print(f"{name:9} {arms:8} {took:6.2f} {took / least:6.2f} {first:15.2f}", flush=True)


if __name__ == "__main__":
    main()
