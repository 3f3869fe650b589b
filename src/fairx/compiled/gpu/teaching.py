"""Teach numba-cuda what Numba is taught: it has registries of its own."""

from __future__ import annotations

import functools
import importlib
import os
import threading
from typing import Any

import numpy as np

from ..sharing import by_any, meet, turns
from ..teaching import method_template, teach, teach_ranges
from . import indices, lanes, shapes, tables
from .instructions import instructions

INLINED = {"forceinline": True}
ALL_LANES = 0xFFFFFFFF
QUEUES = "32"  # as many as a GPU has; a driver gives eight to those who do not ask
_loading = threading.Lock()


def load_cuda() -> Any:
    """Import numba-cuda, teach it all of our code, and return it; once, however many threads ask."""
    with _loading:
        return _taught()


@functools.cache
def _taught() -> Any:
    # Of more streams than queues, some wait for one another: fleets are to play side by side.
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", QUEUES)
    vars(np).setdefault(
        "row_stack", np.vstack
    )  # numba-cuda 0.30 asks for it, and NumPy 2.5 has none
    try:
        importlib.import_module("numba_cuda")
        cuda = importlib.import_module("numba.cuda")
        extending = importlib.import_module("numba.cuda.extending")
        templates = importlib.import_module("numba.cuda.typing.templates")
        kinds = importlib.import_module("numba.cuda.types")
    except ImportError as error:
        raise ImportError("a GPU needs numba-cuda: pip install 'fairx[cuda]'") from error
    # A handful of runs leaves most of a GPU idle: whoever plays so few knows.
    importlib.import_module("numba").config.CUDA_LOW_OCCUPANCY_WARNINGS = False
    if not is_simulated():
        lanes.install(importlib.import_module("numba.cuda.cudadrv.nvvm"))
        indices.install()
        shapes.install()
    teach(OfGPUs(extending, templates, kinds, _sharing(cuda) | tables.forms(cuda)))
    return cuda


def is_simulated() -> bool:
    """Tell whether numba-cuda plays in Python what a GPU would do (`NUMBA_ENABLE_CUDASIM=1`)."""
    return bool(importlib.import_module("numba").config.ENABLE_CUDASIM)


class OfGPUs:
    """Teaches numba-cuda."""

    def __init__(self, extending: Any, templates: Any, kinds: Any, forms: dict[Any, Any]) -> None:
        self.extending, self.templates, self.kinds = extending, templates, kinds
        self.forms = forms  # of functions that are another thing on a GPU

    def function(self, function: Any, *, inlined: bool, on_gpu: Any) -> None:
        """Have its form for GPUs compiled, if it has one."""
        body = self.forms.get(function) or on_gpu or function

        @self.extending.overload(function, jit_options={"forceinline": inlined}, strict=False)
        def find(*arguments):  # type: ignore[no-untyped-def]
            return body

    def products(self, function: Any, rows: int) -> None:
        """Have the inner products compiled as they are written."""
        self.function(function, inlined=True, on_gpu=None)

    def fetching(self, function: Any) -> None:
        """Have nothing in its place."""
        self.function(function, inlined=True, on_gpu=None)

    def method(self, name: str, finder: Any) -> None:
        """Have it found on all named tuples."""
        for kind in (self.kinds.NamedTuple, self.kinds.NamedUniTuple):
            template = method_template(self.templates, kind, name, finder, INLINED)
            self.templates.infer_getattr(template)
            self.extending.overload(finder, jit_options=INLINED)(finder)

    def ranges(self) -> None:
        """Have a range indexed."""
        teach_ranges(self.extending, self.kinds, INLINED)


def _sharing(cuda: Any) -> dict[Any, Any]:
    """Return how loops are shared by lanes."""

    def own_turns(count):  # type: ignore[no-untyped-def]
        lane, lanes = cuda.threadIdx.x & 31, cuda.blockDim.x
        # So written that the compiler sees how many there can be.
        own = count // lanes + (1 if lane < count % lanes else 0)
        return range(lane, lane + own * lanes, lanes)

    def told_by_any(told):  # type: ignore[no-untyped-def]
        return told if cuda.blockDim.x == 1 else cuda.any_sync(ALL_LANES, told)

    sharing = {turns: own_turns, meet: lambda: cuda.syncwarp(), by_any: told_by_any}
    return sharing | instructions()
