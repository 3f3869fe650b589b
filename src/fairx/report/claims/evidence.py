"""Where the evidence of a claim is found: the panels of figures, and numbers of their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.merit import Exponential
from fairx.plots.figure import merit_title
from fairx.report.estimates import Missing, Sample
from fairx.report.metrics import distance, growth_exponents

Measure = Callable[[Panel, str], Sample]


class Evidence(NamedTuple):
    """The panels of figures that show the same, each merit once."""

    figures: tuple[str, ...]  # those that were played
    setting: str
    scales: frozenset[str]
    panels: tuple[Panel, ...]


class Roles(NamedTuple):
    """The labels of the paper's policies in one setting; our own solver stands beside them."""

    conventional: tuple[str, ...]
    ucb: str
    ts: str
    eg: str
    ours: str

    @property
    def fair(self) -> tuple[str, str, str]:
        """The paper's three."""
        return self.ucb, self.ts, self.eg


MAB = Roles(("UCB", "TS"), "FairX-UCB (gradient)", "FairX-TS", "FairX-EG", "FairX-UCB (exact)")
LINEAR = Roles(
    ("LinUCB", "LinTS"),
    "FairX-LinUCB (gradient)",
    "FairX-LinTS",
    "FairX-LinEG",
    "FairX-LinUCB (ascent)",
)


def gathered(group: Sequence[str], outcomes: Mapping[str, Outcome]) -> Evidence:
    """Return the panels of all figures of a group that were played, each merit once."""
    names = tuple(name for name in group if name in outcomes)
    if not names:
        no, nor = ("neither ", " nor ") if len(group) > 1 else ("", "")
        verb = "is" if len(group) > 1 else "is not"
        raise Missing(f"{no}{nor.join(group)} {verb} among the outcomes")
    panels: dict[Any, Panel] = {}
    for panel in (panel for name in names for panel in outcomes[name].panels):
        key = type(panel.merit), panel.merit
        if key not in panels or _runs(panel) > _runs(panels[key]):
            panels[key] = panel
    if not panels:
        raise Missing(f"{' and '.join(names)} has no panel yet")
    experiments = [outcomes[name].experiment for name in names]
    scales = frozenset(experiment.scale for experiment in experiments)
    return Evidence(names, experiments[0].problem.setting, scales, tuple(panels.values()))


def _runs(panel: Panel) -> int:
    return min((curve.result.runs.size for curve in panel.curves), default=0)


def roles(evidence: Evidence) -> Roles:
    """Return who is who in this setting."""
    return MAB if evidence.setting == "mab" else LINEAR


def panel_at(evidence: Evidence, steepness: float) -> Panel:
    """Return the panel of the merit exp(steepness mean)."""
    for panel in evidence.panels:
        if panel.merit == Exponential(steepness) and isinstance(panel.merit, Exponential):
            return panel
    raise Missing(f"{' and '.join(evidence.figures)} has no panel at c = {steepness:g} yet")


def check_every(evidence: Evidence, steepness: Sequence[float]) -> None:
    """Refuse a claim about every merit where the panels of some are not there."""
    there = [panel.merit for panel in evidence.panels if isinstance(panel.merit, Exponential)]
    absent = [f"{c:g}" for c in steepness if Exponential(c) not in there]
    if absent:
        names = " and ".join(evidence.figures)
        raise Missing(f"the claim is about every c, and {names} has no c = {', '.join(absent)} yet")


def by_steepness(evidence: Evidence) -> list[Panel]:
    """Return the panels of exponential merits, from flat to steep."""
    panels = [panel for panel in evidence.panels if isinstance(panel.merit, Exponential)]
    return sorted(panels, key=lambda panel: panel.merit.steepness)  # type: ignore[attr-defined]


def merits(panels: Sequence[Panel]) -> str:
    """Return the merits of panels in words."""
    return ", ".join(merit_title(panel.merit) for panel in panels)


def find(panel: Panel, label: str) -> Curve:
    """Return the curve with this label."""
    for curve in panel.curves:
        if curve.label == label:
            return curve
    raise Missing(f"{label} was not played for {merit_title(panel.merit)}")


def sample(curve: Curve, values: Any, horizon: int = -1) -> Sample:
    """Return one number of each run of a curve, with what pairs it to others."""
    result = curve.results[horizon]
    if not np.isfinite(values).all():
        raise Missing(f"the rows of {curve.label} lack it: they are of an older version")
    return Sample(values, result.runs, (result.provenance.environment, result.provenance.seed))


def fairness(panel: Panel, label: str) -> Sample:
    """Return the fairness regret of each run at the end."""
    curve = find(panel, label)
    return sample(curve, curve.result.fairness_regret[..., -1])


def reward(panel: Panel, label: str) -> Sample:
    """Return the reward regret of each run at the end."""
    curve = find(panel, label)
    return sample(curve, curve.result.reward_regret[..., -1])


def reward_share(panel: Panel, label: str) -> Sample:
    """Return the reward regret of each run as a share of what the fair policy would earn."""
    curve = find(panel, label)
    regret, earned = curve.result.reward_regret[..., -1], curve.result.reward_earned[..., -1]
    return sample(curve, regret / np.maximum(regret + earned, 1e-9))


def exponents(panel: Panel, label: str) -> Sample:
    """Return the growth exponent of the fairness regret of each run over the last decade."""
    curve = find(panel, label)
    regret = curve.result.fairness_regret
    flat = regret.reshape(-1, regret.shape[-1])
    found = growth_exponents(curve.result.rounds, flat)
    return sample(curve, found.reshape(regret.shape[:-1]))


def unfairness(panel: Panel, label: str, horizon: int = -1) -> Sample:
    """Return the L1 distance of the exposure of each run to the fair one."""
    curve = find(panel, label)
    shown = curve.results[horizon].exposure
    found = distance(shown.reshape(-1, shown.shape[-1]), panel.fair)
    return sample(curve, found.reshape(shown.shape[:-1]), horizon)


def chosen(panel: Panel, label: str) -> str:
    """Return a label with the settings that were chosen for it."""
    settings = find(panel, label).settings.items()
    words = ", ".join(f"{name} {value}" for name, value in settings)
    return f"{label} ({words})" if words else label
