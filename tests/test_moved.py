"""Imports of before keep working, from where the documentation had them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType

import pytest

import fairx
from fairx.moved import MOVED

PUBLIC = {
    "fairx.logs.yahoo": ("load", "make_yahoo", "parse"),
    "fairx.metrics": ("Interval", "mean_interval"),
    "fairx.sequences": ("always_valid",),
    "fairx.uniform_log": ("UniformLog",),
}


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Forget old names before and after, for tests that look at what is there."""
    forget()
    yield
    forget()


def forget() -> None:
    for old in MOVED:
        parent, _, name = old.rpartition(".")
        if sys.modules.pop(old, None):
            delattr(sys.modules[parent], name)


@pytest.mark.parametrize("old", MOVED)
@pytest.mark.usefixtures("forgotten")
def test_a_module_answers_by_its_old_name(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old} is now {MOVED[old]}"):
        module = import_module(old)
    for name in PUBLIC[old]:
        assert getattr(module, name) is getattr(import_module(MOVED[old]), name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


@pytest.mark.parametrize("name", ["fourier_features", "linear_fit", "median_distance"])
def test_a_name_is_answered_where_another_module_took_the_old_ones(name: str) -> None:
    """`fairx.features` is another package now, and says where what was in it is."""
    new = "fairx.datasets.features"
    space: dict[str, object] = {}
    with pytest.warns(
        DeprecationWarning, match=f"fairx.features.{name} is now {new}.{name}"
    ) as told:
        exec(f"from fairx.features import {name}", space)
    assert space[name] is getattr(import_module(new), name)
    assert {each.filename for each in told} == {"<string>"}  # the import, not our module
    with pytest.raises(ImportError, match="nothing"):
        exec("from fairx.features import nothing")


def test_replay_is_a_function_however_it_is_imported() -> None:
    """The package of that name is found by imports from it, and never replaces the function."""
    code = "import fairx.replay; from fairx.replay import replay; import fairx; print(fairx.replay is replay)"
    for first in (
        "",
        "from fairx.replay.loop import replay_events; ",
        "import fairx.experiments; ",
    ):
        done = subprocess.run(
            [sys.executable, "-c", first + code], check=False, capture_output=True, text=True
        )
        assert done.stdout == "True\n", done.stderr
    assert isinstance(fairx.replay, FunctionType)
