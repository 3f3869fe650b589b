"""What an experiment is: a policy, its arms, and the rules of its rewards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fairx import rules
from fairx.features import Features
from fairx.features.given import dimension_given, features_given
from fairx.policies import Policy
from fairx.rules import InvalidValue
from fairx.settings import KINDS, build, describe

MERITS = ("Affine", "Exponential", "Logistic", "PiecewiseLinear", "Power")
SOLVERS = ("Exact", "Gradient")
INTERVALS = ("Hoeffding", "KullbackLeibler")  # those of counts and sums alone, which are kept
PARTS = {"merit": MERITS, "solver": SOLVERS, "interval": INTERVALS}  # of policies
COUNTING = ("FairXTS", "FairXBetaTS", "FairXGammaTS", "FairXEG", "FairXUCB", "EG", "Uniform")
LINEAR = ("FairXLinTS", "FairXLinEG", "LinEG")
TOLD = ("FairXGradient", "Exp3")
FORGETTING = {  # and what they may be around: those that show an arm before its first reward
    "Discounted": ("FairXTS", "FairXBetaTS", "FairXGammaTS", "FairXEG", "EG"),
    "Windowed": ("FairXTS", "FairXBetaTS", "FairXGammaTS", "FairXEG", "EG"),
    "DiscountedRidge": LINEAR,
}
POLICIES = (*COUNTING, *TOLD, *LINEAR, *FORGETTING)
SERVED = {name: KINDS[name] for name in (*POLICIES, *MERITS, *SOLVERS, *INTERVALS)}
LARGEST = 1e9  # of all numbers from outside: their squares and sums stay finite


class Settings(NamedTuple):
    """The settings of an experiment, which never change.

    Parameters
    ----------
    policy
        One whose logs can be evaluated: each arm's chance is known and not just 0 or 1.
    dimension
        Of the contexts; 0 without.
    reward_window_s
        How long a decision waits for rewards. Then it is mature, and learned from.
    missing_reward
        What a decision without rewards counts as; None to learn nothing from it.
    floor
        The chance that each arm on offer has at least.
    reward_range
        The lowest and highest reward; None where they are not known.
    requires_shown
        Whether a decision that was neither shown nor rewarded counts for nothing.
    features
        What contexts are made of, by name; None where they come as numbers.
    """

    policy: Policy[Any]
    dimension: int = 0
    reward_window_s: float = 600.0
    missing_reward: float | None = 0.0
    floor: float = 0.0
    reward_range: tuple[float, float] | None = None
    requires_shown: bool = False
    features: Features | None = None


def checked(settings: Mapping[str, Any]) -> Settings:
    """Return the settings that a mapping of plain values describes.

    Examples
    --------
    >>> checked({"policy": {"kind": "TS", "prior_std": 1, "reward_std": 1}})
    Traceback (most recent call last):
    ValueError: unknown kind 'TS': choose from ...
    >>> checked({"policy": {"kind": "Uniform"}, "floor": -1}).floor
    Traceback (most recent call last):
    InvalidValue: floor must be a number from 0 to 1, not -1
    """
    whole = _policy(settings["policy"])
    features = features_given(settings.get("features"))
    dimension = dimension_given(settings.get("dimension", 0), features)
    _check_dimension(whole, dimension)
    missing = settings.get("missing_reward", 0.0)
    ends = _range(settings.get("reward_range"))
    if hasattr(whole, "check_reach"):
        whole.check_reach(*(ends or (0.0, 1.0)))
    low, high = ends or (-LARGEST, LARGEST)
    return Settings(
        whole,
        dimension,
        rules.number("reward_window_s", settings.get("reward_window_s", 600.0), 0, LARGEST),
        None if missing is None else rules.number("missing_reward", missing, low, high),
        rules.number("floor", settings.get("floor", 0.0), low=0, high=1),
        ends,
        bool(settings.get("requires_shown", False)),
        features,
    )


def _policy(about: Mapping[str, Any]) -> Any:
    """Return the policy that a mapping describes, if it and all its parts are served."""
    _bounded("policy", about)
    within = about["policy"] if isinstance(about.get("policy"), Mapping) else about
    if not isinstance(within.get("merit", {}), Mapping):
        raise _not_one_of("merit", MERITS, within["merit"])
    whole = build(about, SERVED)
    kind = type(whole).__name__
    if kind not in POLICIES:
        raise InvalidValue("policy", f"be one of {', '.join(POLICIES)}, not {kind}")
    policy: Any = _within(whole)
    for part, kinds in PARTS.items():
        found = getattr(policy, part, None)
        if part in policy._fields and type(found).__name__ not in kinds:
            raise _not_one_of(part, kinds, found)
    return whole


def _check_dimension(whole: Any, dimension: int) -> None:
    """Refuse contexts for a policy without, and none for one with."""
    linear = type(_within(whole)).__name__ in LINEAR
    if linear != (dimension > 0):
        rule = "at least 1" if linear else "0"
        raise InvalidValue("dimension", f"be {rule} for {type(whole).__name__}, not {dimension}")


def is_kept_whole(settings: Settings) -> bool:
    """Tell whether a policy's whole state is kept: it is told what was played, or forgets in order."""
    return not getattr(settings.policy, "any_order", True)


def merit_of(settings: Settings) -> Any:
    """Return the merit of a policy, or of the one that it is around; None where there is none."""
    return getattr(_within(settings.policy), "merit", None)


def _within(policy: Any) -> Any:
    """Return the policy within one that forgets, if it is one that is served there."""
    kind = type(policy).__name__
    if kind not in FORGETTING:
        return policy
    if type(policy.policy).__name__ not in FORGETTING[kind]:
        raise _not_one_of("policy", FORGETTING[kind], policy.policy)
    return policy.policy


def _not_one_of(part: str, kinds: Sequence[str], found: Any) -> InvalidValue:
    return InvalidValue(f"policy.{part}", f"be one of {', '.join(kinds)}, not {found!r}")


def check_floor(floor: float, arms: int) -> None:
    """Refuse a floor that the arms cannot all have."""
    if floor * arms > 1:
        raise InvalidValue(
            "floor",
            f"be at most {1 / arms:g} with {arms} arms, not {floor:g}: "
            "the shares of all arms sum to 1",
        )


def written(settings: Settings) -> dict[str, Any]:
    """Return the settings as plain values.

    Examples
    --------
    >>> checked({"policy": {"kind": "Uniform"}}) == checked(
    ...     written(checked({"policy": {"kind": "Uniform"}}))
    ... )
    True
    """
    found = settings._asdict() | {"policy": describe(settings.policy)}
    found |= {"reward_range": settings.reward_range and list(settings.reward_range)}
    if settings.features is None:  # nothing more on record than before there were features
        return {name: value for name, value in found.items() if name != "features"}
    return found | {"features": describe(settings.features)}


def dumped(settings: Settings, seed: str) -> str:
    """Return the settings as the store keeps them."""
    return json.dumps(written(settings) | {"seed": seed}, sort_keys=True)


def _range(ends: Any) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = (rules.number("reward_range", end, -LARGEST, LARGEST) for end in ends)
    if not low < high:
        raise InvalidValue("reward_range", f"be the lowest and the highest reward, not {ends!r}")
    return low, high


def _bounded(name: str, value: Any) -> None:
    """Refuse numbers whose sums or squares could be too large."""
    if isinstance(value, (Mapping, list)):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, part in parts:
            _bounded(f"{name}.{key}", part)
    elif isinstance(value, (int, float)):
        rules.number(name, value, -LARGEST, LARGEST)
