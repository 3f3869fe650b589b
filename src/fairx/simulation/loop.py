"""The loop that every simulation runs, interpreted or compiled."""

from __future__ import annotations

from fairx.compiled import brought, entry
from fairx.exposure import choose, share
from fairx.numerics.streams import Streams

from .tally import Tally, add_round, lead


@entry
def play_rounds(  # type: ignore[no-untyped-def]
    policy, state, world, judge, measures, teller, arrivals, keys: Streams, tally: Tally,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Play the rounds from `start`, a multiple of the block, to `stop`."""
    last, ahead = -1, 0.0
    for t in range(start, stop):
        numbers = keys.draw_round(t, tally.uniforms, tally.noise, tally.normals)
        example = world.pick(numbers.example, t)
        arms = world.candidates(example)
        n = len(arms)
        contexts = brought(world.features[world.row(example)][:n], tally.contexts)
        deployed = tally.deployed[:n]
        policy.propose(state, arms, contexts, numbers.normals, tally.work, deployed)
        position = choose(deployed, numbers.choice)
        arm = arms[position]
        teller.tell(policy, state, arms, position, deployed)
        fair, means = tally.fair[:n], tally.means[:n]
        if world.key(example, t) != last:  # before the reward, which may change them
            world.fill_means(example, means)
            share(judge, means, fair)
            last, ahead = world.key(example, t), lead(fair, means)
        reward = world.pay(example, arm, numbers.reward, numbers.noise)
        arrivals.take(policy, state, arm, contexts[position], reward, t, keys, tally.work)
        measures.note_round(tally, 0, arms, deployed, fair, means, position, reward)
        add_round(tally, n, arms, deployed, fair, means, arm, ahead, reward, t + 1)
