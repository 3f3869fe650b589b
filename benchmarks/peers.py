"""One decision at a time from Python, fourteen arms, beside other libraries in the same run."""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Callable

from peer_policies import ARMS, MEANS, MERIT, PEERS, Peer
from problems import yeast
from timing import Task, fastest, number, print_table

import fairx

INSTALL = "pip install --group benchmarks"
WARM_UP = 200  # rounds that are not timed: compiling, and first pulls


def run_peers(shrink: int, passes: int) -> None:
    """Print the time of a decision and its reward, for all that can be imported."""
    reasons = {peer.library: why_not(peer.library) for peer in PEERS}
    tasks = {
        f"{peer.library} {peer.name}": Task(warm(peer), max(100, peer.rounds // shrink))
        for peer in PEERS
        if not reasons[peer.library]
    }
    seconds = fastest(
        tasks, passes, time.process_time
    )  # one thread each, on a machine that may be busy
    rows = []
    for peer in PEERS:
        own = seconds[f"fairx {peer.ours}"]
        found = seconds.get(f"{peer.library} {peer.name}")
        if found is None:
            continue
        ratio = "" if peer.library == "fairx" else number(found / own)
        rows.append([peer.library, peer.name, number(1e6 * found), peer.ours, ratio])
    headers = ("library", "policy", "µs of processor", "ours", "peer / ours")
    print_table("One decision and its reward, from Python (K=14)", headers, rows, texts=2)
    for library, reason in reasons.items():
        if reason:
            print(f"  {library}: skipped ({reason}); {INSTALL}")
    run_whole(shrink, passes)


def run_whole(shrink: int, passes: int) -> None:
    """Print the time of whole simulations, where a library has a compiled loop of its own."""
    if why_not("pymab"):
        return
    tasks = {
        "fairx.simulate, TS": Task(simulate_ours, 2_000_000 // shrink),
        "pymab.Experiment, Bernoulli TS (Rust)": Task(simulate_pymab, 50_000 // shrink),
    }
    seconds = fastest(tasks, passes)
    own = seconds["fairx.simulate, TS"]
    rows = [[name, number(1e9 * found), number(found / own)] for name, found in seconds.items()]
    print_table("Whole simulations (K=14)", ("", "nanoseconds per round", "/ fairx"), rows)


def simulate_ours(rounds: int) -> None:
    world = fairx.environments.Bernoulli(yeast().means)
    fairx.simulate(fairx.TS(1.0, 0.5), world, MERIT, rounds=rounds, seed=1, jobs=1)


def simulate_pymab(rounds: int) -> None:
    pymab = importlib.import_module("pymab")
    policies = importlib.import_module("pymab.policies.thompson_sampling")
    pymab.Experiment(
        environment=pymab.BanditEnvironment(
            means=yeast().means, reward_model=pymab.BernoulliReward()
        ),
        policies={"TS": policies.BernoulliThompsonSamplingPolicy(n_arms=len(ARMS))},
        config=pymab.ExperimentConfig(horizon=rounds, n_replicates=1, seed=1, backend="rust"),
    ).run()


def warm(peer: Peer) -> Callable[[int], object]:
    """Return a loop over a bandit that has already played a while."""
    rng = random.Random(1)
    play = peer.start(lambda arm: float(rng.random() < MEANS[arm]))

    def loop(rounds: int) -> None:
        for _ in range(rounds):
            play()

    loop(WARM_UP)
    return loop


def why_not(library: str) -> str:
    """Return why a library cannot be imported; nothing when it can."""
    try:
        importlib.import_module(library)
    except (ImportError, AttributeError, OSError) as error:  # what broken installations raise
        return f"{type(error).__name__}: {error}"
    return ""
