"""`fairx evaluate`: what another policy would have brought, and whom it would have shown."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import merits

DESCRIPTION = """\
Estimate the reward and the exposure of a policy from the log of another one. POLICY is "uniform";
a file ARM,PROBABILITY (.csv) or {"ARM": PROBABILITY} (.json); or "fair:MERIT", such as
"fair:exponential:10": exposure in proportion to the merit exp(10 m) of each arm's mean reward m in the
log. A merit is as for fairx audit. An interval that would miss the value more often than it says is withheld,
and the reason is printed."""
COLUMNS = ("arm", "reward", "propensity", "candidates", "probabilities", "context", "unit", "time")


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx evaluate` takes: the log, the policy, and how to estimate."""
    parser.description = DESCRIPTION
    parser.add_argument("log", metavar="LOG", help="a file or folder: Parquet, CSV, JSON lines")
    parser.add_argument(
        "--policy", required=True, help=f"uniform, a file, or fair:MERIT: {merits.HELP}"
    )
    parser.add_argument(
        "--estimator", default="snips", help="ips, snips (default), dm, dr, stabilised, replay"
    )
    parser.add_argument(
        "--interval", default="normal", help="normal (default), bootstrap, sequence"
    )
    parser.add_argument("--alpha", type=float, help="chance of error (0.05)")
    parser.add_argument("--level", type=float, help="the old spelling of --alpha: 1 - alpha")
    parser.add_argument(
        "--reward-range", type=float, nargs=2, metavar=("LOW", "HIGH"),
        help="what rewards are between, known beforehand; others are refused (0 1 for sequences and --merit)",
    )  # fmt: skip
    parser.add_argument(
        "--weight-bound", type=float, metavar="WEIGHT",
        help="what weights cannot exceed, known beforehand: for the sequence of snips and dr",
    )  # fmt: skip
    parser.add_argument(
        "--merit", help="also tell how fair the policy would be, for this merit of mean rewards"
    )
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
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="also write DIR/evaluation.json and DIR/index.html"
    )
    for column in COLUMNS:
        parser.add_argument(f"--{column}", metavar="COLUMN", help=f"the column of the {column}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, print, write."""
    from fairx import logs
    from fairx.evaluation import evaluate, from_table

    from .evaluated import shown, written

    given = {name: getattr(options, name) for name in COLUMNS if getattr(options, name)}
    source = from_table(logs.read(options.log, given), missing=options.missing)
    policy, source, cautions = _policy(options, source)
    found = evaluate(
        source, policy, options.estimator, interval=options.interval, alpha=_alpha(options),
        max_unsupported=options.max_unsupported, seed=options.seed,
        merit=None if options.merit is None else merits.merit(options.merit),
        reward_range=tuple(options.reward_range) if options.reward_range else None,
        weight_bound=options.weight_bound,
    )  # fmt: skip
    found = found._replace(cautions=(*cautions, *found.cautions))
    print("\n".join(shown(found)))
    if options.out is not None:
        for path in written(found, options.out, options.log, options.policy):
            print(f"written: {path}")
    return 0


def _alpha(options: argparse.Namespace) -> float:
    if options.level is not None and options.alpha is not None:
        raise ValueError("--level must be left out beside --alpha: it is 1 - alpha")
    if options.level is not None:
        return 1 - float(options.level)
    return 0.05 if options.alpha is None else float(options.alpha)


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
    try:
        rows = json.loads(text) if path.suffix == ".json" else _table(text)
        known = {str(name): name for name in names}
        return {known.get(str(arm), arm): float(share) for arm, share in rows.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold arms and probabilities alone ({error})") from error


def _table(text: str) -> dict[str, str]:
    """Return arms and probabilities of a table; its first line may say which column is which."""
    lines = [line for line in csv.reader(text.splitlines()) if line]
    if lines and [word.strip().lower() for word in lines[0]] == ["arm", "probability"]:
        lines = lines[1:]
    wrong = next((line for line in lines if len(line) != 2), None)
    if wrong is not None:
        raise ValueError(f"a line must be ARM,PROBABILITY, not {','.join(wrong)!r}")
    arms = [arm for arm, _ in lines]
    if len(set(arms)) < len(arms):
        raise ValueError(f"an arm must be there once, not {max(arms, key=arms.count)!r} twice")
    return dict(lines)
