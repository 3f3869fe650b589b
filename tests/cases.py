"""The policies, merits and environments that the suites run over."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fairx import (
    EG,
    TS,
    UCB,
    Affine,
    BetaTS,
    Custom,
    Discounted,
    DiscountedRidge,
    Exponential,
    FairXBetaTS,
    FairXEG,
    FairXGammaTS,
    FairXGradient,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXLogisticTS,
    FairXLogisticUCB,
    FairXTS,
    FairXUCB,
    Floor,
    GammaTS,
    Gradient,
    Groups,
    LinEG,
    LinTS,
    LinUCB,
    Logistic,
    OptimalFair,
    PiecewiseLinear,
    Power,
    Uniform,
    Windowed,
)
from fairx.checks import POLICY_CHECKS
from fairx.checks import policies as checks
from fairx.compiled import interpreted
from fairx.environments import Bernoulli, Labelled, Linear, Normal
from fairx.policies import (
    SDTS,
    Boltzmann,
    Chaining,
    DelayedFairXTS,
    DelayedFairXUCB,
    Exp3,
    FairLearn,
    FairSDTS,
    GuaranteedRevenue,
    NashUCB,
)


def name(record: Any) -> str:
    """Return a name without what settings are by default that came later: digests go by it."""
    return re.sub(r", (bounds=None|interval=Hoeffding\(\))", "", repr(record))


def bowl(mean: float) -> float:
    """Return a merit that is not log-concave: its logarithm is convex below 1."""
    return 1.0 + mean * mean if mean > 0 else 1.0


MERITS: list[Any] = [
    Exponential(4),
    Exponential(1000),
    Affine(slope=2, intercept=0.5),
    Power(exponent=1.5, offset=0.3),
    Logistic(steepness=8, midpoint=0.4),
    PiecewiseLinear((0, 0.3, 0.6, 1), (1, 1, 2, 6)),
    Custom(bowl),
]
SOME_MERITS = [MERITS[0], MERITS[2], MERITS[5]]
FAIR: list[Any] = [
    policy
    for merit in SOME_MERITS
    for policy in (
        FairXUCB(merit, width=0.1),
        FairXUCB(merit, width=0.1, solver="gradient"),
        FairXTS(merit, prior_std=1, reward_std=0.5),
        FairXEG(merit, epsilon=0.05),
        FairXLinUCB(merit, beta=0.1, ridge=1),
        FairXLinTS(merit, prior_std=1, reward_std=0.5),
        FairXLinEG(merit, epsilon=0.05, ridge=1),
    )
] + [
    FairXLinUCB(MERITS[0], beta=0.1, ridge=1, solver=Gradient(steps=20)),
    FairXUCB(MERITS[6], width=0.1),
    FairXUCB(MERITS[0], width=0.1, bounds=(0, 1)),
    FairXUCB(MERITS[0], width=0.1, bounds=(0, 1), interval="kl"),
    FairXUCB(MERITS[2], width=0.1, bounds=(0, 1), interval="bernstein"),
    FairXLinUCB(MERITS[0], beta=0.1, ridge=1, bounds=(0, 1)),
    FairXLinUCB(MERITS[0], beta=0.1, ridge=1, solver="gradient", bounds=(0, 1)),
    FairXLinTS(MERITS[0], prior_std=1, reward_std=0.5, bounds=(0, 1)),
    FairXLinEG(MERITS[0], epsilon=0.05, ridge=1, bounds=(0, 1)),
]
CONVENTIONAL: list[Any] = [
    UCB(width=0.1),
    TS(prior_std=1, reward_std=0.5),
    EG(epsilon=0.1),
    LinUCB(beta=0.1, ridge=1),
    LinTS(prior_std=1, reward_std=0.5),
    LinEG(epsilon=0.1, ridge=1),
    OptimalFair(MERITS[0], means=(0.2, 0.5, 0.5, 0.8)),
    Uniform(),
]
BY_RATES = (0.1, 0.2, 0.2, 0.1)
RIVALS: list[Any] = [
    FairXBetaTS(MERITS[0]),
    BetaTS(0.5, 0.5),
    FairXGammaTS(MERITS[0]),
    GammaTS(),
    FairXGradient(steepness=4, rate=0.2),
    Floor(Exp3(gamma=0.1), share=0.02),
    Groups(FairXEG(MERITS[0], epsilon=0), groups=(0, 0, 1, 1), low=(0.4, 0.1), high=(1, 0.5)),
    Discounted(FairXUCB(MERITS[0], width=0.1), discount=0.9),
    Windowed(FairXTS(MERITS[0], prior_std=1, reward_std=0.5), window=10),
    DiscountedRidge(FairXLinTS(MERITS[0], prior_std=1, reward_std=0.5), discount=0.9),
    SDTS(),
    FairSDTS(epsilon=2, delta=0.1),
    Boltzmann(temperature=0.25),
    Chaining(width=0.3),
    DelayedFairXTS(MERITS[0]),
    DelayedFairXUCB(MERITS[0], delta=0.01, missing=True),
    Exp3(gamma=0.1),
    FairLearn(TS(prior_std=1, reward_std=0.5), rates=BY_RATES, tolerance=1),
    GuaranteedRevenue(BY_RATES),
    NashUCB(rounds=1000, constant=0.01),
]
POLICIES = FAIR + CONVENTIONAL
# 8,000 rewards each: compiled alone, which learns and proposes the same to the last bit.
TAKES_LONG = (
    checks.probabilities_converge_to_fair,
    checks.equal_arms_get_equal_exposure,
    checks.a_better_mean_gets_no_less,
)
CHECKS = [check for check in POLICY_CHECKS if not (interpreted() and check in TAKES_LONG)]
LOGISTIC: list[Any] = [
    FairXLogisticTS(MERITS[0], prior_std=2),
    FairXLogisticUCB(MERITS[0], beta=0.1, ridge=1),
    FairXLogisticUCB(MERITS[2], beta=0.1, ridge=0.5, solver=Gradient(steps=20)),
]
YEAST = np.array([762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]) / 2417


def contexts(examples: int = 20, arms: int = 4, dimension: int = 5, seed: int = 0) -> Any:
    found = np.random.default_rng(seed).normal(size=(examples, arms, dimension))
    return found / np.linalg.norm(found, axis=2, keepdims=True)


ENVIRONMENTS: list[Any] = [
    Bernoulli([0.2, 0.5, 0.5, 0.8]),
    Normal([0.2, 0.5, 0.5, 0.8], std=0.3),
    Linear(contexts(), parameter=np.full(5, 0.4), noise_std=0.2),
    Labelled(contexts(), labels=contexts() @ np.full(5, 0.4), parameter=np.full(5, 0.4)),
]
