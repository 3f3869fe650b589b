"""What an experiment tells of itself while it is played."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from fairx.experiments import execution, read
from fairx.experiments.progress import Progress
from fairx.experiments.tasks import validation_tasks
from fairx.numerics.streams import BLOCK
from fairx.simulation.runs import Watch


def test_what_is_told_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line when more than ten seconds have passed, and one at the end."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with Progress("fig", 4, 10_000) as progress:
        for clock[0], rounds in ((110.0, 500), (110.5, 550), (120.0, 1000), (121.0, 7000)):
            progress.add_rounds(rounds)
            progress.add_runs(1)
    assert capsys.readouterr().err.splitlines() == [
        "fig: 2 of 4 runs, 100 rounds/s, 1 min left",  # 8,950 rounds, a hundred a second
        "fig: 4 of 4 runs, 431 rounds/s, 2 s left",
        "fig: 4 of 4 runs, 431 rounds/s",
    ]
    with Progress("none", 0, 0):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [OSError("no disk"), ImportError("no module"), KeyError("what")])
def test_a_run_that_fails_is_named_unless_the_machine_is_at_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(execution, "play", fail)
    (experiment,) = read("fig2", "smoke")
    entrant = experiment.policies[0]
    (task, *_) = validation_tasks(experiment, entrant, {"width": 0.1}, experiment.merits[0], "")
    with pytest.raises(type(error)) as raised:
        list(execution.local_player(1)([task], lambda rounds: None))
    assert raised.value is error
    named = [f"in run 0 of {task.policy} on yeast"]
    assert getattr(error, "__notes__", []) == (named if isinstance(error, KeyError) else [])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_shown_on_a_terminal_unless_progress_is_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Watch(10, None).bar.disable
    monkeypatch.setattr("sys.stderr", Terminal())
    told: list[int] = []
    for progress, hidden in ((None, False), (told.append, True)):
        watch = Watch(10, progress)
        watch.add(4)
        assert bool(watch.bar.disable) == hidden
        assert (told, watch.bar.n) == (([4], 0) if hidden else ([], 4))
        watch.bar.close()


@pytest.mark.parametrize("cost", [1e-9, 2e-6, 1e-4, 1.0])
def test_chunks_take_a_tenth_of_a_second_and_grow_eightfold_at_most(
    monkeypatch: pytest.MonkeyPatch, cost: float
) -> None:
    """Whole blocks, one after the other, until the end; `cost` is that of a round."""
    clock, chunks, stop = [5.0], list[tuple[int, int]](), 3_000 * BLOCK + 7
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def step(start: int, end: int) -> bool:
        chunks.append((start, end))
        clock[0] += cost * (end - start)
        return True

    Watch(stop, None).walk(stop, step)
    size = BLOCK
    for start, end in chunks[:-1]:
        assert end - start == size
        size = max(BLOCK, int(size * min(0.1 / max(cost * size, 1e-9), 8)) // BLOCK * BLOCK)
    assert [start for start, _ in chunks] == [0, *(end for _, end in chunks[:-1])]
    assert chunks[-1][1] == stop
