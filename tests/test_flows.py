"""How much of fairx one command touches: what a reader must open to follow it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

MEASURE = """
import json, sys, threading
import fairx

root, touched = fairx.__path__[0], set()

def note(frame, event, argument):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        touched.add(frame.f_code.co_filename[len(root) + 1:])

threading.setprofile(note)
sys.setprofile(note)
from fairx.command import main
status = main(sys.argv[1:])
sys.setprofile(None)
print(json.dumps(sorted(touched)))
sys.exit(status)
"""


def touched(*command: str) -> list[str]:
    """Return the files of fairx that ran after `import fairx`: a module's body, or any function."""
    words = [sys.executable, "-c", MEASURE, *command]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    files: list[str] = json.loads(found.stdout.splitlines()[-1])
    return files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_audit_touches_few_files(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("duckdb")
    rng = np.random.default_rng(1)
    log = pd.DataFrame(
        {
            "decision": range(200),
            "time": np.arange(200.0),
            "arm": rng.choice(["ann", "bob"], 200),
            "propensity": 0.5,
            "reward": rng.integers(2, size=200).astype(float),
        }
    )
    path = tmp_path / f"log.{kind}"
    _ = log.to_csv(path, index=False) if kind == "csv" else log.to_parquet(path)
    options = ("--merit", "exponential:2", "--out", str(tmp_path / "out"))
    files = touched("audit", str(path), *options)
    assert "auditing/audit.py" in files
    # 36; six that pseudo-rewards need: what they are, their sums, those of propensities alone, the
    # decisions in order, what they say of each arm, and who speaks; and three that the box needs:
    # strata, arms that arrive, what the log says of the conditions; a single look; the comparison of two
    # logs; means that hardly vary; and the finding in words; and two of reading: the heads of files, and
    # the SQL of columns; and the families of merits that can be inverted; the parts of a record that slates
    # share, the sentences that speak against a verdict, the card, files that say something of arms, and
    # reading ahead.
    assert len(files) <= 60, "\n".join(files)


def test_only_the_subcommand_that_is_asked_for_is_imported() -> None:
    files = touched("data", "list")
    commands = {file for file in files if file.startswith("command/")}
    assert commands == {f"command/{name}.py" for name in ("__init__", "main", "data", "yahoo")}
