"""The loops of the paper as a researcher would write them in plain NumPy, regrets included."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from problems import Floats, LinearProblem, Problem

STEPS, RATE = 10, 0.01  # of the paper's projected gradient ascent


def softmax(values: Floats) -> Floats:
    weights: Floats = np.exp(values - values.max())
    weights /= weights.sum()
    return weights


class Policy(Protocol):
    """Decides, then learns; without contexts, `contexts` is empty."""

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Return how likely each arm is to be played."""
        ...

    def learn(self, arm: int, context: Floats, reward: float) -> None:
        """Take in a reward."""
        ...


def play(problem: Problem, policy: Policy, rounds: int, seed: int) -> Floats:
    """Return the fairness regret and the reward regret of `rounds` rounds."""
    rng = np.random.default_rng(seed)
    means, empty, total = problem.means, np.empty((problem.means.size, 0)), np.zeros(2)
    fair = softmax(problem.steepness * means)
    for _ in range(rounds):
        deployed = policy.probabilities(empty, rng)
        arm = rng.choice(means.size, p=deployed)
        policy.learn(arm, empty[arm], float(rng.random() < means[arm]))
        total += regrets(fair, deployed, means)
    return total


def play_linear(problem: LinearProblem, policy: Policy, rounds: int, seed: int) -> Floats:
    """Return the fairness regret and the reward regret of `rounds` rounds."""
    rng = np.random.default_rng(seed)
    examples, arms, _ = problem.contexts.shape
    total = np.zeros(2)
    for _ in range(rounds):
        contexts = problem.contexts[rng.integers(examples)]
        means = contexts @ problem.parameter
        deployed = policy.probabilities(contexts, rng)
        arm = rng.choice(arms, p=deployed)
        policy.learn(arm, contexts[arm], means[arm] + problem.noise_std * rng.standard_normal())
        total += regrets(softmax(problem.steepness * means), deployed, means)
    return total


def regrets(fair: Floats, deployed: Floats, means: Floats) -> tuple[float, float]:
    gap = fair - deployed
    return float(np.abs(gap).sum()), float(gap @ means)


class Counting:
    """What the policies without contexts have in common."""

    def __init__(self, arms: int, steepness: float) -> None:
        self.steepness = steepness
        self.pulls, self.reward_sums = np.zeros(arms), np.zeros(arms)

    def learn(self, arm: int, context: Floats, reward: float) -> None:
        """Count the pull."""
        self.pulls[arm] += 1
        self.reward_sums[arm] += reward


class FairTS(Counting):
    """FairX-TS: normal rewards under a normal prior."""

    def __init__(self, arms: int, steepness: float, prior_std: float, reward_std: float) -> None:
        super().__init__(arms, steepness)
        self.prior_std, self.reward_std = prior_std, reward_std

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to a draw from the posterior."""
        ratio = (self.reward_std / self.prior_std) ** 2
        weights = 1 / (ratio + self.pulls)
        stds = self.reward_std * np.sqrt(weights)
        draw = self.reward_sums * weights + stds * rng.standard_normal(self.pulls.size)
        return softmax(self.steepness * draw)


class FairEG(Counting):
    """FairX-EG: the deployed probabilities are the mixture."""

    def __init__(self, arms: int, steepness: float, epsilon: float) -> None:
        super().__init__(arms, steepness)
        self.epsilon = epsilon

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to the means, and uniform now and then."""
        means = self.reward_sums / np.maximum(self.pulls, 1)
        return (1 - self.epsilon) * softmax(self.steepness * means) + self.epsilon / means.size


class FairUCB(Counting):
    """FairX-UCB, with the paper's projected gradient ascent from the means."""

    def __init__(self, arms: int, steepness: float, width: float) -> None:
        super().__init__(arms, steepness)
        self.width = width

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Play each arm once, then be fair to the optimistic means."""
        if self.pulls.min() == 0:
            return np.eye(1, self.pulls.size, int(self.pulls.argmin())).ravel()
        means = self.reward_sums / self.pulls
        widths = self.width / np.sqrt(self.pulls)
        low, high = means - widths, means + widths
        for _ in range(STEPS):
            fair = softmax(self.steepness * means)
            slopes = fair * (1 + self.steepness * (means - fair @ means))
            means = np.minimum(np.maximum(means + RATE * slopes, low), high)
        return softmax(self.steepness * means)


class Regression:
    """What the policies with contexts have in common: Sherman-Morrison, faster than solving."""

    def __init__(self, dimension: int, steepness: float, ridge: float) -> None:
        self.steepness = steepness
        self.precision, self.target = ridge * np.eye(dimension), np.zeros(dimension)
        self.inverse, self.estimate = np.eye(dimension) / ridge, np.zeros(dimension)

    def learn(self, arm: int, context: Floats, reward: float) -> None:
        """Update the ridge solution."""
        change = self.inverse @ context
        self.inverse -= np.outer(change, change / (1 + context @ change))
        self.target += reward * context
        self.estimate = self.inverse @ self.target


class FairLinTS(Regression):
    """FairX-LinTS: solve, do not invert; a draw needs a Cholesky factor each round."""

    def __init__(
        self, dimension: int, steepness: float, prior_std: float, reward_std: float
    ) -> None:
        super().__init__(dimension, steepness, (reward_std / prior_std) ** 2)
        self.reward_std = reward_std

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to a draw from the posterior."""
        root = np.linalg.cholesky(self.precision)
        noise = self.reward_std * rng.standard_normal(self.target.size)
        draw = np.linalg.solve(root.T, np.linalg.solve(root, self.target) + noise)
        return softmax(self.steepness * (contexts @ draw))

    def learn(self, arm: int, context: Floats, reward: float) -> None:
        """Update the sums."""
        self.precision += np.outer(context, context)
        self.target += reward * context


class FairLinTSKept(FairLinTS):
    """The same with the inverse kept by Sherman-Morrison, and factored each round."""

    learn = Regression.learn

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to a draw from the posterior."""
        root = np.linalg.cholesky(self.inverse)
        draw = self.estimate + self.reward_std * (root @ rng.standard_normal(self.target.size))
        return softmax(self.steepness * (contexts @ draw))


class FairLinEG(Regression):
    """FairX-LinEG: the deployed probabilities are the mixture."""

    def __init__(self, dimension: int, steepness: float, epsilon: float, ridge: float) -> None:
        super().__init__(dimension, steepness, ridge)
        self.epsilon = epsilon

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to the ridge solution, and uniform now and then."""
        fair = softmax(self.steepness * (contexts @ self.estimate))
        return (1 - self.epsilon) * fair + self.epsilon / fair.size


class FairLinUCB(Regression):
    """FairX-LinUCB, with the paper's gradient ascent, scaled back into the ellipsoid."""

    def __init__(self, dimension: int, steepness: float, beta: float, ridge: float) -> None:
        super().__init__(dimension, steepness, ridge)
        self.radius = math.sqrt(beta)

    def learn(self, arm: int, context: Floats, reward: float) -> None:
        """Update the ridge solution and the ellipsoid."""
        super().learn(arm, context, reward)
        self.precision += np.outer(context, context)

    def probabilities(self, contexts: Floats, rng: np.random.Generator) -> Floats:
        """Be fair to the optimistic parameter."""
        parameter = self.estimate
        for _ in range(STEPS):
            means = contexts @ parameter
            fair = softmax(self.steepness * means)
            slopes = fair * (1 + self.steepness * (means - fair @ means))
            away = parameter + RATE * (slopes @ contexts) - self.estimate
            size = math.sqrt(away @ self.precision @ away)
            parameter = self.estimate + away * min(1.0, self.radius / size)
        return softmax(self.steepness * (contexts @ parameter))
