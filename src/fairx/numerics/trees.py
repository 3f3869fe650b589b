"""Sums over many arms, of which few change at a time: a tree, in a fixed order of additions.

Eight siblings are a group, with their numbers of one kind side by side: a line of the cache. Group 0 is
at the top, below sibling k of group g is group 8 g + 1 + k, and the arms are the siblings of the lowest
groups. What is above a group is always made anew from it and never corrected, so nothing drifts, and
the numbers depend on the leaves alone, not on the order in which they changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.compiled import fetching, kernel
from fairx.types import Vector

WIDTH, SHIFT, LAST = 8, 3, 7  # siblings; 2**3 of them; the last one


class Tree(NamedTuple):
    """Groups of siblings, and what all arms are together."""

    groups: npt.NDArray[np.float64]  # by group, column and sibling
    top: Vector  # by column
    lowest: int  # the first group of arms


def new_tree(arms: int, sums: int) -> Tree:
    """Return a tree without weight: columns of sums, then one of minima and one of maxima.

    Examples
    --------
    >>> tree = new_tree(arms=20, sums=1)
    >>> tree.groups.shape, tree.lowest
    ((4, 3, 8), 1)
    """
    lowest, below = 0, WIDTH  # groups above those of the arms, and siblings on the lowest level
    while below < arms:
        lowest, below = WIDTH * lowest + 1, WIDTH * below
    groups = np.zeros((lowest + -(-arms // WIDTH), sums + 2, WIDTH))
    groups[:, sums], groups[:, sums + 1] = np.inf, -np.inf
    return Tree(groups, np.array([0.0] * sums + [np.inf, -np.inf]), lowest)


@fetching
def ask_for(array: npt.NDArray[Any], index: int) -> None:
    """Ask memory for the item at `index`, all axes counted as one: it changes nothing but the time."""


@kernel
def ask_for_leaf(tree: Tree, arm: int) -> None:
    """Ask memory for all numbers of an arm, and of its siblings."""
    columns = tree.groups.shape[1]
    first = (tree.lowest + (arm >> SHIFT)) * columns
    for column in range(columns):
        ask_for(tree.groups, (first + column) * WIDTH)


@kernel
def put(tree: Tree, arm: int, column: int, value: float) -> None:
    """Write one number of an arm."""
    tree.groups[tree.lowest + (arm >> SHIFT), column, arm & LAST] = value


@kernel
def at(tree: Tree, arm: int, column: int) -> float:
    """Return one number of an arm."""
    return tree.groups[tree.lowest + (arm >> SHIFT), column, arm & LAST]  # type: ignore[no-any-return]


@kernel
def total(row: Vector) -> float:
    """Return the sum over eight siblings."""
    return ((row[0] + row[1]) + (row[2] + row[3])) + ((row[4] + row[5]) + (row[6] + row[7]))  # type: ignore[no-any-return]


@kernel
def least(row: Vector) -> float:
    """Return the least number of eight siblings."""
    found = row[0]
    for k in range(1, WIDTH):
        found = min(found, row[k])
    return found  # type: ignore[no-any-return]


@kernel
def most(row: Vector) -> float:
    """Return the largest number of eight siblings."""
    found = row[0]
    for k in range(1, WIDTH):
        found = max(found, row[k])
    return found  # type: ignore[no-any-return]


@kernel
def join(tree: Tree, group: int) -> None:
    """Make what is above a group."""
    below, sums = tree.groups[group], tree.groups.shape[1] - 2
    if group == 0:
        for column in range(sums):
            tree.top[column] = total(below[column])
        tree.top[sums], tree.top[sums + 1] = least(below[sums]), most(below[sums + 1])
    else:
        above, k = tree.groups[(group - 1) >> SHIFT], (group - 1) & LAST
        for column in range(sums):
            above[column, k] = total(below[column])
        above[sums, k], above[sums + 1, k] = least(below[sums]), most(below[sums + 1])


@kernel
def lift(tree: Tree, arm: int) -> None:
    """Make all that is above an arm anew.

    Examples
    --------
    >>> tree = new_tree(arms=3, sums=1)
    >>> for arm in range(3):
    ...     tree.groups[0, :, arm] = arm, arm, arm
    ...     lift(tree, arm)
    >>> tree.top.tolist()
    [3.0, 0.0, 2.0]
    """
    group = tree.lowest + (arm >> SHIFT)
    while group > 0:
        join(tree, group)
        group = (group - 1) >> SHIFT
    join(tree, 0)


@kernel
def lift_all(tree: Tree) -> None:
    """Make all that is above arms anew."""
    for group in range(tree.groups.shape[0] - 1, -1, -1):
        join(tree, group)


@kernel
def first_with(tree: Tree, column: int) -> int:
    """Return the first arm that has the minimum, or the maximum, of all in a column."""
    group, wanted = 0, tree.top[column]
    while True:
        k = 0
        while k < LAST and tree.groups[group, column, k] != wanted:
            k += 1
        if group >= tree.lowest:
            return WIDTH * (group - tree.lowest) + k
        group = WIDTH * group + 1 + k


@kernel
def drawn(tree: Tree, arms: int, scale: float, each: float, uniform: float) -> int:
    """Return the arm that a uniform number falls on, with chance scale * its first sum + each.

    Examples
    --------
    >>> tree = new_tree(arms=3, sums=1)
    >>> tree.groups[0, 0, :3] = 0.5, 0.0, 0.5
    >>> lift_all(tree)
    >>> [drawn(tree, 3, 1.0, 0.0, u) for u in (0.0, 0.49, 0.5, 0.99)]
    [0, 0, 2, 2]
    """
    group, first, size, rest = 0, 0, LAST * tree.lowest + 1, uniform  # size: arms below a sibling
    while True:
        k = 0
        while k < LAST and first + size < arms:  # there may be nothing behind the last
            mass = scale * tree.groups[group, 0, k] + each * size
            if rest < mass:
                break
            rest -= mass
            first += size
            k += 1
        if group >= tree.lowest:
            return last_with_a_chance(tree, min(first, arms - 1), scale, each)
        group, size = WIDTH * group + 1 + k, size >> SHIFT


@kernel
def last_with_a_chance(tree: Tree, arm: int, scale: float, each: float) -> int:
    """Return this arm, or, where rounding led past the last that has a chance, that one."""
    while arm > 0 and scale * at(tree, arm, 0) + each == 0.0:
        arm -= 1
    return arm
