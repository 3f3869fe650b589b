"""What newer Pythons and other systems change, tried on this one."""

from __future__ import annotations

import asyncio
import copy
import sys
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from fairx import Exponential, FairXTS
from fairx.compiled.keys import key_of
from fairx.files import hold


def cut(part: slice) -> FunctionType:
    """Return a function whose code has a slice among its constants, as Python 3.14 makes them."""

    def first(values: list[float]) -> list[float]:
        return values[1.5]  # type: ignore[call-overload, no-any-return]

    code: CodeType = first.__code__
    assert 1.5 in code.co_consts
    constants = tuple(part if one == 1.5 else one for one in code.co_consts)
    return FunctionType(code.replace(co_consts=constants), {})


def test_slices_among_constants_are_known_by_their_ends() -> None:
    one, same, other = cut(slice(0, 2)), cut(slice(0, 2)), cut(slice(0, 3))
    assert one([1.0, 2.0, 3.0]) == [1.0, 2.0]
    assert key_of(one).text() == key_of(same).text() != key_of(other).text()
    assert key_of(one).lasting


def test_records_check_themselves_when_copied_with_changes() -> None:
    policy = FairXTS(Exponential(4), prior_std=1, reward_std=0.5)
    replace = getattr(copy, "replace", lambda record, **fields: record.__replace__(**fields))
    assert replace(policy, reward_std=2) == FairXTS(Exponential(4), prior_std=1, reward_std=2.0)
    with pytest.raises(ValueError, match="reward_std must be positive, not -1"):
        replace(policy, reward_std=-1)


def test_a_file_is_held_by_one(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as first, (tmp_path / "lock").open("a") as second:
        hold(first)
        with pytest.raises(BlockingIOError):
            hold(second)
    with (tmp_path / "lock").open("a") as third:
        hold(third)


def test_without_uvloop_the_event_loop_is_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    running = pytest.importorskip("fairx.service.running", reason="pip install 'fairx[serve]'")
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert running.event_loop() is asyncio
