"""What is written another way for a GPU does the same: by one lane, most of it to the last bit, and by several that meet."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cases import CONVENTIONAL, FAIR, LOGISTIC, MERITS, name
from test_gpu import LINEAR, TS, assembled, fleet

from fairx import FairXUCB, Floor, compiled
from fairx.compiled import interpreted
from fairx.environments import Bernoulli, Late, RandomWalk
from fairx.numerics import linear_algebra
from fairx.policies import Gradient, ridge
from fairx.policies.gradient import takes_steps
from fairx.policies.ridge import Ridge, new_ridge, regress
from fairx.simulation.measures import measures_of
from fairx.simulation.notions import NOTIONS
from fairx.simulation.tally import new_tally

SIZES = (1, 3, 8, 33, 50)
LANES = 4
compiled_alone = pytest.mark.skipif(interpreted(), reason="nothing is compiled")


def learned(dimension: int) -> Ridge:
    """Return a regression that has seen some rewards."""
    rng, state = np.random.default_rng(dimension), new_ridge(2, dimension, 0.5)
    for _ in range(3):
        regress(state, rng.normal(size=dimension), rng.normal(), np.empty(2 * dimension))
    return state


def copied(things: Any) -> Any:
    if isinstance(things, np.ndarray):
        return things.copy()
    if isinstance(things, Ridge):
        return Ridge._make(map(copied, things))
    return things


def cases(d: int) -> dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]]:
    """Return each form with what it stands for, and arguments: numbers, and room for what is written."""
    rng = np.random.default_rng(d)
    square, x, y = np.tril(rng.normal(size=(d, d))), rng.normal(size=d), rng.normal(size=d)
    contexts, algebra = rng.normal(size=(5, d)), linear_algebra
    room = [np.zeros((5, d + 3)), np.zeros(5)]
    return {
        "times": (algebra.rows_times, algebra.times, [contexts, x, np.zeros(5)]),
        "triangle": (algebra.triangle_rows_times, algebra.triangle_times, [square, x, np.zeros(d)]),
        "transpose": (
            algebra.columns_times,
            algebra.transpose_times,
            [contexts, x[:1].repeat(5), np.zeros(d)],
        ),
        "outer": (algebra.add_outer_columns, algebra.add_outer, [square, 0.7, x, y]),
        "refactor": (ridge.refactor_columns, ridge.refactor, [learned(d), x, np.zeros(d)]),
        "whiten": (ridge.whiten_together, ridge.whiten, [learned(d), abs(x), contexts, *room]),
    }


def written(what: str, arguments: list[Any]) -> list[Any]:
    """Return what a form may have changed; of a new context, what it was turned into is lost."""
    kept = arguments[:1] + arguments[2:] if what == "refactor" else arguments
    return [part for one in kept for part in (one if isinstance(one, Ridge) else [one])]


@pytest.mark.once
@pytest.mark.parametrize("dimension", SIZES)
@pytest.mark.parametrize("what", list(cases(3)))
def test_one_lane_does_the_same_to_the_last_bit(what: str, dimension: int) -> None:
    form, plain, arguments = cases(dimension)[what]
    here, there = copied(list(map(copied, arguments))), list(map(copied, arguments))
    assert plain(*here) == form(*there)
    apart = 1e-14 if what == "whiten" else 0.0  # whose sums are taken in another order
    for one, other in zip(written(what, here), written(what, there), strict=True):
        np.testing.assert_allclose(one, other, rtol=apart, atol=apart)


def replace(monkeypatch: pytest.MonkeyPatch, **forms: Any) -> None:
    """Let all modules that share loops among lanes, or let lanes meet, do so by these forms."""
    for what, form in forms.items():
        before = vars(compiled)[what]
        for path, module in list(sys.modules.items()):
            if path.startswith("fairx.") and vars(module).get(what) is before:
                monkeypatch.setattr(module, what, form)


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.local]:
    """Let threads with a number be lanes: all must meet as often, and none may read what another writes meanwhile."""
    own, together, said = threading.local(), threading.Barrier(LANES), [False] * LANES

    def own_turns(count: int) -> range:
        return range(own.lane, count, LANES) if hasattr(own, "lane") else range(count)

    def meet() -> None:
        if hasattr(own, "lane"):
            together.wait(timeout=60)

    def by_any(told: bool) -> bool:
        if not hasattr(own, "lane"):
            return told
        said[own.lane] = told
        together.wait(timeout=60)
        found = any(said)
        together.wait(timeout=60)
        return found

    replace(monkeypatch, turns=own_turns, meet=meet, by_any=by_any)
    yield own
    assert together.n_waiting == 0


def by_lanes(lanes: Any, play: Callable[[], Any]) -> list[Any]:
    """Return what each lane returns."""
    found: dict[int, Any] = {}

    def play_one(lane: int) -> None:
        lanes.lane = lane
        found[lane] = play()

    threads = [threading.Thread(target=play_one, args=(lane,)) for lane in range(LANES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(found.values())


@pytest.mark.once
@pytest.mark.parametrize("dimension", SIZES)
@pytest.mark.parametrize("what", list(cases(3)))
def test_lanes_that_meet_do_the_same(what: str, dimension: int, lanes: Any) -> None:
    form, _, arguments = cases(dimension)[what]
    alone, shared = list(map(copied, arguments)), list(map(copied, arguments))
    assert by_lanes(lanes, lambda: form(*shared)) == [form(*alone)] * LANES
    for one, other in zip(written(what, alone), written(what, shared), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.once
@pytest.mark.parametrize("interval", ["hoeffding", "bernstein"])
def test_lanes_share_gradient_steps_of_many_arms(
    interval: str, lanes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps and what is learned; the first lane is slow, so that whoever does not wait for it reads too early."""
    policy = FairXUCB(MERITS[0], 0.1, Gradient(10, 4), bounds=(0, 1), interval=interval)
    arms, size, rewards = np.arange(37), policy.needs(37, 0)[1], np.random.default_rng(2).random(90)

    def play(state: Any, work: Any, out: Any) -> list[list[float]]:
        found = []
        for reward in rewards:
            policy.propose(state, arms, np.empty((37, 0)), np.empty(0), work, out)
            found.append(out.tolist())
            policy.absorb(state, int(np.argmax(out)), np.empty(0), reward, work)
        return found

    def arguments() -> tuple[Any, Any, Any]:
        return policy.start(37), np.full(size, np.nan), np.full(37, np.nan)

    alone, shared = arguments(), arguments()
    turns = compiled.turns

    def slow_turns(count: int) -> range:
        time.sleep(0.001 if getattr(lanes, "lane", 1) == 0 else 0.0)
        return turns(count)

    replace(monkeypatch, turns=slow_turns)
    found = by_lanes(lanes, lambda: play(*shared))
    np.testing.assert_array_equal(found, [play(*alone)] * LANES)
    for one, other in zip(alone[0], shared[0], strict=True):
        np.testing.assert_array_equal(one, other)


def doubled(seen: Any) -> float:
    """Return twice the probability of the first arm, written on the copy: slowly, so that lanes that all do so meddle."""
    seen.deployed[0] *= 2.0
    time.sleep(0.001)
    return float(seen.deployed[0])


@pytest.mark.once
@pytest.mark.parametrize("given", [NOTIONS, {"doubled": doubled}], ids=["notions", "of others"])
def test_lanes_add_a_measure_once(given: Any, lanes: Any) -> None:
    rng, arms, measuring = np.random.default_rng(3), np.arange(5), measures_of(given)
    rounds = rng.dirichlet(np.ones(5), 20)
    means = rng.random((2, 5)).repeat(10, axis=0)  # which notions notice when they change

    def play(tally: Any) -> None:
        for deployed, now in zip(rounds, means, strict=True):
            measuring.note_round(tally, 0, arms, deployed, deployed, now, 0, 1.0)

    alone, shared = (new_tally(np.array([20]), 5, 0, 0, len(given)) for _ in range(2))
    play(alone)
    by_lanes(lanes, lambda: play(shared))
    assert alone.measured.all()
    np.testing.assert_array_equal(alone.measured, shared.measured)


MANY = Bernoulli(np.linspace(0.1, 0.9, 33))
STEPS = FairXUCB(MERITS[0], 0.3, "gradient")


@pytest.mark.once
def test_a_warp_plays_gradient_steps_of_many_arms_where_no_world_changes() -> None:
    assert fleet([STEPS, STEPS], MANY).warps
    assert not fleet([STEPS, STEPS]).warps  # few arms
    assert not fleet([FairXUCB(MERITS[0], 0.3)] * 2, MANY).warps  # other ways take few steps
    assert not fleet([Floor(STEPS, share=0.01)] * 2, MANY).warps
    assert not fleet([STEPS, STEPS], RandomWalk(np.linspace(0.1, 0.9, 33), 0.05)).warps
    assert not fleet([STEPS, STEPS], Late(MANY, mean=5, kind="geometric")).warps


@compiled_alone
def test_lanes_are_asked_whether_any_of_them_moved() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx.compiled.gpu.assembly import assembly

    many, few = assembly(fleet([STEPS, STEPS], MANY)), assembly(fleet([STEPS, STEPS]))
    assert "vote.sync.any" in many
    assert "vote" not in few  # one lane asks nobody


def linear_policies() -> list[Any]:
    return [
        policy
        for policy in FAIR + CONVENTIONAL + LOGISTIC
        if "Lin" in name(policy) or "Logistic" in name(policy)
    ]


@pytest.mark.once
@pytest.mark.parametrize("policy", linear_policies(), ids=name)
def test_what_a_gpu_leaves_out_is_not_read(policy: Any) -> None:
    """The sums of a regression could be anything: no number, here."""
    rng, arms, dimension = np.random.default_rng(1), np.arange(3), 4
    state = policy.start(3, dimension)
    if not isinstance(state, Ridge):
        pytest.skip("its state is another, of which all is sent")
    blank = copied(state)
    blank.target[:] = np.nan
    if not takes_steps(policy):
        blank.precision[:] = np.nan
    normals, work = policy.needs(3, dimension)
    for _ in range(30):
        contexts, numbers = rng.normal(size=(3, dimension)), rng.normal(size=normals)
        outs = np.zeros((2, 3))
        for out, one in zip(outs, (state, blank), strict=True):
            policy.propose(one, arms, contexts, numbers, np.zeros(work), out)
        np.testing.assert_array_equal(*outs)
        arm, reward = int(rng.integers(3)), float(rng.random())
        for one in (state, blank):
            policy.absorb(one, arm, contexts[arm], reward, np.zeros(work))


@compiled_alone
def test_a_lane_alone_meets_nobody_and_32_know_their_number() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx import FairXLinTS

    alone, many = assembled([TS, TS]), assembled([FairXLinTS(MERITS[0], 1, 0.5)] * 2, LINEAR)
    assert "kernel_of_1_lanes" in alone
    assert alone.count("bar.warp.sync") == 1  # no meeting: only what keeps it from reading ahead
    assert "kernel_of_32_lanes" in many
    assert "bar.warp.sync" in many
    assert "ntid.x" not in many


@compiled_alone
def test_a_negative_index_of_others_is_counted_from_the_end() -> None:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from types import SimpleNamespace
    from unittest import mock

    from numba import types

    from fairx.compiled.gpu.teaching import load_cuda

    def theirs(values, index, out):  # type: ignore[no-untyped-def]
        out[0] = values[index]

    kind = types.Array(types.float64, 1, "C")
    device = SimpleNamespace(compute_capability=(9, 0))
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        text, _ = load_cuda().compile_ptx(theirs, (kind, types.int64, kind), cc=(9, 0))
    assert "shr.s64" in text or "setp.lt.s64" in text or "selp" in text
