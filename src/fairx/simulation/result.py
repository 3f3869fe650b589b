"""What a simulation leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Indices, Matrix, Vector


class Summary(NamedTuple):
    """Mean and standard deviation over the runs (divided by runs - 1; 0 for a single run)."""

    rounds: Indices
    fairness_mean: Vector
    fairness_std: Vector
    reward_mean: Vector
    reward_std: Vector
    exposure_mean: Vector
    exposure_std: Vector


class Result(NamedTuple):
    """Regret at the checkpoints, and how much each arm was shown."""

    rounds: Indices  # (C,)
    fairness_regret: Matrix  # (runs, C), cumulative
    reward_regret: Matrix  # (runs, C), cumulative; may be negative
    exposure: Matrix  # (runs, K), the average deployed probability
    pulls: Matrix  # (runs, K), how often each arm was played

    def summary(self) -> Summary:
        """Return mean and standard deviation over the runs."""
        parts = (self.fairness_regret, self.reward_regret, self.exposure)
        return Summary(self.rounds, *(half for part in parts for half in _mean_and_std(part)))

    def to_frame(self) -> Any:
        """Return a pandas table: one row per run and checkpoint."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'fairx[experiments]'") from error
        runs, marks = self.fairness_regret.shape
        return pd.DataFrame(
            {
                "run": np.repeat(np.arange(runs), marks),
                "round": np.tile(self.rounds, runs),
                "fairness_regret": self.fairness_regret.ravel(),
                "reward_regret": self.reward_regret.ravel(),
            }
        )

    def plot(
        self,
        label: str = "",
        axes: Any = None,
        *,
        band: str = "std",
        measures: str | Sequence[str] = ("fairness_regret", "reward_regret"),
        save: str | Path | None = None,
    ) -> Any:
        """Draw curves, the mean over the runs with a band about it; return the axes.

        Parameters
        ----------
        label
            What the legend calls the curves; it also fixes their colour.
        axes
            Those of an earlier result, to draw on; new ones by default.
        band
            "std", one standard deviation; "se", one standard error; "interval", a 95 % interval for
            the mean (Student's t; needs SciPy). One run has no band.
        measures
            The fields to draw, a panel each; one name for a single panel, whose axis is returned.
        save
            A file to write the figure to, in the format that its name ends in: .pdf and .svg, in
            which text is text, or .png with 300 dots per inch. Labelled curves get a legend.

        Examples
        --------
        >>> from fairx import Exponential, FairXTS, environments, simulate
        >>> merit, world = Exponential(4), environments.Bernoulli([0.2, 0.5, 0.8])
        >>> result = simulate(FairXTS(merit, 1, 0.5), world, merit, rounds=100, runs=5, seed=1)
        >>> axis = result.plot("FairX-TS", band="se", measures="fairness_regret")
        >>> axis.get_ylabel()
        'fairness regret'
        """
        from .plotting import plot

        return plot(self, label, axes, band, measures, save)


def _mean_and_std(values: Matrix) -> tuple[Vector, Vector]:
    mean = values.mean(axis=0)
    return mean, values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
