"""What a simulation leaves behind."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Indices, Matrix, Vector

from . import keeping, showing
from .bands import standard_deviation
from .provenance import Provenance
from .tally import CURVES


class Summary(NamedTuple):
    """Mean and standard deviation over the runs (divided by runs - 1; 0 for a single run)."""

    rounds: Indices
    fairness_mean: Vector
    fairness_std: Vector
    reward_mean: Vector
    reward_std: Vector
    exposure_mean: Vector
    exposure_std: Vector
    best_arm_mean: Vector
    best_arm_std: Vector
    earned_mean: Vector
    earned_std: Vector

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and keeping.same(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return showing.summary_words(self)


class Result(NamedTuple):
    """Regrets at the checkpoints, how much each arm was shown, and where all of it comes from."""

    rounds: Indices  # (C,), the checkpoints
    fairness_regret: Matrix  # (runs, C), cumulative, as all that follow by checkpoint
    reward_regret: Matrix  # (runs, C), to the fair policy: may be negative
    exposure: Matrix  # (runs, K), the average deployed probability; with places, exposure
    pulls: Matrix  # (runs, K), how often each arm was played, or shown on any place
    best_arm_regret: Matrix  # (runs, C), to the best arm on offer; with places, to the best ranking
    reward_earned: Matrix  # (runs, C)
    exposure_curves: (
        Matrix | None
    )  # (runs, C, K), the average until then; None where it was not kept
    measures: Mapping[str, Matrix]  # by name of a measure of the user's: (runs, C)
    runs: Indices  # (runs,), their numbers
    provenance: Provenance
    placements: Matrix | None = None  # (runs, K, places), the average propensity; None without
    proved: Vector | None = (
        None  # (runs,), of optimistic steps on places; None where there are none
    )

    def summary(self) -> Summary:
        """Return mean and standard deviation over the runs."""
        parts = (self.fairness_regret, self.reward_regret, self.exposure, self.best_arm_regret,
                 self.reward_earned)  # fmt: skip
        return Summary(
            self.rounds,
            *(half for part in parts for half in (part.mean(axis=0), standard_deviation(part))),
        )

    def curves(self) -> dict[str, Matrix]:
        """Return all that was summed up by checkpoint, measures of the user's too, by name."""
        return {name: getattr(self, name) for name in CURVES} | dict(self.measures)

    def to_frame(self) -> Any:
        """Return a pandas table: one row per run and checkpoint, with where it comes from."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'fairx[experiments]'") from error
        marks = self.rounds.size
        columns = {
            "run": np.repeat(self.runs, marks),
            "round": np.tile(self.rounds, self.runs.size),
            **{name: curve.ravel() for name, curve in self.curves().items()},
        }
        origin = self.provenance._asdict()
        del origin["measures"]  # told by the names of their columns
        for name in ("weights", "feedback", "examination"):
            told = showing.words_of_places(origin.pop(name))
            origin |= {name: told} if told else {}
        return pd.DataFrame(columns | {"horizon": origin.pop("rounds"), **origin})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to `path`, in one step: an npz archive, without pickle."""
        keeping.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote.

        Examples
        --------
        >>> import tempfile
        >>> from fairx import Exponential, Result, TS, environments, simulate
        >>> world = environments.Bernoulli([0.3, 0.6])
        >>> result = simulate(TS(1, 0.5), world, Exponential(4), rounds=100, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(f"{folder}/ts.npz")
        ...     print(Result.load(f"{folder}/ts.npz") == result)
        True
        """
        return cls(**keeping.load(path))

    def merge(self, *others: Result) -> Result:
        """Return the runs of several results of one experiment, by their numbers.

        Examples
        --------
        >>> from fairx import Exponential, TS, environments, simulate
        >>> world = environments.Bernoulli([0.3, 0.6])
        >>> first, more, all_three = (
        ...     simulate(TS(1, 0.5), world, Exponential(4), rounds=100, seed=1, runs=runs)
        ...     for runs in ([0], [1, 2], 3)
        ... )
        >>> more.merge(first) == all_three
        True
        """
        return Result(**keeping.merged([self, *others]))

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and keeping.same(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return showing.result_words(self)


# Named tuples take no names with an underscore in their body.
Result._repr_html_ = showing.result_page  # type: ignore[attr-defined]
Summary._repr_html_ = showing.summary_page  # type: ignore[attr-defined]
