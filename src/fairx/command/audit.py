"""`fairx audit`: the exposure audit of a log."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import fairx
from fairx.logs import COLUMNS, Log, read
from fairx.texts import several

from . import merits
from .arm_files import groups_of, is_file, lines_of, ratings_of

if TYPE_CHECKING:
    from fairx.auditing import Audit

MOST = 20  # arms of which a change is printed; all are in changes.csv
DESCRIPTION = """\
Compare the exposure of each arm in a decision log with the share that its merit earns, print a
table, and write OUT/index.html, OUT/audit.json and OUT/audit.csv."""


def add_audit(audit: argparse.ArgumentParser) -> None:
    """Add what `fairx audit` takes: the log, its merit and what its columns are called."""
    audit.description = DESCRIPTION
    audit.add_argument("log", metavar="LOG", help="a .parquet, .csv or .jsonl file, or a folder")
    audit.add_argument(
        "--merit", required=True, metavar="KIND:NUMBERS", type=merits.option, help=merits.HELP,
    )  # fmt: skip
    names = audit.add_argument_group("columns of the log, where they have other names")
    for name, words in COLUMNS.items():
        if name == "stratum":
            continue  # by --by
        names.add_argument(
            f"--{name.replace('_', '-')}", dest=f"column_{name}", metavar="NAME", help=words
        )
    names.add_argument("--columns", metavar="FILE", help="these in a TOML file, arm = 'item_id'")
    audit.add_argument(
        "--arms", metavar="FILE", help="arms that were on offer, one a line, shown or not"
    )
    audit.add_argument(
        "--ratings", metavar="WHAT",
        help="merit from outside in place of rewards: arm,rating as .csv or .json, or a column of the log",
    )  # fmt: skip
    audit.add_argument(
        "--feedback", default="each", choices=("each", "examined"),
        help="of slates: a reward depends on its arm alone (each), or is a click (examined)",
    )  # fmt: skip
    audit.add_argument("--groups", metavar="FILE", help="arm,group as .csv, or a mapping as .json")
    audit.add_argument(
        "--floor", type=float, default=0.0, metavar="SHARE",
        help="what each arm on offer is due of every decision; merit shares out the rest (0)",
    )  # fmt: skip
    audit.add_argument("--alpha", type=float, default=0.05, help="chance of a false alarm (0.05)")
    audit.add_argument(
        "--reward-range", "--rewards", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"),
        help="the lowest and highest reward that is possible (0 1)",
    )  # fmt: skip
    audit.add_argument("--late", type=float, default=math.inf, metavar="TIME",
                       help="count rewards that took longer, in the log's unit or in seconds")  # fmt: skip
    audit.add_argument(
        "--tolerance", type=float, default=0.1, metavar="PART",
        help="an arm is fair where all of its interval is within this of what it earns (0.1)",
    )  # fmt: skip
    audit.add_argument("--look", default="always", choices=("always", "once"),
                       help="once: a single look at a finished archive, declared before (always)")  # fmt: skip
    audit.add_argument("--correction", default="bonferroni", choices=("bonferroni", "bh"),
                       help="of the tests of all arms at one look (bonferroni)")  # fmt: skip
    audit.add_argument("--by", metavar="WHAT",
                       help="strata of the box: time:hour, time:day, or the name of a column")  # fmt: skip
    audit.add_argument("--against", metavar="LOG",
                       help="another log of the same arms: who gained since, and who lost")  # fmt: skip
    audit.add_argument(
        "--dialect", metavar="NAME", help="whose columns the log has, as for fairx logs"
    )
    audit.add_argument("--problems", type=Path, metavar="FILE",
                       help="write the rows with problems: file, line, problem, text (CSV)")  # fmt: skip
    audit.add_argument("--strict", action="store_true", help="stop at the first invalid row")
    audit.add_argument("--memory", default="1GB", help="of DuckDB; beyond it spills (1GB)")
    audit.add_argument("--threads", type=int, help="of DuckDB (all cores)")
    audit.add_argument("--out", type=Path, default=Path("audit"), metavar="DIR", help="(audit)")
    audit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Audit the log, print the table and write the page."""
    from fairx.auditing.comparing import changes
    from fairx.auditing.page import write_audit

    found = _audited(options.log, options)
    _tell(found)
    changed = changes(_audited(options.against, options), found) if options.against else ()
    for one in [one for one in changed if one.verdict != "unclear"][:MOST]:
        ends = f"{one.change_low:.2f} to {one.change_high:.2f}"
        print(f"since {options.against}: {one.arm} {one.change:.2f} times ({ends}): {one.verdict}")
    about = {
        "made with": f"fairx {fairx.__version__}",
        "command": shlex.join(["fairx", *sys.argv[1:]]),
    }
    print(f"report: {write_audit(found, options.out, about, changed).resolve()}")
    return 0


def _audited(path: str, options: argparse.Namespace) -> Audit:
    """Audit a log; where two are compared, each has half of alpha, so that both hold together."""
    from fairx.auditing import audit

    return audit(
        _read(path, options),
        options.merit,
        floor=options.floor,
        groups=groups_of(Path(options.groups)) if options.groups else None,
        alpha=options.alpha / (2 if options.against else 1),
        reward_range=tuple(options.reward_range),
        late=options.late,
        by=options.by,
        tolerance=options.tolerance,
        look=options.look,
        correction=options.correction,
        arms=lines_of(Path(options.arms)) if options.arms else (),
        ratings=ratings_of(options.ratings),
        feedback=options.feedback,
    )


def _tell(found: Audit) -> None:
    """Print the finding, what it needs, and the table."""
    from fairx.auditing.speaking import RATINGS
    from fairx.auditing.tables import text
    from fairx.auditing.words import lead
    from fairx.logs.problems import remedies

    for name, count in found.problems.items():
        print(f"problem: {name}: {several(count, 'row', 'rows')}{remedies([name])}")
    for warning in found.warnings:
        print(f"warning: {warning}")
    for note in found.notes:
        print(f"note: {note}")
    print(lead(found))
    print(f"judged by: {found.judged_by}")
    for condition in found.conditions:
        print(f"it needs: {condition}")
    if found.impossible:
        print(
            f"{several(found.impossible, 'decision', 'decisions')} cannot be fair, whatever the rewards are"
        )
    print(text(found))
    regret, ends = found.fairness_regret_per_decision, (found.regret_low, found.regret_high)
    supposed = "" if found.judged_by == RATINGS else ", if means do not vary"
    print(f"fairness regret per decision: {regret:.4f} (by {found.regret_from}{supposed})")
    print(
        f"  {ends[0]:.4f} to {ends[1]:.4f} at one look; a fair log shows {found.regret_floor:.4f}"
    )


def _read(path: str, options: argparse.Namespace) -> Log:
    found = read(
        path,
        _columns(options),
        dialect=options.dialect,
        strict=options.strict,
        memory=options.memory,
        threads=options.threads,
    )
    for note in found.origin.notes:
        print(f"note: {note}")
    if options.late < math.inf and not {"time", "reward_time"} <= found.columns.keys():
        raise ValueError("--late must be left out where the log lacks time or reward_time")
    if options.problems is not None and path == options.log:
        rows = several(found.write_problems(options.problems), "row", "rows")
        print(f"problems: {rows} in {options.problems}")
    return found


def _columns(options: argparse.Namespace) -> dict[str, str]:
    from fairx.logs.columns import named

    given = {name: getattr(options, f"column_{name}", None) for name in COLUMNS}
    if options.ratings and not is_file(options.ratings):
        given["reward"] = options.ratings
    if options.by and not options.by.startswith("time:"):
        given["stratum"] = options.by
    return named(options.columns) | {
        name: value for name, value in given.items() if value is not None
    }
