"""What fairx computes, as digests: `python tests/digests.py` writes digests.json anew.

A digest changes where a result changes in its last bit. It is to change on purpose alone, with a line
in CHANGELOG.md that says why.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cases import ENVIRONMENTS, MERITS, POLICIES, contexts, name

from fairx import Bandit, FairXLinTS, FairXTS, Logged, Result, environments, simulate

FILE = Path(__file__).parent / "digests.json"
ROUNDS = 300
DIGITS = 11  # of numbers that a library of others adds up, in an order of its own
CHOSEN = [
    policy
    for policy in POLICIES
    if getattr(policy, "merit", MERITS[0]) in MERITS[:1] + MERITS[6:]
    and getattr(policy, "bounds", None) is None  # came later
]
PLAIN = [policy for policy in CHOSEN if "Lin" not in type(policy).__name__]
LINEAR = [policy for policy in CHOSEN if "Lin" in type(policy).__name__]
SEEN = np.abs(contexts(20, 4))


def simulated() -> dict[str, Any]:
    """Return what every policy does in an environment that suits it."""
    pairs = [(policy, ENVIRONMENTS[i % 2]) for i, policy in enumerate(PLAIN)]
    linear = (
        environments.Linear(SEEN, parameter=np.full(5, 0.25), noise_std=0.2),
        environments.Labelled(SEEN, labels=SEEN[:, :, 0] > 0.3, parameter=np.full(5, 0.25)),
    )
    pairs += [(policy, linear[i % 2]) for i, policy in enumerate(LINEAR)]
    return {
        f"{name(policy)} {type(world).__name__}": simulate(
            policy, world, MERITS[0], rounds=ROUNDS, runs=[0, 3], seed=5, checkpoints=7, jobs=1
        )
        for policy, world in pairs
    }


def replayed() -> dict[str, Any]:
    """Return what policies do on a log, with changing pools and with contexts."""
    from fairx.replay import UniformLog, replay

    rng, means = np.random.default_rng(2), np.array([0.2, 0.5, 0.6, 0.8])
    pools = [[0, 1, 2], [1, 3], [3, 0, 2]]
    pool = rng.integers(3, size=3000)
    displayed = np.array([pools[p][rng.integers(len(pools[p]))] for p in pool])
    rewards = (rng.random(3000) < means[displayed]).astype(float)
    users, items = rng.integers(0, 4, (3000, 2)) / 4, rng.integers(0, 4, (4, 2)) / 4
    plain = UniformLog(pools, displayed, rewards, pool, means=means)
    featured = UniformLog(
        pools, displayed, rewards, pool, users, items, means=means, parameter=np.full(4, 0.25)
    )
    chosen = ((PLAIN[0], plain), (PLAIN[2], plain), (LINEAR[1], featured))
    return {
        f"replay {name(policy)}": replay(policy, log, MERITS[0], seed=3, runs=2, rounds=ROUNDS)
        for policy, log in chosen
    }


def acted() -> dict[str, Any]:
    """Return the decisions of bandits whose arms come and go, and their rewards late."""
    found: dict[str, Any] = {}
    for policy, dimension in ((FairXTS(MERITS[0], 1, 0.5), 0), (FairXLinTS(MERITS[0], 1, 0.5), 5)):
        bandit = Bandit(policy, arms=["a", "b", "c"], dimension=dimension, seed=7)
        rows, made = contexts(60, 4) if dimension else np.empty((60, 4, 0)), []
        for t in range(60):
            if t == 20:
                bandit.add_arm("d")
            if t == 40:
                bandit.remove_arm("b")
            offered = bandit.arms if t % 3 else bandit.arms[:2]
            made.append(bandit.act(rows[t, : len(offered)], candidates=offered))
            if t >= 4:
                bandit.learn(made[t - 4], reward=t % 5 / 4)
        found[f"Bandit {name(policy)}"] = [made, bandit.state]
    return found


def from_logs() -> dict[str, Any]:
    """Return an audit and evaluations of a log with changing candidates and missing rewards."""
    from test_audit import MERIT, made

    from fairx.auditing import audit
    from fairx.evaluation import evaluate

    table = made(400, seed=1, unfair=0.3)
    columns = (["decision", "time", "candidates", "arm", "reward", "propensity", "probabilities"],
               ["decision", "time", "candidates", "arm", "reward", "propensity"],
               ["arm", "reward"])  # fmt: skip
    groups = {"ann": "a", "bob": "a", "<dee>": "d"}
    found: dict[str, Any] = {
        f"audit of {len(some)} columns": audit(table[some], MERIT, floor=0.02, groups=groups)
        for some in columns
    }
    rng = np.random.default_rng(4)
    chances = 0.2 + 0.2 * rng.dirichlet(np.ones(4), size=500)  # weights that leave an interval
    arms = np.array([rng.choice(4, p=row) for row in chances])
    each = np.arange(500)
    log = Logged(arms=arms, rewards=rng.normal(size=500), propensities=chances[each, arms],
                 contexts=rng.normal(size=(500, 2)), names=tuple("abcd"))  # fmt: skip
    target = dict(zip("abcd", (0.1, 0.2, 0.3, 0.4), strict=True))
    for estimator in ("ips", "snips", "dm", "dr"):
        for interval in ("normal", "bootstrap"):
            found[f"evaluate {estimator} {interval}"] = evaluate(
                log, target, estimator, interval=interval, seed=3
            )._replace(alpha=0.95)  # a level stood there when the digests were made
    return {key: rounded(value) for key, value in found.items()}


def experimented() -> dict[str, Any]:
    """Return the rows of an experiment: tuned, then tested."""
    from test_experiments import ROUNDS as LONG
    from test_experiments import SMALL

    from fairx.experiments import Rows, conduct, local_player, opened, read

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.toml"
        path.write_text(SMALL.replace(f"rounds = {LONG}", f"rounds = {ROUNDS}"), "utf-8")
        (experiment,) = read(path)
        with opened(Path(folder) / "out", "test", [experiment]) as rows:
            conduct(experiment, rows, local_player(1))
        found = Rows(Path(folder) / "out" / "rows").found
    kept = ("fairness_regret", "reward_regret", "exposure", "pulls", "seed", "run")
    return {
        "experiment": sorted(
            repr([_without_later_settings(row["policy"]), *(plain(row[column]) for column in kept)])
            for row in found.values()
        )
    }


def _without_later_settings(policy: str) -> dict[str, Any]:
    """Return a policy as it was written when the digests were made."""
    settings = json.loads(policy)
    return {name: settings[name] for name in sorted(settings) if name not in ("bounds", "interval")}


def served() -> dict[str, Any]:
    """Return the decisions of a store, folded as their windows close."""
    from test_store import FAIR_LIN_TS, FAIR_TS, FAIR_UCB, Site

    from fairx.store import located

    found: dict[str, Any] = {}
    for policy, dimension in ((FAIR_TS, 0), (FAIR_UCB, 0), (FAIR_LIN_TS, 5)):
        with tempfile.TemporaryDirectory() as folder:
            database = located(f"sqlite:///{folder}/shop.db").writer()
            site = Site(database, policy=policy, dimension=dimension, reward_window_s=1.0)
            made = []
            for t in range(40):
                rows = contexts(40, 3)[t].tolist() if dimension else None
                made.append(site.decide(str(t), None, rows).decision)
                site.reward(str(t), t % 5 / 4, final=True)
                site.now += 1.0
                site.fold()
            database.close()
        found[f"store {policy['kind']}"] = [[m.id, m.arm, m.probabilities.hex()] for m in made]
    return found


def plain(value: Any) -> Any:
    """Return a value as lists, texts and exact numbers; of a result, what it had at first."""
    if isinstance(value, Result):
        value = value[:5]
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype.kind),
            list(value.shape),
            [plain(part) for part in value.ravel().tolist()],
        ]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (float, np.floating)):
        return float(value).hex()
    return value.item() if isinstance(value, np.generic) else value


def rounded(value: Any) -> Any:
    """Return a value with its numbers to as many digits as every machine agrees on."""
    if isinstance(value, np.ndarray):
        return rounded(value.tolist())
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return f"{value:.{DIGITS}g}" if isinstance(value, (float, np.floating)) else value


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    part.__name__: part for part in (simulated, replayed, acted, from_logs, experimented, served)
}


def digests(part: str) -> dict[str, str]:
    """Return the digest of each result of a part."""
    texts = {key: json.dumps(plain(value), sort_keys=True) for key, value in PARTS[part]().items()}
    return {key: hashlib.sha256(text.encode()).hexdigest()[:16] for key, text in texts.items()}


if __name__ == "__main__":
    found = {part: digests(part) for part in PARTS}
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
