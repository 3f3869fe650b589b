"""`fairx reproduce` and `fairx run`: play experiments and write their report."""

# ruff: noqa: T201 - this prints for the user

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairx.simulation.bands import BANDS
from fairx.simulation.runs import cores

from .session import about, noted

DESCRIPTION = """\
Redo figures of the paper: tune every policy on the validation part, play the chosen settings on
the test part, and write figures, tables and a table of claims to OUT/index.html. Interrupted work
goes on with the same command; finished runs are never redone."""


def add_reproduce(reproduce: argparse.ArgumentParser) -> None:
    """Add what `fairx reproduce` takes."""
    reproduce.description = DESCRIPTION
    reproduce.add_argument("figures", nargs="+", metavar="FIGURE", help="fig1 ... figA6, or all")
    reproduce.add_argument(
        "--steepness", type=float, nargs="+", metavar="C", help="only these merits exp(C mean)"
    )
    _add_options(reproduce, "results/SCALE")
    reproduce.set_defaults(run=_reproduce)


def add_run(run: argparse.ArgumentParser) -> None:
    """Add what `fairx run` takes."""
    run.description = "Run the experiment in a TOML file."
    run.add_argument("file", type=Path, help="a TOML file; docs/experiments.md says what is in it")
    _add_options(run, "results/NAME")
    run.set_defaults(run=_run, steepness=None)


def _add_options(parser: argparse.ArgumentParser, out: str) -> None:
    parser.add_argument(
        "--scale", choices=("smoke", "quick", "paper"), default="paper",
        help="smoke: seconds; quick: minutes; paper: the sizes of the paper (default)",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help=f"where results go (default: {out})")
    parser.add_argument(
        "--jobs", type=_positive, default=cores(), metavar="N", help="runs at a time (all cores)"
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="play on a Dask cluster instead")
    parser.add_argument("--data", metavar="DIR", help="where data sets are (or FAIRX_DATA)")
    parser.add_argument(
        "--band", choices=tuple(BANDS), default="std",
        help="about means: standard deviation (default), standard error, or 95 %% interval",
    )  # fmt: skip
    parser.add_argument(
        "--panels", action="store_true", help="also write each panel of a figure to its own files"
    )
    parser.add_argument(
        "--report-only", action="store_true", help="play nothing; report what is there"
    )


def _reproduce(options: argparse.Namespace) -> int:
    from fairx.experiments import figures, read
    from fairx.experiments.problems import dataset

    everything = "all" in options.figures
    found, absent = [], {}
    for name in figures() if everything else dict.fromkeys(options.figures):
        for experiment in read(name, options.scale):
            try:
                dataset(experiment.problem, options.data)
                found.append(experiment)
            except FileNotFoundError as error:
                if not everything:
                    raise
                absent[experiment.name] = str(error)
                print(f"{experiment.name} is left out: {error}")
    out = options.out or Path("results") / options.scale
    return _conduct(options, out, f"fairx reproduce --scale {options.scale}", found, absent)


def _run(options: argparse.Namespace) -> int:
    from fairx.experiments import read

    if options.file.suffix != ".toml":
        raise ValueError(f"an experiment must be a file that ends in .toml, not {options.file}")
    found = read(options.file, options.scale)
    out = options.out or Path("results") / options.file.stem
    return _conduct(
        options, out, f"fairx run {options.file.name} --scale {options.scale}", found, {}
    )


def _conduct(
    options: argparse.Namespace, out: Path, owner: str, experiments: Sequence[Any], absent: Any
) -> int:
    """Check all experiments, play what is missing of them and write the report."""
    from fairx.experiments import opened, outcome, play_missing
    from fairx.report import write_report

    if options.report_only and not (out / "rows").is_dir():
        raise FileNotFoundError(f"{out} holds no results yet: leave out --report-only")
    plans = [_plan(experiment, options) for experiment in experiments]
    with opened(out, owner, experiments) as rows:
        for torn in rows.torn:
            print(f"{torn} was torn: its runs are played again")
        outcomes, before, started, player = {}, len(rows), time.time(), _player(options)
        try:
            for experiment, plan in zip(experiments, plans, strict=True):
                if plan is not None:
                    play_missing(*plan, rows, player)
                outcomes[experiment.name] = outcome(experiment, rows, options.data)
        finally:
            noted(out, options, len(rows) - before, started)
        page = write_report(outcomes, out, about(out, absent), options.band, options.panels)
    print(f"report: {page.resolve()}")
    return 0


def _plan(experiment: Any, options: argparse.Namespace) -> tuple[Any, str] | None:
    """Return what is to be played of an experiment, and the checksum of its data, once checked."""
    from fairx.experiments import check

    if options.report_only:
        return None
    chosen = _chosen(experiment, options.steepness)
    return chosen, check(chosen, options.data)


def _player(options: argparse.Namespace) -> Any:
    from fairx.experiments import cluster_player, local_player

    if options.cluster:
        return cluster_player(options.cluster, options.data)
    return local_player(options.jobs, options.data)


def _chosen(experiment: Any, steepness: Sequence[float] | None) -> Any:
    """Return the experiment with some of its merits only."""
    if not steepness:
        return experiment
    there = {merit.steepness: merit for merit in experiment.merits}
    for one in steepness:
        if one not in there:
            rule = f"one of {', '.join(f'{c:g}' for c in there)} for {experiment.name}"
            raise ValueError(f"--steepness must be {rule}, not {one:g}")
    return experiment._replace(merits=tuple(there[one] for one in steepness))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value
