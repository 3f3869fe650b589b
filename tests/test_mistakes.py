"""What users get wrong, and what they are told: the thing, the rule, the value and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fairx import Bandit, Exponential, FairXTS, UniformLog, UnknownDecision, replay, simulate
from fairx.compiled import interpreted
from fairx.environments import Bernoulli
from fairx.experiments import read

MERIT, WORLD = Exponential(4), Bernoulli([0.2, 0.5, 0.8])
POLICY = FairXTS(MERIT, 1, 0.5)


def simulated(**changes: Any) -> Any:
    given: dict[str, Any] = {"policy": POLICY, "environment": WORLD, "judge": MERIT}
    given |= {"rounds": 40, "seed": 1, "jobs": 1} | changes
    return simulate(**given)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"judge": 4}, r"judge must be a merit, not 4: Exponential\(4\) is exp\(4 mean\)"),
        ({"judge": lambda mean: mean}, r"judge must be a merit.*Custom\(function\) makes one"),
        ({"judge": Exponential}, r"judge must be a merit.*write Exponential\(\.\.\.\)"),
        ({"policy": FairXTS}, r"policy must be a policy, not the class FairXTS: write FairXTS"),
        ({"environment": Bernoulli}, r"environment must be one, not the class Bernoulli"),
        ({"progress": True}, "progress must be a function.*not True: a bar shows by itself"),
    ],
)
def test_the_remedy_is_said(changes: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        simulated(**changes)


def test_a_number_is_not_a_merit() -> None:
    with pytest.raises(ValueError, match=r"merit must be a merit, not 4: Exponential\(4\)"):
        FairXTS(4, 1, 0.5)  # type: ignore[arg-type]


def test_an_arm_is_not_a_decision() -> None:
    bandit = Bandit(POLICY, arms=["sku-1", "sku-2"], seed=1)
    bandit.act()
    with pytest.raises(
        UnknownDecision, match="'sku-1' does not exist: that is an arm; learn takes"
    ):
        bandit.learn("sku-1", 1.0)  # type: ignore[arg-type]


def test_a_misspelt_grid_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        "rounds = 10\nmerits = [{ kind = 'Exponential', steepness = 4 }]\n"
        "[[policies]]\nkind = 'UCB'\ngird.width = [0.1]\n"
    )
    with pytest.raises(ValueError, match=r"UCB has no table 'gird': did you mean 'grid'\?"):
        read(path)


def helper(share: float) -> float:
    return share


class Shared(NamedTuple):
    """A policy of equal shares; its methods are replaced by what Numba cannot compile."""

    share: float = 0.5

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return np.full(len(arms), 1.0 / len(arms))

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def calls_a_plain_function(self: Any, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    return np.full(len(arms), helper(1.0) / len(arms))


def draws_by_choice(self: Any, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    return np.full(len(arms), 1.0 / len(arms)) + 0.0 * rng.choice(len(arms))


def gives_one_bound(self: Any, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    return np.full(len(arms), 1.0 / len(arms)) + 0.0 * rng.integers(len(arms))


def formats_a_text(self: Any, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    return np.full(len(arms), 1.0 / len(arms)) if f"{self.share:.3f}" else arms


def mixes_a_dictionary(self: Any, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    return np.full(len(arms), 1.0 / len({"a": 1, 2: "b"}) * 2 / len(arms))


@pytest.mark.skipif(interpreted(), reason="NUMBA_DISABLE_JIT is set: unset it")
@pytest.mark.filterwarnings("ignore:.*unsafe cast")
@pytest.mark.parametrize(
    ("method", "words"),
    [
        (
            calls_a_plain_function,
            r"line \d+, `.*helper\(1.0\).*`: .*decorate helper with numba.njit",
        ),
        (draws_by_choice, r"line \d+, `.*rng.choice.*`: .*np.searchsorted"),
        (gives_one_bound, r"line \d+, `.*`: .*rng.integers takes both bounds"),
        (formats_a_text, r"line \d+: .*leave texts out"),
        (mixes_a_dictionary, r"use arrays, not dictionaries"),
    ],
)
def test_what_cannot_be_compiled_is_named_with_its_line(
    monkeypatch: pytest.MonkeyPatch, method: Any, words: str
) -> None:
    monkeypatch.setattr(Shared, "probabilities", method)
    told = rf"Numba cannot compile Shared: running interpreted.*\(.*{words}"
    with pytest.warns(UserWarning, match=told) as warned:
        found = simulated(policy=Shared())
    assert found.exposure[0] == pytest.approx([1 / 3] * 3)
    assert "test_mistakes.py" in str(warned[-1].message) or "dictionar" in words


class Wrong(NamedTuple):
    """A policy whose probabilities are what it is told, and which may read past its state."""

    numbers: Any
    reach: int = 0

    def start(self, arms: int, dimension: int) -> Any:
        return np.zeros(arms)

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return self.numbers

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm + self.reach] += reward


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([0.5, 0.5], "are 2 numbers with sum 1, the least 0.5"),
        ([0.5, 0.2, 0.2], "are 3 numbers with sum 0.9, the least 0.2"),
        ([0.5, -0.1, 0.6], "are 3 numbers with sum 1, the least -0.1"),
        ([0.25] * 4, "are 4 numbers with sum 1"),
        ([np.nan, 0.5, 0.5], "are 3 numbers with sum nan"),
    ],
)
def test_probabilities_that_are_none_are_shown(numbers: Any, words: str) -> None:
    """Whose they are and what is wrong; by the loops, by replay and by a bandit."""
    policy = Wrong(np.array(numbers))
    log = UniformLog([[0, 1, 2]], displayed=[0, 1, 2] * 3, rewards=[1.0] * 9)
    with pytest.raises(ValueError, match=rf"those of Wrong.* {words}"):
        simulated(policy=policy)
    with pytest.raises(ValueError, match=rf"those of Wrong.* {words}"):
        replay(policy, log, MERIT, seed=1, rounds=2)
    with pytest.raises(ValueError, match=rf"those of Wrong.* {words}"):
        Bandit(policy, arms=3, seed=1).act()


def test_a_read_past_the_end_is_an_error_before_the_first_run() -> None:
    """Compiled code would read what lies behind the array, or crash."""
    told: list[int] = []
    policy = Wrong(np.array([0.2, 0.3, 0.5]), reach=1000)
    with pytest.raises(IndexError, match="out of bounds"):
        simulated(policy=policy, runs=100, progress=told.append)
    assert not told
