"""Kernels of GPUs: compiled elsewhere and kept, where their arrays lie, and what they reckon another way."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import MERITS
from test_gpu import LINEAR, STILL, fleet

from fairx import FairXEG, FairXLinTS, FairXTS, FairXUCB, Uniform
from fairx.compiled import interpreted, tables
from fairx.compiled.gpu import teaching
from fairx.compiled.gpu.leaves import Leaf
from fairx.compiled.gpu.memory import LOCAL, OF_THREAD, PART, SHARED, of_threads, room_for, spread
from fairx.environments import Bernoulli
from fairx.exposure import shares
from fairx.numerics import elementary
from fairx.numerics.gpu_streams import ThreadStreams
from fairx.numerics.streams import BLOCK, HALF, streams
from fairx.simulation import tally

HOPPER = (9, 0)
TS = FairXTS(MERITS[0], prior_std=1, reward_std=0.5)
compiled_alone = pytest.mark.skipif(interpreted(), reason="nothing is compiled")


def wanted(*policies: Any, world: Any = STILL) -> Any:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    teaching.load_cuda()  # as a process that plays: without it, what is read is linked without our answers
    return fleet(list(policies), world).wanted(HOPPER)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAIRX_CACHE", str(tmp_path))
    return tmp_path


@compiled_alone
def test_kernels_are_compiled_elsewhere_and_kept(own_cache: Path) -> None:
    from fairx.compiled.gpu.kernels import Kept, compile_together

    some = [wanted(Uniform(), Uniform()), wanted(FairXEG(MERITS[0], 0.1), FairXEG(MERITS[0], 0.2))]
    compile_together(some, jobs=2)
    for one in some:
        assert one.file.is_relative_to(own_cache)
        kernel = Kept(one.file).load_overload(one.types, None)
        assert tuple(kernel.signature.args) == one.types
        assert kernel._codelibrary.get_cubin(cc=HOPPER) is not None
        assert Kept(one.file).load_overload(one.types[:-1], None) is None  # it is another's
    written = some[0].file.stat().st_mtime_ns
    compile_together(some, jobs=2)
    assert some[0].file.stat().st_mtime_ns == written
    some[0].file.write_bytes(some[0].file.read_bytes()[:-100])
    assert Kept(some[0].file).load_overload(some[0].types, None) is None
    some[0].file.unlink()
    for least in (2, 1):  # alone it is left to its launch, beside others that play it is not
        compile_together(some, jobs=2, least=least)
        assert some[0].file.exists() == (least == 1)


def test_no_kernel_is_begun_when_nobody_wants_it_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After Ctrl-C, all kernels of all policies would be compiled first."""
    from fairx.compiled.gpu import kernels

    begun: list[Any] = []
    monkeypatch.setattr(kernels, "_compile_elsewhere", begun.append)
    some: Any = [SimpleNamespace(is_kept=True, file=tmp_path / str(i)) for i in range(50)]
    kernels.compile_together(some, jobs=2, is_over=lambda: len(begun) > 2)
    assert 3 <= len(begun) <= 4


@compiled_alone
def test_a_kernel_is_kept_for_those_who_have_its_tables(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes all of them: another process would have no room, and write beyond its memory."""
    from fairx.compiled.gpu.kernels import compile_together

    one = wanted(Uniform(), Uniform())
    without = one.file
    monkeypatch.setattr(tables, "_tables", tables._tables | {abs: np.array([3.5])})
    assert one.file != without
    compile_together([one], jobs=2, least=1)  # by a process that has not made that table
    assert one.file.exists()
    assert not without.exists()


@compiled_alone
def test_what_cannot_be_kept_is_done_without(own_cache: Path) -> None:
    from fairx.compiled.gpu.kernels import Kept

    nothing = SimpleNamespace(_reduce_states=dict)
    (own_cache / "file").write_text("no folder")
    Kept(own_cache / "file" / "x.kernel").save_overload((), nothing)
    assert Kept(own_cache / "file" / "x.kernel").load_overload((), None) is None


class Theirs(NamedTuple):
    """A policy of others, in its inner form."""

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = 1 / len(arms)

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward


@compiled_alone
def test_one_file_for_all_settings_and_none_for_code_of_others(own_cache: Path) -> None:
    one, other = wanted(TS, TS), wanted(TS._replace(prior_std=2.0), TS)
    assert one.file == other.file
    assert one.file != wanted(FairXUCB(MERITS[0], 0.1), FairXUCB(MERITS[0], 0.1)).file
    assert one.file != wanted(TS, TS, world=Bernoulli([0.5] * 5)).file
    assert one.file != one._replace(capability=(8, 0)).file
    assert one.is_kept
    assert not wanted(Theirs(), Theirs()).is_kept


def leaf(name: str, size: int, *, own: bool = True) -> Leaf:
    values = [np.zeros(size), np.zeros(size)] if own else [np.zeros(size)]
    return Leaf(("1", name), values[0], values)


@pytest.mark.once
def test_busy_arrays_have_parts_of_shared_memory_while_there_is_room() -> None:
    found = [leaf(name, 14) for name in "abcdefgh"] + [leaf("common", 14, own=False)]
    placed = of_threads(found, far=[("1", "b")], busy=[("1",)])
    assert placed[("1", "common")] == SHARED
    assert ("1", "b") not in placed
    parts = [one for one in found if placed.get(one.path) == PART]
    assert sum(map(spread, parts)) <= OF_THREAD
    assert len(parts) == OF_THREAD // (15 * 8)
    assert of_threads([leaf("a", 101)], far=[], busy=[]) == {("1", "a"): LOCAL}
    assert of_threads([leaf("a", 200)], far=[], busy=[("1",)]) == {("1", "a"): LOCAL}
    assert "(32, 15)" in room_for((14,), "float64", PART)  # an odd number apart


@pytest.mark.once
def test_a_fleet_with_normal_numbers_has_its_state_in_shared_memory() -> None:
    assert "shared.array((32, 5)" in fleet([TS, TS]).written.source
    assert "shared.array((32," not in fleet([Uniform(), Uniform()]).written.source
    assert (
        "shared.array((32," not in fleet([FairXLinTS(MERITS[0], 1, 0.5)] * 2, LINEAR).written.source
    )


@pytest.mark.once
@pytest.mark.parametrize("each", [0, 1, 2, 4, 5, 6, 11, 14, 101])
def test_a_thread_draws_the_same_numbers(each: int) -> None:
    with np.errstate(over="ignore"):
        keys = streams(seed=3, run=5)
        own, room = ThreadStreams._make(keys), np.empty((3, BLOCK))
        block, normals, waiting = np.empty(BLOCK * each), np.empty(each), np.empty(HALF * each)
        noise = np.empty(BLOCK)
        for t in range(3 * BLOCK):
            here = keys.draw_round(t, room, noise, block)
            there = own.draw_round(t, np.empty((3, 0)), waiting, normals)
            np.testing.assert_array_equal(here.normals, there.normals)
            assert here[:4] == there[:4]


def rough(exact: Any) -> Any:
    """Return a guess as a GPU makes it: a function to twenty bits."""
    return lambda x: float(np.float32(exact(x))) * (1 + 2.0**-20)


@pytest.mark.once
def test_steps_from_a_guess_reach_the_last_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elementary, "near_reciprocal", rough(lambda x: 1 / x))
    monkeypatch.setattr(elementary, "near_inverse_root", rough(lambda x: 1 / np.sqrt(x)))
    rng = np.random.default_rng(1)
    for a, b in zip(rng.normal(size=500), rng.uniform(1, 100, 500), strict=True):
        assert elementary._quotient_by_steps(a, b) == pytest.approx(a / b, rel=4e-16, abs=0)
        assert elementary._root_by_steps(b) == pytest.approx(np.sqrt(b), rel=9e-16, abs=0)
    for tiny in (4.5e-16, 1e-9):
        assert elementary._root_by_steps(tiny) == pytest.approx(np.sqrt(tiny), rel=9e-16, abs=0)


@pytest.mark.once
def test_the_root_of_nothing_is_nothing() -> None:
    assert elementary._root_by_steps(0.0) < 1e-140


@pytest.mark.once
@pytest.mark.parametrize("size", [1, 3, 4, 5, 14, 101])
def test_sums_and_largest_values_by_fourths(size: int) -> None:
    values = np.random.default_rng(size).normal(size=size)
    assert shares._largest_of_four(values) == shares.largest(values) == values.max()
    assert shares._total_of_four(values) == pytest.approx(shares.total(values), rel=1e-13)


@pytest.mark.once
@pytest.mark.parametrize("few", [1, 2, 5])
def test_regrets_in_few_numbers_are_the_same(few: int) -> None:
    rng = np.random.default_rng(1)
    whole = tally.new_tally(np.array([3]), arms=5, normals=0, work=0)
    short = whole._replace(fairness=np.zeros(few), reward=np.zeros(few))
    for _ in range(3):
        each = (*rng.dirichlet(np.ones(5), 2), rng.random(5))
        tally.add_regrets(whole, 5, *each)
        tally._add_regrets_in_few(short, 5, *each)
    assert short.fairness.sum() == pytest.approx(whole.fairness.sum())
    assert short.reward.sum() == pytest.approx(whole.reward.sum())
