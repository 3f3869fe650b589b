"""The three claims on yeast that 200 runs leave undecided, with 1,000 fresh ones, which a GPU plays.

    python benchmarks/thousand_runs.py play FILE.npz    # needs a GPU: three minutes on an H200
    python benchmarks/thousand_runs.py judge FILE.npz

Settings are those that tuning chose (docs/reproduction/tables.csv). Runs 0 to 199 are the published ones, for a check;
1,000 others are judged, once, at 95 %.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fairx import TS, UCB, Exponential, FairXEG, FairXTS, FairXUCB, datasets, environments
from fairx.simulation.measures import measures_of
from fairx.simulation.one_run import OneRun

PUBLISHED, ALL = 200, 1200
SEED = 2022  # of the tests of all figures
MARKS = np.array([2_000, 20_000, 200_000, 1_000_000, 2_000_000])
LABELS = ("FairX-UCB (gradient)", "FairX-TS", "FairX-EG")


def chosen() -> dict[tuple[str, int], Any]:
    """Return the tuned policies, by name and steepness."""
    found: dict[tuple[str, int], Any] = {("UCB", 4): UCB(0.05), ("TS", 4): TS(1, 1)}
    for steepness, gradient, exact, prior_std, reward_std in (
        (6, 1e-5, 1e-5, 0.01, 1e-4), (8, 0.005, 0.001, 1, 0.001), (10, 2e-4, 2e-4, 1, 0.1),
        (12, 0.1, 5e-4, 1, 0.001),
    ):  # fmt: skip
        merit = Exponential(steepness)
        found |= {
            (LABELS[0], steepness): FairXUCB(merit, gradient, solver="gradient"),
            ("FairX-UCB (exact)", steepness): FairXUCB(merit, exact),
            (LABELS[1], steepness): FairXTS(merit, prior_std, reward_std),
            (LABELS[2], steepness): FairXEG(merit, 0.001),
        }
    return found


def play(file: str) -> None:
    """Play all runs of all policies."""
    from fairx.simulation.on_gpu import play_on_gpu

    labels = datasets.load("yeast").labels
    _, test = datasets.split(len(labels), 0.2, SEED - 1)
    world = environments.Bernoulli(labels[test].mean(axis=0))
    runs = {
        key: [
            OneRun((policy, world, Exponential(key[1]), measures_of({})), 0, MARKS, SEED, run)
            for run in range(ALL)
        ]
        for key, policy in chosen().items()
    }
    play_on_gpu([run for each in runs.values() for run in each], None)
    found = {}
    for (label, steepness), each in runs.items():
        name = f"{label}|{steepness}"
        found[f"{name}|fairness"] = np.array([run.tally.curves[0] for run in each])
        found[f"{name}|reward"] = np.array([run.tally.curves[1] for run in each])
        found[f"{name}|exposure"] = np.array([run.tally.exposures[-1] for run in each])
    np.savez_compressed(file, **found)  # type: ignore[arg-type] # by names


def judge(file: str) -> None:
    """Print what the fresh runs say."""
    from fairx.report.estimates import (
        Sample,
        difference,
        minus,
        most,
        ordered_pairs,
        share_of_runs,
    )  # fmt: skip

    found, fresh = np.load(file), np.arange(PUBLISHED, ALL)

    def of(label: str, steepness: int, what: str = "fairness") -> Any:
        values = found[f"{label}|{steepness}|{what}"][PUBLISHED:]
        return Sample(values[:, -1], fresh, ("yeast", SEED))

    def spread(steepness: int) -> Any:
        pairs = ordered_pairs({label: of(label, steepness) for label in LABELS})
        return most({names: difference(*pair) for names, pair in pairs.items()})

    on_arm_11 = found["UCB|4|exposure"][PUBLISHED:, 11] > 0.9
    hits = Sample(on_arm_11.astype(float), fresh, ("yeast", SEED))
    rows = {
        "UCB ends up on arm 11, share of runs (above 0.5)": share_of_runs(hits),
        "FairX-UCB (gradient) less FairX-TS, c = 10 (above 0)": difference(
            of(LABELS[0], 10), of(LABELS[1], 10)
        ),
        "range of the fair ones, c = 12 less c = 6 (above 0)": minus(spread(12), spread(6)),
        "reward regret, FairX-TS less FairX-UCB (gradient), c = 10": difference(
            of(LABELS[1], 10, "reward"), of(LABELS[0], 10, "reward")
        ),
    }
    for name, estimate in rows.items():
        value, low, high = estimate.at(0.05)
        print(f"{name}: {value:.4g} [{low:.4g} to {high:.4g}]")
    for label, steepness in chosen():
        first = found[f"{label}|{steepness}|fairness"][:PUBLISHED, -1].mean()
        print(
            f"  {label}, c = {steepness}: mean of the {PUBLISHED} published runs {float(first)!r}"
        )


if __name__ == "__main__":
    {"play": play, "judge": judge}[sys.argv[1]](sys.argv[2])
