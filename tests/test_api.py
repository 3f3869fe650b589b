"""The public names, and that each is documented with an example."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import fairx

PAPER = {"fair_ucb": 8, "fair_ts": 7, "fair_lin_ucb": 12, "fair_lin_ts": 8}


def test_all_is_complete() -> None:
    exported = {name for name in vars(fairx) if not name.startswith("_")}
    modules = {name for _, name, _ in pkgutil.iter_modules(fairx.__path__)}
    assert exported - modules - {"annotations"} <= set(fairx.__all__)
    assert all(hasattr(fairx, name) for name in fairx.__all__)


@pytest.mark.parametrize("name", [n for n in fairx.__all__ if inspect.isclass(getattr(fairx, n))])
def test_every_public_class_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(fairx, name))


@pytest.mark.parametrize("module", ["merit", "policies", "environments"])
def test_every_algorithm_has_a_runnable_example(module: str) -> None:
    found = import_module(f"fairx.{module}")
    records = [getattr(found, name) for name in found.__all__]
    for record in records:
        if hasattr(record, "start") or hasattr(record, "log") or hasattr(record, "world"):
            if getattr(record, "_is_protocol", False):
                continue
            examples = doctest.DocTestParser().get_examples(inspect.getdoc(record) or "")
            assert examples, f"{record.__name__} has no example"


@pytest.mark.parametrize(("module", "lines"), PAPER.items())
def test_the_lines_of_the_pseudo_code_are_cited(module: str, lines: int) -> None:
    source = inspect.getsource(import_module(f"fairx.policies.{module}"))
    assert "Algorithm" in source
    assert f"line {lines}" in source or f"and {lines}" in source
