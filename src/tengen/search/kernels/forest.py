"""The forest: pools of nodes for one deep tree or for thousands of small ones.

Every tree owns one slab of each pool. A *node* is a position with its statistics. An *edge* leads
from a node to a child that was tried. Moves not tried yet are *candidates*: one uint32 each, sorted
only as far as they were needed, so that a position costs four bytes a move. When a candidate is
tried, its place is taken by the index of its edge: a descent looks only at the children that exist,
and knows where all of them are at once.

All statistics are Black's. Kernels turn them for the side to play by a sign, and evaluations are
turned once, when they come in (``expand_leaves``).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import MAX_POINTS
from tengen.game.kernels.board import Boards, new_boards
from tengen.game.kernels.ladder_memory import memory_shape
from tengen.game.kernels.point_sets import words_for
from tengen.jit import kernel
from tengen.kernel_records import record_type

Records: TypeAlias = np.ndarray[tuple[int], np.dtype[np.void]]

NONE = -1  # as an index of a node, an edge, a block or a bias
NEXT_CANDIDATE = -2  # in the place of an edge: the best move not tried yet
MAX_DEPTH = 256  # nodes on a path
LADDERS_OF_TREE = 128  # that a tree remembers

FRESH, WAITING, EXPANDED, TERMINAL = 0, 1, 2, 3
# Moves that a tree avoids: passes early in a game, those that it is asked to, or useless ones and
# images of others at the root alone.
EARLY_PASSES, AS_ASKED, AT_ROOT = 1, 2, 3

# What is known of a position, Black's view; a node's own evaluation has the first six.
VALUE, NO_RESULT, SCORE, SCORE_SQUARE, LEAD, UTILITY, UTILITY_SQUARE = range(7)
OWN_STATISTICS = UTILITY + 1
STATISTICS = UTILITY_SQUARE + 1
# How far the network expects to be wrong: short-term errors of value and score, and how many turns
# the outcome stays open.
VALUE_ERROR, SCORE_ERROR, VARIANCE_TIME = range(3)
UNCERTAINTIES = VARIANCE_TIME + 1

# What a parent reads of its children is in the first of a node's two cache lines.
CACHE_LINE = 64
_NODE_FIELDS: list[tuple[str, str] | tuple[str, str, tuple[int]]] = [
    ("visits", "i4"),  # own visits and those that went on through edges
    ("own_visits", "i4"),  # 1; more at the end of a game and where a subtree was given up
    ("pending", "i4"),  # descents through here that wait for the network
    ("weight", "f4"),
    ("weight_square", "f4"),
    ("means", "f4", (STATISTICS,)),
    ("block", "i4"),  # where its candidates begin
    ("n_candidates", "i2"),
    ("n_tried", "i2"),  # the first so many candidates are edges
    ("n_dropped", "i2"),  # candidates that turned out illegal, at the end of the block
    ("status", "u1"),
    ("to_play", "u1"),
    ("tried_prior", "f4"),  # sum of the priors of the moves tried
    ("key", "u8"),  # equal where the same lies before the players
    ("own_weight", "f4"),  # of one own visit
    ("own", "f4", (OWN_STATISTICS,)),
    ("uncertainty", "f4", (UNCERTAINTIES,)),  # of its own evaluation, once it has one
    ("bias", "i4"),  # entry of the bias table for its last moves, or NONE
    ("bias_sum", "f4"),  # what it has added to that entry
    ("bias_weight", "f4"),
    ("child_weight", "f4"),  # of all children together, before noise is pruned
]
_NODE_SIZE = np.dtype(_NODE_FIELDS, align=True).itemsize
NODE = record_type(
    f"{__name__}.NODE", [*_NODE_FIELDS, ("unused", "u1", (-_NODE_SIZE % CACHE_LINE,))]
)
EDGE = record_type(
    f"{__name__}.EDGE",
    [
        ("child", "i4"),
        ("parent", "i4"),
        ("visits", "i4"),
        ("packed", "u4"),  # move and prior, as `pack_move` packs them
    ],
)
# How far evaluations after the same moves in the same surroundings were from what was found below.
BIAS = record_type(f"{__name__}.BIAS", [("key", "u8"), ("error", "f8"), ("weight", "f8")])
TREE = record_type(
    f"{__name__}.TREE",
    [
        ("root", "i4"),
        ("n_nodes", "i4"),
        ("n_edges", "i4"),
        ("n_candidates", "i4"),
        ("n_biases", "i4"),
        ("full", "i4"),  # 1: a pool had no room for a leaf
        ("move_limit", "i4"),  # the game ends at this ply
        ("leaves", "i4"),  # to look for at a time; 0: the tree rests
        ("target", "i4"),  # visits after which it needs no more
        ("renew", "i4"),  # 1: a kept root needs an evaluation of its own, 2: it is under way
        ("prepared", "i4"),  # 1: `policy` has the root's own priors
        ("noisy", "i4"),  # 1: noise and temperature on the root's priors
        ("centre", "f4"),  # score around which points count most, Black's
        ("draw_komi", "f4"),  # added to komi for the network, if draws count unequal
        ("black_advantage", "f4"),  # in playouts, as the network sees it; log2, 0: none
        ("forced", "f4"),  # forced playouts at the root, 0 for none
        ("avoids", "i4"),  # EARLY_PASSES, or moves AS_ASKED or AT_ROOT; 0: none
        ("gumbel", "i4"),  # moves that the Gumbel root considers, 0: it is not used
        ("uncounted", "i4"),  # descents of this search that count for no visit of the root
        ("mirror_advantage", "f4"),  # in points, of an opponent who mirrors to the end
        ("mirror_asymmetry", "f4"),  # how little the stones at the centre mirror each other
        ("bias_freed", "f4"),  # share of what a dropped node taught the bias table
        ("evaluated", "i8"),  # leaves that the network saw
        ("shared", "i8"),  # leaves that took over the evaluation of an equal position
        ("terminal", "i8"),  # leaves at the end of a game
        ("collisions", "i8"),  # descents given up at a leaf that was waiting
        ("rng", "u8", (1,)),
    ],
)
# How a tree is explored by a policy that imitates people; see HumanStyle for the fields.
STYLE = record_type(
    f"{__name__}.STYLE",
    [
        ("exploration", "f4"),
        ("permanent_exploration", "f4"),
        ("weightless", "f4", (3,)),  # chances at ROOT, OWN_TURN and OTHER_TURN
        ("weightful", "f4", (3,)),
    ],
)
ROOT, OWN_TURN, OTHER_TURN = range(3)  # the root, or below it the turns of the root's side or not
# A leaf that waits for the network.
PATH = record_type(
    f"{__name__}.PATH",
    [
        ("key", "u8"),
        ("tree", "i4"),
        ("depth", "i4"),  # of the leaf; the root's is 0
        ("final", "i4"),  # 1: the game is over, and the network judges the board
        ("counts_from", "i4"),  # depth from which nodes learn of it; 0: all of them
        ("extra", "i4"),  # 1: it comes on top of the visits that a search makes
        ("mirrored", "i4"),  # 1: the owner of the centre counts for its value
        ("nodes", "i4", (MAX_DEPTH,)),
        ("edges", "i4", (MAX_DEPTH,)),  # edges[k] leads from nodes[k] to nodes[k + 1]
        ("legal", "u1", (MAX_POINTS,)),  # by point
    ],
)


class HumanPolicies(Enum):
    """Where a forest keeps what people would play."""

    NONE = 0
    ROOTS = 1
    NODES = 2


class Forest(NamedTuple):
    """Trees and the pools they grow in; `room` is per tree."""

    trees: Records  # [trees] of TREE
    boards: Boards  # [trees] at the roots
    histories: NDArray[np.uint64]  # [trees, moves] and room for those of a descent behind them
    nodes: Records  # [trees * node_room] of NODE
    edges: Records  # [trees * node_room] of EDGE
    candidates: NDArray[np.uint32]  # [trees * candidate_room] edges; indices of edges where tried
    table: NDArray[np.int32]  # [trees * table_room] node + 1 by key, 0 where there is none
    caught: NDArray[np.uint64]  # [trees * node_room, words] stones caught in ladders, bit by place
    caught_before: NDArray[np.uint64]  # [trees, 2, words] one and two turns before the root
    ladder_keys: NDArray[np.uint64]  # [trees, rows] memories of ladders; no rows if none are read
    ladder_points: NDArray[np.uint64]  # [trees, rows, columns]
    biases: Records  # [trees * node_room] of BIAS; none if they are not used
    bias_table: NDArray[np.int32]  # [trees * table_room] bias + 1 by key, 0 where there is none
    ownership: NDArray[np.int8]  # [trees * node_room, area] Black's, ±127; no batch if not kept
    policy: NDArray[np.float32]  # [trees, MAX_POINTS] the root's own priors, by point
    gumbel: NDArray[np.float32]  # [trees, MAX_POINTS] by point, where the Gumbel root is used
    avoid: NDArray[np.uint8]  # [trees, 3, MAX_POINTS] by colour and point: up to which depth
    styles: Records  # [trees] of STYLE; none without a network that imitates people
    # [rows, MAX_POINTS] what people would play, by point; -1 for the pass: not known yet. A row for
    # each node, or for the root of each tree, or none at all.
    human: NDArray[np.float32]
    owner: NDArray[np.float32]  # [trees, MAX_POINTS] at the root, Black's, by the network
    bonus: NDArray[np.float32]  # [trees, MAX_POINTS] points that root moves are taken to be worth
    node_room: int
    candidate_room: int
    table_room: int


def new_forest(
    trees: int,
    area: int,
    *,
    node_room: int,
    candidate_room: int,
    moves: int,
    ladders: bool,
    ownership: bool,
    biases: bool,
    human_policies: HumanPolicies = HumanPolicies.NONE,
) -> Forest:
    """Pools for this many trees; memory is taken from the system as it is used."""
    human_rows = {
        HumanPolicies.NONE: 0,
        HumanPolicies.ROOTS: trees,
        HumanPolicies.NODES: trees * node_room,
    }[human_policies]
    words = words_for(area) if ladders else 0
    memory = memory_shape(area, LADDERS_OF_TREE if ladders else 0)
    table_room = 1 << (node_room * 3 // 2).bit_length()
    records = np.zeros(trees, TREE)
    records["bias_freed"] = 0.8
    return Forest(
        trees=records,
        boards=new_boards(trees),
        histories=np.zeros((trees, moves + 1), np.uint64),
        nodes=_zeros_in_cache_lines(trees * node_room, NODE),
        edges=np.zeros(trees * node_room, EDGE),
        candidates=np.zeros(trees * candidate_room, np.uint32),
        table=np.zeros(trees * table_room, np.int32),
        caught=np.zeros((trees * node_room, words), np.uint64),
        caught_before=np.zeros((trees, 2, words), np.uint64),
        ladder_keys=np.zeros((trees, *memory.keys), np.uint64),
        ladder_points=np.zeros((trees, *memory.points), np.uint64),
        biases=np.zeros(trees * node_room * biases, BIAS),
        bias_table=np.zeros(trees * table_room * biases, np.int32),
        ownership=np.zeros((trees * node_room if ownership else 0, area), np.int8),
        policy=np.zeros((trees, MAX_POINTS), np.float32),
        gumbel=np.zeros((trees, MAX_POINTS), np.float32),
        avoid=np.zeros((trees, 3, MAX_POINTS), np.uint8),
        styles=np.zeros(trees if human_rows else 0, STYLE),
        human=np.zeros((human_rows, MAX_POINTS), np.float32),
        owner=np.zeros((trees, MAX_POINTS), np.float32),
        bonus=np.zeros((trees, MAX_POINTS), np.float32),
        node_room=node_room,
        candidate_room=candidate_room,
        table_room=table_room,
    )


def _zeros_in_cache_lines(count: int, dtype: np.dtype[np.void]) -> Records:
    """[count] records of zeros, the first one at the beginning of a cache line."""
    memory = np.zeros(count * dtype.itemsize + CACHE_LINE, np.uint8)
    first = -memory.ctypes.data % CACHE_LINE
    return memory[first : first + count * dtype.itemsize].view(dtype)


def node_bytes(
    area: int,
    candidates: float,
    *,
    ladders: bool,
    ownership: bool,
    biases: bool,
    human_policies: HumanPolicies = HumanPolicies.NONE,
) -> int:
    """The memory of one node and what belongs to it, on boards of this area.

    `candidates` is how many moves of a node are kept, on average.
    """
    table = 2.25 * np.dtype(np.int32).itemsize  # 1.5 to 3 entries for each node
    bias = (BIAS.itemsize + table) * biases
    caught = words_for(area) * np.dtype(np.uint64).itemsize * ladders
    record = NODE.itemsize + EDGE.itemsize + table + bias
    record += 4 * MAX_POINTS * (human_policies is HumanPolicies.NODES)
    return int(record + caught + area * ownership + 4 * candidates)


# Packed moves: a prior in the upper 23 bits (a positive float32 without its last 8 bits) and 511
# minus the point in the lower 9, so that comparing them as integers compares priors, and among
# equal priors points.


@kernel(inline=True)
def pack_move(prior, point):
    bits = np.float32(prior).view(np.uint32)
    return np.uint32(((bits >> np.uint32(8)) << np.uint32(9)) | np.uint32(511 - point))


@kernel(inline=True)
def packed_prior(packed):
    return np.uint32((packed >> np.uint32(9)) << np.uint32(8)).view(np.float32)


@kernel(inline=True)
def packed_point(packed):
    return np.int64(511) - np.int64(packed & np.uint32(511))


@kernel(inline=True)
def bring_best_forward(candidates, at, end):
    """Swap the largest of candidates[at:end] to the front."""
    top = np.uint32(0)
    for i in range(np.uint64(at), np.uint64(end)):
        top = max(top, candidates[i])  # many at a time, unlike a search for its place
    for i in range(at, end):
        if candidates[i] == top:
            candidates[at], candidates[i] = top, candidates[at]
            return


@kernel(inline=True)
def copy_values(target, source):
    """Copy one array into another; an assignment of slices would allocate memory."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@kernel(inline=True)
def sign_of(color):
    """1 for Black, -1 for White: what turns Black's statistics for the side to play."""
    return np.float32(3 - 2 * np.int64(color))


@kernel(inline=True)
def keeps_all_human(forest):
    """Is it known for every node what people would play, not for the roots alone?"""
    return forest.human.shape[0] > forest.trees.shape[0]


@kernel(inline=True)
def human_row(forest, g, index):
    """Where it is kept what people would play at a node of tree g, its root if that alone is."""
    return np.int64(index) if keeps_all_human(forest) else np.int64(g)


@kernel
def reset_tree(forest, g):
    """Start tree g anew: a fresh root for the board that stands there."""
    tree = forest.trees[g]
    clear_table(forest, g)
    tree.n_nodes = 0
    tree.n_edges = 0
    tree.n_candidates = 0
    clear_bias_table(forest, g)
    tree.full = 0
    tree.prepared = 0
    tree.renew = 0
    tree.uncounted = 0
    tree.centre = np.float32(0)
    tree.root = new_node(forest, g, forest.boards[g].to_play)


@kernel(inline=True)
def has_room(forest, g):
    """Is there room for one more leaf in flight and its candidates?"""
    tree = forest.trees[g]
    board = forest.boards[g]
    waiting = forest.nodes[tree.root].pending + 1
    block = board.width * board.height + 2
    return (
        tree.n_nodes < forest.node_room
        and tree.n_edges < forest.node_room
        and tree.n_candidates + waiting * block <= forest.candidate_room
    )


@kernel(inline=True)
def new_node(forest, g, to_play):
    """A fresh node in the slab of tree g, which must have room."""
    tree = forest.trees[g]
    index = g * forest.node_room + tree.n_nodes
    tree.n_nodes += 1
    node = forest.nodes[index]
    node.key = np.uint64(0)
    node.visits = 0
    node.own_visits = 0
    node.pending = 0
    node.block = NONE
    node.n_candidates = 0
    node.n_tried = 0
    node.n_dropped = 0
    node.status = FRESH
    node.to_play = to_play
    node.tried_prior = np.float32(0)
    node.own_weight = np.float32(1)
    node.weight = np.float32(0)
    node.weight_square = np.float32(0)
    node.child_weight = np.float32(0)
    node.bias = NONE
    node.bias_sum = np.float32(0)
    node.bias_weight = np.float32(0)
    for k in range(OWN_STATISTICS):
        node.own[k] = np.float32(0)
    for k in range(STATISTICS):
        node.means[k] = np.float32(0)
    return index


@kernel(inline=True)
def new_edge(forest, g, parent, child, packed):
    """Let an edge take the place of a node's first candidate that was not tried."""
    tree = forest.trees[g]
    index = g * forest.node_room + tree.n_edges
    tree.n_edges += 1
    edge = forest.edges[index]
    edge.child = child
    edge.parent = parent
    edge.visits = 0
    edge.packed = packed
    node = forest.nodes[parent]
    forest.candidates[node.block + node.n_tried] = index
    node.tried_prior += packed_prior(packed)
    node.n_tried += 1
    return index


@kernel(inline=True)
def nth_edge(forest, node, k):
    """The index of the edge to the k-th tried move of a node."""
    return np.int64(forest.candidates[node.block + k])


@kernel(inline=True)
def nth_candidate(forest, node, k):
    """The packed move of the k-th candidate of a node, tried or not."""
    if k < node.n_tried:
        return forest.edges[nth_edge(forest, node, k)].packed
    return forest.candidates[node.block + k]


@kernel
def find_transposition(forest, g, key):
    """The expanded node of tree g with this key, or NONE."""
    first, mask = g * forest.table_room, np.uint64(forest.table_room - 1)
    slot = np.int64(key & mask)
    while True:
        entry = forest.table[first + slot]
        if entry == 0:
            return np.int64(NONE)
        if forest.nodes[entry - 1].key == key:
            return np.int64(entry - 1)
        slot = (slot + 1) & np.int64(mask)


@kernel
def clear_table(forest, g):
    """Forget all keys, in a time that depends on the nodes of the tree, not on the table's room."""
    tree, base = forest.trees[g], g * forest.node_room
    first, mask = g * forest.table_room, np.uint64(forest.table_room - 1)
    for i in range(base, base + tree.n_nodes):
        slot = np.int64(forest.nodes[i].key & mask)
        while forest.table[first + slot] != 0:
            forest.table[first + slot] = 0
            slot = (slot + 1) & np.int64(mask)


@kernel
def enter_in_table(forest, g, index):
    """Let a node be found by its key; the first one with a key stays."""
    first, mask = g * forest.table_room, np.uint64(forest.table_room - 1)
    key = forest.nodes[index].key
    slot = np.int64(key & mask)
    while True:
        entry = forest.table[first + slot]
        if entry == 0:
            forest.table[first + slot] = index + 1
            return
        if forest.nodes[entry - 1].key == key:
            return
        slot = (slot + 1) & np.int64(mask)


@kernel
def bias_by_key(forest, g, key):
    """The entry of the bias table with this key, a new one if there is none; NONE without room."""
    tree = forest.trees[g]
    first, mask = g * forest.table_room, np.uint64(forest.table_room - 1)
    base = g * forest.node_room
    slot = np.int64(key & mask)
    while True:
        entry = forest.bias_table[first + slot]
        if entry == 0:
            break
        if forest.biases[entry - 1].key == key:
            return np.int64(entry - 1)
        slot = (slot + 1) & np.int64(mask)
    if tree.n_biases == forest.node_room:
        return np.int64(NONE)
    index = base + tree.n_biases
    tree.n_biases += 1
    bias = forest.biases[index]
    bias.key = key
    bias.error = 0.0
    bias.weight = 0.0
    forest.bias_table[first + slot] = index + 1
    return np.int64(index)


@kernel
def clear_bias_table(forest, g):
    """Forget all entries of the bias table, in a time that depends on their number."""
    tree, base = forest.trees[g], g * forest.node_room
    first, mask = g * forest.table_room, np.uint64(forest.table_room - 1)
    for i in range(base, base + tree.n_biases):
        slot = np.int64(forest.biases[i].key & mask)
        while forest.bias_table[first + slot] != 0:
            forest.bias_table[first + slot] = 0
            slot = (slot + 1) & np.int64(mask)
    tree.n_biases = 0
