"""Counts and times of requests for Prometheus, kept as plain numbers: the event loop alone adds to them.

The library's own are safe for any thread, at 3 µs of locks for each decision.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric


class Counts:
    """A count for each combination of labels.

    Examples
    --------
    >>> counts = Counts("fairx_rewards", "Rewards", ["status"])
    >>> counts.of["late",] += 2
    >>> [(one.labels["status"], one.value) for metric in counts.collect() for one in metric.samples]
    [('late', 2)]
    """

    def __init__(self, name: str, about: str, labels: list[str]) -> None:
        self._name, self._about, self._labels = name, about, labels
        self.of: defaultdict[tuple[str, ...], int] = defaultdict(int)

    def collect(self) -> Iterator[Metric]:
        """Yield the counts as Prometheus reads them."""
        found = CounterMetricFamily(self._name, self._about, labels=self._labels)
        for labels, count in self.of.items():
            found.add_metric(labels, count)
        yield found


class Times:
    """How many times were at most each bound, and their sum.

    Examples
    --------
    >>> times = Times("fairx_seconds", "Time", (0.5, 2))
    >>> for seconds in (0.5, 0.75, 3.0):
    ...     times.observe(seconds)
    >>> [one.value for metric in times.collect() for one in metric.samples]
    [1.0, 2.0, 3.0, 3.0, 4.25]
    """

    def __init__(self, name: str, about: str, bounds: Iterable[float]) -> None:
        self._name, self._about, self._bounds = name, about, [*map(float, bounds)]
        self._counts, self._sum = [0] * (len(self._bounds) + 1), 0.0

    def observe(self, seconds: float) -> None:
        """Add a time."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the counts as Prometheus reads them."""
        buckets, total = [], 0
        for bound, count in zip([*self._bounds, math.inf], self._counts, strict=True):
            total += count
            buckets.append((repr(bound) if bound < math.inf else "+Inf", float(total)))
        found = HistogramMetricFamily(self._name, self._about)
        found.add_metric([], buckets, self._sum)
        yield found
