"""The loop that every simulation runs, interpreted or compiled."""

from __future__ import annotations

from fairx.compiled import entry
from fairx.exposure import choose, share
from fairx.numerics.streams import BLOCK, Streams, fill_normals, fill_uniforms

from .tally import Tally, add_round, lead


@entry
def play_rounds(  # type: ignore[no-untyped-def]
    policy, state, world, judge, measures, teller, arrivals, keys: Streams, tally: Tally,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Play the rounds from `start`, a multiple of the block, to `stop`."""
    each = tally.normals.size // BLOCK
    last, ahead = -1, 0.0
    for t in range(start, stop):
        row = t % BLOCK
        if row == 0:
            block = t // BLOCK
            fill_uniforms(keys.example, block, tally.uniforms[0])
            fill_uniforms(keys.reward, block, tally.uniforms[1])
            fill_uniforms(keys.choice, block, tally.uniforms[2])
            fill_normals(keys.reward_noise, block, 1, tally.noise)
            fill_normals(keys.policy, block, each, tally.normals)
        example = world.pick(tally.uniforms[0, row], t)
        arms = world.candidates(example)
        n = len(arms)
        contexts = world.features[world.row(example)][:n]
        deployed = tally.deployed[:n]
        normals = tally.normals[row * each : (row + 1) * each]
        policy.propose(state, arms, contexts, normals, tally.work, deployed)
        position = choose(deployed, tally.uniforms[2, row])
        arm = arms[position]
        teller.tell(policy, state, arms, position, deployed)
        fair, means = tally.fair[:n], tally.means[:n]
        if world.key(example, t) != last:  # before the reward, which may change them
            world.fill_means(example, means)
            share(judge, means, fair)
            last, ahead = world.key(example, t), lead(fair, means)
        reward = world.pay(example, arm, tally.uniforms[1, row], tally.noise[row])
        arrivals.take(policy, state, arm, contexts[position], reward, t, keys, tally.work)
        measures.note_round(tally, 0, arms, deployed, fair, means, position, reward)
        add_round(tally, n, arms, deployed, fair, means, arm, ahead, reward, t + 1)
