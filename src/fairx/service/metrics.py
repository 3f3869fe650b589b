"""Counts for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from .counting import Counts, Times

BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5)  # seconds


class Metrics:
    """The counts of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        kind: Any = {"registry": self.registry}
        self._decisions = self._counts("fairx_decisions", "Decisions made", "experiment")
        self._repeated = self._counts("fairx_repeated", "Decisions asked for again", "experiment")
        self._rewards = self._counts(
            "fairx_rewards", "Rewards by what became of them", "experiment", "status"
        )
        self._matured = self._counts("fairx_matured", "Decisions learned from", "experiment")
        self._failures = self._counts("fairx_failures", "Requests refused", "code")
        self.seconds = Times("fairx_decide_seconds", "Time from request to durable answer", BOUNDS)
        self.registry.register(self.seconds)
        self.snapshot_age = Gauge(
            "fairx_snapshot_age_seconds", "Age of the snapshot", ["experiment"], **kind
        )
        self.fold_lag = Gauge(
            "fairx_fold_lag_seconds", "How long a decision was due that is not learned from yet",
            ["experiment"], **kind,
        )  # fmt: skip
        self.queue = Gauge("fairx_write_queue", "Requests that wait to be written", **kind)
        self.at_once = Gauge("fairx_requests_at_once", "Requests that are being answered", **kind)
        self.shed = Gauge("fairx_shed", "Requests refused as there were too many", **kind)
        self.connections = Gauge("fairx_connections", "Connections of clients", **kind)
        self.reading = Gauge("fairx_store_readers", "Connections that read the store", **kind)
        self.store_bytes = Gauge("fairx_store_bytes", "Size of the store", **kind)
        self.disk_free = Gauge(
            "fairx_disk_free_bytes", "Free space where the store is, if it is a file", **kind
        )
        self.clock_apart = Gauge(
            "fairx_clock_apart_seconds", "How far the machine's clock is ahead of ours", **kind
        )

    def _counts(self, name: str, about: str, *labels: str) -> Counts:
        found = Counts(name, about, [*labels])
        self.registry.register(found)
        return found

    def decided(self, experiment: str, repeated: bool, count: int = 1) -> None:
        """Count decisions."""
        (self._repeated if repeated else self._decisions).of[experiment,] += count

    def rewarded(self, experiment: str, statuses: list[str]) -> None:
        """Count rewards."""
        for status in statuses:
            self._rewards.of[experiment, status] += 1

    def matured(self, experiment: str, count: int) -> None:
        """Count decisions that were learned from."""
        self._matured.of[experiment,] += count

    def failed(self, code: str) -> None:
        """Count a request that was refused."""
        self._failures.of[code,] += 1

    def page(self) -> bytes:
        """Return all counts as Prometheus reads them."""
        return generate_latest(self.registry)
