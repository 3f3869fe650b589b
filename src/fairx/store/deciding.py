"""A decision as a function of snapshot, candidates and id: any process always finds the same."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from fairx.compiled import direct, entry
from fairx.errors import FairxError
from fairx.exposure import choose, choose_by_sums, mix
from fairx.numerics.streams import normals_of_round, uniform
from fairx.policies.drawing import Drawing, Drawn, Keys
from fairx.policies.telling import check_one_place, is_told
from fairx.types import Vector

from .compact import chances_on_record
from .identity import words
from .offering import Candidates, Offer
from .snapshots import Snapshot
from .statistics import make_ready_to_learn, state_of


class Solved(NamedTuple):
    """Probabilities that all decisions of a snapshot among the same candidates share."""

    probabilities: Vector
    sums: Vector  # of the first ones
    stored: bytes  # what each of these decisions has on record


@entry
def decide(policy, state, arms, contexts, policy_keys, choice_keys, floor, normals, work, out):  # type: ignore[no-untyped-def]
    """Write the deployed probabilities, floor included, and return the position drawn from them."""
    normals_of_round(policy_keys, 0, len(normals), normals)
    policy.propose(state, arms, contexts, normals, work, out)
    mix(out, 1.0 - len(out) * floor, len(out) * floor)
    return choose(out, uniform(choice_keys, 0))


@entry
def draw(choice_keys, probabilities, sums):  # type: ignore[no-untyped-def]
    """Return the position drawn from probabilities that are known, and their sums."""
    return choose_by_sums(probabilities, sums, uniform(choice_keys, 0))


@functools.cache
def _ready_to_draw() -> Any:
    arguments = np.zeros(2, np.uint64), np.ones(1), np.ones(1)
    run, _ = draw.ready((), lambda run, low: run(*arguments))
    return direct(run, arguments)


class Decider:
    """Decides by one snapshot. Used by one thread."""

    def __init__(self, snapshot: Snapshot, slates: bool = False, *, ready: bool = True) -> None:
        settings = snapshot.experiment.settings
        self.snapshot, self.floor = snapshot, settings.floor
        self.dimension = settings.dimension
        self.is_told = is_told(settings.policy)  # by the fold: probabilities stay on record
        self._offer = Offer(snapshot.arms, settings.dimension)
        self._kernel = cast(Any, settings.policy)
        self._keys = np.zeros(4, np.uint64)
        self._split = self._keys[:2], self._keys[2:]
        # Without contexts and random numbers each set of candidates has one answer: solved once.
        self._solved: dict[bytes, Solved] | None = (
            {} if self._kernel.needs(1, self.dimension)[0] == 0 and not self.dimension else None
        )
        self._kept: tuple[int, tuple[Vector, Vector]] = (-1, (np.empty(0), np.empty(0)))
        self._drawing: Drawing | None = None
        self.is_ready = False  # whether nothing is left to be compiled but for slates
        if ready:
            self.make_ready()
        if slates:
            self.draws_slates()

    def make_ready(self) -> None:
        """Make ready to decide, and to learn, which may take seconds the first time."""
        snapshot = self.snapshot
        self._state = state_of(snapshot.experiment.settings, snapshot.sums, len(snapshot.arms))
        self._compile()
        if self.solves_once:
            _ready_to_draw()
        make_ready_to_learn(snapshot.experiment.settings)
        self.is_ready = True

    @property
    def active(self) -> int:
        """How many arms are on offer where none are named."""
        return len(self._offer.active)

    @property
    def solves_once(self) -> bool:
        """Whether probabilities are computed once for all decisions among the same candidates."""
        return self._solved is not None

    @property
    def is_drawing(self) -> bool:
        """Whether it is ready for slates: nothing is left to be compiled."""
        return self._drawing is not None

    def draws_slates(self) -> Drawing:
        """Make ready for slates, which may take seconds the first time."""
        if self._drawing is None:
            check_one_place(self._kernel)
            if not self.is_ready:
                self.make_ready()
            self._drawing = Drawing(self._kernel, self._state, self.dimension, self.floor)
        return self._drawing

    def decide_slate(self, decision: str, candidates: Candidates, weights: Vector) -> Drawn:
        """Return who is shown at places of these weights, as many as there are candidates."""
        self._keys[:] = words(self.snapshot.experiment.seed, decision)
        keys = Keys(self._keys[:2], self._keys[2], 0)
        return self.draws_slates().draw(keys, candidates.arms, candidates.contexts, weights)

    def candidates(self, names: Sequence[str] | None, contexts: npt.ArrayLike | None) -> Candidates:
        """Return the arms of these names that are active, or all that are, with their contexts."""
        return self._offer.candidates(names, contexts)

    def candidates_again(self, named: bytes | None, contexts: bytes | None) -> Candidates:
        """Return what a decision was made from, as it was stored."""
        return self._offer.again(named, contexts)

    def decide(self, decision: str, candidates: Candidates) -> tuple[int, Vector]:
        """Return the position of the arm drawn, and the probabilities of all candidates."""
        self._keys[:] = words(self.snapshot.experiment.seed, decision)
        solved = self.solved(candidates.named)
        if solved is not None:
            position = _ready_to_draw()(self._split[1], solved.probabilities, solved.sums)
            return int(position), solved.probabilities
        out = np.empty(len(candidates.arms))
        position = self._run(
            self._lowered, self._state, candidates.arms, candidates.contexts, *self._split,
            self.floor, *self._buffers(len(out)), out,
        )  # fmt: skip
        if not 0.0 < out[position] <= 1.0 + 1e-9:
            raise FairxError(f"the policy's probabilities are no distribution: {out.tolist()}")
        if self._solved is not None and len(self._solved) < 1000:
            body = out.tobytes()
            stored = body if self.is_told else chances_on_record(body)
            self._solved[candidates.named or b""] = Solved(out, np.cumsum(out), stored)
        return int(position), out

    def solved(self, named: bytes | None) -> Solved | None:
        """Return the probabilities of candidates, if they are known already."""
        return None if self._solved is None else self._solved.get(named or b"")

    def stored(self, named: bytes | None, probabilities: Vector) -> bytes:
        """Return what a decision has on record of its probabilities, at this moment or for good."""
        solved = self.solved(named)
        return probabilities.tobytes() if solved is None else solved.stored

    def _buffers(self, arms: int) -> tuple[Vector, Vector]:
        """Return normal numbers to fill and working memory, for so many arms; the last ones are kept."""
        if self._kept[0] != arms:
            normals, work = self._kernel.needs(arms, self.dimension)
            self._kept = arms, (np.empty(normals), np.empty(work))
        return self._kept[1]

    def _compile(self) -> None:
        """Compile the step for this policy, on a state of its own."""
        normals, work = self._kernel.needs(1, self.dimension)
        arguments = (
            np.zeros(1, np.int64), np.zeros((1, self.dimension)), np.zeros(2, np.uint64),
            np.zeros(2, np.uint64), 0.0, np.empty(normals), np.empty(work), np.empty(1),
        )  # fmt: skip
        records = (self._kernel, self._kernel.start(1, self.dimension))
        run, low = decide.ready(records, lambda run, low: run(*low, *arguments))
        self._lowered, self._run = low[0], direct(run, (*low, *arguments))
