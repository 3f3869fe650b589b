"""`fairx evaluate`: what another policy would have brought, and whom it would have shown."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import merits

DESCRIPTION = """\
Estimate the reward and the exposure of a policy from the log of another one. POLICY is "uniform";
a file ARM,PROBABILITY (.csv) or {"ARM": PROBABILITY} (.json); or "fair:MERIT", such as
"fair:exponential:10": exposure in proportion to the merit exp(10 m) of each arm's mean reward m in the
log. A merit is as for fairx audit."""
COLUMNS = ("arm", "reward", "propensity", "candidates", "probabilities", "context", "time")


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx evaluate` takes: the log, the policy, and how to estimate."""
    parser.description = DESCRIPTION
    parser.add_argument("log", metavar="LOG", help="a file or folder: Parquet, CSV, JSON lines")
    parser.add_argument(
        "--policy", required=True, help=f"uniform, a file, or fair:MERIT: {merits.HELP}"
    )
    parser.add_argument("--estimator", default="snips", help="ips, snips (default), dm, dr, replay")
    parser.add_argument(
        "--interval", default="normal", help="normal (default), bootstrap, sequence"
    )
    parser.add_argument("--alpha", type=float, help="chance of error (0.05)")
    parser.add_argument("--level", type=float, help="the old spelling of --alpha: 1 - alpha")
    parser.add_argument(
        "--split", type=float, default=0.0, metavar="SHARE",
        help="estimate the means of a fair policy on this first share of the decisions, and "
        "evaluate it on the others",
    )  # fmt: skip
    parser.add_argument(
        "--max-unsupported", type=float, default=0.01, metavar="SHARE",
        help="of the policy's probability that may be on arms the log cannot speak of (0.01)",
    )  # fmt: skip
    parser.add_argument("--missing", type=float, metavar="REWARD", help="what no reward counts as")
    parser.add_argument("--seed", type=int, help="for the bootstrap, and for replay by drawing")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write DIR/evaluation.json")
    for column in COLUMNS:
        parser.add_argument(f"--{column}", metavar="COLUMN", help=f"the column of the {column}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, print, write."""
    from fairx import logs
    from fairx.evaluation import evaluate, from_table

    given = {name: getattr(options, name) for name in COLUMNS if getattr(options, name)}
    source = from_table(logs.read(options.log, given), missing=options.missing)
    policy, source, cautions = _policy(options, source)
    alpha = 0.05 if options.alpha is None else options.alpha
    if options.level is not None:
        if options.alpha is not None:
            raise ValueError("--level must be left out beside --alpha: it is 1 - alpha")
        alpha = 1 - options.level
    found = evaluate(
        source, policy, options.estimator, interval=options.interval, alpha=alpha,
        max_unsupported=options.max_unsupported, seed=options.seed,
    )  # fmt: skip
    found = found._replace(cautions=(*cautions, *found.cautions))
    _show(found)
    if options.out is not None:
        from fairx.files import replaced

        options.out.mkdir(parents=True, exist_ok=True)
        plain = found.to_dict() | {"policy": options.policy}
        with replaced(options.out / "evaluation.json") as file:
            file.write(json.dumps(plain, indent=2, allow_nan=False).encode())
        print(f"written: {options.out / 'evaluation.json'}")
    return 0


def _policy(options: argparse.Namespace, source: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Return the policy, the decisions to evaluate it on, and what to be careful of."""
    from fairx import OptimalFair, Uniform
    from fairx.evaluation import mean_rewards, split

    kind, _, words = options.policy.partition(":")
    if options.split and kind != "fair":
        raise ValueError(f"--split must be left out for --policy {kind}: it learns nothing")
    if kind == "uniform":
        return Uniform(), source, ()
    if kind == "fair":
        known, rest = split(source, options.split) if options.split else (source, source)
        caution = "the fair policy's means are from the decisions it is evaluated on: use --split"
        policy = OptimalFair(merits.merit(words), mean_rewards(known))
        return policy, rest, () if options.split else (caution,)
    return _from_file(Path(options.policy), source.names), source, ()


def _from_file(path: Path, names: Sequence[Any]) -> dict[Any, float]:
    """Return the probability of each arm; arms that are numbers in the log are numbers here."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        rows = json.loads(text)
    else:
        table = [row for row in csv.reader(text.splitlines()) if row]
        rows = dict(table[1:] if table and _is_header(table[0]) else table)
    known = {str(name): name for name in names}
    try:
        return {known.get(str(arm), arm): float(share) for arm, share in rows.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold arms and probabilities alone ({error})") from error


def _is_header(row: Sequence[str]) -> bool:
    """Tell a header, such as the ARM,PROBABILITY of the help, from an arm with its probability."""
    return [cell.strip().lower() for cell in row] == ["arm", "probability"]


def _show(found: Any) -> None:
    sides = f"{found.low:.6g} to {found.high:.6g}, {found.interval}"
    print(f"reward per decision  {found.reward:.6g}  ({100 * (1 - found.alpha):g} %: {sides})")
    print(f"decisions            {found.decisions}")
    for name, value in found.diagnostics._asdict().items():
        print(f"{name.replace('_', ' '):<20} {value:.6g}")
    print("\narm                  exposure")
    for arm in np.argsort(-found.exposures, kind="stable")[:20]:
        print(f"{found.names[arm]!s:<20} {found.exposures[arm]:.6f}")
    if len(found.names) > 20:
        print(f"... and {len(found.names) - 20} more: --out has all")
    for caution in found.cautions:
        print(f"caution: {caution}")
