"""What a simulation leaves behind."""

from __future__ import annotations

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

    def plot(self, label: str = "", axes: Any = None) -> Any:
        """Draw both regrets, mean and one standard deviation; return the two axes."""
        try:
            from matplotlib import pyplot as plt
        except ImportError as error:
            raise ImportError("plot needs matplotlib: pip install 'fairx[plots]'") from error
        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
        summary = self.summary()
        curves = (
            ("fairness regret", summary.fairness_mean, summary.fairness_std),
            ("reward regret", summary.reward_mean, summary.reward_std),
        )
        for axis, (name, mean, std) in zip(axes, curves, strict=True):
            (line,) = axis.plot(self.rounds, mean, label=label or None)
            axis.fill_between(
                self.rounds, mean - std, mean + std, alpha=0.2, color=line.get_color()
            )
            axis.set(xlabel="rounds", ylabel=name)
        return axes


def _mean_and_std(values: Matrix) -> tuple[Vector, Vector]:
    mean = values.mean(axis=0)
    return mean, values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
