"""Sums over many arms, of which few change at a time: a binary tree, in a fixed order of additions.

Node 1 is the root, the children of node i are 2 i and 2 i + 1, and the arms are the last half. A node
is always made anew from its children and never corrected, so nothing drifts, and the numbers depend
on the leaves alone, not on the order in which they changed.
"""

from __future__ import annotations

import numpy as np

from fairx.compiled import kernel
from fairx.types import Matrix, Vector


def new_tree(arms: int, sums: int) -> Matrix:
    """Return a tree without weight: columns of sums, then one of minima and one of maxima.

    Examples
    --------
    >>> new_tree(arms=3, sums=1).shape
    (8, 3)
    """
    leaves = 1
    while leaves < arms:
        leaves *= 2
    tree = np.zeros((2 * leaves, sums + 2))
    tree[:, sums], tree[:, sums + 1] = np.inf, -np.inf
    return tree


@kernel
def join(tree: Matrix, node: int) -> None:
    """Make a node of its children."""
    sums, left, right = tree.shape[1] - 2, tree[2 * node], tree[2 * node + 1]
    for column in range(sums):
        tree[node, column] = left[column] + right[column]
    tree[node, sums] = min(left[sums], right[sums])
    tree[node, sums + 1] = max(left[sums + 1], right[sums + 1])


@kernel
def lift(tree: Matrix, arm: int) -> None:
    """Make all nodes above an arm anew.

    Examples
    --------
    >>> tree = new_tree(arms=3, sums=1)
    >>> for arm in range(3):
    ...     tree[4 + arm] = arm, arm, arm
    ...     lift(tree, arm)
    >>> tree[1].tolist()
    [3.0, 0.0, 2.0]
    """
    node = (tree.shape[0] // 2 + arm) // 2
    while node > 0:
        join(tree, node)
        node //= 2


@kernel
def lift_all(tree: Matrix) -> None:
    """Make all nodes anew."""
    for node in range(tree.shape[0] // 2 - 1, 0, -1):
        join(tree, node)


@kernel
def first_with(tree: Matrix, column: int) -> int:
    """Return the first arm that has the minimum, or the maximum, of all in a column."""
    node, leaves = 1, tree.shape[0] // 2
    while node < leaves:
        node = 2 * node + int(tree[2 * node, column] != tree[node, column])
    return int(node - leaves)


@kernel
def drawn(tree: Matrix, arms: int, scale: float, each: float, uniform: float) -> int:
    """Return the arm that a uniform number falls on, with chance scale * its first sum + each.

    Examples
    --------
    >>> tree = new_tree(arms=3, sums=1)
    >>> tree[4:7, 0] = 0.5, 0.0, 0.5
    >>> lift_all(tree)
    >>> [drawn(tree, 3, 1.0, 0.0, u) for u in (0.0, 0.49, 0.5, 0.99)]
    [0, 0, 2, 2]
    """
    node, first, size, rest = 1, 0, tree.shape[0] // 2, uniform
    while size > 1:
        size //= 2
        inside = min(max(arms - first, 0), size)
        mass = scale * tree[2 * node, 0] + each * inside
        right = int(rest >= mass)
        rest -= right * mass
        first += right * size
        node = 2 * node + right
    return last_with_a_chance(tree[tree.shape[0] // 2 :, 0], min(first, arms - 1), scale, each)


@kernel
def last_with_a_chance(weights: Vector, arm: int, scale: float, each: float) -> int:
    """Return this arm, or, where rounding led past the last that has a chance, that one."""
    while arm > 0 and scale * weights[arm] + each == 0.0:
        arm -= 1
    return arm
