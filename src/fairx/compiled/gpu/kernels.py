"""Kernels of GPUs: compiled once for all processes of a machine, and several at a time in processes of their own.

Where all code is ours, a kernel is kept in a file whose name tells its source, its types, the GPU and all
sources it is made of. Code of others is compiled by each process that plays it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

from ..entries import Entry, cache_directory
from ..sharing import meet, turns
from ..tables import all_items
from .shapes import shaping
from .tables import filling
from .teaching import is_simulated, load_cuda

CHILD = """import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from fairx.compiled.gpu.kernels import compile_and_keep
compile_and_keep(*pickle.load(sys.stdin.buffer))"""


class Wanted(NamedTuple):
    """A kernel that is wanted: its source, what that reads, and the types of its arguments."""

    loop: tuple[str, str]  # the module and the name of the loop that it plays
    source: str
    names: tuple[tuple[str, Any], ...]
    types: tuple[Any, ...]
    capability: tuple[int, int]
    is_kept: bool  # it is the same in all processes: none of its code is of others

    def function(self) -> Any:
        """Return the kernel as a Python function."""
        cuda, entry = load_cuda(), getattr(importlib.import_module(self.loop[0]), self.loop[1])
        return kernel_of(cuda, entry, self.source, dict(self.names))

    @property
    def file(self) -> Path:
        """Where it is kept."""
        names = [(name, thing.__module__, thing.__qualname__) for name, thing in self.names]
        said = repr((self.loop, self.source, names, self.types, self.capability, _versions()))
        # It writes all tables, also those that others made: where one is missing, there is no room for it.
        told = hashlib.sha256(said.encode() + all_items().tobytes())
        return cache_directory() / "gpu" / f"{told.hexdigest()[:24]}.kernel"


@functools.cache
def _versions() -> tuple[str, ...]:
    """Return what a kernel depends on beside what `cache_directory` is named after."""
    own = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
    found = [importlib.import_module(name).__version__ for name in ("numba", "numba_cuda", "numpy")]
    return hashlib.sha256(own).hexdigest(), *found


@functools.lru_cache(maxsize=64)
def dispatcher(wanted: Wanted) -> Any:
    """Return the kernel, compiled or read when it is launched first."""
    found = load_cuda().jit(wanted.function())
    if wanted.is_kept:
        found._cache = Kept(wanted.file)  # where numba-cuda looks before it compiles
    return found


def _never() -> bool:
    return False


def compile_together(
    some: Sequence[Wanted], jobs: int, least: int = 2, is_over: Callable[[], bool] = _never
) -> None:
    """Compile those that are to be kept, and are not yet, `jobs` at a time; what fails is said when it is launched.

    Fewer than `least` are left to their launch, which takes no longer but lets others wait. None is begun when
    it `is_over`: nobody is to play them any more.
    """

    def compile_one(wanted: Wanted) -> None:
        if not is_over():
            _compile_elsewhere(wanted)

    missing = {one.file: one for one in some if one.is_kept and not one.file.exists()}
    if len(missing) >= least and jobs > 1:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(compile_one, missing.values()))


def _compile_elsewhere(wanted: Wanted) -> None:
    """Let another process compile a kernel: of each, the compiler does one at a time."""
    said = pickle.dumps(sys.path) + pickle.dumps((wanted, wanted.file))
    subprocess.run([sys.executable, "-c", CHILD], input=said, capture_output=True, check=False)


def compile_and_keep(wanted: Wanted, file: Path) -> None:
    """Compile a kernel, for a GPU that need not be there, and keep it for whoever asked: its tables are these, or more."""
    kernel = compiled_as_if_there(wanted)
    Kept(file).save_overload(wanted.types, kernel)


def compiled_as_if_there(wanted: Wanted) -> Any:
    """Return a kernel, compiled with the options of one that is launched: optimised once more when it is linked."""
    launched = load_cuda().jit(wanted.function())
    compiling = importlib.import_module("numba.cuda.dispatcher")
    with as_if_there(wanted.capability):
        kernel = compiling._Kernel(launched.py_func, wanted.types, **launched.targetoptions)
        kernel._codelibrary.get_cubin()
    return kernel


@contextlib.contextmanager
def as_if_there(capability: tuple[int, int]) -> Iterator[None]:
    """Let numba-cuda compile for a GPU, which it would ask for its capability, wherever that is."""
    device = SimpleNamespace(compute_capability=capability)
    context = SimpleNamespace(device=device)
    with (
        mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device),
        mock.patch("numba.cuda.cudadrv.devices.get_context", return_value=context),
    ):
        yield


class Kept:
    """A file with a kernel, as numba-cuda asks for one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the kernel, or nothing where it is not there, is damaged, or is for other types."""
        rebuild: Callable[..., Any] = importlib.import_module(
            "numba.cuda.dispatcher"
        )._Kernel._rebuild
        try:
            kernel = rebuild(**pickle.loads(self.file.read_bytes()))
        except Exception:  # noqa: BLE001 - whatever is in the file, it can be made again
            return None
        return kernel if tuple(kernel.signature.args) == tuple(signature) else None

    def save_overload(self, signature: Any, kernel: Any) -> None:
        """Keep it, whole or not at all; where there is no room, do without."""
        serialize = importlib.import_module("numba.cuda.serialize")
        part = self.file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(serialize.dumps(kernel._reduce_states()))
            part.replace(self.file)


def kernel_of(cuda: Any, entry: Entry, source: str, names: dict[str, Any]) -> Any:
    """Return the kernel as a Python function."""
    loop, shaped, fill = entry.function, _first_items, _nothing  # in the simulator
    if not is_simulated():
        loop, shaped = cuda.jit(device=True, forceinline=True)(loop), shaping()
        fill = filling(cuda)
    scope: dict[str, Any] = {"cuda": cuda, "loop": loop, "meet": meet, "turns": turns}
    scope |= {"shaped": shaped, "fill_tables": fill}
    scope |= names
    exec(compile(source, f"<kernel of {entry.function.__name__}>", "exec"), scope)  # noqa: S102
    return scope[source[len("def ") : source.index("(")]]


def _nothing() -> None:
    """Fill no tables: nothing reads them."""


def _first_items(array: Any, shape: tuple[int, ...]) -> Any:
    """Return as many items as the shape has, in that shape."""
    return array.reshape(-1)[: math.prod(shape)].reshape(shape)
