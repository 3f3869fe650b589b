"""A policy and its state, ready to decide and to learn one step at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.compiled import direct, entry
from fairx.exposure import choose
from fairx.numerics.streams import normals_of_round, streams, uniform
from fairx.policies import Policy
from fairx.policies.base import absorb_once, inner_form
from fairx.policies.drawing import Drawing, Drawn, Keys, drawn_from
from fairx.policies.foreign import is_distribution
from fairx.policies.telling import check_one_place, teller_of
from fairx.types import Indices, Matrix, Vector

from .chances import Chances
from .clicking import Clicking
from .many_arms import MANY, ManyArms, many_arms


@entry
def decide(  # type: ignore[no-untyped-def]
    teller, policy, state, arms, contexts, policy_keys, choice_keys, t, normals, work, out
):
    """Write the probabilities of decision `t` and return the position drawn from them."""
    normals_of_round(policy_keys, t, len(normals), normals)
    policy.propose(state, arms, contexts, normals, work, out)
    position = choose(out, uniform(choice_keys, t))
    teller.tell(policy, state, arms, position, out)
    return position


class Engine:
    """Decides and learns; decision n is a function of the seed, n and what was learned before.

    With the same rewards, it makes the decisions of run 0 of `simulate`.
    """

    _drawing: Drawing | None  # made for the first slate
    _many: ManyArms | None  # made for the first decision among many arms, and these
    _offered: Indices | None

    def __init__(
        self, policy: Policy[Any], arms: int, dimension: int, seed: int,
        range_of_clicks: tuple[float, float] | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:  # fmt: skip
        self.policy, self.arms, self.dimension, self.seed = policy, arms, dimension, seed
        self._reward_range = reward_range
        keys = streams(seed, 0)
        self._keys = np.array(keys.policy), np.array(keys.choice)
        inner = inner_form(policy)
        self._ours = inner is policy
        self._kernel = inner  # the policy itself: a bandit has it for its own
        self._state = self._started(arms)
        self._clicking = range_of_clicks and Clicking(inner, arms, dimension, range_of_clicks)
        self._prepare()

    @property
    def state(self) -> Any:
        """What the policy has learned."""
        return self._state if self._ours else self._state.inner

    def decide(self, number: int, arms: Indices, contexts: Matrix, out: Vector) -> int:
        """Write the probabilities of decision `number`; return the position drawn from them.

        Arrays must be contiguous, of 64-bit floats (arms: integers): compiled code does not check.
        """
        if not self._ours:  # a policy of others, as it is
            rng = self._generator(number)
            out[:] = self._given(arms, contexts, rng)
            position = int(choose(out, rng.random()))
            if hasattr(self.policy, "played"):
                self._kernel.policy.played(self.state, arms, position, out)
            return position
        if self._decide is None:
            self._compile()
        policy_keys, choice_keys = self._keys
        return int(
            self._decide(
                self._teller, self._lowered, self._state, arms, contexts, policy_keys, choice_keys,
                number, self._normals, self._work, out,
            )
        )  # fmt: skip

    def decided(
        self, number: int, arms: Indices, contexts: Matrix, lock: threading.RLock | None
    ) -> tuple[int, float, Vector | Chances]:
        """Return the position drawn in decision `number`, its probability, and those of all arms.

        With a lock, whose owner alone learns, `arms` are all on offer and the same array until they change.
        """
        if lock is not None and len(arms) >= MANY:
            many = self._among_many(arms)
            found = None if many is None else many.decide(self._keys[1], number, lock)
            if found is not None:
                return found
        out = np.empty(len(arms))
        position = self.decide(number, arms, contexts, out)
        return position, out.item(position), out

    def _among_many(self, offered: Indices) -> ManyArms | None:
        if self._offered is not offered and self._ours and not self.dimension:
            self._offered = offered
            few = (self._kernel, self._state, offered, self.arms, self._reward_range)
            self._many = None if self._clicking is not None else many_arms(*few)
        return self._many

    def weigh_anew(self) -> None:
        """Weigh all arms anew, as one that is loaded does."""
        self._offered = self._many = None

    def decide_slate(self, number: int, arms: Indices, contexts: Matrix, weights: Vector) -> Drawn:
        """Return the slate of decision `number`; arrays as for `decide`."""
        check_one_place(self.policy)
        if not self._ours:
            rng = self._generator(number)
            given = np.ascontiguousarray(self._given(arms, contexts, rng), np.float64)
            return drawn_from(given, weights, rng.integers(2**64, dtype=np.uint64))
        if self._drawing is None:
            self._drawing = Drawing(self._kernel, self._state, self.dimension)
        keys = Keys(self._keys[0], self._keys[1][1], number)
        return self._drawing.draw(keys, arms, contexts, weights)

    def _given(self, arms: Indices, contexts: Matrix, rng: np.random.Generator) -> Any:
        """Return the probabilities of a policy of others."""
        given = self._kernel.policy.probabilities(self.state, arms, contexts, rng)
        if not is_distribution(given, self._state.found) or len(given) != len(arms):
            raise ValueError(self._kernel.complaint(self._state))
        return given

    def learn(self, arm: int, context: Vector, reward: float, chance: float = 1.0) -> None:
        """Let the policy learn from a reward of `arm`, on a place that is looked at with this chance."""
        if self._clicking is not None:
            self._clicking.learn(self._state, arm, context, reward, chance)
        elif not self._ours:
            self._kernel.policy.learn(self.state, arm, context, reward)
        elif self._many is not None:
            self._many.learn(arm, context, reward)
        else:
            if self._decide is None:
                self._compile()
            self._absorb(self._lowered, self._state, arm, context, reward, self._work)

    def grow(self) -> None:
        """Give the state room for one more arm, and keep all that was learned."""
        before = self.parts()
        grown = self._started(self.arms + 1)  # or it is refused, and nothing is changed
        self.arms, self._state = self.arms + 1, grown
        if self._clicking is not None:
            self._clicking = self._clicking.grown()
        for name, part in self.parts().items():
            part[tuple(slice(0, size) for size in before[name].shape)] = before[name]
        self._prepare()

    def _started(self, arms: int) -> Any:
        if self._ours:
            return self._kernel.start(arms, self.dimension)
        return self._kernel.start_with(arms, self.dimension, self._generator(0))

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that the state is made of, by name, and what was clicked."""
        clicked = self._clicking.parts() if self._clicking is not None else {}
        return dict(_parts("", self.state)) | clicked

    def _prepare(self) -> None:
        """Make room for one decision; compile on first use."""
        normals, work = self._kernel.needs(self.arms, self.dimension)
        self._normals, self._work = np.empty(normals), np.empty(work)
        self._decide: Any = None
        self._drawing = None
        self.weigh_anew()

    def _compile(self) -> None:
        """Compile the two steps for this policy, on a state of its own."""
        blank = self._kernel.start(self.arms, self.dimension)
        arms, contexts = np.zeros(1, np.int64), np.zeros((1, self.dimension))
        rest = (arms, contexts, *self._keys, 0, self._normals, self._work, np.empty(1))
        taken = (0, contexts[0], 0.0, self._work)
        records = (self._kernel, blank)
        run, low = decide.ready(
            (teller_of(self._kernel), *records), lambda run, low: run(*low, *rest)
        )
        self._teller, self._lowered = low[:2]
        self._decide = direct(run, (*low, *rest))
        run, low = absorb_once.ready(records, lambda run, low: run(*low, *taken))
        self._absorb = direct(run, (*low, *taken))

    def _generator(self, number: int) -> np.random.Generator:
        """Return the generator of one decision, for policies of others."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0, number)))


def _parts(name: str, state: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of a state, and of the states within it, by name."""
    if hasattr(state, "_asdict"):
        for field, part in state._asdict().items():
            yield from _parts(f"{name}_{field}" if name else field, part)
    elif isinstance(state, np.ndarray):
        yield name or "array", state
    else:
        raise TypeError(f"a policy's state must be made of arrays, but its {name} is {state!r}")
