"""What a policy is: immutable settings, and three functions of an explicit state."""

from __future__ import annotations

import functools
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import code_of, compilable, entry, is_overridden
from fairx.types import Indices, Matrix, Vector

DOORS = {"probabilities": "propose", "learn": "absorb"}  # public methods and their inner forms
S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


@compilable
class Policy(Protocol[S]):
    """The public door. A record with these three methods is a policy, anybody's."""

    def start(self, arms: int, dimension: int) -> S:
        """Return the state before the first round."""
        ...

    def probabilities(
        self, state: S, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return how likely each of the `arms` on offer is to be played; change nothing."""
        ...

    def learn(self, state: S, arm: int, context: Vector, reward: float) -> None:
        """Take the reward of `arm` into `state`."""
        ...


@compilable
class Kernel(Protocol[S_contra]):
    """The inner form of our own policies: the same steps without allocation or generators.

    It is what the compiled loops call; `probabilities` and `learn` are its public doors.
    """

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Return how many standard normal numbers a round takes, and how much working memory."""
        ...

    def propose(
        self,
        state: S_contra,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Write the deployed probabilities to `out`, given standard normal numbers."""
        ...

    def absorb(
        self, state: S_contra, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Let the state learn from a reward of `arm`."""
        ...


@entry
def propose_once(policy, state, arms, contexts, normals, work, out):  # type: ignore[no-untyped-def]
    """Call the inner form from Python."""
    policy.propose(state, arms, contexts, normals, work, out)


@entry
def absorb_once(policy, state, arm, context, reward, work):  # type: ignore[no-untyped-def]
    """Call the inner form from Python."""
    policy.absorb(state, arm, context, reward, work)


def inner_form(policy: Any) -> Any:
    """Return what the loops call: the policy itself if it has an inner form, or a record that wraps it.

    A policy whose `probabilities` or `learn` is nearer than its inner counterpart, in a subclass or
    patched, is wrapped: the inner form that it inherits is not what it does.
    """
    if isinstance(policy, type):
        name = policy.__name__
        raise TypeError(f"policy must be a policy, not the class {name}: write {name}(...)")
    if all(hasattr(policy, inner) for inner in DOORS.values()) and not is_overridden(policy, DOORS):
        return policy
    from .foreign import wrapped

    return wrapped(policy)


def started(kernel: Any, arms: int, dimension: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the inner form for one run and its state before the first round.

    A policy of others is copied, for it may keep state in itself, and has `rng` for its own.
    """
    if hasattr(kernel, "start_with"):
        own = kernel.for_one_run()
        return own, own.start_with(arms, dimension, rng)
    return kernel, kernel.start(arms, dimension)


def deploy(
    policy: Any, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
) -> Vector:
    """Return the probabilities of `policy`: the public door of the inner form."""
    arms = candidates(arms)
    width = _fits(state, int(arms.max()))
    contexts = rules.array("contexts", contexts, (arms.size, width), "one row per arm on offer")
    normals, work = policy.needs(arms.size, contexts.shape[1])
    out = np.empty(arms.size)
    run, policy = _ready_to_propose(repr(policy), code_of(policy), policy, contexts.shape[1])
    run(policy, state, arms, contexts, rng.standard_normal(normals), np.empty(work), out)
    return out


def observe(policy: Any, state: Any, arm: int, context: Vector, reward: float) -> None:
    """Take a reward into `state`: the public door of the inner form."""
    arm = rules.count("arm", arm, low=0)
    context = rules.array("context", context, (_fits(state, arm),))
    reward = rules.number("reward", reward)
    run, policy = _ready_to_absorb(repr(policy), code_of(policy), policy, context.size)
    run(policy, state, arm, context, reward, np.empty(policy.needs(1, context.size)[1]))


def named(name: str, value: Any, choices: dict[str, Any]) -> Any:
    """Return the record that a name stands for, or the record itself."""
    found = choices.get(value) if isinstance(value, str) else value
    if type(found) not in map(type, choices.values()):
        options = [f"{key!r} or {type(choice).__name__}(...)" for key, choice in choices.items()]
        raise rules.InvalidValue(name, f"be {', '.join(options)}, not {value!r}")
    return found


def _fits(state: Any, arm: int) -> int | None:
    """Refuse an arm that the state does not know; return the dimension, where it matters."""
    if hasattr(state, "estimate"):
        return len(state.estimate)
    first = state[0]
    if isinstance(first, tuple):  # the state of a policy within
        return _fits(first, arm)
    if arm >= len(first):
        raise ValueError(f"arm {arm} does not exist: there are {len(first)}, 0 to {len(first) - 1}")
    return None


def candidates(arms: npt.ArrayLike) -> Indices:
    """Return the arms on offer as an array: at least one, each once."""
    found = np.asarray(arms)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise ValueError(f"arms must be a list of at least one arm number, not {arms!r}")
    if found.min() < 0 or np.unique(found).size < found.size:
        raise ValueError(f"arms must be distinct and not negative, not {arms!r}")
    return np.ascontiguousarray(found, np.int64)


@functools.lru_cache(maxsize=1024)
def _ready_to_propose(name: str, code: str, policy: Any, dimension: int) -> tuple[Any, Any]:
    """Compile `propose` for this policy. Records equal as tuples may differ: hence name and code."""
    normals, work = policy.needs(1, dimension)
    blank = policy.start(least_arms(policy), dimension)

    def try_it(run: Any, records: Any) -> None:
        arms, contexts = np.zeros(1, np.int64), np.zeros((1, dimension))
        run(*records, blank, arms, contexts, np.zeros(normals), np.empty(work), np.empty(1))

    run, (policy,) = propose_once.ready((policy,), try_it)
    return run, policy


@functools.lru_cache(maxsize=1024)
def _ready_to_absorb(name: str, code: str, policy: Any, dimension: int) -> tuple[Any, Any]:
    _, work = policy.needs(1, dimension)
    blank = policy.start(least_arms(policy), dimension)

    def try_it(run: Any, records: Any) -> None:
        run(*records, blank, 0, np.zeros(dimension), 0.0, np.empty(work))

    run, (policy,) = absorb_once.ready((policy,), try_it)
    return run, policy


def least_arms(policy: Any) -> int:
    """Return how many arms a policy must have at least: as many as it is given something for."""
    own = max(len(getattr(policy, name, ())) for name in ("means", "rates", "revenues", "groups"))
    return max(own, least_arms(policy.policy) if hasattr(policy, "policy") else 1)
