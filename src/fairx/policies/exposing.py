"""Several places: how a policy comes by the exposures of the arms on offer."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import code_of, compilable, entry, record
from fairx.exposure import mix
from fairx.slates.places import Page, new_page, place_weights
from fairx.slates.ranking import rank_by_score
from fairx.slates.target import spread
from fairx.types import Indices, Matrix, Vector

from .base import candidates, inner_form, least_arms
from .foreign import complaint, is_distribution


@compilable
class SlatePolicy(Protocol):
    """An inner form that knows about places: a policy may have this method beside `propose`."""

    def propose_slate(
        self, state: Any, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Write exposures to `out`: with the sum of `page.weights`, that a ranking can have."""
        ...


@compilable
class Scoring(Protocol):
    """An inner form that ranks arms by a score."""

    def score_arms(
        self, state: Any, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the score of each arm on offer."""
        ...


@compilable
class Exposer(Protocol):
    """A way to come by exposures from a policy."""

    def expose_arms(
        self, policy: Any, state: Any, arms: Indices, contexts: Matrix, normals: Vector,
        work: Vector, page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Write the exposures of the arms on offer to `out`."""
        ...


@record
class ByProbability(NamedTuple):
    """From probabilities, which are in proportion to merit: for any policy."""

    empty: bool = True

    def expose_arms(
        self, policy: Any, state: Any, arms: Indices, contexts: Matrix, normals: Vector,
        work: Vector, page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Be fair to merits in proportion to the probabilities of the policy."""
        policy.propose(state, arms, contexts, normals, work, out)
        spread(out, page, out)


@record
class ByScore(NamedTuple):
    """The highest scores on the first places, and a fraction `epsilon` of all exposure for all alike."""

    epsilon: float

    def expose_arms(
        self, policy: Any, state: Any, arms: Indices, contexts: Matrix, normals: Vector,
        work: Vector, page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Rank the arms by score; ties go to the lowest."""
        policy.score_arms(state, arms, contexts, normals, work, out)
        total = rank_by_score(page, out)
        mix(out, 1.0 - self.epsilon, self.epsilon * total)


@record
class ByItself(NamedTuple):
    """As a policy that knows about places does itself."""

    empty: bool = True

    def expose_arms(
        self, policy: Any, state: Any, arms: Indices, contexts: Matrix, normals: Vector,
        work: Vector, page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Let the policy do it."""
        policy.propose_slate(state, arms, contexts, normals, work, page, out)


def exposer_of(policy: Any) -> Any:
    """Return how the inner form of a policy comes by exposures."""
    if _knows_of(policy, "propose_slate"):
        return ByItself()
    if _knows_of(policy, "score_arms"):
        return ByScore(getattr(policy, "epsilon", 0.0))
    return ByProbability()


def _knows_of(policy: Any, method: str) -> bool:
    """Tell whether a policy has a method, and no subclass has overridden `propose` since."""
    for kind in type(policy).__mro__:
        if method in vars(kind):
            return True
        if "propose" in vars(kind):
            return False
    return False


@entry
def expose_once(exposer, policy, state, arms, contexts, normals, work, page, out):  # type: ignore[no-untyped-def]
    """Call the inner form from Python."""
    exposer.expose_arms(policy, state, arms, contexts, normals, work, page, out)


def deploy_slate(
    policy: Any, state: Any, arms: Indices, contexts: Matrix, weights: Any, rng: np.random.Generator
) -> Vector:
    """Return the exposures that a policy gives the arms on offer, on places of these weights.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import UCB
    >>> policy, rng = UCB(width=0.1), np.random.default_rng(0)
    >>> state = policy.start(arms=3, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> deploy_slate(policy, state, np.arange(3), np.empty((3, 0)), [1, 0.5], rng)
    array([0. , 1. , 0.5])
    """
    arms = candidates(arms)
    contexts = rules.array("contexts", contexts, (arms.size, None), "one row per arm on offer")
    page = new_page(place_weights(weights)[: arms.size], arms.size, whole=0)
    if inner_form(policy) is not policy:  # a policy of others, as it is
        return _spread(policy, policy.probabilities(state, arms, contexts, rng), page)
    normals, work = policy.needs(arms.size, contexts.shape[1])
    run, (exposer, low) = _ready_to_expose(repr(policy), code_of(policy), policy, contexts.shape[1])
    numbers, room, out = rng.standard_normal(normals), np.empty(work), np.empty(arms.size)
    run(exposer, low, state, arms, contexts, numbers, room, page, out)
    return out


def _spread(policy: Any, probabilities: Any, page: Page) -> Vector:
    """Return the fair exposures of merits in proportion to the probabilities of a policy of others."""
    given, found = np.asarray(probabilities, np.float64), np.zeros(3)
    if not is_distribution(given, found) or given.size != page.exposures.size:
        raise ValueError(complaint(policy, found))
    with np.errstate(all="ignore"):
        spread(given, page, page.exposures)
    return page.exposures


@functools.lru_cache(maxsize=1024)
def _ready_to_expose(name: str, code: str, policy: Any, dimension: int) -> tuple[Any, Any]:
    """Compile for this policy, on a state of its own."""
    blank, page = policy.start(least_arms(policy), dimension), new_page(np.ones(1), 1)
    normals, work = policy.needs(1, dimension)

    def try_it(run: Any, records: Any) -> None:
        arms, contexts = np.zeros(1, np.int64), np.zeros((1, dimension))
        rest = (arms, contexts, np.zeros(normals), np.empty(work), page, np.empty(1))
        run(*records, blank, *rest)

    return expose_once.ready((exposer_of(policy), policy), try_it)
