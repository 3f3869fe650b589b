"""What is measured when somebody asks for it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil

from fairx.store.database import Database
from fairx.store.errors import Overloaded, Unavailable
from fairx.store.measured import oldest_due, stored_bytes

from .runtime import Runtime

PATIENCE = 5.0  # seconds: who asks waits for 10, mostly


async def measure(runtime: Runtime) -> None:
    """Bring the gauges up to date."""
    metrics, now, load = runtime.metrics, runtime.clock(), runtime.load
    metrics.snapshot_age.clear()  # of experiments that were deleted since
    for name, decider in runtime.deciders.items():
        metrics.snapshot_age.labels(name).set(now - decider.snapshot.time)
    metrics.queue.set(runtime.queued)
    metrics.clock_apart.set(getattr(runtime.clock, "apart", 0.0))
    metrics.at_once.set(load.at_once)
    metrics.shed.set(load.shed)
    metrics.connections.set(load.connections)
    metrics.reading.set(runtime.reading)
    if runtime.store.path is not None:
        metrics.disk_free.set(shutil.disk_usage(runtime.store.path.absolute().parent).free)
    metrics.fold_lag.clear()
    # Where the store does not tell in time, the others are all there is to say.
    with contextlib.suppress(Unavailable, Overloaded, TimeoutError):
        await asyncio.wait_for(_of_store(runtime, now), PATIENCE)


async def _of_store(runtime: Runtime, now: float) -> None:
    metrics = runtime.metrics
    numbers = {name: each.snapshot.experiment.id for name, each in runtime.deciders.items()}
    dues, size = await runtime.read(lambda database: _looked_up(database, numbers, runtime))
    for name, due in dues.items():
        metrics.fold_lag.labels(name).set(0.0 if due is None else max(0.0, now - due))
    metrics.store_bytes.set(size)


def _looked_up(
    database: Database, numbers: dict[str, int], runtime: Runtime
) -> tuple[dict[str, float | None], int]:
    """Return when the oldest decision of each experiment was due, and how large the store is."""
    dues = {name: oldest_due(database, each) for name, each in numbers.items()}
    return dues, stored_bytes(database, runtime.store.path)
