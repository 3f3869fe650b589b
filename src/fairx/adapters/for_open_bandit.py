"""A run as the feedback that the Open Bandit Pipeline's estimators read."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx import rules
from fairx.bandit.engine import Engine
from fairx.environments.base import world_of
from fairx.environments.late import delays_of
from fairx.numerics.streams import normals_of_round, streams, uniform
from fairx.policies import Policy
from fairx.simulation.runs import generator_of


def bandit_feedback(
    policy: Policy[Any], environment: Any, *, rounds: int, seed: int
) -> dict[str, Any]:
    """Play run 0 of `simulate`, with the same arms and rewards, and keep every round.

    The names are those of `obp.dataset.BanditFeedback`: `n_rounds`, `n_actions`, `action`, `reward`,
    `pscore` (exact propensities), `position` (None: one place), `context` (of all arms, one after the
    other; None without), `action_context` (None), `expected_reward` (the true means) and `pi_b` (the probabilities of
    all arms, of shape (rounds, arms, 1)). Means and probabilities of arms that are not on offer are 0.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS
    >>> from fairx.environments import Bernoulli
    >>> policy = FairXTS(Exponential(4), prior_std=1, reward_std=0.5)
    >>> found = bandit_feedback(policy, Bernoulli([0.2, 0.8]), rounds=4, seed=1)
    >>> found["action"], found["pscore"].round(2)
    (array([0, 1, 1, 1]), array([1.  , 1.  , 0.94, 0.84]))
    """
    if delays_of(environment) is not None:
        raise rules.InvalidValue("environment", "pay at once, not late: feedback has no times")
    world = world_of(environment, generator_of(seed, 0))
    arms, dimension = world.features.shape[1:]
    engine, keys = Engine(policy, arms, dimension, seed), streams(seed, 0)
    count = rules.count("rounds", rounds)
    action, (reward, pscore) = np.empty(count, np.int64), np.empty((2, count))
    shares, means = np.zeros((2, count, arms))
    contexts, normal = np.zeros((count, arms, dimension)), np.empty(1)
    with np.errstate(over="ignore"):  # counters of random numbers wrap around, on purpose
        for t in range(count):
            example = world.pick(uniform(keys.example, t), t)
            offered = np.array(world.candidates(example), np.int64)
            rows = np.ascontiguousarray(world.features[world.row(example)][: len(offered)])
            out, true = np.empty(len(offered)), np.empty(len(offered))
            position = engine.decide(t, offered, rows, out)
            world.fill_means(example, true)
            normals_of_round(keys.reward_noise, t, 1, normal)
            arm = int(offered[position])
            paid = float(world.pay(example, arm, uniform(keys.reward, t), float(normal[0])))
            engine.learn(arm, rows[position], paid)
            action[t], reward[t], pscore[t] = arm, paid, out[position]
            shares[t, offered], means[t, offered], contexts[t, offered] = out, true, rows
    return {
        "n_rounds": count, "n_actions": arms, "action": action, "reward": reward, "pscore": pscore,
        "position": None, "context": contexts.reshape(count, -1) if dimension else None,
        "action_context": None, "expected_reward": means, "pi_b": shares[:, :, None],
    }  # fmt: skip
