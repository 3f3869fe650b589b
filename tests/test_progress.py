"""What an experiment tells of itself while it is played."""

from __future__ import annotations

import pytest

from fairx.experiments.progress import Progress


def test_what_is_told_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line when more than ten seconds have passed, and one at the end."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with Progress("fig", 4, 10_000) as progress:
        for clock[0], rounds in ((110.0, 500), (110.5, 550), (120.0, 1000), (121.0, 7000)):
            progress.add_rounds(rounds)
            progress.add_run()
    assert capsys.readouterr().err.splitlines() == [
        "fig: 2 of 4 runs, 100 rounds/s, 1 min left",  # 8,950 rounds, a hundred a second
        "fig: 4 of 4 runs, 431 rounds/s, 2 s left",
        "fig: 4 of 4 runs, 431 rounds/s",
    ]
    with Progress("none", 0, 0):
        pass
    assert capsys.readouterr().err == ""
