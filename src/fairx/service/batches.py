"""Different requests in one call: each is answered as it would be alone, all are written together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from .answers import ENCODER
from .failures import Reply
from .fast_routes import READ_DECIDE, check_numbers, numbers_of
from .requests import Batch, Part
from .runtime import Runtime

READ = msgspec.json.Decoder(Batch)
Ask = Callable[[str, str, bytes], Awaitable[Reply]]  # an experiment, a route and a body
# What says how many there are.
EVENTS = {"decide": ("count", "places"), "rewards": ("rewards",), "shown": ("decisions",)}


async def answers_to(runtime: Runtime, body: bytes, ask: Ask) -> bytes:
    """Return the answers to all requests of a body, in their order."""
    parts = READ.decode(body).requests
    runtime.limits.check("events", sum(map(_events, parts)), "requests")
    bodies = [ENCODER.encode(part.body) for part in parts]
    check_numbers(runtime, sum(map(_numbers(runtime), parts, bodies)), "requests")
    found = await asyncio.gather(
        *(ask(part.experiment, part.route, each) for part, each in zip(parts, bodies, strict=True))
    )
    answers = [{"status": each.status, "body": msgspec.Raw(each.body)} for each in found]
    return ENCODER.encode({"answers": answers})


def _events(part: Part) -> int:
    """Return how many decisions (of slates, places), rewards or shown events a part has, at least one."""
    return max(1, *(_size(part.body.get(name)) for name in EVENTS[part.route]))


def _size(found: Any) -> int:
    if isinstance(found, list):
        return len(found)
    return int(found) if isinstance(found, (int, float)) else 1


def _numbers(runtime: Runtime) -> Callable[[Part, bytes], int]:
    """Return what tells how much a part asks for; what is wrong with it is said in its own answer."""

    def numbers(part: Part, body: bytes) -> int:
        decider = runtime.deciders.get(part.experiment)
        if part.route != "decide" or decider is None:
            return 0
        try:
            return numbers_of(decider, READ_DECIDE.decode(body))
        except msgspec.ValidationError:
            return 0

    return numbers
