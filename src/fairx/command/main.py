"""The command `fairx`: every mistake is one line, every interruption can be resumed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import fairx

from . import audit, data, evaluate, experiments, serve

EXPECTED = (
    ValueError,
    OSError,
    ImportError,
    TypeError,
    MemoryError,
)  # the user's or the machine's doing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parsed = parser().parse_args(arguments)
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
    return status


def parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    top = argparse.ArgumentParser(prog="fairx", description=fairx.__doc__)
    top.add_argument("--version", action="version", version=f"fairx {fairx.__version__}")
    top.add_argument("--traceback", action="store_true", help="show where an error came from")
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")
    for command in (experiments, audit, evaluate, data, serve):
        command.add_to(subparsers)
    return top


def _say(text: str, status: int) -> int:
    sys.stderr.write(f"fairx: {text}\n")
    return status
