"""`benchmarks/gpu.py agree`, in the simulator of numba-cuda."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}

pytestmark = pytest.mark.once


def test_cases_are_played_on_both_and_compared(tmp_path: Path) -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    options = (
        f"agree --rounds 48 --runs 2 --only FairXTS --cap Windowed=16 --table {tmp_path}/table"
    )
    command = [sys.executable, str(BENCHMARKS / "gpu.py"), *options.split()]
    subprocess.run(command, env=os.environ | SIMULATED, check=True, capture_output=True)
    first, *rest = (tmp_path / "table").read_text().splitlines()
    assert first == "5 of 5 agree in all of 2 runs"
    assert len(rest) == 5
    assert ["16 rounds" in line for line in rest] == ["Windowed" in line for line in rest]


@pytest.fixture
def agreement(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    found = importlib.import_module("gpu_agreement")
    monkeypatch.setattr(found, "compiled", lambda waiting, board: None)
    return found


def played_by(agreement: Any, broken: str) -> Any:
    """Return a player by whom one case cannot be played, nor anything beside it."""

    def play(runs: Any, progress: Any) -> Any:
        if any(type(run.records[0]).__name__ == broken for run in runs):
            raise ValueError(f"{broken} is broken")
        for run in runs:
            run.begin()
            yield [run]

    return play


def test_a_case_that_fails_is_listed_and_the_others_go_on(agreement: Any) -> None:
    lengths = dict.fromkeys(("UCB", "EG", "TS"), 32)
    board, waiting = agreement.Board(lengths, 1), agreement.fleets(lengths, 1)
    here = {name: runs[0] for name, runs in waiting.items()}
    agreement.play_there(waiting, board, played_by(agreement, "EG"))
    for name in ("UCB", "TS"):
        tally = here[name].tally
        other = tally.pulls + (name == "TS")  # as if they differed
        played = agreement.Played(other, tally.curves[3], tally.curves[0])
        board.note(name, "processor", 0, played)
    first, *rest = board.table().splitlines()
    assert first == "1 of 3 agree in all of 1 runs"
    assert "FAILED on the GPU: ValueError: EG is broken" in rest[0]
    assert rest[1].startswith("NOT:")
    assert "alike in 0 of 1 runs" in rest[1]
    assert rest[2].endswith("UCB")
