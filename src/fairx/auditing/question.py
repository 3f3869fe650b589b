"""How a log is to be judged, and what cannot be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fairx import rules
from fairx.logs import Log
from fairx.merit import Merit

from .once import Look

if TYPE_CHECKING:
    from .ratings import Ratings

NO_SLATES = {
    "by": "pseudo-rewards need no strata; pages of each stratum can be a log of their own",
    "look": "slates are judged so that it holds at every look",
    "ratings": "on pages merit is from rewards",
    "late": "late rewards of pages are not counted",
    "arms": "log the candidates of each page",
}
NO_RATINGS = {
    "by": "ratings do not vary",
    "look": "what is known of shows holds at every look",
}


class Question(NamedTuple):
    """How a log is to be judged."""

    merit: Merit
    groups: Mapping[Any, str]
    alpha: float
    reward_range: tuple[float, float]
    by: str | None  # strata of the box
    tolerance: float
    look: Look
    ratings: Ratings | None = None

    @property
    def rated(self) -> bool:
        """Whether ratings were given by name, so that rewards are not looked at."""
        return self.ratings is not None and isinstance(self.ratings.given, Mapping)

    def check(self, log: Log, late: float | None, arms: int) -> None:
        """Refuse what a log does not have, or what is not built for it."""
        if "reward" not in log.columns and not self.rated:
            raise ValueError("the log has no column 'reward': merit cannot be told without rewards")
        given = {
            "by": self.by,
            "look": "once" if self.look.once else None,
            "ratings": "given" if self.ratings else None,
            "late": late,
            "arms": arms or None,
        }
        if "place" in log.columns:
            _refuse(given, NO_SLATES, "a log of slates")
        if self.ratings is not None:
            _refuse(given, NO_RATINGS, "merit that is from ratings")


def _refuse(given: Mapping[str, Any], reasons: Mapping[str, str], what: str) -> None:
    for name, why in reasons.items():
        if given[name] is not None:
            raise rules.InvalidValue(name, f"be left out for {what}, not {given[name]!r}: {why}")
