"""Kernels in PTX, the assembly of GPUs: it can be made where there is none, as in CI."""

from __future__ import annotations

from .kernels import as_if_there
from .launching import Fleet
from .teaching import load_cuda

HOPPER = (9, 0)


def assembly(fleet: Fleet, capability: tuple[int, int] = HOPPER, *, optimised: bool = True) -> str:
    """Return the kernel of a fleet, compiled for GPUs of this capability."""
    cuda, wanted = load_cuda(), fleet.wanted(capability)
    with as_if_there(capability):
        made = cuda.compile_ptx(wanted.function(), wanted.types, cc=capability, opt=optimised)
    return str(made[0])
