"""Kernels in which last bits decide are a processor's to the last bit; others may fuse products and sums."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import MERITS, RIVALS, name
from test_gpu import TS, fleet

from fairx import BetaTS, Discounted, FairXBetaTS, FairXGammaTS, Floor, Groups
from fairx.compiled import interpreted
from fairx.policies import DelayedFairXTS, FairLearn, NashUCB

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(interpreted(), reason="nothing is compiled"),
]
HOPPER = (9, 0)
BETA = FairXBetaTS(MERITS[0])
EXACT = [
    BETA, BetaTS(), FairXGammaTS(MERITS[0]), DelayedFairXTS(MERITS[0]), Floor(BETA, share=0.02),
    Discounted(BETA, discount=0.9), Groups(BETA, (0, 0, 1, 1), (0.1, 0.1), (1, 1)),
    FairLearn(TS, rates=0.1), NashUCB(rounds=100),
]  # fmt: skip
NOT_EXACT = [TS, Floor(TS, share=0.02), RIVALS[10]]
FORMS = {"fused": r"fma\.rn\.f64", "may be": r"\b(mul|add|sub)\.f64", "guessed": r"\.approx\."}


def assembled(policy: Any) -> str:
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx.compiled.gpu.assembly import assembly

    return assembly(fleet([policy, policy]))


def counted(text: str) -> dict[str, int]:
    """Return how often products and sums are fused, or may be later, and how often numbers are guessed."""
    return {what: len(re.findall(form, text)) for what, form in FORMS.items()}


@pytest.mark.parametrize("policy", EXACT, ids=name)
def test_where_last_bits_decide_nothing_is_fused_or_guessed(policy: Any) -> None:
    text = assembled(policy)
    assert counted(text) == {"fused": 0, "may be": 0, "guessed": 0}
    assert "div.rn.f64" in text
    assert "mul.rn.f64" in text


@pytest.mark.parametrize(("policy", "is_fused"), [(BETA, False), (TS, True)], ids=["exact", "not"])
def test_when_a_kernel_is_linked_no_more_is_fused(policy: Any, is_fused: bool) -> None:
    """As it is launched: its linker fused all that the compiler had not, and drew other numbers."""
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    from fairx.compiled.gpu.kernels import compiled_as_if_there

    kernel = compiled_as_if_there(fleet([policy, policy]).wanted(HOPPER))
    text = kernel._codelibrary.get_lto_ptx(cc=HOPPER)
    assert bool(re.search(FORMS["fused"], text)) is is_fused
    assert bool(re.search(r"\bmul\.f64", text)) is is_fused


@pytest.mark.parametrize("policy", NOT_EXACT, ids=name)
def test_where_they_do_not_it_is_as_fast_as_ever(policy: Any) -> None:
    text = assembled(policy)
    assert min(counted(text).values()) > 0
    assert "mul.rn.f64" not in text
    assert "sqrt.rn.f64" not in text


def emulated(word: str, *options: str) -> list[str]:
    """Return what the emulator says of policies whose names have the word."""
    pytest.importorskip("numba_cuda", reason="pip install 'fairx[cuda]'")
    script = Path(__file__).with_name("gpu_emulator.py")
    command = [sys.executable, str(script), "20000", word, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split(",")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("word", ["BetaTS", "GammaTS", "FairLearn"])
def test_their_kernels_make_the_choices_of_the_processor(word: str) -> None:
    found = emulated(word)
    assert found
    assert set(found) == {"4 of 4 exact"}


def test_tables_of_others_are_read_as_they_lie_and_their_writes_are_of_one_lane() -> None:
    """Kernels took all arrays to lie row after row: columns were read for rows, silently."""
    assert emulated("Tabled") == ["4 of 4 fused"] * 4


def test_an_arm_that_is_owed_is_another_one_where_products_are_fused() -> None:
    """Otherwise what is emulated is not what a GPU does, and the test above would say nothing."""
    assert emulated("FairLearn", "--fused") == ["0 of 4 exact"]
