"""GPUs attacked, in the simulator: odd shapes, code of others that is wrong, short memory, Ctrl-C."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from test_gpu import fleet

from fairx import Exponential, FairXTS, OptimalFair, Uniform, simulate
from fairx.compiled.gpu import teaching
from fairx.environments import Bernoulli
from fairx.simulation.sending import check_sent

pytestmark = pytest.mark.once


class Drawing(NamedTuple):
    """A world of others."""

    mean: float

    def draw(self, rng: Any) -> Any:
        return rng.random()

    def arms_of(self, example: Any) -> Any:
        return np.arange(3)

    def contexts_of(self, example: Any) -> Any:
        return np.zeros((3, 0))

    def means_of(self, example: Any) -> Any:
        return np.full(3, self.mean)

    def reward_of(self, example: Any, arm: int, rng: Any) -> float:
        return self.mean


@pytest.fixture(scope="module")
def found() -> Any:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    script = Path(__file__).with_name("gpu_attacks.py")
    simulated = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, env=simulated, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_odd_shapes_are_played_as_on_a_processor(found: Any) -> None:
    assert len(found["shapes"]) > 15
    assert [name for name, same in found["shapes"].items() if not same] == []


@pytest.mark.parametrize(
    "what", ["sum 0.5", "no number", "negative", "a measure that is no number"]
)
def test_code_of_others_that_is_wrong_is_refused_as_on_a_processor(found: Any, what: str) -> None:
    """On a card nothing would say so: a read past the end of an array is a number there."""
    here, there = found["wrong"][what]
    assert here.startswith(("ValueError", "InvalidValue"))
    assert there == here


def test_short_memory_changes_no_result(found: Any) -> None:
    assert found["memory"]["start"] == [True, 280]
    assert found["memory"]["one at a time"] == [True, 280]
    assert found["memory"]["middle"][0]


def test_progress_tells_of_each_round_once_where_memory_ends(found: Any) -> None:
    assert found["memory"]["middle"][1] == 280


def test_kinds_take_turns_where_there_is_memory_for_one(found: Any) -> None:
    """It waited for ever: what had no room was sent again and again, and nobody looked after the others."""
    assert found["one at a time"] == [8, 8, 8 * 40]


def test_no_memory_at_all_is_said_in_words(found: Any) -> None:
    assert "memory" in found["memory"]["none"].partition(":")[2]


def test_runs_that_are_added_join_those_under_way(found: Any) -> None:
    """And are done before a long one that was sent before them."""
    order, right = found["joined"]
    assert order == [["validation", 16, 2], ["test", 32, 2], ["validation", 2_000, 1]]
    assert right == 5


def test_an_experiment_that_was_stopped_keeps_whole_kinds_and_goes_on(found: Any) -> None:
    tasks, kept, left, right = found["experiment"]
    assert 4 <= kept < tasks
    assert (kept + left, right) == (tasks, tasks)


class Turned(Bernoulli):
    """A world of ours, with a method of its own."""

    def reward_of(self, example: Any, arm: int, rng: Any) -> float:
        return 1.0 - float(rng.random() < 0.5)


def test_more_numbers_than_a_kernel_takes_are_refused() -> None:
    """Each mean of `OptimalFair` is an argument of its own."""
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    means = np.linspace(0, 1, 600)
    fair = OptimalFair(Exponential(4.0), means)
    with pytest.raises(
        ValueError, match=r"a run must take at most 32,764 bytes .*leave out device"
    ):
        fleet([fair], Bernoulli(means))


def test_a_world_with_a_method_of_its_own_is_refused_by_name() -> None:
    """It was told that its generator is no number: it has none."""
    with pytest.raises(
        ValueError, match=r"environment must be played by its `world` on a GPU, not Turned"
    ):
        simulate(
            FairXTS(Exponential(4.0), 1, 0.5),
            Turned([0.5, 0.2]),
            Exponential(4.0),
            rounds=2,
            seed=1,
            device="cuda",
        )


def test_a_world_that_draws_is_refused_by_name() -> None:
    merit = Exponential(4.0)
    with pytest.raises(
        ValueError, match=r"not Drawing\(.*: `draw` and what goes with it take a generator"
    ):
        simulate(FairXTS(merit, 1, 0.5), Drawing(0.5), merit, rounds=10, seed=1, device="cuda")


def test_without_numba_cuda_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*(name for name in sys.modules if name.startswith("numba.cuda")), "numba_cuda"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(teaching, "_taught", teaching._taught.__wrapped__)  # as if not loaded yet
    merit = Exponential(4.0)
    with pytest.raises(ImportError, match=r"a GPU needs numba-cuda: pip install 'fairx\[cuda\]'"):
        simulate(Uniform(), Bernoulli([0.2, 0.4]), merit, rounds=10, seed=1, device="cuda")


def test_an_interruption_ends_it_and_the_next_one_is_right(found: Any) -> None:
    assert found["interrupted"]


def test_an_interruption_does_not_wait_for_kernels_that_are_not_compiled_yet(found: Any) -> None:
    assert found["while compiling"] < 10


def test_notions_are_not_told_from_what_memory_held_before(found: Any) -> None:
    assert found["memory of others"]


@pytest.mark.parametrize("what", ["state", "work"])
def test_runs_with_more_or_less_room_are_not_played_together(found: Any, what: str) -> None:
    assert found["rooms"][what]


def test_runs_that_end_too_early_are_no_results(found: Any) -> None:
    said = found["raised"]
    assert said.startswith("FairxError: run 0 of FairXTS(")
    assert " lacks 24 of 40 rounds: " in said


class Kept(NamedTuple):
    """The state of a policy of others."""

    whole: Any
    part: Any


def overlapping() -> Any:
    whole = np.zeros((2, 3))
    return Kept(whole, whole[1])


@pytest.mark.parametrize(
    ("field", "state", "message"),
    [
        (1.0, overlapping, "state.whole must have memory of its own .*, not that of state.part: "),
        (1.0, lambda: np.zeros(()), "state must be .* with an axis on a GPU, not array.0.*: leave"),
        (1.0, lambda: [0.0, 0.0], "state must be .*, not .0.0, 0.0.: leave out device"),
        ({"a": 1}, lambda: np.zeros(3), "policy.0 must be .*, not {'a': 1}: leave out device"),
        (2**70, lambda: np.zeros(3), "policy.0 must be a number of 64 bits"),
    ],
)
def test_what_a_kernel_cannot_be_given_is_refused(field: Any, state: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_sent([((field,), state()), ((field,), state())])


def test_arrays_beside_one_another_and_one_that_is_there_twice_are_sent() -> None:
    def run() -> Any:
        columns, twice = np.zeros((2, 3)), np.zeros(3)
        beside = Kept(*np.zeros((2, 3))), Kept(columns[:, 0], columns[:, 2])
        return (1.0, "text", None), (*beside, Kept(twice, twice))

    check_sent([run(), run()])
