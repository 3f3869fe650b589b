"""`fairx logs`: whether a log can be read, and the same log in the columns of others."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

DIALECTS = ("fairx", "dsjson", "open-bandit", "coba", "eppo")
MOST = 10  # columns that are not read of which the names are printed


def add_logs(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands `check` and `convert`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    words = "read a log, and tell what it has and what is wrong with it"
    check = commands.add_parser("check", help=words, description=words)
    words = "write the valid rows of a log in the columns of others"
    convert = commands.add_parser("convert", help=words, description=words)
    for one in (check, convert):
        one.add_argument("log", metavar="IN", help="a file, or a folder of files")
    convert.add_argument("out", metavar="OUT", type=Path,
                         help=".parquet, .csv, .jsonl, .dsjson or .zip (coba)")  # fmt: skip
    convert.add_argument("--to", choices=DIALECTS, help="(by the ending of OUT)")
    for one in (check, convert):
        one.add_argument("--from", dest="dialect", choices=DIALECTS, help="(by the columns of IN)")
        one.add_argument("--columns", metavar="FILE", help="our names in a TOML file, arm = 'item'")
        one.add_argument("--problems", metavar="FILE", type=Path,
                         help="write the rows with problems: file, line, problem, text (CSV)")  # fmt: skip
        one.add_argument("--strict", action="store_true", help="stop at the first invalid row")
    check.set_defaults(run=run_check)
    convert.set_defaults(run=run_convert)


def run_check(options: argparse.Namespace) -> int:
    """Tell what a log has; 1 where a row has a problem."""
    log = _read(options)
    rows, valid = log.counts()
    print(f"dialect: {log.origin.dialect}")
    print(f"rows: {rows:,}, of which {valid:,} are valid")
    print(f"columns: {', '.join(_called(*pair) for pair in log.columns.items())}")
    return 1 if _tell(log, options) else 0


def run_convert(options: argparse.Namespace) -> int:
    """Write the valid rows, and tell what was left behind."""
    from fairx.texts import several

    log = _read(options)
    written = log.write(options.out, options.to)
    _tell(log, options)
    print(f"written: {options.out} ({several(written, 'row', 'rows')})")
    return 0


def _read(options: argparse.Namespace) -> Any:
    from fairx.logs import read

    return read(options.log, options.columns, dialect=options.dialect, strict=options.strict)


def _called(ours: str, theirs: str) -> str:
    return ours if ours == theirs else f"{ours} ({theirs})"


def _tell(log: Any, options: argparse.Namespace) -> bool:
    """Print what is not read, and what is wrong; tell whether something is."""
    from fairx.logs.problems import remedies
    from fairx.texts import several

    if log.others:
        more = f" and {len(log.others) - MOST} more" if len(log.others) > MOST else ""
        print(f"not read: {', '.join(log.others[:MOST])}{more}")
    for note in log.origin.notes:
        print(f"note: {note}")
    found = log.problems()
    for name, count in found.items():
        print(f"problem: {name}: {several(count, 'row', 'rows')}{remedies([name])}")
    if options.problems is not None:
        count = log.write_problems(options.problems)
        print(f"written: {options.problems} ({several(count, 'row', 'rows')} with problems)")
    return bool(found)
