"""The policy that is evaluated, however it is given, as probabilities of the arms on offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.logs.problems import SUM
from fairx.types import Indices, Matrix, Vector

from .logged import Logged, Source

Asked = Callable[[Logged, int], npt.ArrayLike]  # of decisions from a number on


class Target(NamedTuple):
    """What gives the probabilities of a policy for some decisions."""

    ask: Asked
    same: bool = False  # where all arms are on offer: one vector for all decisions


def target(policy: Any, source: Source, state: Any, draws: int, seed: int | None) -> Target:
    """Return what gives the probabilities of a policy for some decisions.

    Examples
    --------
    >>> log = Logged(arms=[0, 1], rewards=[1, 0], propensities=[0.5, 0.5])
    >>> target({1: 1.0}, log, None, 1, None).ask(log, 0)
    array([0., 1.])
    """
    if hasattr(policy, "probabilities"):
        frozen = _frozen(policy, source, state, draws, seed)
        return Target(frozen.shares, next(iter(source.pieces())).contexts is None)
    refuse_state(state)
    if callable(policy):
        return Target(lambda piece, start: policy(_contexts(piece)))
    if hasattr(policy, "keys"):
        return constant(policy, source.names)
    if policy is None or isinstance(policy, str) or np.ndim(policy) == 0:
        rule = "probabilities, a mapping by name, a function of contexts or a policy of fairx"
        raise TypeError(f"policy must be {rule}, not {policy!r}")
    if np.ndim(policy) == 1:
        return constant(by_name(np.asarray(policy), source.names), source.names)
    return _each(np.asarray(policy), source.decisions)


def probabilities(wanted: Target, piece: Logged, start: int) -> Vector:
    """Return the target's probabilities for a piece of the log, checked: a row for each decision.

    Where they are the same for all decisions it is one row: time and memory are then those of the
    rows of the log, however many arms there are.
    """
    candidates = piece.all_candidates()
    if wanted.same and piece.candidates is None:
        candidates = candidates[:1]
    hint = "one row per decision, one column per candidate"
    asked = np.asarray(wanted.ask(piece, start))
    if len(candidates) == 1 and asked.ndim == 1:
        asked = asked[None]
    found = rules.array("the policy's probabilities", asked, candidates.shape, hint)
    wrong = np.abs(found.sum(axis=1) - 1) > SUM
    wrong |= (np.where(candidates < 0, -np.abs(found), found) < 0).any(axis=1)
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        rule = "not negative, sum to 1 and be 0 where no candidate is"
        raise ValueError(
            f"the policy's probabilities must be {rule}, not {found[where]} at decision "
            f"{start + where}"
        )
    return found


def refuse_state(state: Any) -> None:
    """Refuse a state of what has none."""
    if state is not None:
        raise ValueError(
            f"state must be left out, not {type(state).__name__}: only a policy of fairx has one, "
            "and this one is given by its probabilities"
        )


def _contexts(piece: Logged) -> Vector:
    if piece.contexts is None:
        raise ValueError("contexts must be in the log: the policy is a function of them")
    return piece.contexts


def by_name(values: npt.NDArray[Any], names: Any) -> Mapping[Any, float]:
    """Return the probability of each arm: by number, or in the order of the names."""
    numbered = all(isinstance(name, (int, np.integer)) and name < values.size for name in names)
    if numbered or values.size == len(names):
        return dict(zip(range(values.size) if numbered else names, values, strict=True))
    rule = f"as many as the {len(names)} arms of the log"
    raise ValueError(
        f"the policy's probabilities must be {rule}, not {values.size}: or give a mapping by name"
    )


def constant(shares: Mapping[Any, float], names: Any) -> Target:
    """Return the target that has the same probabilities always, in proportion among candidates."""
    rules.array("the policy's probabilities", list(shares.values()), (None,))
    elsewhere = {arm: share for arm, share in shares.items() if arm not in set(names)}
    if any(elsewhere.values()):
        arms = ", ".join(str(arm) for arm, share in elsewhere.items() if share)
        raise ValueError(
            f"the policy must have support in the log, not {sum(elsewhere.values()):g} of its "
            f"probability on {arms}: neither shown nor on offer there"
        )
    each = np.array([*(shares.get(name, 0.0) for name in names), 0.0])  # the last: no candidate
    if abs(each.sum() - 1) > SUM or each.min() < 0:
        rule = "not negative and sum to 1"
        raise ValueError(f"the policy's probabilities must be {rule}, not {dict(shares)}")

    def found(piece: Logged, start: int) -> npt.ArrayLike:
        if piece.candidates is None:
            return each[:-1]
        offered = each[piece.candidates]
        with np.errstate(invalid="ignore"):  # none of them: refused where it is checked
            return np.asarray(offered / offered.sum(axis=1, keepdims=True))

    return Target(found, same=True)


def _each(values: npt.NDArray[Any], decisions: int) -> Target:
    """Return the target that is given decision by decision."""
    if len(values) != decisions:
        rule = f"one row for each of the {decisions} decisions"
        raise ValueError(f"the policy's probabilities must have {rule}, not {len(values)}")
    return Target(
        lambda piece, start: values[
            start : start + len(piece.arms), : piece.all_candidates().shape[1]
        ]
    )


class Frozen(NamedTuple):
    """A policy of fairx in a state, averaged over its own draws."""

    policy: Any
    state: Any
    draws: int
    seed: int | None  # none where the policy draws nothing
    memory: dict[bytes, Vector]  # by candidates

    def shares(self, piece: Logged, start: int) -> npt.ArrayLike:
        """Return the probabilities of each candidate."""
        contexts, candidates = piece.contexts, piece.all_candidates()
        if contexts is None and piece.candidates is None:
            return self.remembered(candidates[0])
        if contexts is None:
            kinds, which = _distinct(candidates)
            return np.stack([self.remembered(kind) for kind in kinds])[which]
        wide = contexts if contexts.ndim == 3 else contexts[:, None]
        wide = np.broadcast_to(wide, (*candidates.shape, contexts.shape[-1]))
        return np.stack([self.asked(candidates[row], wide[row]) for row in range(len(candidates))])

    def remembered(self, candidates: Indices) -> Vector:
        """Return the probabilities of candidates without contexts, computed once."""
        key = candidates.tobytes()
        if key not in self.memory:
            self.memory[key] = self.asked(candidates, np.empty((len(candidates), 0)))
        return self.memory[key]

    def asked(self, candidates: Indices, contexts: Matrix) -> Vector:
        """Return the probabilities of one decision."""
        out, there = np.zeros(len(candidates)), candidates >= 0
        arms, rows = candidates[there], np.ascontiguousarray(contexts[there])
        # the draws depend on what is asked, not on when: the order of decisions is no matter
        words = () if self.seed is None else np.frombuffer(arms.tobytes() + rows.tobytes(), "u4")
        rng = np.random.default_rng([self.seed or 0, *words])
        each = (self.policy.probabilities(self.state, arms, rows, rng) for _ in range(self.draws))
        out[there] = np.mean([*each], axis=0)
        return out


def _frozen(policy: Any, source: Source, state: Any, draws: int, seed: int | None) -> Frozen:
    if state is None:
        contexts = next(iter(source.pieces())).contexts
        state = policy.start(len(source.names), 0 if contexts is None else contexts.shape[-1])
    if hasattr(policy, "needs") and not policy.needs(1, 1)[0]:
        return Frozen(policy, state, 1, None, {})
    seed = rules.count("seed (the policy draws at random)", seed, low=0)
    return Frozen(policy, state, rules.count("draws", draws), seed, {})


def _distinct(candidates: Indices) -> tuple[Indices, Indices]:
    """Return the distinct rows, and which of them each row is."""
    new = (candidates[1:] != candidates[:-1]).any(axis=1)
    first = np.concatenate([[0], np.flatnonzero(new) + 1])  # the same rows often follow each other
    kinds, which = np.unique(candidates[first], axis=0, return_inverse=True)
    return kinds, np.repeat(which.ravel(), np.diff(first, append=len(candidates)))
