"""How many lanes play a run, written into the code of its kernel when that is compiled.

Functions are compiled once, for all kernels of a process, and ask the GPU for the number of their lane and of all
lanes. A kernel says in its name how many it has; the numbers then stand in its code, so that a loop over arms by
one lane is a plain loop, and one by 32 knows its steps.
"""

from __future__ import annotations

import re
from typing import Any

from .rounding import rounded

NAME = re.compile(r"kernel_of_(\d+)_lanes")
LANE = re.compile(r'call i32 @"?llvm\.nvvm\.read\.ptx\.sreg\.tid\.x"?\(\)')
COUNT = re.compile(r'call i32 @"?llvm\.nvvm\.read\.ptx\.sreg\.ntid\.x"?\(\)')
MEETING = re.compile(r'^.*call void @"?llvm\.nvvm\.bar\.warp\.sync"?\(.*$', re.MULTILINE)


def name_of(lanes: int) -> str:
    """Return the name of a kernel with this many lanes for each run."""
    return f"kernel_of_{lanes}_lanes"


def specialised(code: list[str]) -> list[str]:
    """Return the parts of a kernel's intermediate code with its lanes written out, if it is one of ours.

    Examples
    --------
    >>> read = '%1 = call i32 @"llvm.nvvm.read.ptx.sreg.ntid.x"()'
    >>> specialised(["define void @kernel_of_4_lanes()", read])[1]
    '%1 = add i32 4, 0'
    >>> specialised([read]) == [read]
    True
    """
    named = [found for found in map(NAME.search, code) if found]
    return [_written(part, int(named[0][1])) for part in code] if named else code


def _written(part: str, lanes: int) -> str:
    part = COUNT.sub(f"add i32 {lanes}, 0", part)
    if lanes > 1:
        return part
    return MEETING.sub("", LANE.sub("add i32 0, 0", part))  # one lane has nobody to meet


def install(nvvm: Any) -> None:
    """Have the compiler of intermediate code do so."""
    compile_ir = nvvm.compile_ir

    def compile_specialised(code: Any, **options: Any) -> Any:
        parts, exact = rounded([code] if isinstance(code, str) else list(code))
        return compile_ir(specialised(parts), **(options | exact))

    nvvm.compile_ir = compile_specialised
