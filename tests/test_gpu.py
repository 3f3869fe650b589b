"""Loops for GPUs: compiled here for all policies, merits and worlds, and played in the simulator.

CI has no GPU: what ran on a real one is in benchmarks/README.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import CONVENTIONAL, ENVIRONMENTS, FAIR, LOGISTIC, MERITS, RIVALS, contexts, name

from fairx import Exponential, FairXTS, FairXUCB, Uniform, simulate
from fairx.compiled import interpreted
from fairx.environments import Cycle, Late, LogisticLinear, RandomWalk, Sleeping, Switching
from fairx.errors import FairxError
from fairx.simulation.measures import measures_of
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import checkpoint_rounds

TS = FairXTS(MERITS[0], prior_std=1, reward_std=0.5)
STILL, LINEAR = ENVIRONMENTS[0], ENVIRONMENTS[3]
compiled_alone = pytest.mark.skipif(interpreted(), reason="nothing is compiled")
POLICIES = FAIR[:7] + FAIR[21:] + CONVENTIONAL + RIVALS + LOGISTIC


def is_linear(policy: Any) -> bool:
    return "Lin" in name(policy) or "Logistic" in name(policy)


def fleet(policies: list[Any], world: Any = STILL, judge: Any = MERITS[0]) -> Any:
    """Return runs on their way to a GPU, one for each policy."""
    from fairx.simulation.fleets import fleet_of

    marks = checkpoint_rounds(2, 100)
    records = [(policy, world, judge, measures_of({})) for policy in policies]
    return fleet_of([OneRun(each, 0, marks, 1, run) for run, each in enumerate(records)])


def assembled(*arguments: Any) -> str:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx.compiled.gpu.assembly import assembly

    return assembly(fleet(*arguments), optimised=False)


@compiled_alone
@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_every_policy_compiles_for_a_gpu(policy: Any) -> None:
    text = assembled([policy, policy], LINEAR if is_linear(policy) else STILL)
    assert ".visible .entry" in text
    assert ".target sm_90" in text


@compiled_alone
@pytest.mark.parametrize("merit", MERITS, ids=name)
def test_every_merit_compiles_for_a_gpu(merit: Any) -> None:
    assert ".visible .entry" in assembled([Uniform(), Uniform()], STILL, merit)


WORLDS = [
    *ENVIRONMENTS[1:3], Cycle(arms=3, period=100), RandomWalk([0.2, 0.5, 0.8], 0.05),
    Switching([[0.2, 0.8], [0.8, 0.2]], every=10),
    Late(STILL, mean=5, kind="geometric", lost=0.2), LogisticLinear(contexts(), np.full(5, 0.4)),
]  # fmt: skip


@compiled_alone
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: type(world).__name__)
def test_every_world_compiles_for_a_gpu(world: Any) -> None:
    assert ".visible .entry" in assembled([Uniform(), Uniform()], world)


def test_arms_that_sleep_are_refused_by_name() -> None:
    asleep = Sleeping(STILL, pools=[[0, 1], [1, 2]], every=10)
    with pytest.raises(ValueError, match="must have all arms on offer on a GPU, not Sleeping"):
        fleet([TS, TS], asleep)


class Even(NamedTuple):
    """A policy of others, in its inner form, with a function of NumPy's that numba-cuda has not."""

    share: float

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = np.exp(self.share) / (np.exp(self.share) * len(arms))

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward


def apart(seen: Any) -> float:
    return float(np.abs(seen.deployed - seen.fair).sum())


ARRAYS = "it makes an array, or NumPy does: write on one that is there, in a loop: leave out device"


@compiled_alone
@pytest.mark.parametrize(
    ("policy", "measures", "message"),
    [
        (Even(0.5), {}, r"Even\(share=0.5\) .*: numba-cuda has no np.exp of a number: math"),
        (TS, {"apart": apart}, rf"^Measure\(name='apart'.* compiled for a GPU: {ARRAYS}"),
    ],
)
def test_code_of_others_that_a_gpu_cannot_have_is_named(
    policy: Any, measures: Any, message: str
) -> None:
    """A KeyError, or an address of ours, was all that was said; a processor plays both."""
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx.compiled.gpu.assembly import assembly
    from fairx.simulation.fleets import fleet_of
    from fairx.simulation.on_gpu import _make_room

    records, marks = (policy, STILL, MERITS[0], measures_of(measures)), checkpoint_rounds(2, 100)
    runs = [OneRun(records, len(measures), marks, 1, run) for run in range(2)]
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of which class, the next lines say
        assembly(fleet_of(runs), optimised=False)
    with pytest.raises(TypeError, match=message):
        _make_room(runs, raised.value, deque(), alone=True)


def test_errors_that_no_compiler_raised_stay_what_they_are() -> None:
    from fairx.compiled.gpu import complaint_of

    error = KeyError("mine")
    assert complaint_of(error, "a policy") is error


@compiled_alone
def test_a_processor_plays_on_after_a_gpu_was_compiled_for() -> None:
    assembled([TS, TS])
    result = simulate(TS, STILL, MERITS[0], rounds=100, seed=1)
    assert result.pulls.sum() == 100


def test_settings_of_runs_are_their_own_in_one_kernel() -> None:
    widths = [FairXUCB(Exponential(steepness), 0.1) for steepness in (1, 2, 3)]
    source = fleet(widths).written.source
    assert source == fleet(list(reversed(widths))).written.source
    assert source == fleet([FairXUCB(Exponential(1), 0.1)] * 2).written.source  # tuned, then tested


@pytest.mark.once
def test_the_simulator_plays_what_the_processor_plays() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    script = Path(__file__).with_name("gpu_simulator.py")
    simulated = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, script], env=simulated, capture_output=True, text=True, check=True
    )
    rows = json.loads(done.stdout)
    assert len(rows) > 30
    for row in rows:  # one thread after the other, in Python: to the last bit
        assert row == row | {"pulls": True, "same": True, "apart": 0.0, "curves": 0.0}


def test_without_a_gpu_it_is_said() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    with pytest.raises(FairxError, match="device 'cuda' needs a GPU of NVIDIA's and its driver"):
        simulate(TS, STILL, MERITS[0], rounds=10, seed=1, device="cuda")


class Theirs:
    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return np.full(len(arms), 1 / len(arms))

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        (TS, {"device": "tpu"}, "device must be one of cpu, cuda, not 'tpu'"),
        (TS, {"weights": 2, "device": "cuda"}, "weights must be left out on a GPU"),
        (Theirs(), {"device": "cuda"}, "policy must have `propose` and `absorb`"),
    ],
)
def test_what_a_gpu_cannot_play_is_refused(policy: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(policy, STILL, MERITS[0], rounds=10, seed=1, **options)
