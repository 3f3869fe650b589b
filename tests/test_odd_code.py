"""Code of others that was found to play stale, slow or not at all: helpers, options, damaged files."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from fairx import TS, Exponential, environments, simulate

WORLD = environments.Bernoulli([0.3, 0.5, 0.6])
pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="NUMBA_DISABLE_JIT is set: unset it"
)


def exposure(policy: Any) -> Any:
    """Return what a compiled run deployed."""
    return simulate(policy, WORLD, Exponential(2), rounds=64, seed=1, jobs=1).exposure[0]


HELPER = """
import numba
import numpy as np
TEMPERATURE = {temperature}

@numba.njit
def soft(values):
    weights = np.exp(values * TEMPERATURE)
    return weights / weights.sum()
"""


class BySoft(NamedTuple):
    """A policy that calls a helper of a module."""

    scale: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.arange(float(arms))

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return softening.soft(state[arms] * self.scale)

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += 0.0


softening: Any = ModuleType("softening")


def test_a_helper_of_a_module_reads_its_globals_anew() -> None:
    exec(HELPER.format(temperature=1.0), vars(softening))
    first = exposure(BySoft(1.0))
    softening.TEMPERATURE = 20.0
    second = exposure(BySoft(1.0))
    assert first[-1] < 0.9 < second[-1]


def by_helper(**options: Any) -> Any:
    """Return a policy whose helper is compiled with some options."""
    inverse = numba.njit(**options)(lambda x: 1.0 / x)

    class Mine(NamedTuple):
        share: float = 0.5

        def start(self, arms: int, dimension: int) -> Any:
            return np.zeros(1)

        def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
            return np.full(len(arms), 1.0 / len(arms)) + 0.0 / max(inverse(state[0]), 1.0)

        def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
            state[0] += 0.0

    return Mine()


def test_options_of_a_helper_are_part_of_its_code() -> None:
    assert exposure(by_helper(error_model="numpy"))[0] == pytest.approx(1 / 3)
    with pytest.raises(ZeroDivisionError):
        exposure(by_helper(error_model="python"))


@numba.njit
def falling(n: Any) -> Any:
    return 1.0 if n <= 0 else 1.0 + 0.1 * falling(n - 1)


class Recursive(NamedTuple):
    """A policy whose helper calls itself, with names of its own for what it is given."""

    depth: int

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, what: Any, offered: Any, rows: Any, generator: Any) -> Any:
        arms = np.ones(len(offered)) * falling(self.depth)  # the name of an argument elsewhere
        return arms / arms.sum()

    def learn(self, what: Any, played: int, row: Any, paid: float) -> None:
        what[played] += paid


def test_helpers_may_call_themselves_and_arguments_have_any_names(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert exposure(Recursive(3)) == pytest.approx([1 / 3] * 3)
    assert not recwarn.list


def test_a_global_with_the_name_of_a_field_is_another_thing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from fairx.compiled.keys import key_of

    before = key_of(Recursive).text()
    monkeypatch.setitem(globals(), "depth", [1, 2, 3])
    assert key_of(Recursive).text() == before


class Shifted(environments.Bernoulli):
    """A world of ours that pays otherwise."""

    def means_of(self, example: int) -> Any:
        return np.array([0.9, 0.1, 0.1])

    def reward_of(self, example: int, arm: int, rng: Any) -> float:
        return float(rng.random() < (0.9, 0.1, 0.1)[arm])


def test_a_subclass_of_a_world_pays_what_it_says() -> None:
    from fairx.checks import check_environment

    world = Shifted([0.1, 0.1, 0.9])
    check_environment(world)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it may be interpreted
        result = simulate(TS(1, 0.5), world, Exponential(2), rounds=200, seed=1, jobs=1)
    assert result.exposure[0].argmax() == 0


DAMAGED = """
from fairx import TS, Exponential, environments, simulate
world = environments.Bernoulli([0.2, 0.4])
print(simulate(TS(1, 0.5), world, Exponential(2), rounds=100, seed=1, jobs=1).exposure[0, 0])
"""


def test_code_that_is_kept_and_damaged_is_compiled_anew(tmp_path: Path) -> None:
    """And kept again: without a warning, which is an error here."""
    answers = []
    for left in (10**9, 1000, 0, 10**9):  # bytes of each file
        for path in tmp_path.rglob("*.nb[ci]"):
            os.truncate(path, min(left, path.stat().st_size))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", DAMAGED], text=True, capture_output=True, check=True,
            env=os.environ | {"FAIRX_CACHE": str(tmp_path)},
        )  # fmt: skip
        answers.append(done.stdout)
    assert len(set(answers)) == 1
