"""A decision as a function of snapshot, offer and id: any process, at any time, finds the same."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import direct, entry
from fairx.errors import FairxError, UnknownArm
from fairx.exposure import choose, mix
from fairx.numerics.streams import normals_of_round, uniform
from fairx.types import Indices, Matrix, Vector

from .identity import words
from .settings import LARGEST
from .snapshots import ACTIVE, REMOVED, Snapshot
from .statistics import state_of


class Offer(NamedTuple):
    """What a decision is made from."""

    places: Indices
    contexts: Matrix
    named: bytes | None  # the places, where the client named candidates
    left_out: tuple[str, ...]  # candidates that are paused


@entry
def decide(policy, state, arms, contexts, policy_keys, choice_keys, floor, normals, work, out):  # type: ignore[no-untyped-def]
    """Write the deployed probabilities, floor included, and return the position drawn from them."""
    normals_of_round(policy_keys, 0, len(normals), normals)
    policy.propose(state, arms, contexts, normals, work, out)
    mix(out, 1.0 - len(out) * floor, len(out) * floor)
    return choose(out, uniform(choice_keys, 0))


def _is_array(contexts: Any, shape: tuple[int, int]) -> bool:
    """Tell whether contexts are an array that needs no closer look to be one of this shape."""
    return isinstance(contexts, np.ndarray) and contexts.shape == shape


@entry
def draw(choice_keys, out):  # type: ignore[no-untyped-def]
    """Return the position drawn from probabilities that are known."""
    return choose(out, uniform(choice_keys, 0))


@functools.cache
def _ready_to_draw() -> Any:
    arguments = np.zeros(2, np.uint64), np.ones(1)
    run, _ = draw.ready((), lambda run, low: run(*arguments))
    return direct(run, arguments)


class Decider:
    """Decides by one snapshot. Used by one thread."""

    def __init__(self, snapshot: Snapshot) -> None:
        settings = snapshot.experiment.settings
        self.snapshot, self.floor = snapshot, settings.floor
        self.dimension = settings.dimension
        self.places = {arm.name: place for place, arm in enumerate(snapshot.arms)}
        active = [place for place, arm in enumerate(snapshot.arms) if arm.status == ACTIVE]
        self._all = np.array(active, np.int64)
        self._state = state_of(settings, snapshot.sums, len(snapshot.arms))
        self._kernel = cast(Any, settings.policy)
        self._keys = np.zeros(4, np.uint64)
        self._split = self._keys[:2], self._keys[2:]
        # Without contexts and random numbers the answer is one for each offer: solved once.
        self._solved: dict[bytes, Vector] | None = (
            {} if self._kernel.needs(1, self.dimension)[0] == 0 and not self.dimension else None
        )
        self._compile()

    def offer(self, candidates: Sequence[str] | None, contexts: npt.ArrayLike | None) -> Offer:
        """Return what is on offer: the candidates that are active, or all arms that are."""
        if candidates is None:
            return Offer(self._all, self._contexts(contexts, len(self._all)), None, ())
        places, left_out, kept = self._named(candidates)
        if not len(places):
            raise FairxError("no arm is on offer: all candidates are paused")
        rows = self._contexts(contexts, len(candidates))
        rows = np.ascontiguousarray(rows[kept]) if left_out else rows
        return Offer(places, rows, places.astype("<i4").tobytes(), left_out)

    def offer_of(self, candidates: bytes | None, contexts: bytes | None) -> Offer:
        """Return what was on offer when a decision was made, from the record of it."""
        named = None if candidates is None else np.frombuffer(candidates, "<i4").astype(np.int64)
        places = self._all if named is None else named
        rows = np.frombuffer(contexts or b"").reshape(len(places), self.dimension).copy()
        return Offer(places, rows, candidates, ())

    def decide(self, decision: str, offer: Offer) -> tuple[int, Vector]:
        """Return the position of the arm drawn, and the probabilities of all on offer."""
        self._keys[:] = words(self.snapshot.experiment.seed, decision)
        solved = None if self._solved is None else self._solved.get(offer.named or b"")
        if solved is not None:
            return int(_ready_to_draw()(self._split[1], solved)), solved
        out = np.empty(len(offer.places))
        normals, work = self._kernel.needs(len(out), self.dimension)
        slot = self._run(
            self._lowered, self._state, offer.places, offer.contexts, *self._split,
            self.floor, np.empty(normals), np.empty(work), out,
        )  # fmt: skip
        if not 0.0 < out[slot] <= 1.0 + 1e-9:
            raise FairxError(f"the policy's probabilities are no distribution: {out.tolist()}")
        if self._solved is not None and len(self._solved) < 1000:
            self._solved[offer.named or b""] = out
        return int(slot), out

    def _named(self, candidates: Sequence[str]) -> tuple[Indices, tuple[str, ...], list[int]]:
        places, left_out, kept = [], [], []
        for position, name in enumerate(candidates):
            place = self.places.get(name, -1)
            status = self.snapshot.arms[place].status if place >= 0 else REMOVED
            if status == REMOVED:
                raise UnknownArm(f"arm {name!r} does not exist, or was removed")
            if status == ACTIVE:
                places.append(place)
                kept.append(position)
            else:
                left_out.append(name)
        if not candidates or len(set(candidates)) < len(candidates):
            raise ValueError("candidates must be at least one arm, each once")
        return np.array(places, np.int64), tuple(left_out), kept

    def _contexts(self, contexts: npt.ArrayLike | None, rows: int) -> Matrix:
        if not self.dimension:
            if contexts is not None:
                raise ValueError("contexts must be left out: this experiment has dimension 0")
            return np.empty((rows, 0))
        if contexts is None:
            raise ValueError(
                f"contexts must be given: this experiment has dimension {self.dimension}"
            )
        shape = (rows, self.dimension)
        found = np.asarray(contexts, np.float64, order="C") if _is_array(contexts, shape) else None
        if found is None or not np.abs(found).max() <= LARGEST:
            found = rules.array("contexts", contexts, shape, "one row per arm on offer")
            if np.abs(found).max() > LARGEST:
                raise ValueError(f"contexts must be from -{LARGEST:g} to {LARGEST:g}")
        return found

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
