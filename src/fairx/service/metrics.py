"""Counts for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

disable_created_metrics()  # type: ignore[no-untyped-call] # when a counter was made interests nobody


class Metrics:
    """The counts of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        kind: Any = {"registry": self.registry}
        self._decisions = Counter("fairx_decisions", "Decisions made", ["experiment"], **kind)
        self._repeated = Counter(
            "fairx_repeated", "Decisions asked for again", ["experiment"], **kind
        )
        self._rewards = Counter(
            "fairx_rewards", "Rewards by what became of them", ["experiment", "status"], **kind
        )
        self._matured = Counter("fairx_matured", "Decisions learned from", ["experiment"], **kind)
        self._failures = Counter("fairx_failures", "Requests refused", ["code"], **kind)
        self.seconds = Histogram(
            "fairx_decide_seconds", "Time from request to durable answer",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5), **kind,
        )  # fmt: skip
        self.snapshot_age = Gauge(
            "fairx_snapshot_age_seconds", "Age of the snapshot", ["experiment"], **kind
        )
        self.queue = Gauge("fairx_write_queue", "Requests that wait to be written", **kind)
        self.clock_apart = Gauge(
            "fairx_clock_apart_seconds", "How far the machine's clock is ahead of ours", **kind
        )
        self._kept: dict[tuple[str, ...], Counter] = {}

    def decided(self, experiment: str, repeated: bool, count: int = 1) -> None:
        """Count decisions."""
        self._of(self._repeated if repeated else self._decisions, experiment).inc(count)

    def rewarded(self, experiment: str, statuses: list[str]) -> None:
        """Count rewards."""
        for status in statuses:
            self._of(self._rewards, experiment, status).inc()

    def matured(self, experiment: str, count: int) -> None:
        """Count decisions that were learned from."""
        self._of(self._matured, experiment).inc(count)

    def failed(self, code: str) -> None:
        """Count a request that was refused."""
        self._of(self._failures, code).inc()

    def page(self) -> bytes:
        """Return all counts as Prometheus reads them."""
        return generate_latest(self.registry)

    def _of(self, counter: Counter, *labels: str) -> Counter:
        key = (counter._name, *labels)  # the library looks labels up far slower
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = counter.labels(*labels)
        return found
