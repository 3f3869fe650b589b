"""Kernels in PTX, the assembly of GPUs: it can be made where there is none, as in CI."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any
from unittest import mock

from .launching import Fleet, kernel_of
from .leaves import Leaf
from .teaching import load_cuda

HOPPER = (9, 0)


def assembly(fleet: Fleet, capability: tuple[int, int] = HOPPER, *, optimised: bool = True) -> str:
    """Return the kernel of a fleet, compiled for GPUs of this capability."""
    cuda = load_cuda()
    typing = importlib.import_module("numba.cuda.typing.typeof")
    count = typing.typeof(1)
    kinds = [typing.typeof(_example(leaf, fleet.warps)) for leaf in fleet.written.leaves]
    device = SimpleNamespace(
        compute_capability=capability
    )  # numba-cuda asks for the one that is there
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        kernel = kernel_of(cuda, fleet.entry, fleet.written.source, fleet.written.names)
        made = cuda.compile_ptx(kernel, (count, count, count, *kinds), cc=capability, opt=optimised)
    return str(made[0])


def _example(leaf: Leaf, warps: bool) -> Any:
    """Return something of the type that is sent."""
    short = leaf._replace(values=leaf.values[:2], runs=min(leaf.runs, 2))
    return short.stacked(by_run=warps) if leaf.is_own else leaf.first
