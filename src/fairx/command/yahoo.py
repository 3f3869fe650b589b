"""`fairx data make-yahoo`: a made-up log in the format of the Yahoo! Today Module."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
from typing import Any

DESCRIPTION = """\
Write made-up logs in the format of the Yahoo! Today Module (Webscope R6A), which may not be passed
on: with them Figures 4 and A5 run from end to end. Reports call their results synthetic."""


def add_to(subparsers: Any) -> None:
    """Add `make-yahoo` to the commands of `fairx data`."""
    parser = subparsers.add_parser(
        "make-yahoo", help="make up a log of the Yahoo! Today Module", description=DESCRIPTION
    )
    parser.add_argument("directory", metavar="DIR", help="where it goes; use it as --data DIR")
    parser.add_argument("--days", type=int, default=2, metavar="N", help="1 to 10 (default: 2)")
    parser.add_argument("--events", type=int, default=200_000, metavar="N",
                        help="a day (default: 200000; the real ones have 4.6 million)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    parser.set_defaults(run=make)


def make(arguments: argparse.Namespace) -> int:
    """Make the logs and print where they are."""
    from fairx.replay.yahoo import make_yahoo

    options = {"days": arguments.days, "events": arguments.events, "seed": arguments.seed}
    for path in make_yahoo(arguments.directory, **options):
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB, synthetic)")
    return 0
