"""`fairx serve`: decisions over HTTP."""

from __future__ import annotations

import argparse
from pathlib import Path

DESCRIPTION = """\
Serve merit-fair decisions over HTTP. Everything acknowledged is durable; a reward counts once; every
decision can be made again from the log."""


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Add what `fairx serve` takes, with an option for each limit."""
    serve.description = DESCRIPTION
    serve.add_argument(
        "--store", metavar="ADDRESS",
        help="sqlite:///PATH or postgresql://... (sqlite:///fairx.db, fairx-demo.db with --demo)",
    )  # fmt: skip
    serve.add_argument("--host", default="127.0.0.1", help="(127.0.0.1)")
    serve.add_argument("--port", type=int, default=8000, help="(8000)")
    serve.add_argument("--no-auth", action="store_true", help="ask for no token; on loopback only")
    serve.add_argument("--secret-file", type=Path, metavar="FILE",
                       help="signs decision ids; or FAIRX_SECRET, or PATH.secret beside SQLite")  # fmt: skip
    serve.add_argument("--refresh", type=float, default=0.25, metavar="SECONDS",
                       help="between snapshots (0.25)")  # fmt: skip
    serve.add_argument("--demo", action="store_true",
                       help="three experiments with simulated traffic, without tokens")  # fmt: skip
    serve.add_argument("--workers", type=int, default=1, metavar="N",
                       help="processes at this address, with PostgreSQL (1)")  # fmt: skip
    serve.add_argument("--archive", type=Path, metavar="FOLDER",
                       help="where what `fairx archive` moved is (where it put it)")  # fmt: skip
    serve.add_argument("--access-log", action="store_true", help="log each request")
    serve.add_argument("--traces", action="store_true",
                       help="send traces by OpenTelemetry, as its variables OTEL_* say")  # fmt: skip
    _add_limits(serve)
    serve.set_defaults(run=run_serve)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from fairx import rules

    try:
        from fairx.service.limits import Limits, checked
        from fairx.service.running import Options, run
    except ImportError as error:
        raise ImportError(f"fairx serve needs {error.name}: pip install 'fairx[serve]'") from error
    limits = checked(Limits(*(getattr(options, f"limit_{name}") for name in Limits._fields)))
    if not 0 <= options.port <= 65_535:
        raise ValueError(f"--port must be from 0 to 65,535, not {options.port}")
    refresh = rules.positive("refresh", options.refresh)
    store = options.store or f"sqlite:///{'fairx-demo' if options.demo else 'fairx'}.db"
    auth = not (options.no_auth or options.demo)
    where = (options.host, options.port)
    workers = rules.count("workers", options.workers)
    watched = (options.access_log, options.traces)
    run(
        Options(
            store,
            *where,
            auth,
            refresh,
            limits,
            options.secret_file,
            options.demo,
            *watched,
            workers,
            options.archive,
        )
    )
    return 0


def _add_limits(serve: argparse.ArgumentParser) -> None:
    from fairx.service.limits import Limits

    group = serve.add_argument_group("limits, beyond which requests are refused")
    for name, value in Limits()._asdict().items():
        group.add_argument(
            f"--limit-{name.replace('_', '-')}", type=type(value), default=value, metavar="N",
            help=f"({value:,})",
        )  # fmt: skip
