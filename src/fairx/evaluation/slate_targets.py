"""The policy that is evaluated on pages of several places, however it is given, by arm and place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.logs.problems import SUM
from fairx.policies.exposing import deploy_slate
from fairx.slates import new_page, slate_propensities
from fairx.slates.target import spread
from fairx.types import Indices, Matrix, Vector

from .slates import LoggedSlates
from .targets import by_name, constant, refuse_state

SlateTarget = Callable[[LoggedSlates, int], npt.ArrayLike]  # by decision, candidate and place
Exposer = Callable[[Indices, Matrix, Vector, np.random.Generator], Vector]


def slate_target(
    policy: Any, log: LoggedSlates, state: Any, draws: int, seed: int | None
) -> SlateTarget:
    """Return what gives the probability of each candidate at each place, for some decisions."""
    if not hasattr(policy, "probabilities"):
        refuse_state(state)
        if callable(policy):
            return lambda piece, start: policy(_contexts(piece))
        if not hasattr(policy, "keys") and np.ndim(policy) > 1:
            return _given(np.asarray(policy, np.float64), log)
    seed = rules.count("seed (places are drawn at random)", seed, low=0)
    return Drawn(_exposer(policy, log, state), rules.count("draws", draws), seed, {}).tables


def chances(wanted: SlateTarget, piece: LoggedSlates, start: int) -> Vector:
    """Return the target's probabilities for a part of the log, checked where an arm was shown."""
    candidates = piece.all_candidates()
    shape, hint = (*candidates.shape, piece.arms.shape[1]), "by decision, candidate and place"
    found = rules.array("the policy's probabilities", wanted(piece, start), shape, hint)
    wrong = (np.abs(found.sum(axis=1) - 1) > SUM) & (piece.arms >= 0)
    wrong |= (np.where(candidates[:, :, None] < 0, -np.abs(found), found) < 0).any(axis=1)
    if wrong.any():
        where, place = (int(i[0]) for i in np.nonzero(wrong))
        rule = "not negative, sum to 1 at each place and be 0 where no candidate is"
        told = f"{found[where, :, place]} at decision {start + where}, place {place + 1}"
        raise ValueError(f"the policy's probabilities must be {rule}, not {told}")
    return found


def _contexts(piece: LoggedSlates) -> Vector:
    if piece.contexts is None:
        raise ValueError("contexts must be in the log: the policy is a function of them")
    return piece.contexts


def _given(values: Vector, log: LoggedSlates) -> SlateTarget:
    """Return the target that is given by arm and place, or by decision, candidate and place."""
    if values.ndim == 3:
        return lambda piece, start: values[start : start + len(piece.arms)]
    shape = len(log.names), log.arms.shape[1]
    each = rules.array("the policy's probabilities", values, shape, "by arm and place")
    whole = np.concatenate([each, np.zeros((1, shape[1]))])  # the last: no candidate
    return lambda piece, start: whole[piece.all_candidates()]


class Drawn(NamedTuple):
    """Pages that are drawn from exposures, averaged over draws of the policy's own."""

    exposer: Exposer
    draws: int
    seed: int
    memory: dict[bytes, Matrix]  # by candidates and weights, where there are no contexts

    def tables(self, piece: LoggedSlates, start: int) -> npt.ArrayLike:
        """Return the probability of each candidate at each place."""
        candidates, contexts = piece.all_candidates(), piece.contexts
        if contexts is None:
            contexts = np.empty((len(candidates), 0))
        wide = contexts if contexts.ndim == 3 else contexts[:, None]
        wide = np.broadcast_to(wide, (*candidates.shape, contexts.shape[-1]))
        assert piece.weights is not None
        out = np.zeros((*candidates.shape, piece.arms.shape[1]))
        for row, places in enumerate(piece.places_used()):
            asked = candidates[row], wide[row], piece.weights[row, :places]
            out[row, :, :places] = self.remembered(*asked)
        return out

    def remembered(self, candidates: Indices, contexts: Matrix, weights: Vector) -> Matrix:
        """Return the table of one decision; without contexts each is computed once."""
        if contexts.shape[1]:
            return self.table(candidates, contexts, weights)
        key = candidates.tobytes() + weights.tobytes()
        if key not in self.memory:
            self.memory[key] = self.table(candidates, contexts, weights)
        return self.memory[key]

    def table(self, candidates: Indices, contexts: Matrix, weights: Vector) -> Matrix:
        """Return the table of one decision."""
        out, there = np.zeros((len(candidates), weights.size)), np.flatnonzero(candidates >= 0)
        arms, rows = candidates[there], np.ascontiguousarray(contexts[there])
        used = np.ascontiguousarray(weights[: arms.size])
        # the draws depend on what is asked, not on when: the order of decisions is no matter
        words = np.frombuffer(arms.tobytes() + rows.tobytes(), "u4")
        rng = np.random.default_rng([self.seed, *words])
        for _ in range(self.draws):
            exposures = self.exposer(arms, rows, used, rng)
            out[there, : used.size] += slate_propensities(exposures, used)
        return out / self.draws


def _exposer(policy: Any, log: LoggedSlates, state: Any) -> Exposer:
    """Return how the exposures of candidates come from a policy, or from probabilities."""
    if not hasattr(policy, "probabilities"):
        shares = policy if hasattr(policy, "keys") else by_name(np.asarray(policy), log.names)
        constant(shares, log.names)  # refuses what is not a distribution over these arms
        each = np.array([shares.get(name, 0.0) for name in log.names])
        return lambda arms, contexts, weights, rng: _spread(each[arms], weights)
    if state is None:
        dimension = 0 if log.contexts is None else log.contexts.shape[-1]
        state = policy.start(len(log.names), dimension)
    return lambda arms, contexts, weights, rng: deploy_slate(
        policy, state, arms, contexts, weights, rng
    )


def _spread(shares: npt.ArrayLike, weights: Vector) -> Vector:
    """Return the fair exposures of merits in proportion to these."""
    found = np.asarray(shares, np.float64)
    page = new_page(weights, found.size, whole=0)
    with np.errstate(all="ignore"):
        spread(found / found.sum(), page, page.exposures)
    return page.exposures
