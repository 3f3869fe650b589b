"""Compiled equals interpreted; the cache; what is imported when."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from cases import ENVIRONMENTS, POLICIES, name

import fairx
from fairx import Exponential, FairXTS, Uniform, simulate
from fairx.compiled import Entry, cache_directory
from fairx.compiled.entries import compiled_sources
from fairx.environments import Bernoulli
from fairx.numerics.streams import streams
from fairx.policies.telling import Nobody
from fairx.simulation.arrivals import AtOnce
from fairx.simulation.loop import play_rounds
from fairx.simulation.measures import NoMeasure
from fairx.simulation.tally import new_tally

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
needs_compiler = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set: unset it")


@needs_compiler
@pytest.mark.parametrize("policy", POLICIES[:7] + POLICIES[21:], ids=name)
def test_compiled_equals_interpreted_to_the_last_bit(policy: Any) -> None:
    environment = ENVIRONMENTS[2 if "Lin" in repr(policy) else 0]
    world, keys = environment.world(None), streams(7, 0)
    arms, dimension = world.features.shape[1:]
    judge, tallies, states = POLICIES[0].merit, [], []
    for compiled in (True, False):
        state = policy.start(arms, dimension)
        tally = new_tally(np.array([150]), arms, *policy.needs(arms, dimension))
        given = (policy, state, world, judge, NoMeasure(), Nobody(), AtOnce())
        run, records = play_rounds.ready(given, lambda run, low, t=tally: run(*low, keys, t, 0, 0))
        run = run if compiled else play_rounds.interpreted
        run(*(records if compiled else given), keys, tally, 0, 150)
        tallies.append(tally)
        states.append(state)
    for compiled_part, interpreted_part in zip(tallies[0][:5], tallies[1][:5], strict=True):
        np.testing.assert_array_equal(compiled_part, interpreted_part)
    for compiled_part, interpreted_part in zip(states[0], states[1], strict=True):
        np.testing.assert_array_equal(compiled_part, interpreted_part)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = "import sys, json, fairx; print(json.dumps([m for m in sys.modules]))"
    modules = set(json.loads(run(code).stdout))
    assert not modules & {"numba", "llvmlite", "matplotlib", "pandas", "scipy", "tqdm", "starlette"}


def reached(function: Any, seen: set[Any]) -> None:
    """Collect the functions that a function can call, by the names in its code, and their methods."""
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    for value in [function.__globals__.get(word) for word in names_in(function.__code__)]:
        for each in vars(value).values() if isinstance(value, type) else (value,):
            if getattr(each, "__module__", None) and str(each.__module__).startswith("fairx"):
                reached(each, seen)


def names_in(code: CodeType) -> set[str]:
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)


def test_every_source_that_can_end_up_in_a_loop_is_in_the_name_of_the_cache() -> None:
    """A folder that is missed makes kernels stale: entries and records are found, not listed."""
    names = [module.name for module in pkgutil.walk_packages(fairx.__path__, "fairx.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    values = {id(value): value for module in modules for value in vars(module).values()}.values()
    entries = [value.function for value in values if isinstance(value, Entry)]
    records = [value for value in values if isinstance(value, type) and hasattr(value, "_fields")]
    played = [kind for kind in records if {"propose", "pay", "log_slope"} & set(vars(kind))]
    seen: set[Any] = set()
    for function in entries + [body for kind in played for body in vars(kind).values()]:
        reached(function, seen)
    assert len(entries) >= 8
    assert len(seen) > 100
    files = {Path(function.__code__.co_filename).resolve() for function in seen}
    ours = {file for file in files if Path(fairx.__file__).parent.resolve() in file.parents}
    assert ours <= {file.resolve() for file in compiled_sources()}


SIMULATE = """
import numpy as np
from fairx import *
merit, world = Exponential(10), environments.Bernoulli([0.2, 0.5, 0.9])
result = simulate(FairXTS(merit, 1, 0.5), world, merit, rounds=3000, runs=3, seed=5, jobs={jobs})
print(result.fairness_regret.tobytes().hex()[-96:], result.pulls.tolist())
"""


@needs_compiler
def test_results_do_not_depend_on_the_process_the_jobs_or_the_instructions() -> None:
    """Neither vector units nor the compiler's absence change a bit."""
    plain = run(SIMULATE.format(jobs=1)).stdout
    assert run(SIMULATE.format(jobs=3)).stdout == plain
    assert (
        run(SIMULATE.format(jobs=1), NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="").stdout
        == plain
    )
    assert run(SIMULATE.format(jobs=1), NUMBA_DISABLE_JIT="1").stdout == plain


@needs_compiler
def test_the_first_compilation_says_what_it_waits_for_and_is_kept(tmp_path: Path) -> None:
    first = run(SIMULATE.format(jobs=1), FAIRX_CACHE=str(tmp_path))
    assert (
        f"fairx: compiling FairXTS, Posterior, BernoulliWorld, Exponential (once; kept in {tmp_path})"
        in first.stderr
    )
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    second = run(SIMULATE.format(jobs=1), FAIRX_CACHE=str(tmp_path))
    assert second.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


def test_the_cache_is_named_after_the_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAIRX_CACHE", str(tmp_path))
    assert cache_directory().parent == tmp_path
    assert len(cache_directory().name) == 12
    monkeypatch.delenv("FAIRX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory().parent == tmp_path / "fairx"


def test_records_that_are_equal_as_tuples_are_told_apart() -> None:
    """Affine(1, 0.1) == Power(1, 0.1) as tuples: compiled steps must not be mixed up."""
    from fairx import Affine, Power

    arms, rng = np.arange(2), np.random.default_rng(0)
    found = []
    for merit in (Affine(2, 1), Power(2, 1)):
        policy = FairXTS(merit, 1e-9, 1e-9)
        state = policy.start(2)
        policy.learn(state, 0, np.empty(0), 1.0)
        policy.learn(state, 1, np.empty(0), 3.0)
        found.append(policy.probabilities(state, arms, np.empty((2, 0)), rng)[0])
    assert found[0] == pytest.approx(2 / (2 + 4), rel=1e-3)
    assert found[0] != pytest.approx(found[1], rel=1e-3)


class Named(NamedTuple):
    """A policy of somebody's with a field that is called like a method of ours."""

    reward_of: float
    means_of: float

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        return np.full(arms.size, self.reward_of / self.means_of / arms.size)

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def test_a_field_comes_before_a_method_of_the_same_name() -> None:
    merit, world = Exponential(1), Bernoulli([0.1, 0.2])
    result = simulate(Named(2.0, 2.0), world, merit, rounds=20, seed=1)
    np.testing.assert_allclose(result.exposure[0], [0.5, 0.5])


@needs_compiler
def test_without_a_place_for_the_cache_nothing_is_kept(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    found = run(SIMULATE.format(jobs=1), FAIRX_CACHE=str(blocked))
    assert found.stdout == run(SIMULATE.format(jobs=1)).stdout
    assert not list(Path(fairx.__file__).parent.rglob("*.nbc"))


class Plain(NamedTuple):
    """A policy of somebody's without settings."""

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: np.random.Generator) -> Any:
        return np.full(arms.size, 1 / arms.size)

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def test_a_record_without_settings_still_compiles() -> None:
    merit, world = Exponential(1), Bernoulli([0.1, 0.2])
    ours = simulate(Uniform(), world, merit, rounds=50, seed=1)
    found = simulate(Plain(), world, merit, rounds=50, seed=1)
    np.testing.assert_array_equal(ours.pulls, found.pulls)


MACHINE_CODE = """
import fairx
from fairx.compiled import load
load()
from numba.core.codegen import JITCodeLibrary
made, finish = [], JITCodeLibrary._finalize_specific

def finished(library):
    finish(library)
    made.append([function.name for function in library.get_defined_functions()])

JITCodeLibrary._finalize_specific = finished
merit, world = fairx.Exponential(2), fairx.environments.Bernoulli([0.2, 0.5])
for policy in (fairx.FairXTS(merit, 1.0, 0.5), fairx.TS(1.0, 0.5)):
    fairx.simulate(policy, world, merit, rounds=16, seed=1, jobs=1)
print(*("\\t".join(names) for names in made), sep="\\n")
"""


@needs_compiler
def test_only_whole_loops_become_machine_code(tmp_path: Path) -> None:
    """A cold start takes twice as long where each function of ours is compiled by itself."""
    done = run(MACHINE_CODE, FAIRX_CACHE=str(tmp_path))
    modules = [line.split("\t") for line in done.stdout.splitlines()]
    ours = [names for names in modules if any("5fairx" in name for name in names)]
    assert len(ours) == 2, done.stderr
    for names in ours:  # wrapped for Python, not for C
        assert [("play_rounds" in n) for n in names if n.startswith("_ZN7cpython")] == [True]
        assert not any(name.startswith("cfunc") for name in names)
