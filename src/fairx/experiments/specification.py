"""An experiment as data: what is played, on what, for how long."""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fairx import rules, settings
from fairx.compiled import changed, record
from fairx.environments import Bernoulli
from fairx.merit import Custom, Merit

from .names import choice, imported, text

SETTINGS = ("mab", "linear", "well-specified")
FIGURES = ("regret", "exposure", "sweep")


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
    """

    data: str = "yeast"
    setting: str = "mab"
    labels: int | None = None
    validation: float = 0.2
    dimension: int = 50
    bandwidth: float | str = "median"
    noise_std: float = 0.1
    means: tuple[float, ...] | None = None

    def checked(self) -> Problem:
        """Refuse what no problem can be made of."""
        text("data", self.data)
        choice("setting", self.setting, SETTINGS)
        rules.number("validation", self.validation, low=0, high=1)
        rules.count("dimension", self.dimension)
        rules.number("noise_std", self.noise_std, low=0)
        found = self if self.means is None else self._made_up()
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

    def described(self) -> dict[str, Any]:
        """Return all settings by name, as JSON has them; no means where there are data.

        Keys of rows are made of it: rows of before there were means keep theirs.
        """
        found = self._asdict() | {"means": list(self.means or ())}
        return {name: value for name, value in found.items() if name != "means" or value}


class MadeUp(NamedTuple):
    """What a problem has in the place of a data set, where its means are given."""

    means: tuple[float, ...]

    @property
    def checksum(self) -> str:
        """The SHA-256 of the means."""
        return hashlib.sha256(repr(self.means).encode()).hexdigest()


class Entrant(NamedTuple):
    """A policy with settings that are fixed, and a grid of those that are searched."""

    label: str
    kind: str  # one of ours, or module:Name
    fixed: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]
    family: str = ""  # what entrants of one sweep have for a label

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the points of the grid, the last setting changing fastest."""
        for values in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))

    def described(self, point: Mapping[str, Any], merit: Merit) -> dict[str, Any]:
        """Return the policy at a point of the grid as a mapping that `built` understands."""
        chosen = {"kind": self.kind, **self.fixed, **point}
        if "merit" not in chosen and takes_merit(self.kind):
            chosen["merit"] = described(merit)
        return chosen


class Experiment(NamedTuple):
    """Everything that decides the rows, and how to show them."""

    name: str  # "fig2"
    title: str
    figure: str  # "regret", "exposure" or "sweep"
    problem: Problem
    merits: tuple[Merit, ...]
    policies: tuple[Entrant, ...]
    rounds: tuple[int, ...]  # horizons of the test, increasing: what was tuned is shown at each
    tuning_rounds: int  # the horizon that settings are chosen for
    runs: int
    validation_runs: int
    seed: int
    scale: str
    chapter: str = ""  # the heading that the report shows it under
    text: str = ""  # what the report says of it
    compare: str = ""  # the label of the policy that all others are compared with, run by run

    def identity(self) -> dict[str, Any]:
        """Return what makes it another experiment: merits, policies and runs may be added."""
        horizons = {"rounds": list(self.rounds), "tuning_rounds": self.tuning_rounds}
        return {**self.problem.described(), **horizons, "seed": self.seed}


def takes_merit(kind: str) -> bool:
    """Tell whether a policy has a setting `merit`."""
    return "merit" in inspect.signature(imported(kind)).parameters


def described(value: Any) -> Any:
    """Return a record as a mapping that `built` understands: by its module if it is not ours.

    Examples
    --------
    >>> from fairx import Exponential
    >>> described(Exponential(4))
    {'kind': 'Exponential', 'steepness': 4.0}
    """
    if isinstance(value, Custom):
        return {"kind": _address(value.function)}
    if not hasattr(value, "_fields"):
        return settings.describe(value)
    kind = type(value)
    ours = settings.KINDS.get(kind.__name__) is kind
    fields = {name: described(part) for name, part in value._asdict().items()}
    return {"kind": kind.__name__ if ours else _address(kind), **fields}


def _address(found: Any) -> str:
    return f"{found.__module__}:{found.__qualname__}"


def built(content: Mapping[str, Any]) -> Any:
    """Return the policy or merit that a mapping describes, ours or anybody's.

    Examples
    --------
    >>> built({"kind": "FairXEG", "epsilon": 0.1, "merit": {"kind": "Exponential", "steepness": 4}})
    FairXEG(merit=Exponential(steepness=4.0), epsilon=0.1)
    """
    kinds = dict(settings.KINDS)
    for part in (content, *(v for v in content.values() if isinstance(v, Mapping))):
        kinds[str(part.get("kind"))] = imported(str(part.get("kind")))
    return settings.build(content, kinds)
