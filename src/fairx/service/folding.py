"""The fold, as time goes by: what is mature is learned, and what others wrote is read."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from fairx.store.errors import Unavailable
from fairx.store.folding import AT_ONCE, folded
from fairx.store.snapshots import ServedExperiment, Snapshot

if TYPE_CHECKING:
    from .runtime import Runtime

LOGGER = logging.getLogger("fairx")
EVERYTHING_EVERY = 5.0  # seconds: news may be lost with a connection


async def fold_forever(runtime: Runtime) -> None:
    """Fold what is mature, and follow the news, until cancelled."""
    last = time.monotonic()
    more = False
    while True:
        await asyncio.sleep(0 if more else runtime.refresh)
        try:
            more = await runtime.fold()
            news = await runtime.change(lambda database: database.news())
            if time.monotonic() - last > EVERYTHING_EVERY:
                last = time.monotonic()
                await runtime.reload()
            elif news:
                await runtime.reload(news)
        except Exception as error:  # noqa: BLE001 - the next round may fare better
            more = False
            runtime.answers.clear()
            LOGGER.warning("fold failed", extra={"error": str(error)})


async def fold_once(runtime: Runtime) -> bool:
    """Fold what is mature; tell whether there may be more."""
    more = False
    ready = [decider for decider in runtime.deciders.values() if decider.is_ready]
    for experiment in [decider.snapshot.experiment for decider in ready]:
        found = await _folded(runtime, experiment)
        if found is None or experiment.name not in runtime.deciders:
            continue  # nothing new, or it was deleted meanwhile
        snapshot, learned = found
        await runtime.hold(snapshot)
        more = more or learned >= AT_ONCE
        runtime.metrics.matured(experiment.name, learned)
    return more


async def _folded(runtime: Runtime, experiment: ServedExperiment) -> tuple[Snapshot, int] | None:
    """Fold one experiment; what is wrong with it must not keep the others waiting."""
    now = runtime.clock()
    try:
        return await runtime.change(lambda database: folded(database, experiment, now))
    except Unavailable:
        raise
    except Exception:  # the next round may fare better
        LOGGER.exception("fold failed", extra={"experiment": experiment.name})
        return None
