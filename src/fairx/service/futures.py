"""What the writer's thread found out, handed to those who wait for it in the event loop."""

from __future__ import annotations

import asyncio
from typing import Any


def settle(outcomes: list[tuple[asyncio.Future[Any], Any]]) -> None:
    """Give each future its outcome: an answer, or an exception to raise."""
    for future, outcome in outcomes:
        if future.done():  # the client went away
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
