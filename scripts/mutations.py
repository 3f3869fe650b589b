"""What can be changed in a source at one point: the mutants that `scripts/mutate` draws from."""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

OTHER = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,), ast.BitOr: (ast.BitAnd,), ast.BitAnd: (ast.BitOr,),
    ast.RShift: (ast.LShift,), ast.LShift: (ast.RShift,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
WORDS = {"min": "max", "minimum": "maximum", "any": "all", "floor": "ceil", "argmin": "argmax"}
WORDS |= {there: here for here, there in WORDS.items()}
SQL = {" < ": " <= ", " > ": " >= ", " = ": " <> ", " + ": " - ", " - ": " + ", " AND ": " OR "}
SQL |= {"min(": "max(", "max(": "min(", " JOIN ": " LEFT JOIN ", "count(": "sum(", " DESC": ""}


class Mutant(NamedTuple):
    """A piece of a file, from one offset in bytes to another, and what to write there."""

    path: str
    line: int
    start: int
    stop: int
    text: str


def changed(node: Any, **parts: Any) -> Any:
    """Return a copy of a node with other parts."""
    new = copy.copy(node)
    for name, part in parts.items():
        setattr(new, name, part)
    return new


def conditions(test: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a condition negated, and forced to either side."""
    for text in (f"not ({ast.unparse(test)})", "True", "False"):
        yield test, text


def numbers(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield other constants: one more, one less, twice or none; the other truth."""
    value = node.value
    if isinstance(value, bool):
        yield node, ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield from ((node, ast.Constant(new)) for new in (value + 1, value - 1))
        if isinstance(value, float) and value:
            yield from ((node, ast.Constant(new)) for new in (2 * value, 0.0))


def calls(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a call of the opposite function, and with its first two arguments swapped."""
    name = getattr(node.func, "id", getattr(node.func, "attr", None))
    if name in WORDS:
        part = "id" if isinstance(node.func, ast.Name) else "attr"
        yield node.func, changed(node.func, **{part: WORDS[name]})
    elif len(node.args) > 1 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
        first, second, *rest = node.args
        yield node, changed(node, args=[second, first, *rest])


def slices(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield slices that start or end one later, or have no end."""
    for name in ("lower", "upper"):
        if (end := getattr(node, name)) is not None:
            later = ast.BinOp(end, ast.Add(), ast.Constant(1))
            yield node, changed(node, **{name: later})
            yield node, changed(node, **{name: None})


def statements(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield nothing in point of a statement that matters by what it does; another return."""
    match node:
        case ast.AugAssign() | ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"
        case ast.Break() | ast.Continue():
            yield node, "continue" if isinstance(node, ast.Break) else "break"
        case ast.Return(value=value) if value and not isinstance(value, ast.Constant):
            yield node, "return None"


def texts(node: Any, source: bytes, point: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a query with one of its words changed."""
    start, stop = point(node)
    piece = source[start:stop].decode()
    for word, other in SQL.items() if "SELECT" in piece else ():
        for found in re.finditer(re.escape(word), piece):
            yield node, piece[: found.start()] + other + piece[found.end() :]


def mutations(node: Any, source: bytes, point: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what may be put in point of a node or of a part of it."""
    match node:
        case ast.Compare(ops=[operator]):
            yield from ((node, changed(node, ops=[new()])) for new in OTHER[type(operator)])
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) | ast.AugAssign(op=operator):
            yield from ((node, changed(node, op=new())) for new in OTHER.get(type(operator), ()))
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node, node.operand
        case ast.Constant(value=bool() | int() | float()):
            yield from numbers(node)
        case ast.Constant(value=str()) | ast.JoinedStr():
            yield from texts(node, source, point)
        case ast.Call():
            yield from calls(node)
        case ast.Slice():
            yield from slices(node)
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield from conditions(node.test)
    if isinstance(node, ast.comprehension):
        yield from (pair for test in node.ifs for pair in conditions(test))
    yield from statements(node)


def nodes(tree: Any) -> Iterator[Any]:
    """Yield all nodes that do something: no docstrings, annotations and decorators."""
    yield tree
    if isinstance(tree, ast.JoinedStr):
        return
    skipped = {id(part) for name in ("decorator_list", "bases") for part in getattr(tree, name, ())}
    skipped |= {id(getattr(tree, name, None)) for name in ("annotation", "returns")}
    for child in ast.iter_child_nodes(tree):
        words = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        if id(child) not in skipped and not words:
            yield from nodes(child)


def mutants(tree: Path, path: Path) -> Iterator[list[Mutant]]:
    """Yield, for each point of a file, the changes that can be made there."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def point(node: Any) -> tuple[int, int]:
        start = starts[node.lineno - 1] + node.col_offset
        return start, starts[node.end_lineno - 1] + node.end_col_offset

    for node in nodes(ast.parse(source)):
        found = []
        for old, new in mutations(node, source, point):
            text = new if isinstance(new, str) else ast.unparse(new)
            bare = isinstance(new, (str, ast.stmt, ast.Slice, ast.Constant))
            found.append(
                Mutant(
                    str(path.relative_to(tree)),
                    old.lineno,
                    *point(old),
                    text if bare else f"({text})",
                )
            )
        if found:
            yield found


def sample(tree: Path, paths: list[Path], count: int, seed: int) -> list[Mutant]:
    """Return mutants of points drawn at random, at most one for each point."""
    files = sorted(
        {file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))}
    )
    rng = random.Random(seed)
    points = [point for file in files for point in mutants(tree, file)]
    return [rng.choice(point) for point in rng.sample(points, min(count, len(points)))]


def difference(tree: Path, mutant: Mutant) -> str:
    """Return the change in one line."""
    source = (tree / mutant.path).read_bytes()
    old = source[mutant.start : mutant.stop].decode()
    new = mutant.text
    if len(old) > 60:  # a query or a long statement: what is around the change tells enough
        pairs = enumerate(zip(old, new, strict=False))
        same = next((i for i, (one, other) in pairs if one != other), 0)
        old, new = (f"...{text[max(0, same - 20) : same + 40]}..." for text in (old, new))
    return " ".join(f"{old}  ->  {new}".split())
