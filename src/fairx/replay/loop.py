"""The loop that every replay of a log runs, interpreted or compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from fairx.compiled import entry, kernel
from fairx.exposure import choose, share
from fairx.numerics.linear_algebra import times
from fairx.numerics.streams import BLOCK, Streams, fill_normals, fill_uniforms
from fairx.simulation.tally import Tally, add_round, lead
from fairx.types import Indices, Matrix, Vector


class LogWorld(NamedTuple):
    """The inner form of a log: nothing but arrays."""

    pools: Indices  # (pools, widest), the arms on offer, filled up with -1
    sizes: Indices  # (pools,), how many they are
    pool: npt.NDArray[Any]  # by event: which pool it had
    displayed: npt.NDArray[Any]  # by event: the arm that was shown
    rewards: Vector  # by event
    users: Matrix  # by event: features of the user, of any width
    items: Matrix  # by arm: features, of any width
    means: Vector  # by arm: true mean rewards, to which
    parameter: Vector  # adds its product with the context


@kernel
def fill_contexts(world: LogWorld, event: int, arms: Indices, out: Matrix) -> None:
    """Write the outer product of user and arm features, for each arm on offer."""
    wide = world.items.shape[1]
    for position in range(len(arms)):
        for i in range(world.users.shape[1]):
            scale = float(world.users[event, i])
            for j in range(wide):
                out[position, i * wide + j] = scale * world.items[arms[position], j]


@kernel
def fill_truth(world: LogWorld, arms: Indices, contexts: Matrix, out: Vector) -> None:
    """Write the true mean reward of each arm on offer."""
    times(contexts, world.parameter, out)
    for position in range(len(arms)):
        out[position] += world.means[arms[position]]


@entry
def replay_events(  # type: ignore[no-untyped-def]
    policy, state, world: LogWorld, judge, measures, teller, keys: Streams, tally: Tally,
    contexts: Matrix, steady: bool, accepted: int, rounds: int, start: int, stop: int,
) -> tuple[int, int]:  # fmt: skip
    """Read the events from `start`, a multiple of the block, to `stop` or to the last round.

    A policy that is `steady` proposes the same as long as it learns nothing and the pool stays:
    it is asked once. Return the next event, and how many rounds were accepted by then.
    """
    each = tally.normals.size // BLOCK
    last = -1
    for event in range(start, stop):
        row = event % BLOCK
        if row == 0:
            fill_uniforms(keys.choice, event // BLOCK, tally.uniforms[2])
            fill_normals(keys.policy, event // BLOCK, each, tally.normals)
        pool = world.pool[event]
        n = world.sizes[pool]
        arms, shown, deployed = world.pools[pool, :n], contexts[:n], tally.deployed[:n]
        if pool != last:
            fill_contexts(world, event, arms, shown)
            normals = tally.normals[row * each : (row + 1) * each]
            policy.propose(state, arms, shown, normals, tally.work, deployed)
            last = pool if steady else -1
        position = choose(deployed, tally.uniforms[2, row])
        arm = arms[position]
        if arm != world.displayed[event]:
            continue
        teller.tell(policy, state, arms, position, deployed)  # of others, nothing was played
        reward = float(world.rewards[event])
        policy.absorb(state, arm, shown[position], reward, tally.work)
        last = -1
        accepted += 1
        fair, means = tally.fair[:n], tally.means[:n]
        fill_truth(world, arms, shown, means)
        share(judge, means, fair)
        measures.note_round(tally, 0, arms, deployed, fair, means, position, reward)
        add_round(tally, n, arms, deployed, fair, means, arm, lead(fair, means), reward, accepted)
        if accepted == rounds:
            return event + 1, accepted
    return stop, accepted


@entry
def judge_events(judge, world: LogWorld, tally: Tally, contexts: Matrix, start: int, stop: int):  # type: ignore[no-untyped-def]
    """Add up, by arm, the true means and fair shares of all events, as often as one is accepted."""
    for event in range(start, stop):
        pool = world.pool[event]
        n = world.sizes[pool]
        weight = 1.0 / n
        arms, shown = world.pools[pool, :n], contexts[:n]
        fair, means = tally.fair[:n], tally.means[:n]
        fill_contexts(world, event, arms, shown)
        fill_truth(world, arms, shown, means)
        share(judge, means, fair)
        for i in range(n):
            tally.fairness[arms[i]] += weight
            tally.reward[arms[i]] += weight * means[i]
            tally.exposure[arms[i]] += weight * fair[i]
