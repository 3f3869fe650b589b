"""The command `fairx`: every mistake is one line, every interruption can be resumed."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import fairx

COMMANDS = {  # the module that has each, and what it does
    "reproduce": ("experiments", "redo figures of the paper"),
    "run": ("experiments", "run an experiment of your own"),
    "audit": ("audit", "compare exposure with merit in a log"),
    "logs": ("logs", "check a log, or write it in the columns of others"),
    "evaluate": ("evaluate", "evaluate a policy from the log of another"),
    "data": ("data", "list data sets, or get one"),
    "serve": ("serve", "serve decisions over HTTP"),
    "verify": ("keeping", "make every decision of a store's log again, and compare"),
    "backup": ("keeping", "copy a store on SQLite while it is in use"),
    "archive": ("archiving", "move what is old from a store to files of Parquet"),
    "restore": ("keeping", "put a backup in the place of a store on SQLite"),
}
EXPECTED = (
    ValueError,
    OSError,
    ImportError,
    TypeError,
    MemoryError,
)  # the user's or the machine's doing
DATABASES = ("apsw", "psycopg")  # whose errors are so too: a full disk, a server that is away


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in given if not word.startswith("-")), "")
    parsed = parser(only=asked).parse_args(given)
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _say("interrupted: nothing finished is lost; the same command goes on", 130)
    except BrokenPipeError:  # `fairx data list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except EXPECTED as error:
        if parsed.traceback:
            raise
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        return _say(f"error: {error}{notes}", 1)
    except Exception as error:
        if parsed.traceback or type(error).__module__.partition(".")[0] not in DATABASES:
            raise
        said = " ".join(str(error).split())
        return _say(f"error: the store cannot be used: {said}", 1)
    return status


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all subcommands, or of one: the others are named, not imported."""
    top = argparse.ArgumentParser(prog="fairx", description=fairx.__doc__)
    top.add_argument("--version", action="version", version=f"fairx {fairx.__version__}")
    top.add_argument("--traceback", action="store_true", help="show where an error came from")
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")
    for name, (module, words) in COMMANDS.items():
        command = subparsers.add_parser(name, help=words, description=words)
        if only in (None, name):
            found = importlib.import_module(f".{module}", __package__)
            getattr(found, f"add_{name}")(command)
    return top


def _say(text: str, status: int) -> int:
    sys.stderr.write(f"fairx: {text}\n")
    return status
