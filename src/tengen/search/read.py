"""Kernels: read trees."""

from __future__ import annotations

import numpy as np

from tengen.jit import kernel
from tengen.search.backup import link_weight
from tengen.search.forest import NONE, edge_point, nth_link

LEAST_SHARE = 1e-3  # of a tree's weight: smaller branches speak with one voice
STACK = 2048


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
