"""Policies of other libraries and of ours, all made to play one round at a time."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from problems import yeast

import fairx

Round = Callable[[], object]  # decides, is paid, learns
Pay = Callable[[int], float]
Start = Callable[[Pay], Round]
MEANS = yeast().means.tolist()
ARMS = list(range(len(MEANS)))
MERIT = fairx.Exponential(yeast().steepness)


class Peer(NamedTuple):
    """A policy of some library, and the one of ours that does the same."""

    library: str
    name: str
    start: Start  # given what pays an arm
    ours: str
    rounds: int


def ours(policy: Any) -> Start:
    def start(pay: Pay) -> Round:
        bandit = fairx.Bandit(policy, arms=len(ARMS), seed=1)

        def play() -> None:
            decision = bandit.act()
            bandit.learn(decision, pay(decision.arm))

        return play

    return start


def river(name: str, *settings: Any) -> Start:
    def start(pay: Pay) -> Round:
        policy = getattr(importlib.import_module("river.bandit"), name)(*settings, seed=1)

        def play() -> None:
            arm = policy.pull(ARMS)
            policy.update(arm, pay(arm))

        return play

    return start


def river_thompson(pay: Pay) -> Round:
    """Give it the Beta distribution: its default cannot be sampled."""
    beta = importlib.import_module("river.proba").Beta()
    return river("ThompsonSampling", beta)(pay)


def mabwiser(name: str, **settings: float) -> Start:
    def start(pay: Pay) -> Round:
        from mabwiser.mab import MAB, LearningPolicy

        policy = MAB(ARMS, getattr(LearningPolicy, name)(**settings))
        policy.fit(ARMS, [0] * len(ARMS))  # it refuses to predict before

        def play() -> None:
            arm = policy.predict()
            policy.partial_fit([arm], [pay(arm)])

        return play

    return start


def coba(name: str, *settings: float) -> Start:
    def start(pay: Pay) -> Round:
        learner = getattr(importlib.import_module("coba.learners"), name)(*settings)

        def play() -> None:
            arm, probability = learner.predict(None, ARMS)[:2]
            learner.learn(None, arm, pay(arm), probability)

        return play

    return start


def pymab(module: str, name: str) -> Start:
    def start(pay: Pay) -> Round:
        kind = getattr(importlib.import_module(f"pymab.policies.{module}"), name)
        policy, rng = kind(n_arms=len(ARMS)), np.random.default_rng(1)

        def play() -> None:
            arm = policy.select_action(rng=rng)
            policy.update(action=arm, reward=pay(arm))

        return play

    return start


def contextualbandits(name: str) -> Start:
    """Give it one constant feature: it knows no bandits without contexts."""

    def start(pay: Pay) -> Round:
        online = importlib.import_module("contextualbandits.online")
        learner = getattr(online, name)(nchoices=len(ARMS), fit_intercept=False, random_state=1)
        one = np.ones((1, 1))

        def play() -> None:
            arm = int(np.ravel(learner.predict(one))[0])
            learner.partial_fit(one, np.array([arm]), np.array([pay(arm)]))

        return play

    return start


def gittins(pay: Pay) -> Round:
    """Let it choose among arms without features; it is told the time."""
    engine = importlib.import_module("gittins")
    arms: list[tuple[str, dict[str, float]]] = [(str(i), {}) for i in ARMS]
    state, now = engine.create(bits=8, horizon=3600.0), [0.0]

    def play() -> None:
        now[0] += 1e-3
        record = engine.decide(state, {}, arms, now[0], "")
        engine.learn(state, record.decision_id, pay(record.chosen), now[0])

    return play


def vowpal_wabbit(options: str) -> Start:
    def start(pay: Pay) -> Round:
        import vowpalwabbit

        learner, rng = vowpalwabbit.Workspace(f"{options} --quiet"), random.Random(1)

        def play() -> None:
            chances = learner.predict("| arm")
            (arm,) = rng.choices(ARMS, chances)
            learner.learn(f"{arm + 1}:{-pay(arm)}:{chances[arm]} | arm")

        return play

    return start


PEERS = [
    Peer("fairx", "UCB", ours(fairx.UCB(0.1)), "UCB", 20_000),
    Peer("fairx", "FairXUCB", ours(fairx.FairXUCB(MERIT, 0.1)), "FairXUCB", 20_000),
    Peer("river", "UCB", river("UCB", 1.0), "UCB", 4000),
    Peer("mabwiser", "UCB1", mabwiser("UCB1", alpha=1), "UCB", 500),
    Peer("coba", "BanditUCBLearner", coba("BanditUCBLearner"), "UCB", 2000),
    Peer("pymab", "UCBPolicy (Rust)", pymab("ucb", "UCBPolicy"), "UCB", 4000),
    Peer("contextualbandits", "LinUCB, 1 feature", contextualbandits("LinUCB"), "UCB", 200),
    Peer("fairx", "TS", ours(fairx.TS(1.0, 0.5)), "TS", 20_000),
    Peer("fairx", "FairXTS", ours(fairx.FairXTS(MERIT, 1.0, 0.5)), "FairXTS", 20_000),
    Peer("river", "ThompsonSampling", river_thompson, "TS", 2000),
    Peer("mabwiser", "ThompsonSampling", mabwiser("ThompsonSampling"), "TS", 500),
    Peer(
        "pymab",
        "BernoulliThompsonSampling (Rust)",
        pymab("thompson_sampling", "BernoulliThompsonSamplingPolicy"),
        "TS",
        4000,
    ),
    Peer("contextualbandits", "LinTS, 1 feature", contextualbandits("LinTS"), "TS", 200),
    Peer("fairx", "EG", ours(fairx.EG(0.05)), "EG", 20_000),
    Peer("fairx", "FairXEG", ours(fairx.FairXEG(MERIT, 0.05)), "FairXEG", 20_000),
    Peer("gittins", "decide, learn (Rust)", gittins, "EG", 20_000),
    Peer("river", "EpsilonGreedy", river("EpsilonGreedy", 0.05), "EG", 4000),
    Peer("mabwiser", "EpsilonGreedy", mabwiser("EpsilonGreedy", epsilon=0.05), "EG", 500),
    Peer("mabwiser", "Softmax", mabwiser("Softmax", tau=0.1), "FairXEG", 500),
    Peer("coba", "BanditEpsilonLearner", coba("BanditEpsilonLearner", 0.05), "EG", 2000),
    Peer("vowpalwabbit", "--cb_explore 14", vowpal_wabbit("--cb_explore 14"), "EG", 2000),
]
