"""Kernels: what stays of a tree when a move is played, when memory runs out, when values shift."""

from __future__ import annotations

import numpy as np

from tengen.game.kernels.board import AGREED
from tengen.game.kernels.moves import GOING_ON, play
from tengen.jit import kernel
from tengen.search.kernels.backup import gather
from tengen.search.kernels.forest import (
    EXPANDED,
    FRESH,
    NO_RESULT,
    NONE,
    SCORE,
    SCORE_SQUARE,
    UTILITY,
    VALUE,
    bias_by_key,
    clear_bias_table,
    clear_table,
    copy_values,
    enter_in_table,
    keeps_all_human,
    nth_edge,
    packed_point,
    reset_tree,
)
from tengen.search.kernels.utility import score_centre, utility_of


@kernel
def advance(forest, g, point, forward, queue):
    """Play a legal move on the board of tree g and keep the subtree that it leads to.

    None is kept where players agree on the dead after two passes: in the tree a phase began.
    """
    tree, board = forest.trees[g], forest.boards[g]
    copy_values(forest.caught_before[g, 1], forest.caught_before[g, 0])
    copy_values(forest.caught_before[g, 0], forest.caught[tree.root])
    child = child_at(forest, tree.root, point)
    board.end = GOING_ON  # a move after two passes resumes the game
    play(board, forest.histories[g], point)
    tree.prepared = 0
    agreed = board.territory == AGREED and board.end != GOING_ON
    if child == NONE or forest.nodes[child].visits == 0 or agreed:
        reset_tree(forest, g)
    else:
        tree.root = child
        compact(forest, g, 0, forward, queue)


@kernel
def child_at(forest, index, point):
    """The child of a node by a move, or NONE if it was not tried."""
    node = forest.nodes[index]
    for k in range(node.n_tried):
        edge = forest.edges[nth_edge(forest, node, k)]
        if packed_point(edge.packed) == point:
            return np.int64(edge.child)
    return np.int64(NONE)


@kernel
def compact(forest, g, least, forward, queue):
    """Drop what tree g's root does not lead to; give up subtrees of fewer than `least` visits.

    A node whose subtree is given up keeps its visits as its own, so that nothing counted is lost.
    forward and queue [node_room] are working memory. No descent may be under way.
    """
    tree = forest.trees[g]
    base = g * forest.node_room
    for i in range(tree.n_nodes):
        forward[i] = NONE
    queue[0] = tree.root
    forward[tree.root - base] = 1
    n, done = 1, 0
    while done < n:
        index = queue[done]
        done += 1
        node = forest.nodes[index]
        if node.visits < least and node.status == EXPANDED and index != tree.root:
            _give_up_subtree(node)
            _free_bias(forest, node, tree.bias_freed)
        for k in range(node.n_tried):
            child = forest.edges[nth_edge(forest, node, k)].child
            if forward[child - base] == NONE:
                forward[child - base] = 1
                queue[n] = child
                n += 1
    kept = 0
    for i in range(tree.n_nodes):
        if forward[i] != NONE:
            forward[i] = base + kept
            kept += 1
    clear_table(forest, g)
    _slide_edges(forest, g, forward, queue)
    _slide_candidates(forest, g, forward, queue)
    _slide_biases(forest, g, forward, queue)
    _slide_nodes(forest, g, forward)
    tree.root = forward[tree.root - base]
    tree.full = 0
    fill_table(forest, g)


@kernel
def _give_up_subtree(node):
    """Make an expanded node a leaf that has been visited."""
    for k in range(UTILITY + 1):
        node.own[k] = node.means[k]
    node.own_weight = node.weight / np.float32(node.visits)
    node.own_visits = node.visits
    node.block = NONE
    node.n_tried = 0
    node.tried_prior = np.float32(0)
    node.child_weight = np.float32(0)
    node.status = FRESH


@kernel
def _free_bias(forest, node, share):
    """Remove this share of a dropped node's contribution from its entry of the bias table."""
    if node.bias != NONE:
        bias = forest.biases[node.bias]
        bias.error -= share * node.bias_sum
        bias.weight -= share * node.bias_weight
        node.bias = NONE
        node.bias_sum = np.float32(0)
        node.bias_weight = np.float32(0)


@kernel
def _slide_biases(forest, g, forward, moved):
    """Keep the entries of the bias table that kept nodes use; moved [biases] tells where."""
    if forest.biases.shape[0] == 0:
        return
    tree, base = forest.trees[g], g * forest.node_room
    used = tree.n_biases
    for i in range(used):
        moved[i] = NONE
    for i in range(tree.n_nodes):
        node = forest.nodes[base + i]
        if forward[i] == NONE:
            _free_bias(forest, node, tree.bias_freed)
        elif node.bias != NONE:
            moved[node.bias - base] = 1
    clear_bias_table(forest, g)
    for i in range(used):
        if moved[i] != NONE:
            source = forest.biases[base + i]
            total, weight = source.error, source.weight
            kept = bias_by_key(forest, g, source.key)
            forest.biases[kept].error = total
            forest.biases[kept].weight = weight
            moved[i] = kept
    for i in range(tree.n_nodes):
        node = forest.nodes[base + i]
        if forward[i] != NONE and node.bias != NONE:
            node.bias = moved[node.bias - base]


@kernel
def _slide_candidates(forest, g, forward, moved):
    """Move the kept blocks to the front. Each block has its node before it.

    moved [edges] tells where the edges of the kept blocks are now.
    """
    tree, base, first = forest.trees[g], g * forest.node_room, g * forest.candidate_room
    candidates = forest.candidates
    source, target = first, first
    while source < first + tree.n_candidates:
        index = np.int64(candidates[source])
        node = forest.nodes[index]
        length = node.n_candidates + node.n_dropped + 1
        if forward[index - base] != NONE and node.block == source + 1:
            candidates[target] = forward[index - base]
            for i in range(1, node.n_tried + 1):
                candidates[target + i] = moved[candidates[source + i] - base]
            for i in range(node.n_tried + 1, length):
                candidates[target + i] = candidates[source + i]
            node.block = target + 1
            target += length
        source += length
    tree.n_candidates = target - first


@kernel
def _slide_edges(forest, g, forward, moved):
    """Move the edges that lead out of kept nodes to the front; moved [edges] tells where."""
    tree, base = forest.trees[g], g * forest.node_room
    kept = 0
    for i in range(base, base + tree.n_edges):
        edge = forest.edges[i]
        if forward[edge.parent - base] == NONE or forest.nodes[edge.parent].n_tried == 0:
            continue
        target = forest.edges[base + kept]
        target.child = forward[edge.child - base]
        target.parent = forward[edge.parent - base]
        target.visits = edge.visits
        target.packed = edge.packed
        moved[i - base] = base + kept
        kept += 1
    tree.n_edges = kept


@kernel
def _slide_nodes(forest, g, forward):
    """Move the kept nodes to the front, in their order."""
    tree, base = forest.trees[g], g * forest.node_room
    kept = 0
    for i in range(tree.n_nodes):
        if forward[i] == NONE:
            continue
        source, target = base + i, base + kept
        kept += 1
        if source != target:
            forest.nodes[target] = forest.nodes[source]
            copy_values(forest.caught[target], forest.caught[source])
            if forest.ownership.shape[0]:
                copy_values(forest.ownership[target], forest.ownership[source])
            if keeps_all_human(forest):
                copy_values(forest.human[target], forest.human[source])
    tree.n_nodes = kept


@kernel
def fill_table(forest, g):
    """Let all expanded nodes of a tree be found by their keys, in a table that is clear."""
    tree = forest.trees[g]
    base = g * forest.node_room
    for i in range(base, base + tree.n_nodes):
        if forest.nodes[i].status == EXPANDED:
            enter_in_table(forest, g, i)


@kernel
def recenter_utility(forest, g, settings):
    """Let points count most around what the root expects now, in every node of the tree."""
    tree, board = forest.trees[g], forest.boards[g]
    root = forest.nodes[tree.root]
    root_area = np.float32(np.sqrt(np.float32(board.width * board.height)))
    tree.centre = score_centre(settings, root.means[SCORE], root_area)
    base = g * forest.node_room
    # Children were made after their parents, so going backwards all children come first.
    for i in range(base + tree.n_nodes - 1, base - 1, -1):
        node = forest.nodes[i]
        if node.visits:
            node.own[UTILITY] = utility_of(
                settings,
                node.own[VALUE],
                node.own[NO_RESULT],
                node.own[SCORE],
                node.own[SCORE_SQUARE],
                tree.centre,
                root_area,
            )
            gather(forest, i, settings)


@kernel
def children_by_visits(forest, g, counts):
    """Count the children in a tree by the binary logarithm of their parents' visits."""
    counts[:] = 0
    base = g * forest.node_room
    for i in range(base, base + forest.trees[g].n_edges):
        visits, bits = forest.nodes[forest.edges[i].parent].visits, 0
        while visits > 1:
            visits >>= 1
            bits += 1
        counts[bits] += 1
