"""The loop of simulations with several places, interpreted or compiled."""

from __future__ import annotations

from fairx.compiled import entry
from fairx.numerics.streams import BLOCK, Streams, fill_normals, fill_uniforms, unit, word
from fairx.slates.drawing import draw

from .slate_tally import SlateTally, add_slate, judge_slate
from .tally import Tally


@entry
def play_slates(  # type: ignore[no-untyped-def]
    policy, state, world, judge, measures, exposer, learner, keys: Streams, tally: Tally,
    slates: SlateTally, start: int, stop: int,
) -> None:  # fmt: skip
    """Play the rounds from `start`, a multiple of the block, to `stop`.

    Random numbers are those of one place, where there is one; the slate is drawn from bits of its own.
    """
    each, page, most = tally.normals.size // BLOCK, slates.shown, len(slates.shown.weights)
    last, ahead = -1, 0.0
    for t in range(start, stop):
        row = t % BLOCK
        if row == 0:
            block = t // BLOCK
            fill_uniforms(keys.example, block, tally.uniforms[0])
            fill_normals(keys.reward_noise, block, most, slates.noise)
            fill_normals(keys.policy, block, each, tally.normals)
        example = world.pick(tally.uniforms[0, row], t)
        arms = world.candidates(example)
        n = len(arms)
        contexts = world.features[world.row(example)][:n]
        exposures, means = page.exposures[:n], tally.means[:n]
        normals = tally.normals[row * each : (row + 1) * each]
        exposer.expose_arms(policy, state, arms, contexts, normals, tally.work, page, exposures)
        bits = word(keys.choice[1], t)
        places = draw(page, n, bits)
        if world.key(example, t) != last or slates.loose[0]:
            world.fill_means(example, means)  # before the rewards, which may change them
            last, ahead = world.key(example, t), judge_slate(slates, judge, means, places, bits)
        earned = 0.0
        for place in range(places):
            position, number = page.shown[place], t * most + place
            arm, chance = arms[position], slates.examination[place]
            luck, noise = unit(word(keys.reward[0], number)), slates.noise[row * most + place]
            click = world.pay(example, arm, luck, noise)
            if unit(word(keys.reward[1], number)) >= chance:
                click = 0.0
            if chance > 0.0:
                context = contexts[position]
                learner.learn_place(
                    policy, state, arm, context, click, chance, slates.clicks, tally.work
                )
            tally.pulls[arm] += 1
            earned += click
        fair = slates.fair.exposures[:n]
        measures.note_round(tally, 0, arms, exposures, fair, means, page.shown[0], earned)
        add_slate(tally, slates, arms, means, places, ahead, earned, t + 1)
