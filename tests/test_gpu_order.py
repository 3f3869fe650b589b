"""Which runs a GPU is sent first, and how many at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cases import MERITS
from test_gpu import LINEAR, STILL

from fairx import FairXLinUCB, FairXTS, LinTS
from fairx.compiled.gpu import launching
from fairx.simulation import on_gpu
from fairx.simulation.joining import in_order
from fairx.simulation.measures import measures_of
from fairx.simulation.one_run import OneRun

pytestmark = pytest.mark.once
OTHER = LINEAR._replace(contexts=LINEAR.contexts.copy())


def group(policy: Any, world: Any) -> list[OneRun]:
    records = policy, world, MERITS[0], measures_of({})
    return [OneRun(records, 0, np.array([16]), 1, 0)]


def test_most_memory_comes_first() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    still, slow, other = FairXTS(MERITS[0], 1, 0.5), FairXLinUCB(MERITS[0], 0.1, 1), LinTS(1, 0.5)
    given = [group(still, STILL), group(slow, LINEAR), group(other, LINEAR), group(slow, OTHER)]
    found = [(one[0].records[0], one[0].records[1]) for one in in_order(given)]
    assert [policy for policy, _ in found] == [slow, slow, other, still]
    assert found[1][1] is OTHER


def voyage(blocks: int) -> Any:
    return SimpleNamespace(fleet=SimpleNamespace(blocks=blocks))


@pytest.mark.parametrize(
    ("under_way", "room"),
    [([], True), ([720], True), ([720, 240], False), ([1080], False), ([10] * 31, True)],
)
def test_a_gpu_that_is_busy_is_sent_no_more(
    under_way: list[int], room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 132 multiprocessors; a fleet that is larger than all of them is played too, for it finds them idle."""
    monkeypatch.setattr(launching, "is_simulated", lambda: False)
    monkeypatch.setattr(launching, "schedulers", lambda: 4 * 132)
    assert on_gpu._has_room([voyage(blocks) for blocks in under_way]) is room


def test_no_more_fleets_than_queues() -> None:
    assert not on_gpu._has_room([voyage(1)] * on_gpu.SIDE_BY_SIDE)
