"""What the bandwidth of the random Fourier features does to the linear problem on yeast.

The paper does not give it. Figure 3 at the quick scale, for multiples of the median heuristic.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fairx import datasets
from fairx.datasets.features import median_distance
from fairx.experiments import Experiment, Rows, conduct, local_player, read
from fairx.experiments.problems import part

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
LABELS = ("LinTS", "FairX-LinUCB (gradient)", "FairX-LinTS", "FairX-LinEG")


def main() -> None:
    (figure,) = read("fig3", "quick")
    yeast = datasets.load("yeast")
    median = median_distance(yeast.features, yeast.labels.shape[1], seed=figure.seed)
    policies = tuple(entrant for entrant in figure.policies if entrant.label in LABELS)
    print(f"median distance: {median:.4f}\n")
    print("| bandwidth / median | R² of the fit | spread of the means |", " | ".join(LABELS), "|")
    print("| ---: | ---: | ---: |" + " ---: |" * len(LABELS))
    for factor in FACTORS:
        problem = figure.problem._replace(bandwidth=factor * median)
        print(row(factor, figure._replace(problem=problem, policies=policies)))


def row(factor: float, experiment: Experiment) -> str:
    """Return a line of the table; regrets are means per round, on the test part."""
    test: Any = part(experiment.problem, "test", experiment.seed)
    labels = np.asarray(test.environment.labels)
    explained = 1 - ((labels - test.means) ** 2).mean() / labels.var()
    with tempfile.TemporaryDirectory() as folder:
        (panel,) = conduct(experiment, Rows(Path(folder)), local_player(2)).panels
    regrets = [
        f"{curve.result.fairness_regret[:, -1].mean() / experiment.rounds[-1]:.3f}"
        for curve in panel.curves
    ]
    return f"| {factor:g} | {explained:.3f} | {test.means.std():.3f} | {' | '.join(regrets)} |"


if __name__ == "__main__":
    main()
