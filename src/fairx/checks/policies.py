"""Properties of a policy."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fairx.exposure import fair_probabilities
from fairx.settings import KINDS, build, describe
from fairx.types import Vector

from .training import ARMS, MEANS, assert_same, history, informed, probabilities, start, trained


def check_policy(policy: Any) -> None:
    """Raise an AssertionError that names the first property that `policy` lacks."""
    for check in POLICY_CHECKS:
        check(policy)


def probabilities_are_a_distribution(policy: Any) -> None:
    """One number per arm on offer, none negative, with sum 1; fresh and trained."""
    for state in (start(policy), trained(policy)):
        found = probabilities(policy, state)
        assert found.shape == (ARMS,), f"{policy}: {found.shape} is not one number per arm"
        assert found.min() >= 0, f"{policy}: negative probability in {found}"
        assert abs(found.sum() - 1) < 1e-12, f"{policy}: probabilities sum to {found.sum()}"


def probabilities_leave_the_state_alone(policy: Any) -> None:
    """Looking does not change what was learned."""
    state = trained(policy)
    before = copy.deepcopy(state)
    probabilities(policy, state)
    assert_same(policy, "probabilities changed the state", state, before, exact=True)


def the_same_seed_gives_the_same_probabilities(policy: Any) -> None:
    """Nothing but the generator is random."""
    state = trained(policy)
    same = np.array_equal(probabilities(policy, state, 1), probabilities(policy, state, 1))
    assert same, f"{policy}: two draws from the same seed differ"


def another_seed_gives_another_draw(policy: Any) -> None:
    """A policy that asks for random numbers uses them."""
    if not hasattr(policy, "needs") or policy.needs(ARMS, ARMS)[0] == 0:
        return
    draws = {probabilities(policy, start(policy), seed).tobytes() for seed in range(20)}
    assert len(draws) > 1, f"{policy}: 20 seeds give one draw"


def the_order_of_history_does_not_matter(policy: Any) -> None:
    """Rewards may come in any order, where that is promised: by `any_order`, or by being ours."""
    if not _promises_any_order(policy):
        return
    rounds = list(history())
    forwards, backwards = start(policy), start(policy)
    for arm, context, reward in rounds:
        policy.learn(forwards, arm, context, reward)
    for arm, context, reward in reversed(rounds):
        policy.learn(backwards, arm, context, reward)
    broken = "the order of rewards changes the state, against its promise of any_order"
    assert_same(policy, broken, forwards, backwards)


def learning_changes_only_its_arm(policy: Any) -> None:
    """A reward of one arm says nothing of the others, where arms have counts of their own."""
    state = trained(policy)
    if not _promises_any_order(policy) or "pulls" not in getattr(state, "_fields", ()):
        return  # what forgets old rewards, forgets those of other arms too
    before = copy.deepcopy(state)
    policy.learn(state, 2, np.eye(ARMS)[2], 1.0)
    others = np.delete(np.arange(ARMS), 2)
    for name, new, old in zip(state._fields, state, before, strict=True):
        assert np.array_equal(new[others], old[others]), f"{policy}: {name} of other arms changed"


def relabelling_arms_relabels_probabilities(policy: Any) -> None:
    """The position of an arm among those on offer does not matter."""
    if not hasattr(policy, "needs") or policy.needs(ARMS, ARMS)[0] > 0:
        return
    state, order = trained(policy), np.array([2, 0, 3, 1])
    found, moved = probabilities(policy, state), probabilities(policy, state, arms=order)
    assert np.allclose(moved, found[order], atol=1e-9), f"{policy}: {moved} is not {found[order]}"


def a_lone_arm_gets_everything(policy: Any) -> None:
    """With one arm on offer there is nothing to decide."""
    found = probabilities(policy, trained(policy), arms=np.array([2]))
    assert np.allclose(found, [1.0], atol=1e-12), f"{policy}: a lone arm gets {found}"


def a_subset_of_arms_will_do(policy: Any) -> None:
    """Arms that are not on offer get nothing, and do not disturb."""
    found = probabilities(policy, trained(policy), arms=np.array([3, 1]))
    assert found.shape == (2,), f"{policy}: {found.shape} for two arms on offer"
    assert abs(found.sum() - 1) < 1e-12, f"{policy}: probabilities sum to {found.sum()}"


def it_survives_pickling(policy: Any) -> None:
    """A policy is a value (of a class that can be found again)."""
    kind = type(policy)
    if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is not kind:
        return
    assert repr(pickle.loads(pickle.dumps(policy))) == repr(policy), (
        f"{policy}: changed by pickling"
    )


def its_settings_can_be_written_down(policy: Any) -> None:
    """Policies of fairx turn into plain mappings and back."""
    if type(policy).__name__ in KINDS and "Custom" not in repr(policy):
        assert repr(build(describe(policy))) == repr(policy), (
            f"{policy}: changed by describe, build"
        )


def compiled_equals_interpreted(policy: Any) -> None:
    """The compiled step gives the same probabilities as the Python source, to the last bit."""
    if not hasattr(policy, "propose"):
        return
    state, contexts = trained(policy), np.eye(ARMS)
    normals, work = policy.needs(ARMS, ARMS)
    out = np.empty(ARMS)
    draw = np.random.default_rng(0).standard_normal(normals)
    with np.errstate(over="ignore"):  # whole numbers of random streams wrap around, on purpose
        policy.propose(state, np.arange(ARMS), contexts, draw, np.empty(work), out)
    found = probabilities(policy, state, 0)
    assert np.array_equal(out, found), f"{policy}: compiled {found}, interpreted {out}"


def memory_does_not_grow(policy: Any) -> None:
    """What is kept depends on the number of arms, not of rewards."""
    sizes = [len(pickle.dumps(state)) for state in (start(policy), trained(policy))]
    assert sizes[1] < 2 * sizes[0] + 1000, f"{policy}: the state grew from {sizes[0]} to {sizes[1]}"


def probabilities_converge_to_fair(policy: Any) -> None:
    """After many rewards, exposure is in proportion to merit (up to exploration)."""
    if not hasattr(policy, "merit") or _knows_the_means(policy):
        return
    gap = np.abs(probabilities(policy, informed(policy)) - _fair(policy)).sum()
    assert gap < 0.2, f"{policy}: {gap} from fair after 2,000 rewards of each arm"


def equal_arms_get_equal_exposure(policy: Any) -> None:
    """Two arms of one mean are treated alike: up to the noise of a draw."""
    if not hasattr(policy, "merit") or _knows_the_means(policy):
        return
    found = probabilities(policy, informed(policy))
    assert abs(found[1] - found[2]) < 0.1, f"{policy}: equal arms get {found[1]} and {found[2]}"


def a_better_mean_gets_no_less(policy: Any) -> None:
    """More merit, no less exposure."""
    if not hasattr(policy, "merit") or _knows_the_means(policy):
        return
    found = probabilities(policy, informed(policy))
    assert found[0] <= found[1] + 1e-9, f"{policy}: the worst arm gets {found}"
    assert found[2] <= found[3] + 1e-9, f"{policy}: the best arm gets {found}"


POLICY_CHECKS: list[Callable[[Any], None]] = [
    probabilities_are_a_distribution,
    probabilities_leave_the_state_alone,
    the_same_seed_gives_the_same_probabilities,
    another_seed_gives_another_draw,
    the_order_of_history_does_not_matter,
    learning_changes_only_its_arm,
    relabelling_arms_relabels_probabilities,
    a_lone_arm_gets_everything,
    a_subset_of_arms_will_do,
    it_survives_pickling,
    its_settings_can_be_written_down,
    compiled_equals_interpreted,
    memory_does_not_grow,
    probabilities_converge_to_fair,
    equal_arms_get_equal_exposure,
    a_better_mean_gets_no_less,
]


def _promises_any_order(policy: Any) -> bool:
    return bool(getattr(policy, "any_order", type(policy) in KINDS.values()))


def _fair(policy: Any) -> Vector:
    return fair_probabilities(policy.merit, MEANS)


def _knows_the_means(policy: Any) -> bool:
    return hasattr(policy, "means")
