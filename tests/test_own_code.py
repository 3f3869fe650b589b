"""What is edited is what is played: compiled code of others is never that of an older source."""

from __future__ import annotations

import hashlib
import importlib
import linecache
import os
import subprocess
import sys
import textwrap
import threading
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from fairx import Bandit, Exponential, FairXEG, simulate
from fairx.environments import Bernoulli
from fairx.experiments.tasks import code_of

WORLD = Bernoulli([0.3, 0.6])
MERIT = Exponential(2)
pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="NUMBA_DISABLE_JIT is set: unset it"
)
SOURCE = """
from typing import NamedTuple
import numpy as np

class Mine(NamedTuple):
    tilt: float = 0.5

    def start(self, arms, dimension):
        return np.zeros(arms)

    def probabilities(self, state, arms, contexts, rng):
        found = np.full(len(arms), {rest} / (len(arms) - 1))
        found[0] = {first}
        return found

    def learn(self, state, arm, context, reward):
        state[arm] += reward
"""


def exposure(policy: Any, world: Any = WORLD, judge: Any = MERIT) -> Any:
    """Return what a compiled run deployed."""
    return simulate(policy, world, judge, rounds=64, seed=1, jobs=1).exposure[0]


def mine(first: float) -> Any:
    """Return a policy as the cell of a notebook defines it: the same name each time."""
    space: dict[str, Any] = {"__name__": "notebook"}
    exec(SOURCE.format(first=first, rest=1 - first), space)
    return space["Mine"]()


def test_a_class_that_is_defined_again_plays_its_new_code() -> None:
    for first in (0.9, 0.2, 0.7, 0.9):
        assert exposure(mine(first)) == pytest.approx([first, 1 - first])


def made(first: float) -> Any:
    """Return a policy whose method reads a closure."""

    class Made(NamedTuple):
        tilt: float = 0.5

        def start(self, arms, dimension):  # type: ignore[no-untyped-def]
            return np.zeros(arms)

        def probabilities(self, state, arms, contexts, rng):  # type: ignore[no-untyped-def]
            return np.array([first, 1.0 - first])

        def learn(self, state, arm, context, reward):  # type: ignore[no-untyped-def]
            state[arm] += reward

    return Made()


def test_classes_of_a_factory_are_told_apart_by_what_they_close_over() -> None:
    for first in (0.9, 0.2):
        assert exposure(made(first)) == pytest.approx([first, 1 - first])


def test_a_method_that_is_replaced_is_played() -> None:
    policy = mine(0.9)
    assert exposure(policy) == pytest.approx([0.9, 0.1])
    type(policy).probabilities = lambda self, state, arms, contexts, rng: np.array([0.25, 0.75])
    assert exposure(policy) == pytest.approx([0.25, 0.75])


def test_a_module_that_is_loaded_again_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_policy.py"
    file.write_text(SOURCE.format(first=0.9, rest=0.1))
    module = importlib.import_module("edited_policy")
    assert exposure(module.Mine()) == pytest.approx([0.9, 0.1])
    file.write_text(SOURCE.format(first=0.2, rest=0.8))
    importlib.invalidate_caches()
    assert exposure(importlib.reload(module).Mine()) == pytest.approx([0.2, 0.8])


HELPERS = """
import numba
import numpy as np
from typing import NamedTuple

LEAST = {least}

@numba.njit
def first():
    return {first} + LEAST

class Helped(NamedTuple):
    tilt: float = 0.5

    def start(self, arms, dimension):
        return np.zeros(arms)

    def probabilities(self, state, arms, contexts, rng):
        return np.array([first(), 1.0 - first()])

    def learn(self, state, arm, context, reward):
        state[arm] += reward
"""


def test_functions_and_constants_that_methods_read_are_part_of_the_code() -> None:
    for first, least in ((0.5, 0.25), (0.25, 0.25), (0.25, 0.0)):
        space: dict[str, Any] = {"__name__": "notebook"}
        exec(HELPERS.format(first=first, least=least), space)
        assert exposure(space["Helped"]()) == pytest.approx([first + least, 1 - first - least])


CHAIN = """
import numba
@numba.njit
def outer():
    return inner()
"""
INNER = """
import numba
SHARE = {first}
@numba.njit
def inner():
    return SHARE
"""


def test_a_helper_behind_a_helper_is_compiled_anew() -> None:
    """Numba itself would go on with what the outer one was compiled with."""
    space: dict[str, Any] = {"__name__": "notebook"}
    exec(
        INNER.format(first=0.9) + CHAIN + SOURCE.format(first="outer()", rest="(1.0 - outer())"),
        space,
    )
    assert exposure(space["Mine"]()) == pytest.approx([0.9, 0.1])
    exec(INNER.format(first=0.2), space)
    assert exposure(space["Mine"]()) == pytest.approx([0.2, 0.8])
    space["SHARE"] = 0.7
    assert exposure(space["Mine"]()) == pytest.approx([0.7, 0.3])


ENUM = """
import enum
class Share(enum.Enum):
    FIRST = {first}
"""


def test_members_of_an_enumeration_are_read_anew() -> None:
    for first in (0.9, 0.2):
        space: dict[str, Any] = {"__name__": "notebook"}
        words = {"first": "Share.FIRST.value", "rest": "(1.0 - Share.FIRST.value)"}
        exec(ENUM.format(first=first) + SOURCE.format(**words), space)
        assert exposure(space["Mine"]()) == pytest.approx([first, 1 - first])


def test_a_module_in_a_closure_or_in_a_package_is_looked_into() -> None:
    package, module = ModuleType("own_package"), ModuleType("own_package.shares")
    package.shares = module  # type: ignore[attr-defined]
    sources = ("package.shares.FIRST", "module.FIRST")
    for source in sources:
        scope = "def make(package, module):\n" + textwrap.indent(
            SOURCE.format(first=source, rest=f"(1.0 - {source})"), "    "
        )
        space: dict[str, Any] = {"__name__": "notebook"}
        exec(scope + "    return Mine()\n", space)
        for first in (0.9, 0.2):
            module.FIRST = first  # type: ignore[attr-defined]
            assert exposure(space["make"](package, module)) == pytest.approx([first, 1 - first])


def test_a_global_that_is_set_anew_is_read_anew() -> None:
    space: dict[str, Any] = {"__name__": "notebook"}
    source = SOURCE.format(first="SHARE", rest="(1.0 - SHARE)")
    exec("SHARE = 0.9\n" + source, space)
    policy = space["Mine"]()
    assert exposure(policy) == pytest.approx([0.9, 0.1])
    space["SHARE"] = 0.2
    assert exposure(policy) == pytest.approx([0.2, 0.8])


def slope_merit(slope: float) -> Any:
    """Return a merit exp(slope * mean), defined anew under the same name."""

    def log(self, mean):  # type: ignore[no-untyped-def]
        return slope * mean

    def log_slope(self, mean):  # type: ignore[no-untyped-def]
        return slope

    def peak(self, low, high, level):  # type: ignore[no-untyped-def]
        return high

    def is_log_concave(self):  # type: ignore[no-untyped-def]
        return True

    kind: Any = namedtuple("kind", ["steepness"])
    for method in (log, log_slope, peak, is_log_concave):
        setattr(kind, method.__name__, method)
    return kind(steepness=float(slope))


def test_a_merit_that_is_defined_again_is_that_of_the_policy_and_of_the_judge() -> None:
    for slope in (1.0, 6.0):
        merit, ours = slope_merit(slope), Exponential(slope)
        own = simulate(FairXEG(merit, 0.1), WORLD, merit, rounds=500, seed=1)
        same = simulate(FairXEG(ours, 0.1), WORLD, ours, rounds=500, seed=1)
        assert own.exposure == pytest.approx(same.exposure)
        assert own.fairness_regret == pytest.approx(same.fairness_regret)


class Half(NamedTuple):
    """A merit of a user's, which is half as steep as its number says; renamed below."""

    steepness: float

    def log(self, mean: float) -> float:
        return 0.5 * self.steepness * mean


Half.__name__ = Half.__qualname__ = "Exponential"


class Own(NamedTuple):
    """An environment whose means follow from a merit, of ours or of the user's."""

    merit: Any

    def draw(self, rng: np.random.Generator) -> int:
        return 0

    def arms_of(self, example: int) -> Any:
        return np.arange(2)

    def contexts_of(self, example: int) -> Any:
        return np.zeros((2, 0))

    def means_of(self, example: int) -> Any:
        return np.array([0.2, self.merit.log(0.4)])

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return 0.5


def test_a_merit_with_the_name_of_one_of_ours_is_itself() -> None:
    """Judged by the true mean: 2 * 0.4 by our merit, half of it by the user's."""
    found = [
        simulate(mine(0.5), Own(merit), MERIT, rounds=64, seed=1).reward_regret[0, -1] / 64
        for merit in (Exponential(2), Half(2.0), Exponential(2))
    ]
    by_hand = []
    for second in (0.8, 0.4, 0.8):
        weights = np.exp(2 * np.array([0.2, second]))
        by_hand.append(float((weights / weights.sum() - 0.5) @ [0.2, second]))
    assert found == pytest.approx(by_hand)


TOML = """
rounds = 64
runs = 2
seed = 1
merits = [{ kind = "Exponential", steepness = 2 }]
[[policies]]
label = "old"
kind = "ver0:Mine"
[[policies]]
label = "new"
kind = "ver1:Mine"
"""


def test_rows_of_two_modules_are_not_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fairx.experiments import conduct, local_player, opened, read

    monkeypatch.syspath_prepend(str(tmp_path))
    for number, first in enumerate((0.9, 0.2)):
        text = SOURCE.replace("(len(arms) - 1)", "(len(arms) - 1.0)")
        (tmp_path / f"ver{number}.py").write_text(text.format(first=first, rest=1 - first))
    (tmp_path / "two.toml").write_text(TOML)
    (experiment,) = read(tmp_path / "two.toml")
    with opened(tmp_path / "out", "test", [experiment]) as rows:
        (panel,) = conduct(experiment, rows, local_player(1)).panels
    firsts = {curve.label: curve.result.exposure[:, 0] for curve in panel.curves}
    assert firsts["old"] == pytest.approx([0.9, 0.9])
    assert firsts["new"] == pytest.approx([0.2, 0.2])


CACHED = """
import sys
sys.path.insert(0, {folder!r})
from {module} import Mine
from fairx import Exponential, environments, simulate
from fairx.simulation.loop import play_rounds
world = environments.Bernoulli([0.2, 0.4])
found = simulate(Mine(), world, Exponential(2), rounds=100, seed=1, jobs=1)
print(found.exposure[0, 0].round(6), sum(play_rounds._kept_for_others.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("module", ["cached_policy", "profile"])
def test_code_of_others_is_kept_on_disk_by_its_key(tmp_path: Path, module: str) -> None:
    """Another process loads it; after an edit it does not, and finds it again when undone.

    A module of the user's may have the name of one of Python's.
    """
    answers = []
    for first in (0.9, 0.9, 0.2, 0.9):
        (tmp_path / f"{module}.py").write_text(SOURCE.format(first=first, rest=1 - first))
        done = subprocess.run(
            [sys.executable, "-B", "-c", CACHED.format(folder=str(tmp_path), module=module)], check=True,
            env=os.environ | {"FAIRX_CACHE": str(tmp_path / "cache")}, capture_output=True, text=True,
        )  # fmt: skip
        answers.append(done.stdout.split())
    assert answers == [["0.9", "0"], ["0.9", "1"], ["0.2", "0"], ["0.9", "1"]]


def test_code_that_is_kept_outlives_its_module(tmp_path: Path) -> None:
    """The same code in a module of another name is compiled, though what is kept names the old one."""
    for module in ("before", "after"):
        path = tmp_path / f"{module}_policy.py"
        path.write_text(SOURCE.format(first=0.9, rest=0.1))
        words = CACHED.format(folder=str(tmp_path), module=path.stem)
        done = subprocess.run(
            [sys.executable, "-B", "-W", "error", "-c", words], check=True, text=True,
            env=os.environ | {"FAIRX_CACHE": str(tmp_path / "cache")}, capture_output=True,
        )  # fmt: skip
        assert done.stdout.split()[0] == "0.9"
        path.unlink()


class Flat(FairXEG):
    """A policy of ours, but for what it deploys."""

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return np.full(len(arms), 1.0 / len(arms))


class Forgetful(FairXEG):
    """A policy of ours that learns nothing."""

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state.pulls[arm] += 0.0


class Halved(FairXEG):
    """A policy of ours whose inner form is changed."""

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state.pulls[arm] += 1.0


class Both(FairXEG):
    """A policy of ours whose inner `propose` and public `learn` are changed."""

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = 1.0 / len(arms)

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state.merits[arm] = 1000.0


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
@pytest.mark.parametrize("kind", [Flat, Forgetful, Halved, Both])
def test_a_subclass_of_ours_plays_what_it_overrides(kind: Any) -> None:
    """None of them learns from rewards: both arms get the same, where ours prefers the second."""
    ours, own = FairXEG(MERIT, 0.1), kind(MERIT, 0.1)
    assert exposure(own) == pytest.approx([0.5, 0.5])
    assert exposure(ours)[1] > 0.55
    bandit = Bandit(own, arms=2, seed=1)
    for _ in range(20):
        decision = bandit.act()
        assert decision.probabilities == pytest.approx([0.5, 0.5])
        bandit.learn(decision, 1.0 if decision.arm else 0.0)


def test_a_method_of_ours_that_is_replaced_is_played_and_leaves_the_cache_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = exposure(FairXEG(MERIT, 0.1))
    with monkeypatch.context() as patched:
        patched.setattr(FairXEG, "absorb", Halved.absorb)
        assert exposure(FairXEG(MERIT, 0.1)) == pytest.approx([0.5, 0.5])
    assert exposure(FairXEG(MERIT, 0.1)).tolist() == before.tolist()


class Stateful:
    """A policy in the habit of scikit-learn: what it learns is in itself."""

    def __init__(self) -> None:
        self.rewards = np.ones(2)

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(1)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return self.rewards / self.rewards.sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        self.rewards[arm] += reward


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
def test_state_in_self_is_the_runs_own() -> None:
    policy = Stateful()
    found = [
        simulate(policy, WORLD, MERIT, rounds=200, runs=8, seed=1, jobs=jobs)
        for jobs in (1, 2, 1, 2)
    ]
    one = simulate(Stateful(), WORLD, MERIT, rounds=200, runs=[5], seed=1)
    for result in found:
        assert result.exposure.tobytes() == found[0].exposure.tobytes()
        assert result.reward_regret.tobytes() == found[0].reward_regret.tobytes()
        assert result.exposure[5].tolist() == one.exposure[0].tolist()
    assert policy.rewards.tolist() == [1.0, 1.0]
    assert len({run.tobytes() for run in found[0].exposure}) == 8


class Drifting:
    """A world that keeps the number of its round in itself: the means swap half way."""

    def __init__(self) -> None:
        self.rounds = 0

    def draw(self, rng: np.random.Generator) -> int:
        self.rounds += 1
        return int(self.rounds > 50)

    def arms_of(self, example: int) -> Any:
        return np.arange(2)

    def contexts_of(self, example: int) -> Any:
        return np.zeros((2, 0))

    def means_of(self, example: int) -> Any:
        return np.array([0.2, 0.8]) if example == 0 else np.array([0.8, 0.2])

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        return float(self.means_of(example)[arm])


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
def test_a_world_that_keeps_its_round_begins_anew_in_each_run() -> None:
    world = Drifting()
    policy = FairXEG(MERIT, 0.1)
    found = [simulate(policy, world, MERIT, rounds=100, runs=4, seed=1, jobs=j) for j in (1, 2)]
    assert found[0].fairness_regret.tobytes() == found[1].fairness_regret.tobytes()
    alone = simulate(policy, Drifting(), MERIT, rounds=100, runs=[3], seed=1)
    assert found[0].fairness_regret[3].tolist() == alone.fairness_regret[0].tolist()
    assert world.rounds == 0


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
@pytest.mark.parametrize("door", ["probabilities", "learn"])
def test_a_public_method_of_ours_that_is_replaced_is_played(
    monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(
            FairXEG, door, vars({"probabilities": Flat, "learn": Forgetful}[door])[door]
        )
        assert exposure(FairXEG(MERIT, 0.1)) == pytest.approx([0.5, 0.5])
        assert Bandit(FairXEG(MERIT, 0.1), 2, seed=1).act().probability == pytest.approx(0.5)


class Inner(NamedTuple):
    """A policy of a user's with an inner form of its own, and something wrong in it."""

    share: float
    reach: int = 0

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = self.share + 0.0 * state[arms[position] + self.reach]

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward


def test_an_inner_form_of_others_is_tried_out_too() -> None:
    assert exposure(Inner(0.5)) == pytest.approx([0.5, 0.5])
    with pytest.raises(ValueError, match=r"those of Inner.* are 2 numbers with sum 1.8"):
        exposure(Inner(0.9))
    with pytest.raises(IndexError, match="out of bounds"):
        exposure(Inner(0.5, reach=5000))


class Locked:
    """A policy that cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    start, probabilities = Inner.start, Flat.probabilities

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        with self.lock:
            state[arm] += reward


@pytest.mark.filterwarnings("ignore:Numba cannot compile")
def test_a_policy_that_cannot_be_copied_is_played_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="cannot be copied.*all runs share"):
        assert exposure(Locked()) == pytest.approx([0.5, 0.5])


def test_an_edit_of_a_module_that_a_policy_imports_makes_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of before are not those of the edited code."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "task_policy.py").write_text("import task_helper\n" + SOURCE)
    texts = []
    for share in (0.9, 0.2):
        (tmp_path / "task_helper.py").write_text(f"SHARE = {share}\n")
        linecache.clearcache()
        texts.append(code_of('{"kind": "task_policy:Mine"}'))
    alone = hashlib.sha256((tmp_path / "task_policy.py").read_bytes()).hexdigest()[:12]
    assert len({*texts, alone}) == 3
    (tmp_path / "lone_policy.py").write_text(SOURCE)  # as it was before: old rows are found again
    lone = hashlib.sha256(SOURCE.encode()).hexdigest()[:12]
    assert code_of('{"kind": "lone_policy:Mine"}') == lone
