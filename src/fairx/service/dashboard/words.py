"""Numbers, times, policies and merits as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from fairx.store.settings import Settings, merit_of

NOTHING = "\N{EN DASH}"
POLICIES = {
    "FairXTS": "Guesses the mean reward of each arm at random, as far as the rewards so far leave it "
    "open, and shares out exposure by the merit of the guess (FairX-TS).",
    "FairXBetaTS": "Guesses the chance of success of each arm at random, as far as the rewards so far "
    "leave it open, and shares out exposure by the merit of the guess (FairX-TS, for 0 or 1).",
    "FairXGammaTS": "Guesses the mean count of each arm at random, as far as the rewards so far leave "
    "it open, and shares out exposure by the merit of the guess (FairX-TS, for counts).",
    "FairXLinTS": "Guesses at random how contexts make rewards, as far as the rewards so far leave it "
    "open, and shares out exposure by the merit of the guess (FairX-LinTS).",
    "FairXEG": "Shares out exposure by the merit of the mean rewards so far, and equally a part of the "
    "time (FairX-EG).",
    "FairXLinEG": "Shares out exposure by the merit of the rewards that contexts predict, and equally "
    "a part of the time (FairX-LinEG).",
    "FairXUCB": "Shares out exposure by the merit of the most hopeful means that the rewards so far "
    "leave open (FairX-UCB).",
    "FairXGradient": "Moves the exposure of each arm a little with each reward, towards shares in "
    "proportion to merit. It forgets, and follows what changes.",
    "Exp3": "Shows arms by the exponential of what they earned, and any a part of the time. It has no merit.",
    "Discounted": "Does as the policy within, and lets each reward count for less with those that come after.",
    "DiscountedRidge": "Does as the policy within, and lets each reward count for less with those that come after.",
    "Windowed": "Does as the policy within, with the last rewards alone.",
    "EG": "Shows the arm with the best mean reward, and any arm a part of the time. It has no merit.",
    "LinEG": "Shows the arm that contexts predict to be best, and any a part of the time. It has no merit.",
    "Uniform": "Shows all arms on offer equally often. It has no merit.",
}  # fmt: skip


def number(value: float | None) -> str:
    """Return a number as the pages show it.

    Examples
    --------
    >>> number(12345), number(0.01234), number(float("inf"))
    ('12,345', '0.0123', '∞')
    """
    if value is None:
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    words = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return words.replace("-", "\N{MINUS SIGN}")


def exact(value: float | None) -> str:
    """Return all digits of a number; nothing where the API has null.

    Examples
    --------
    >>> exact(0.1), exact(3), exact(float("inf"))
    ('0.1', '3', '')
    """
    return "" if value is None or math.isinf(value) else repr(value)


def share(value: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> share(0.12345), share(1.0), share(0.00034), share(1e-7), share(0.0)
    ('12.3%', '100%', '0.034%', '<0.01%', '0%')
    """
    if value is None:
        return NOTHING
    return "<0.01%" if 0 < value < 1e-4 else f"{number(100 * value)}%"


def age(seconds: float) -> str:
    """Return how long ago something was.

    Examples
    --------
    >>> age(0.25), age(59), age(600), age(90_000), age(900_000)
    ('0.2 s', '59 s', '10 min', '25 h', '10 d')
    """
    for size, unit in ((172_800, "d"), (7_200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds / {'d': 86_400, 'h': 3_600, 'min': 60}[unit]:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def when(time: float, form: str = "%Y-%m-%d %H:%M:%S UTC") -> str:
    """Return a time.

    Examples
    --------
    >>> when(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return datetime.fromtimestamp(time, UTC).strftime(form)


def arm_link(experiment: str, arm: str) -> str:
    """Return the address of an arm's page, whatever its name.

    Examples
    --------
    >>> arm_link("shop", "a/b ?"), arm_link("shop", "..")
    ('/experiments/shop/arms/a%2Fb%20%3F', '/experiments/shop/arms/?arm=..')
    """
    # Browsers resolve dots in a path, even written as %2E.
    end = f"?arm={arm}" if arm in (".", "..") else quote(arm, safe="")
    return f"/experiments/{quote(experiment, safe='')}/arms/{end}"


def merit_words(settings: Settings) -> str:
    """Say what a merit does, by two means a tenth of the rewards' range apart.

    Examples
    --------
    >>> from fairx import Exponential, FairXEG
    >>> merit_words(Settings(FairXEG(Exponential(10), 0.1)))
    'An arm whose mean reward is 0.6 has 2.72 times the merit of one at 0.5.'
    """
    merit = merit_of(settings)
    if merit is None:
        return "This policy has no merit: there is no fair share to compare exposure with."
    low, high = settings.reward_range or (0.0, 1.0)
    less, more = (low + part * (high - low) for part in (0.5, 0.6))
    power = merit.log(more) - merit.log(less)
    times = number(math.exp(power)) if power < 700 else "more than 1e300"
    return (
        f"An arm whose mean reward is {number(more)} has {times} times the merit of one "
        f"at {number(less)}."
    )


def flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield settings one by one, with dots in the names of those inside others.

    Examples
    --------
    >>> list(flat({"policy": {"kind": "EG", "epsilon": 0.1}, "floor": 0.0}))
    [('policy', 'EG'), ('policy.epsilon', 0.1), ('floor', 0.0)]
    """
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield prefix + name, value["kind"]
            inner = {key: part for key, part in value.items() if key != "kind"}
            yield from flat(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, value
