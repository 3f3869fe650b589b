"""Decisions of a bandit as rows of a log."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fairx import rules
from fairx.bandit import Decision, SlateDecision


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


def rows(
    slate: SlateDecision, rewards: Sequence[float | None] | None = None, **more: Any
) -> list[dict[str, Any]]:
    """Return a slate as rows of the log, one for each place; `more` is as for `row`.

    Examples
    --------
    >>> from fairx import Bandit, Uniform
    >>> slate = Bandit(Uniform(), arms=["red", "green", "blue"], seed=2).act(weights=[1, 0.5])
    >>> found = rows(slate, rewards=[1.0, None])
    >>> [(each["place"], each["arm"], each["weight"], each.get("reward")) for each in found]
    [(1, 'green', 1.0, 1.0), (2, 'red', 0.5, None)]
    """
    places = len(slate.arms)
    given = [None] * places if rewards is None else rules.in_order("rewards", rewards)
    if len(given) != places:
        rule = f"be one for each of the {places} places of decision {slate.id}"
        raise rules.InvalidValue("rewards", f"{rule}, not {len(given)}")
    found, exposures = [], slate.exposures.tolist()
    for i, reward in enumerate(given):
        chance, context = float(slate.propensities[i]), slate.contexts[i]
        decision = (slate.id, slate.arms[i], chance, slate.exposures, slate.candidates, context)
        one = row(Decision(*decision), reward, **more)
        del one["probabilities"]  # a slate does not know those of its places
        about = {"place": i + 1, "weight": float(slate.weights[i]), "exposures": exposures}
        found.append(one | about)
    return found


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

    def append(
        self,
        decision: Decision | SlateDecision,
        reward: float | Sequence[float | None] | None = None,
        **more: Any,
    ) -> None:
        """Append one decision, a slate as a line for each place; `more` is as for `row`."""
        several = isinstance(decision, SlateDecision)
        made: Any = rows if several else row
        found = made(decision, reward, **self._about, **more)
        lines = [json.dumps(one, allow_nan=False) + "\n" for one in (found if several else [found])]
        with self._lock:
            self._file.write("".join(lines))
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
