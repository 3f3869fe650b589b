"""Replicas side by side in one loop, to see whether it pays to play several runs at once on one core.

    python benchmarks/lanes.py [--rounds 300000]

The body of `simulation.loop.play_rounds`, without measures, for one, two and four runs in turn: round t of
all of them before round t + 1, so that the processor works on one while another waits for its own
numbers. Nanoseconds of processor time for a round of one run, 14 arms; choices are those of `simulate`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import fairx
from fairx.compiled import entry, kernel
from fairx.environments.base import world_of
from fairx.exposure import choose, fair_probabilities
from fairx.numerics.streams import BLOCK, fill_normals, fill_uniforms, streams
from fairx.simulation.tally import Tally, add_round, lead, new_tally

MEANS = np.linspace(0.02, 0.41, 14)
MERIT = fairx.Exponential(4.0)


@kernel
def one_round(
    policy: Any, state: Any, world: Any, keys: Any, tally: Tally, ahead: float, t: int
) -> None:
    """Play a round of one run."""
    row, each = t % BLOCK, tally.normals.size // BLOCK
    if row == 0:
        fill_uniforms(keys[0], t // BLOCK, tally.uniforms[1])
        fill_uniforms(keys[1], t // BLOCK, tally.uniforms[2])
        fill_normals(keys[2], t // BLOCK, each, tally.normals)
    arms, n = world.candidates(0), len(tally.deployed)
    normals, contexts = tally.normals[row * each : (row + 1) * each], world.features[0][:n]
    policy.propose(state, arms, contexts, normals, tally.work, tally.deployed)
    arm = choose(tally.deployed, tally.uniforms[2, row])
    reward = world.pay(0, arm, tally.uniforms[1, row], 0.0)
    policy.absorb(state, arm, contexts[arm], reward, tally.work)
    add_round(tally, n, arms, tally.deployed, tally.fair, tally.means, arm, ahead, reward, t + 1)


@entry
def play(policy, world, a, b, c, d, keys, tallies, ahead, runs, stop):  # type: ignore[no-untyped-def]
    for t in range(stop):
        one_round(policy, a, world, keys[0], tallies[0], ahead, t)
        if runs > 1:
            one_round(policy, b, world, keys[1], tallies[1], ahead, t)
        if runs > 2:
            one_round(policy, c, world, keys[2], tallies[2], ahead, t)
            one_round(policy, d, world, keys[3], tallies[3], ahead, t)


def prepared(policy: Any, rounds: int) -> tuple[Any, Any]:
    """Return new states, and all else that a loop over four runs takes."""
    world: Any = world_of(fairx.environments.Bernoulli(MEANS), np.random.default_rng(0))
    normals, work = policy.needs(14, 0)
    tallies, keys = [], []
    for run in range(4):
        tally: Tally = new_tally(np.array([rounds]), 14, normals, work)
        tally.means[:], tally.fair[:] = MEANS, fair_probabilities(MERIT, MEANS)
        tallies.append(tally)
        found = streams(1, run)
        keys.append((found.reward, found.choice, found.policy))
    states = [policy.start(14, 0) for _ in range(4)]
    ahead = float(lead(tallies[0].fair, tallies[0].means))
    return (policy, world, *states), (tuple(keys), tuple(tallies), ahead)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=300_000)
    rounds = parser.parse_args().rounds
    print(f"{'ns a round of one run':22} {'one':>7} {'two':>7} {'four':>7}")
    for policy in (
        fairx.FairXTS(MERIT, 1.0, 0.5),
        fairx.FairXEG(MERIT, 0.05),
        fairx.FairXUCB(MERIT, 0.1),
    ):
        records, rest = prepared(policy, rounds)
        run, _ = play.ready(records, lambda run, low, rest=rest: run(*low, *rest, 4, 0))
        least = {1: np.inf, 2: np.inf, 4: np.inf}
        for _ in range(4):
            for runs, before in least.items():
                records, rest = prepared(policy, rounds)
                low = play.ready(records, lambda run, low, rest=rest: run(*low, *rest, 4, 0))[1]
                begun = time.process_time()
                run(*low, *rest, runs, rounds)
                took = (time.process_time() - begun) / rounds / runs * 1e9
                least[runs] = min(before, took)
        result = fairx.simulate(
            policy, fairx.environments.Bernoulli(MEANS), MERIT, rounds=rounds, runs=4, seed=1
        )
        same = all((rest[1][i].pulls == result.pulls[i]).all() for i in range(4))
        print(
            f"{type(policy).__name__:22}",
            *(f"{least[n]:7.1f}" for n in least),
            "same pulls" if same else "OTHER",
            flush=True,
        )


if __name__ == "__main__":
    main()
