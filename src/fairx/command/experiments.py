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

from .playing import chosen, counts, digests, plan, played, tuned_for, used
from .session import about, begin, bring, keep_cap, noted

DESCRIPTION = """\
Redo figures of the paper, or experiments beyond it: tune every policy on the validation part, play the chosen settings on
the test part, and write figures, tables and a table of claims to OUT/index.html. Interrupted work
goes on with the same command; finished runs are never redone."""
NAMES = (
    "fig1 ... figA6 of the paper; exploration, fair-bandits, misspecification, slates, tight-intervals "
    "beyond it; "
    "or all"
)
CAP = 200


def add_reproduce(reproduce: argparse.ArgumentParser) -> None:
    """Add what `fairx reproduce` takes."""
    reproduce.description = DESCRIPTION
    reproduce.add_argument("figures", nargs="+", metavar="FIGURE", help=NAMES)
    reproduce.add_argument(
        "--steepness", type=float, nargs="+", metavar="C", help="only these merits exp(C mean)"
    )
    reproduce.add_argument(
        "--decide", type=_positive, nargs="?", const=CAP, metavar="CAP",
        help=f"add test runs, at most CAP ({CAP}), until every claim of the figures is decided",
    )  # fmt: skip
    reproduce.add_argument(
        "--seed", type=_seed, metavar="S",
        help="another than the figures' own: other splits, tuned anew, fresh runs",
    )  # fmt: skip
    reproduce.add_argument(
        "--tuning-rounds", type=_positive, metavar="N",
        help="choose settings by runs of N rounds, instead of the figures' own number",
    )  # fmt: skip
    _add_options(reproduce, "results/SCALE[-tuned-N][-seed-S]")
    reproduce.set_defaults(run=_reproduce)


def add_run(run: argparse.ArgumentParser) -> None:
    """Add what `fairx run` takes."""
    run.description = "Run the experiment in a TOML file."
    run.add_argument("file", type=Path, help="a TOML file; docs/experiments.md says what is in it")
    _add_options(run, "results/NAME")
    run.set_defaults(run=_run, steepness=None, decide=None)


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
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu",
        help="cuda: play all runs of a policy at once on a GPU of NVIDIA's (fairx[cuda])",
    )  # fmt: skip
    parser.add_argument("--data", metavar="DIR", help="where data sets are (or FAIRX_DATA)")
    parser.add_argument(
        "--band", choices=tuple(BANDS), default="std",
        help="about means: standard deviation (default), standard error, or 95 %% interval",
    )  # fmt: skip
    parser.add_argument(
        "--panels", action="store_true", help="also write each panel of a figure to its own files"
    )
    parser.add_argument(
        "--rows", type=Path, action="append", default=[], metavar="DIR",
        help="take in the runs of another folder of results; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--report-only", action="store_true", help="play nothing; report what is there"
    )


def _reproduce(options: argparse.Namespace) -> int:
    from fairx.experiments import beyond, figures, read
    from fairx.experiments.problems import dataset

    everything = "all" in options.figures
    names = [*figures(), *beyond()] if everything else dict.fromkeys(options.figures)
    asked = [one for name in names for one in read(name, options.scale)]
    for experiment in asked:  # a mistake is told before data are looked for
        chosen(experiment, options)
    asked = [_seeded(tuned_for(one, options.tuning_rounds), options.seed) for one in asked]
    found, absent = [], {}
    for experiment in asked:
        try:
            dataset(experiment.problem, options.data)
            found.append(experiment)
        except FileNotFoundError as error:
            if not everything:
                raise
            absent[experiment.name] = str(error)
            print(f"{experiment.name} is left out: {error}")
    out = options.out or Path("results") / _folder(options)
    return _conduct(options, out, f"fairx reproduce --scale {options.scale}", found, absent)


def _folder(options: argparse.Namespace) -> str:
    """Return the name of the folder: other settings or seeds than the figures' own have one of their own."""
    own = "" if options.tuning_rounds is None else f"-tuned-{options.tuning_rounds}"
    return f"{options.scale}{own}" + ("" if options.seed is None else f"-seed-{options.seed}")


def _seeded(experiment: Any, seed: int | None) -> Any:
    """Return the experiment with another seed, if one is given."""
    return experiment if seed is None else experiment._replace(seed=seed)


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
    from fairx.experiments import opened
    from fairx.report import write_report

    if options.report_only and not options.rows and not (out / "rows").is_dir():
        raise FileNotFoundError(f"{out} holds no results yet: leave out --report-only")
    for folder in options.rows:
        if not (folder / "rows").is_dir():
            raise FileNotFoundError(f"--rows must be a folder with results, not {folder}")
    _check_cap(options, experiments)
    plans = {one.name: plan(one, options) for one in experiments}
    with opened(out, owner, experiments) as rows:
        for torn in rows.torn:
            print(f"{torn} was torn: its runs are played again")
        begin(out, options, len(rows))
        bring(out, options.rows, rows)
        keep_cap(out, options.decide)
        before, started = len(rows), time.time()
        try:
            outcomes, found = played(options, experiments, plans, rows)
        finally:
            noted(out, options, len(rows) - before, started)
        keys = used(outcomes, rows, options.data)
        said = about(out, absent, counts(keys, rows))
        page = write_report(
            outcomes, out, said, options.band, options.panels, found, digests(keys, rows)
        )
    print(f"report: {page.resolve()}")
    return 0


def _check_cap(options: argparse.Namespace, experiments: Sequence[Any]) -> None:
    """Refuse, before any work, a number of runs that cannot be looked at."""
    from fairx.report.claims import looks

    if options.decide and options.steepness:
        raise ValueError("--decide must be given without --steepness: claims are about all merits")
    for one in experiments if options.decide else ():
        looks(one.runs, options.decide)


def _positive(text: str) -> int:
    return _at_least(1, text)


def _seed(text: str) -> int:
    return _at_least(0, text)


def _at_least(low: int, text: str) -> int:
    value = int(text)
    if value < low:
        raise argparse.ArgumentTypeError(f"must be at least {low}, not {value}")
    return value
