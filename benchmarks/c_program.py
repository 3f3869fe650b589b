"""Build `plain.c` on the spot, and call its loops."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from problems import Floats, LinearProblem, Problem

SOURCE = Path(__file__).with_name("plain.c")
COMMAND = ("gcc", "-O3", "-march=native", "-shared", "-fPIC")
POINTER = ctypes.POINTER(ctypes.c_double)


class Program:
    """The compiled loops; each returns the fairness regret and the reward regret it added up."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def play(
        self,
        name: str,
        problem: Problem | LinearProblem,
        settings: tuple[float, ...],
        rounds: int,
        seed: int,
    ) -> Floats:
        """Play the loop called `name`, with its one or two settings."""
        total = np.zeros(2)
        first, second = (*settings, 0.0)[:2]
        tail = (*_doubles(first, second), ctypes.c_uint64(seed), _pointer(total))
        getattr(self.library, name)(ctypes.c_long(rounds), *_description(problem), *tail)
        return total


def build() -> Program:
    """Compile into a temporary directory, which may go once the library is loaded."""
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / "plain.so"
        subprocess.run([*COMMAND, str(SOURCE), "-lm", "-o", str(target)], check=True)
        return Program(ctypes.CDLL(str(target)))


def compiler() -> str:
    """Return the first line that gcc says of itself."""
    said = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True)
    return said.stdout.splitlines()[0]


def _description(problem: Problem | LinearProblem) -> tuple[object, ...]:
    if isinstance(problem, Problem):
        arms = ctypes.c_int(problem.means.size)
        return arms, _pointer(problem.means), *_doubles(problem.steepness)
    sizes = map(ctypes.c_int, problem.contexts.shape)
    numbers = _doubles(problem.steepness, problem.noise_std)
    return *sizes, _pointer(problem.contexts), _pointer(problem.parameter), *numbers


def _doubles(*values: float) -> tuple[ctypes.c_double, ...]:
    return tuple(map(ctypes.c_double, values))


def _pointer(values: Floats) -> object:
    return values.ctypes.data_as(POINTER)
