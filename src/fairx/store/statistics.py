"""Sums over mature decisions, and the policy's state that follows from them.

Sums add up: those of two shards are those of both. Each is made in the order in which decisions
matured, which is on record, so that the same log gives the same bits anywhere.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from fairx.compiled import entry
from fairx.numerics.linear_algebra import add_outer, transpose_times, triangle_times
from fairx.policies.fixed import Shares
from fairx.policies.optimism import Box
from fairx.policies.ridge import new_ridge
from fairx.types import Matrix, Vector

from .settings import Settings, is_kept_whole
from .told import filled, ready_to_take_in, with_more_arms


def empty(settings: Settings, arms: int) -> Vector:
    """Return the sums before the first decision."""
    if is_kept_whole(settings):
        return with_more_arms(settings, np.empty(0), arms)
    d = settings.dimension
    return np.zeros(1 + d * d + d if d else 2 * arms)


def widened(settings: Settings, sums: Vector, arms: int) -> Vector:
    """Return the sums with room for more arms."""
    if is_kept_whole(settings):
        return with_more_arms(settings, sums, arms)
    if settings.dimension:
        return sums
    pulls, rewards = sums.reshape(2, -1)
    wide = np.zeros((2, arms))
    wide[0, : len(pulls)], wide[1, : len(pulls)] = pulls, rewards
    return wide.ravel()


def learn(
    settings: Settings, sums: Vector, arms: list[int], contexts: Matrix, rewards: Vector
) -> None:
    """Add mature decisions, one after the other."""
    if settings.dimension:
        _ready_to_add()(sums, contexts, rewards)
        return
    pulls, totals = sums.reshape(2, -1)
    for arm, reward in zip(arms, rewards.tolist(), strict=True):
        pulls[arm] += 1.0
        totals[arm] += reward


def make_ready_to_learn(settings: Settings) -> None:
    """Compile what learning takes: a fold holds locks, and who writes waits for it."""
    policy: Any = settings.policy
    if is_kept_whole(settings):
        ready_to_take_in(repr(policy), policy, settings.dimension)
    elif settings.dimension:
        _ready_to_add()


def state_of(settings: Settings, sums: Vector, arms: int) -> Any:
    """Return the policy's state after the decisions that the sums are over."""
    policy: Any = settings.policy
    if is_kept_whole(settings):
        return filled(settings, sums)
    state = policy.start(arms, settings.dimension)
    if settings.dimension:
        d = settings.dimension
        _ready_to_factorise()(sums, state, np.zeros((d, d)), np.zeros(d))
    elif not isinstance(state, Shares):  # which do not depend on rewards
        run, low = _ready_to_recount(repr(policy), policy)
        optimistic = isinstance(state, Box)
        run(low, state, sums, optimistic, np.empty(0), np.empty(policy.needs(1, 0)[1]))
    return state


@entry
def add(sums, contexts, rewards):  # type: ignore[no-untyped-def]
    """Add the contexts and rewards of linear decisions: how many, sum of x x', sum of x r."""
    d = contexts.shape[1]
    squares = sums[1 : 1 + d * d].reshape((d, d))
    target = sums[1 + d * d :]
    for i in range(len(rewards)):
        sums[0] += 1.0
        add_outer(squares, 1.0, contexts[i], contexts[i])
        for j in range(d):
            target[j] += rewards[i] * contexts[i, j]


@entry
def recount(policy, state, sums, optimistic, context, work):  # type: ignore[no-untyped-def]
    """Fill a state of counts: taking in a last reward of 0 makes all else follow from the sums.

    With late rewards, playing each arm once first would show a new arm alone until its first
    decision is mature. Optimism in the face of nothing is the interval of one pull instead,
    around the mean of all rewards.
    """
    arms = len(state.pulls)
    pulls, rewards = 0.0, 0.0
    for arm in range(arms):
        pulls += sums[arm]
        rewards += sums[arms + arm]
    for arm in range(arms):
        if sums[arm] > 0.0:
            state.pulls[arm] = sums[arm] - 1.0
            state.reward_sums[arm] = sums[arms + arm]
            policy.absorb(state, arm, context, 0.0, work)
        elif optimistic:
            state.reward_sums[arm] = rewards / pulls if pulls > 0.0 else 0.0
            policy.absorb(state, arm, context, 0.0, work)


@entry
def factorise(sums, state, lower, work):  # type: ignore[no-untyped-def]
    """Fill a ridge regression from its sums: V = LEL', W = 1 / L and D = 1 / E."""
    d = len(work)
    squares = sums[1 : 1 + d * d].reshape((d, d))
    for i in range(d):
        state.target[i] = sums[1 + d * d + i]
        for j in range(d):
            state.precision[i, j] += squares[i, j]
    state.observations[0] = sums[0]
    for j in range(d):
        for k in range(j):
            work[k] = lower[j, k] / state.scales[k]
        for i in range(j, d):
            left = state.precision[i, j]
            for k in range(j):
                left -= lower[i, k] * work[k]
            lower[i, j] = left
        state.scales[j] = 1.0 / lower[j, j]
        for i in range(j, d):
            lower[i, j] *= state.scales[j]
    for i in range(d):
        for j in range(i):
            left = 0.0
            for k in range(j, i):
                left -= lower[i, k] * state.factor[k, j]
            state.factor[i, j] = left
    triangle_times(state.factor, state.target, work)
    for i in range(d):
        work[i] *= state.scales[i]
    transpose_times(state.factor, work, state.estimate)


@functools.cache
def _ready_to_add() -> Any:
    run, _ = add.ready((), lambda run, low: run(np.zeros(3), np.zeros((1, 1)), np.zeros(1)))
    return run


@functools.cache
def _ready_to_factorise() -> Any:
    blank = new_ridge(1, 1, 1.0)
    run, _ = factorise.ready(
        (), lambda run, low: run(np.zeros(3), blank, np.zeros((1, 1)), np.zeros(1))
    )
    return run


@functools.lru_cache(maxsize=1024)
def _ready_to_recount(name: str, policy: Any) -> tuple[Any, Any]:
    """Compile for this policy. Records equal as tuples may differ: hence the name."""
    blank = policy.start(1, 0)
    work = np.empty(policy.needs(1, 0)[1])
    run, (low,) = recount.ready(
        (policy,), lambda run, low: run(*low, blank, np.zeros(2), False, np.empty(0), work)
    )
    return run, low
