"""The recipes of docs/neighbours.md that need what is not always installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import imported

PAGE = Path(__file__).parents[1] / "docs" / "neighbours.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs are not part of the sdist")


def run(heading: str) -> dict[str, Any]:
    """Run the block of Python under a heading, and return its names."""
    text = PAGE.read_text("utf-8")
    block = re.search(rf"^## {heading}$.*?^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    names: dict[str, Any] = {}
    exec(compile(block[1], heading, "exec"), names)
    return names


@pytest.mark.compiled
@pytest.mark.filterwarnings("default")  # theirs
def test_optuna_finds_settings() -> None:
    imported("optuna", "pip install optuna")
    names = run("Optuna over settings")
    assert set(names["best"]) == {"prior_std", "reward_std"}
    assert names["study"].best_value <= min(trial.value for trial in names["study"].trials)


@pytest.mark.compiled
@pytest.mark.filterwarnings("default")
def test_mlflow_keeps_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install mlflow-skinny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # its SQLite needs the whole of MLflow
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    names = run("MLflow")
    kept = mlflow.get_run(names["run"].info.run_id)
    last = float(names["result"].fairness_regret[:, -1].mean())
    assert kept.data.metrics["fairness_regret"] == pytest.approx(last)
    assert kept.data.params["seed"] == "1"
