"""A problem as data: what is played on, and on how many places."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from fairx import environments, rules, settings
from fairx.compiled import changed, record
from fairx.environments import Bernoulli, Late
from fairx.simulation.places import Places, places_given

from .names import choice, text

SETTINGS = ("mab", "linear", "well-specified")
ON_PLACES = ("weights", "feedback", "examination")


@record
class Problem(NamedTuple):
    """A bandit problem made from a data set: classes are arms, labels are rewards.

    Parameters
    ----------
    data
        A name that `fairx.datasets.load` knows, or a path.
    setting
        "mab" (no contexts), "linear", or "well-specified" (linear, with the labels replaced by
        their linear fit plus normal noise).
    labels
        How many of the columns are labels, for files that do not say.
    validation
        The share of the examples that hyper-parameters are tuned on.
    dimension, bandwidth
        Of the random Fourier features, see `fairx.features`.
    noise_std
        Of the well-specified variant. The paper prints N(0,0,1), which `figA6` reads as a variance of
        0.1: a deviation of 0.316.
    means
        Of made-up arms that pay 1 or 0, in the place of data: then `data` is their name.
    weights, feedback, examination
        Of pages with several places, as `simulate` takes them.
    world
        A record of `fairx.environments` without contexts, as a table with its kind, in the place of data.
    late
        How late rewards are: settings of `fairx.environments.Late`, as a table.
    """

    data: str = "yeast"
    setting: str = "mab"
    labels: int | None = None
    validation: float = 0.2
    dimension: int = 50
    bandwidth: float | str = "median"
    noise_std: float = 0.1
    means: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    feedback: str = "each"
    examination: tuple[float, ...] | None = None
    world: Any = None  # kept as text, as is `late`: a problem can be hashed
    late: Any = None

    def checked(self) -> Problem:
        """Refuse what no problem can be made of."""
        text("data", self.data)
        choice("setting", self.setting, SETTINGS)
        rules.number("validation", self.validation, low=0, high=1)
        rules.count("dimension", self.dimension)
        rules.number("noise_std", self.noise_std, low=0)
        found = (self if self.means is None else self._made_up())._placed()._moved()
        if self.bandwidth == "median":
            return found
        bandwidth = rules.positive('bandwidth, if not "median",', self.bandwidth)
        return changed(found, bandwidth=bandwidth)

    def _made_up(self) -> Problem:
        means: Any = Bernoulli(self.means or ()).means
        if self.setting != "mab":
            rule = f"be of a problem without contexts, not of one that is {self.setting}"
            raise rules.InvalidValue("means", f"{rule}: write setting = 'mab'")
        name = f"means {', '.join(f'{mean:g}' for mean in means)}"
        return changed(self, means=tuple(means.tolist()), data=name)

    def _moved(self) -> Problem:
        """Write down a world and how late its rewards are."""
        world, late = (
            json.dumps(part, sort_keys=True) if isinstance(part, Mapping) else part
            for part in (self.world, self.late)
        )
        found = changed(self, world=world, late=late)
        environment = found.environment()
        if environment is not None and (self.setting, self.means) != ("mab", None):
            raise rules.InvalidValue(
                "world", "be of a problem without contexts and means of its own"
            )
        name = self.data if environment is None else type(environment).__name__
        return changed(found, data=name)

    def environment(self) -> Any:
        """Return the world that is in the place of data, if there is one."""
        kinds = {name: getattr(environments, name) for name in environments.__all__}
        return None if self.world is None else settings.build(json.loads(self.world), kinds)

    def arriving(self, environment: Any) -> Any:
        """Return an environment whose rewards are as late as this problem says."""
        return environment if self.late is None else Late(environment, **json.loads(self.late))

    def _placed(self) -> Problem:
        """Name every weight and chance: rows have them in their keys."""
        places = self.places()
        if places is None:
            return self
        chances = None if places.feedback == "each" else tuple(places.examination.tolist())
        return changed(self, weights=tuple(places.weights.tolist()), examination=chances)

    def places(self) -> Places | None:
        """Return the places of its pages; nothing for one place."""
        return places_given(self.weights, self.feedback, self.examination)

    def described(self) -> dict[str, Any]:
        """Return all settings by name, as JSON has them; means and places where there are any.

        Keys of rows are made of it: rows of before there were such keep theirs.
        """
        found = self._asdict() | {"means": list(self.means or ())}
        if self.weights is not None:
            found |= {"weights": list(self.weights), "examination": list(self.examination or ())}
        absent = {"means"} if self.means is None else set()
        absent |= set(ON_PLACES) if self.weights is None else set()
        absent |= {name for name in ("world", "late") if getattr(self, name) is None}
        return {name: value for name, value in found.items() if name not in absent}


class MadeUp(NamedTuple):
    """What a problem has in the place of a data set, where its means or its world are given."""

    given: Any

    @property
    def checksum(self) -> str:
        """The SHA-256 of what is given."""
        return hashlib.sha256(repr(self.given).encode()).hexdigest()
