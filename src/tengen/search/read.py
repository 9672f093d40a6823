"""Kernels: read trees."""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.search.backup import link_weight
from tengen.search.forest import NONE, edge_point, edge_prior, nth_link
from tengen.search.root import lower_bound

# A move that was tried at a node, as Python reads it: record by record would be slow.
TRIED = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("child", "i4"),
                ("point", "i4"),
                ("prior", "f4"),
                ("edge", "i8"),  # of the link
                ("visits", "i4"),
                ("weight", "f4"),  # that came by it
                ("bound", "f4"),  # the lower one, of its utility
                ("following", "i4"),  # moves of the line expected after it
            ],
            align=True,
        ),
    )
)
LEAST_SHARE = 1e-3  # of a tree's weight: smaller branches speak with one voice
STACK = 2048


@kernel
def read_tried(forest, index, sign, settings, tried, points, visits, edge_visits):
    """Fill tried [n_tried] with the moves tried at a node, whose values count for `sign`, and
    points, visits and edge_visits [n_tried, length] with the lines expected after them.
    """
    node = forest.nodes[index]
    for k in range(tried.shape[0]):
        link, move = forest.links[nth_link(forest, node, k)], tried[k]
        child = forest.nodes[link.child]
        move.child = link.child
        move.point = edge_point(link.edge)
        move.prior = edge_prior(link.edge)
        move.edge = link.edge
        move.visits = link.visits
        move.weight = link_weight(link, child)
        move.bound = lower_bound(child, sign, settings)
        move.following = principal_line(
            forest, np.int64(link.child), points[k], visits[k], edge_visits[k]
        )


@kernel
def principal_line(forest, index, points, visits, edge_visits):
    """Fill the most visited moves from a node on, the visits of the positions that they lead to,
    and those that came by the moves; returns how many.
    """
    n = 0
    while n < points.shape[0]:
        best, most = NONE, 0
        node = forest.nodes[index]
        for k in range(node.n_tried):
            at = nth_link(forest, node, k)
            if forest.links[at].visits > most:
                best, most = at, forest.links[at].visits
        if best == NONE:
            break
        points[n] = edge_point(forest.links[best].edge)
        index = forest.links[best].child
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
        own = share  # what no child of its own speaks for
        for k in range(node.n_tried):
            link = forest.links[nth_link(forest, node, k)]
            part = share * link_weight(link, forest.nodes[link.child]) / node.weight
            if part >= LEAST_SHARE and n < STACK:
                own -= part
                todo[n], shares[n] = link.child, part
                n += 1
        for k in range(mean.shape[0]):
            owner = np.float32(forest.ownership[at_node, k]) / np.float32(127)
            mean[k] += own * owner
            square[k] += own * owner * owner
