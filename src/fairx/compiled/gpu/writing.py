"""Writes the kernel of a loop: each thread, or warp, builds the records of its run and plays it.

Arrays lie where `memory` says. Shapes are written out, so that loops over arms are of a known length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .lanes import name_of
from .leaves import Leaf
from .memory import LOCAL, SHARED, Paths, of_threads, of_warps, room_for

LANES = 32  # of a warp
THREAD = """\
    run = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if run >= runs:
        return
"""
WARP = """\
    run = cuda.blockIdx.x
"""


class Written(NamedTuple):
    """The source of a kernel, and what it takes."""

    source: str
    names: dict[str, Any]  # classes and functions that it reads
    leaves: tuple[Leaf, ...]  # its arguments behind runs, start and stop


class Kernel:
    """A kernel in the making."""

    def __init__(
        self, warps: bool, lanes: int, scratch: Paths, near: dict[tuple[str, ...], str]
    ) -> None:
        self.warps, self.lanes, self.scratch, self.near = warps, lanes, scratch, near
        self.before: list[str] = []
        self.after: list[str] = []
        self.names: dict[str, Any] = {}
        self.sent: list[Leaf] = []
        self.known: dict[int, str] = {}  # arrays that are in the records twice

    def written(self, records: Any, found: Sequence[Leaf]) -> Written:
        """Return the source that plays `records`, whose leaves are these."""
        by_path = {leaf.path: leaf for leaf in found}
        parts = [self.value(part, (str(i),), by_path) for i, part in enumerate(records)]
        arguments = "".join(f", leaf{i}" for i in range(len(self.sent)))
        lines = [
            f"def {name_of(self.lanes)}(runs, start, stop{arguments}):",
            (WARP if self.warps else THREAD).rstrip(),
            *(f"    {line}" for line in self.before),
            "    fill_tables()" if self.lanes == 1 else "",
            "    meet()" if self.warps else "",
            f"    loop({', '.join(parts)}, start, stop)",
            "    meet()" if self.warps else "",
            *(f"    {line}" for line in self.after),
            "",
        ]
        return Written("\n".join(line for line in lines if line), self.names, tuple(self.sent))

    def value(self, part: Any, path: tuple[str, ...], found: dict[tuple[str, ...], Leaf]) -> str:
        """Return the expression of a record, a tuple or a leaf."""
        if not isinstance(part, tuple):
            return self.leaf(found[path])
        names = getattr(part, "_fields", [str(i) for i in range(len(part))])
        inner = [
            self.value(one, (*path, name), found) for name, one in zip(names, part, strict=True)
        ]
        if hasattr(part, "_fields"):
            return f"{self.named(type(part))}({', '.join(inner)})"
        return f"({''.join(f'{one}, ' for one in inner)})"

    def named(self, thing: Any) -> str:
        """Return a name for a class or a function."""
        for name, known in self.names.items():
            if known is thing:
                return name
        name = f"name{len(self.names)}"
        self.names[name] = thing
        return name

    def leaf(self, leaf: Leaf) -> str:
        """Return the expression of a number or an array."""
        if leaf.first is None:
            return "None"
        if leaf.is_code:
            return self.named(leaf.first)
        if not leaf.is_array:
            name = self.argument(leaf)
            return f"{name}[run]" if leaf.is_own else name
        if id(leaf.first) not in self.known:
            self.known[id(leaf.first)] = self.array(leaf)
        return self.known[id(leaf.first)]

    def argument(self, leaf: Leaf) -> str:
        """Return the name of an argument of the kernel."""
        self.sent.append(leaf)
        return f"leaf{len(self.sent) - 1}"

    def array(self, leaf: Leaf) -> str:
        """Return the name of an array, which is copied to fast memory and back if it fits there."""
        shape, kind = leaf.first.shape, leaf.first.dtype.name
        if leaf.first.size == 0:  # there are no arrays of nothing
            room = room_for(
                tuple(max(size, 1) for size in shape), kind, SHARED if self.warps else LOCAL
            )
            return self.assigned(f"{room}[{', '.join(f':{size}' for size in shape)}]")
        if leaf.path not in self.near:
            name = self.argument(leaf)
            if leaf.is_own:
                return self.assigned(f"{name}[{self.place(len(shape), ':')}]")
            # Examples, along the first axis of several, are more in other parts of the data.
            first = f"len({name})" if len(shape) > 1 else str(shape[0])
            sizes = "".join(f"{size}, " for size in (first, *shape[1:]))
            return self.assigned(f"shaped({name}, ({sizes}))")
        array = self.assigned(room_for(shape, kind, self.near[leaf.path]))
        if leaf.path not in self.scratch:
            self.copied(leaf, array)
        return array

    def copied(self, leaf: Leaf, array: str) -> None:
        """Copy an array to fast memory, and back if it is the run's own."""
        name, shape = self.argument(leaf), leaf.first.shape
        index = ", ".join(f"i{axis}" for axis in range(len(shape)))
        far = f"{name}[{self.place(len(shape), None) if leaf.is_own else index}]"
        self.before += self.loops(shape, f"{array}[{index}] = {far}")
        if leaf.is_own:
            self.after += self.loops(shape, f"{far} = {array}[{index}]")

    def assigned(self, expression: str) -> str:
        """Return a name for an expression."""
        name = f"array{len(self.before)}"
        self.before.append(f"{name} = {expression}")
        return name

    def place(self, axes: int, whole: str | None) -> str:
        """Return the index of an element, or of the whole array, of this run."""
        index = [whole or f"i{axis}" for axis in range(axes)]
        return ", ".join(["run", *index] if self.warps else [*index, "run"])

    def loops(self, shape: tuple[int, ...], line: str) -> list[str]:
        """Return loops over all elements, which lanes share."""
        lines = []
        for axis, size in enumerate(shape):
            turns = "turns" if axis == 0 and self.warps else "range"
            lines.append(f"{'    ' * axis}for i{axis} in {turns}({size}):")
        return [*lines, f"{'    ' * len(shape)}{line}"]


def write(
    records: Any, found: Sequence[Leaf], scratch: Paths, far: Paths, busy: Paths, *,
    warps: bool, lanes: int,
) -> Written:  # fmt: skip
    """Return the kernel that plays records like these, with a warp or a thread for each run."""
    near = of_warps(found, far) if warps else of_threads(found, far, busy)
    return Kernel(warps, lanes, scratch, near).written(records, found)
