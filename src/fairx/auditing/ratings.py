"""Merit from outside: ratings of arms, in place of what their rewards earn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.merit import Merit
from fairx.texts import several
from fairx.types import Vector

from .always_valid import Intervals
from .merits import Merits, logs_of
from .result import Line
from .speaking import RATINGS, fair_within
from .sums import LogSums

VARY = "The ratings of {arms} vary: the average of each counts."


class Ratings(NamedTuple):
    """Where the ratings of arms are: given by name, or in the column that is read as `reward`."""

    given: Mapping[Any, float] | bool

    def merits(self, sums: LogSums, merit: Merit, reward_range: tuple[float, float]) -> Merits:
        """Return the merits of all arms, which are known."""
        means = self._of(sums)
        for arm, mean in zip(sums.arms, means.tolist(), strict=True):
            if not reward_range[0] <= mean <= reward_range[1]:
                rule = f"be from {reward_range[0]:g} to {reward_range[1]:g}, not {mean:g}"
                remedy = "give their range as --reward-range LOW HIGH"
                raise rules.InvalidValue(f"the rating of {arm!r}", f"{rule}: {remedy}")
        logs = logs_of(merit, means)
        return Merits(means, Intervals(means, means), logs, Intervals(logs, logs), None)

    def notes(self, sums: LogSums) -> list[str]:
        """Say where the ratings of an arm vary."""
        if isinstance(self.given, Mapping):
            return []
        counts = np.maximum(sums.rewards, 1.0)
        spread = sums.squares / counts - (sums.reward_sums / counts) ** 2
        number = int((spread > 1e-9 * np.maximum(1.0, sums.squares / counts)).sum())
        return [VARY.format(arms=several(number, "arm", "arms"))] if number else []

    def judged(self, lines: tuple[Line, ...], tolerance: float) -> tuple[Line, ...]:
        """Return the lines with their verdicts: what is known is fair where it is near enough."""
        return tuple(
            line._replace(
                verdict=fair_within((line.ratio_low, line.ratio_high), tolerance, line.box),
                judged_by=RATINGS,
            )
            for line in lines
        )

    def _of(self, sums: LogSums) -> Vector:
        if isinstance(self.given, Mapping):
            named = {str(arm): float(rating) for arm, rating in self.given.items()}
            found = [named.get(str(arm), np.nan) for arm in sums.arms]
        else:
            known = np.where(sums.rewards > 0, sums.rewards, np.nan)
            found = (sums.reward_sums / known).tolist()
        lost = [arm for arm, one in zip(sums.arms, found, strict=True) if np.isnan(one)]
        if lost:
            raise rules.InvalidValue(
                "ratings", f"have a number for each arm, but {lost[0]!r} has none"
            )
        return np.array(found)
