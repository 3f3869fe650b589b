"""Small outcomes of experiments, played or made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import TS, Exponential, FairXTS, fair_probabilities, simulate
from fairx.environments import Bernoulli
from fairx.experiments.outcome import Curve, Outcome, Panel, Tried
from fairx.experiments.problem import Problem
from fairx.experiments.specification import Experiment
from fairx.simulation import Provenance, Result
from fairx.types import Matrix

LABELS = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
MEANS = np.array(LABELS) / 2417
RUNS = 5
EARNED = 100_000.0
ROUNDS = np.unique(np.geomspace(20, 2000, 30).astype(np.int64))


class Made(NamedTuple):
    """A policy whose fairness regret is fairness * (t / T)**exponent, reward regret linear."""

    fairness: float
    exponent: float = 0.5
    reward: float = 0.0
    deviation: float = 0.01  # between runs, relative


def experiment(name: str = "fig2", **changes: Any) -> Experiment:
    """Return an experiment that need not be played."""
    found = Experiment(
        name=name,
        title=f"The figure {name}",
        figure="regret",
        problem=Problem(data="yeast", setting="mab"),
        merits=(Exponential(10),),
        policies=(),
        rounds=(2000,),
        tuning_rounds=2000,
        runs=RUNS,
        validation_runs=2,
        seed=1,
        scale="paper",
    )
    return found._replace(**changes)


def result(
    made: Made, exposure: Matrix | None = None, runs: int = RUNS, world: str = "nowhere"
) -> Result:
    """Return regrets that follow a formula, the runs spread evenly about it."""
    factor = 1 + made.deviation * np.linspace(-1, 1, runs)[:, None]
    time = ROUNDS / ROUNDS[-1]
    shown = np.full((runs, len(MEANS)), 1 / len(MEANS)) if exposure is None else exposure
    fairness = made.fairness * time**made.exponent * factor
    return Result(
        rounds=ROUNDS,
        fairness_regret=fairness,
        reward_regret=made.reward * time * factor,
        exposure=shown,
        pulls=shown * ROUNDS[-1],
        best_arm_regret=fairness,
        reward_earned=EARNED * time * np.ones((runs, 1)),
        exposure_curves=None,
        measures={},
        runs=np.arange(runs),
        provenance=Provenance("made up", world, "none", 1, int(ROUNDS[-1]), "0"),
    )


def panel(
    makes: Mapping[str, Made], steepness: float = 10, runs: int = RUNS, world: str = "nowhere"
) -> Panel:
    """Return all policies under one merit, those of FairX with one."""
    merit = Exponential(steepness)
    tried = tuple(Tried({"width": width}, 100 * width, 1.0) for width in (0.01, 0.1, 1.0))
    curves = tuple(
        Curve(
            label,
            FairXTS(merit, 1, 1) if label.startswith("FairX") else TS(1, 1),
            {"width": 0.01},
            tried,
            (result(made, runs=runs, world=world),),
        )
        for label, made in makes.items()
    )
    return Panel(merit, MEANS, fair_probabilities(merit, MEANS), curves)


def regrets(name: str, *panels: Panel, **changes: Any) -> Outcome:
    """Return an outcome with these panels."""
    merits = tuple(one.merit for one in panels)
    return Outcome(experiment(name, merits=merits, **changes), panels)


def exposures(shown: Mapping[str, tuple[Matrix, Matrix]], means: npt.ArrayLike) -> Outcome:
    """Return an outcome with an exposure at 20 rounds and one at 2,000 for each policy."""
    merit = Exponential(4)
    runs = len(next(iter(shown.values()))[0])
    early = result(Made(1), runs=runs)._replace(rounds=ROUNDS[:1])
    curves = tuple(
        Curve(
            label,
            None,
            {},
            (),
            (early._replace(exposure=first), result(Made(1), last, runs)),
        )
        for label, (first, last) in shown.items()
    )
    found = Panel(merit, np.asarray(means), fair_probabilities(merit, means), curves)
    return Outcome(
        experiment("fig1", figure="exposure", merits=(merit,), rounds=(20, 2000)), (found,)
    )


def played(label: str = "FairX-TS") -> Outcome:
    """Play the label frequencies of yeast for a moment."""
    merit, world = Exponential(4), Bernoulli(MEANS)
    curves = tuple(
        Curve(name, policy, {}, (), (simulate(policy, world, merit, rounds=300, runs=2, seed=1),))
        for name, policy in (("TS", TS(1, 0.5)), (label, FairXTS(merit, 1, 0.5)))
    )
    found = Panel(merit, MEANS, fair_probabilities(merit, MEANS), curves)
    return regrets("fig2", found, scale="smoke", rounds=(300,), runs=2)
