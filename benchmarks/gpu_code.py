"""Which kernels of the cases in `gpu.py agree` are the same code as in another checkout, which a card has played.

python benchmarks/gpu_code.py CHECKOUT   # no GPU is needed; minutes for each of the two
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve()
# Names of functions, tables and labels tell the file, and what was compiled before.
NAME = re.compile(r"[$\w]*(?:_ZN|__|_cudapy_smem_)[$\w]+")
DECLARED = re.compile(r"^\.(?:common|extern|visible \.shared) [^;]*;|//[^\n]*", re.MULTILINE)


def digest(assembly: str) -> str:
    """Return the digest of a kernel's instructions and of the memory they use, whatever names are in it.

    Examples
    --------
    >>> digest("call _ZN5first; // why") == digest("call _ZN6second;")
    True
    >>> memory = ".visible .shared .b8 _cudapy_smem_1[{}]; ld _cudapy_smem_1;"
    >>> digest(memory.format(8)) == digest(memory.format(16))
    False
    """
    numbers: dict[str, int] = {}
    code = DECLARED.sub("", assembly)
    code = NAME.sub(lambda found: f"name{numbers.setdefault(found.group(), len(numbers))}", code)
    shapes = re.findall(r"^\.visible \.shared (.*?)(\w+)\[(\d+)\];", assembly, re.MULTILINE)
    used = sorted((numbers.get(name, -1), kind, size) for kind, name, size in shapes)
    return hashlib.sha256(f"{' '.join(code.split())} {used}".encode()).hexdigest()[:16]


def digests(names: Iterable[str]) -> dict[str, str]:
    """Compile the kernels of these cases, or of all, with the fairx that is imported."""
    import gpu
    import numpy as np

    from fairx.compiled.gpu.assembly import assembly
    from fairx.simulation.fleets import fleet_of
    from fairx.simulation.measures import measures_of
    from fairx.simulation.one_run import OneRun

    cases, found, marks = gpu.cases(), {}, np.array([10, 20])
    for name in sorted(set(names) or cases):
        runs = [OneRun((*cases[name], measures_of({})), 0, marks, 1, run) for run in range(2)]
        found[name] = digest(assembly(fleet_of(runs)))
        print(name, found[name], file=sys.stderr, flush=True)
    return found


def of_checkout(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Compile with the sources of a checkout, in a process of its own."""
    paths = os.pathsep.join([str(folder / "src"), str(folder / "benchmarks")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, str(HERE), "--digests", *names]
    said = subprocess.run(
        command, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(said.stdout))


def _differs(name: str, folder: Path) -> bool:
    """Tell whether it is other code also where nothing was compiled before it, which changes where vectors are loaded."""
    return of_checkout(folder, [name]) != of_checkout(HERE.parents[1], [name])


def main(arguments: list[str]) -> None:
    """Compare what the command line names."""
    if arguments[0] == "--digests":
        print(json.dumps(digests(arguments[1:])))
        return
    folder = Path(arguments[0]).resolve()
    other = of_checkout(folder, arguments[1:])
    this = of_checkout(HERE.parents[1], arguments[1:])
    both = sorted(this.keys() & other.keys())
    others = [name for name in both if this[name] != other[name] and _differs(name, folder)]
    print(f"{len(both) - len(others)} of {len(both)} kernels are the same code; others:", *others)
    print("in one checkout alone:", *sorted(this.keys() ^ other.keys()))


if __name__ == "__main__":
    main(sys.argv[1:])
