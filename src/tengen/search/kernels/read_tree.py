"""Kernels: read trees."""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.kernel_records import record_type
from tengen.search.kernels.backup import edge_weight
from tengen.search.kernels.forest import NONE, nth_edge, packed_point, packed_prior
from tengen.search.kernels.root import lower_bound
from tengen.search.kernels.root_endings import ending_value

# A move that was tried at a node, as Python reads it: record by record would be slow.
TRIED = record_type(
    f"{__name__}.TRIED",
    [
        ("child", "i4"),
        ("point", "i4"),
        ("prior", "f4"),
        ("packed", "i8"),  # of the edge
        ("visits", "i4"),
        ("weight", "f4"),  # that came by it
        ("bound", "f4"),  # the lower one, of its utility
        ("following", "i4"),  # moves of the line expected after it
    ],
)
LEAST_SHARE = 1e-3  # of a tree's weight: smaller branches count by their top node alone
STACK = 2048


@kernel
def read_tried(forest, index, sign, settings, tried, points, visits, edge_visits):
    """Fill tried [n_tried] with the moves tried at a node, whose values count for `sign`, and
    points, visits and edge_visits [n_tried, length] with the lines expected after them.
    """
    node, g = forest.nodes[index], index // forest.node_room
    for k in range(tried.shape[0]):
        edge, move = forest.edges[nth_edge(forest, node, k)], tried[k]
        child = forest.nodes[edge.child]
        move.child = edge.child
        move.point = packed_point(edge.packed)
        move.prior = packed_prior(edge.packed)
        move.packed = edge.packed
        move.visits = edge.visits
        move.weight = edge_weight(edge, child)
        move.bound = lower_bound(child, sign, settings)
        if index == forest.trees[g].root:
            move.bound += ending_value(forest, g, edge, sign, settings)
        move.following = principal_line(
            forest, np.int64(edge.child), points[k], visits[k], edge_visits[k]
        )


@kernel
def principal_line(forest, index, points, visits, edge_visits):
    """Follow the most visited moves from a node; returns how many.

    Fills for each its point, the visits of the position that it leads to, and those that came by
    this edge, which are fewer where several moves lead to one position.
    """
    n = 0
    while n < points.shape[0]:
        best, most = NONE, 0
        node = forest.nodes[index]
        for k in range(node.n_tried):
            at = nth_edge(forest, node, k)
            if forest.edges[at].visits > most:
                best, most = at, forest.edges[at].visits
        if best == NONE:
            break
        points[n] = packed_point(forest.edges[best].packed)
        index = forest.edges[best].child
        visits[n] = forest.nodes[index].visits
        edge_visits[n] = most
        n += 1
    return n


@kernel
def average_ownership(forest, index, mean, square, todo, shares):
    """Fill mean and square [area] with ownership averaged over the tree below a node.

    todo and shares [STACK] are working memory.
    """
    mean[:] = 0
    square[:] = 0
    if forest.nodes[index].visits == 0:
        return
    todo[0], shares[0] = index, np.float32(1)
    n = 1
    while n > 0:
        n -= 1
        at_node, share = todo[n], shares[n]
        node = forest.nodes[at_node]
        own = share  # less what its children get
        below = node.weight - node.own_weight * np.float32(node.own_visits)
        per_weight = share * below / (node.weight * max(node.child_weight, np.float32(1e-30)))
        for k in range(node.n_tried):
            edge = forest.edges[nth_edge(forest, node, k)]
            part = per_weight * edge_weight(edge, forest.nodes[edge.child])
            if part >= LEAST_SHARE and n < STACK:
                own -= part
                todo[n], shares[n] = edge.child, part
                n += 1
        for k in range(mean.shape[0]):
            owner = np.float32(forest.ownership[at_node, k]) / np.float32(127)
            mean[k] += own * owner
            square[k] += own * owner * owner
