"""Decisions of a bandit as rows of a log."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fairx import rules
from fairx.bandit import Decision


def row(
    decision: Decision,
    reward: float | None = None,
    *,
    time: float | str | None = None,
    policy: str | None = None,
    version: str | None = None,
    reward_time: float | str | None = None,
) -> dict[str, Any]:
    """Return a decision as a row of the log; what is not known is left out.

    Examples
    --------
    >>> from fairx import Bandit, Exponential, FairXTS
    >>> bandit = Bandit(FairXTS(Exponential(4), 1, 0.5), arms=["red", "green"], seed=7)
    >>> found = row(bandit.act(), reward=1.0, policy="FairX-TS")
    >>> found["arm"], found["candidates"], found["reward"], round(found["propensity"], 3)
    ('red', ['red', 'green'], 1.0, 0.854)
    """
    whole = {
        "decision": int(decision.id),
        "time": time,
        "candidates": list(decision.arms),
        "arm": decision.arm,
        "propensity": float(decision.probability),
        "probabilities": decision.probabilities.tolist(),
        "context": decision.context.tolist() or None,
        "reward": None if reward is None else rules.number("reward", reward),
        "reward_time": reward_time,
        "policy": policy,
        "version": version,
    }
    return {name: value for name, value in whole.items() if value is not None}


class Appender:
    """Appends decisions to a file of JSON lines, which `read` takes. Safe to call from threads.

    A decision is appended once, when its reward is known or given up (None). Each line reaches the
    system at once; a line torn by a crash is counted by `read`, not fatal.

    Examples
    --------
    >>> import tempfile
    >>> from fairx import Bandit, Uniform
    >>> bandit, path = Bandit(Uniform(), arms=2, seed=1), Path(tempfile.mkdtemp()) / "log.jsonl"
    >>> with Appender(path, policy="uniform") as log:
    ...     for reward in (0.0, 1.0, None):
    ...         log.append(bandit.act(), reward)
    >>> from fairx import logs
    >>> logs.read(path).query("SELECT count(*) AS n, count(reward) AS rewards FROM valid")
    {'n': array([3]), 'rewards': array([2])}
    """

    def __init__(
        self, path: str | os.PathLike[str], policy: str | None = None, version: str | None = None
    ) -> None:
        if Path(path).suffix != ".jsonl":
            raise ValueError(f"path must end in .jsonl, not {str(path)!r}: it is a JSON line each")
        self._about = {"policy": policy, "version": version}
        self._lock = threading.Lock()
        self._file = Path(path).open("a", encoding="utf-8", newline="\n")  # noqa: SIM115 - see __exit__

    def append(self, decision: Decision, reward: float | None = None, **more: Any) -> None:
        """Append one decision; `more` are further columns as for `row`."""
        line = json.dumps(row(decision, reward, **self._about, **more), allow_nan=False)
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
