"""Kernels: prefetch the memory of games that are stepped soon.

Thousands of trees do not fit into a processor's caches. While one game is stepped, the memory of
the next ones is fetched, in the order in which one piece leads to the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from tengen.game.kernels.board import BOARD
from tengen.jit import kernel
from tengen.search.kernels.forest import CACHE_LINE, EDGE, PATH, TREE

# How many games ahead each kind of memory is fetched.
_ROW, _PATH, _MOVES, _CHILDREN = 6, 4, 3, 2
_LONGEST_PATH = 16  # deeper nodes are few


def _offset(kind: np.dtype[np.void], field: str) -> int:
    """Offset of a field in a record, in bytes."""
    assert kind.fields is not None
    return int(kind.fields[field][1])


_EDGES_OF_PATH, _LEGAL_OF_PATH = _offset(PATH, "edges"), _offset(PATH, "legal")
_EDGE_SIZE, _TREE_SIZE = EDGE.itemsize, TREE.itemsize
_WIDE_ARRAYS = tuple(
    _offset(BOARD, name) for name in ("empties", "slot", "head", "next", "libs", "stones")
)
_NARROW_ARRAYS = tuple(_offset(BOARD, name) for name in ("color", "seen"))


def _prefetch(array: Any, index: Any, offset: Any) -> None:
    """Fetch the cache line at a byte of array[index]; it may lie outside the array."""


# Not an @intrinsic, which Python could not call: kernels also run as plain Python.
@type_callable(_prefetch)
def _type_prefetch(_):
    return lambda array, index, offset: types.void(array, index, offset)


@lower_builtin(_prefetch, types.Array, types.Integer, types.Integer)
def _build_prefetch(context, builder, signature, args):
    kind = signature.args[0]
    data = context.make_array(kind)(context, builder, args[0])
    stride = cgutils.unpack_tuple(builder, data.strides, kind.ndim)[0]
    byte = ir.IntType(8).as_pointer()
    at, offset = (
        context.cast(builder, arg, kind, types.int64)
        for arg, kind in zip(args[1:], signature.args[1:], strict=True)
    )
    distance = builder.add(builder.mul(at, stride), offset)
    address = builder.gep(builder.bitcast(data.data, byte), [distance])
    number = ir.IntType(32)
    wanted = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    fetch = cgutils.get_or_insert_function(builder.module, wanted, "llvm.prefetch.p0")
    builder.call(fetch, [address, number(0), number(3), number(1)])
    return context.get_dummy_value()


@kernel
def prefetch_games(forest, batch, slots, policy, g, end, then):
    """Fetch memory of the games after g; game `end` - 1 is followed by `then`.

    A path is valid only while its leaf waits for the network.
    """
    trees = slots.shape[0]
    path = _ahead(g + _ROW, end, then)
    if path < trees:
        _fetch_row(forest, batch, policy, path)
    path = _ahead(g + _PATH, end, then)
    if path < trees and slots[path].waiting:
        _fetch_path(forest, batch.paths[path], path)
    moves = _ahead(g + _MOVES, end, then)
    if moves < trees and slots[moves].waiting:
        _fetch_moves(forest, batch.paths[moves])
    children = _ahead(g + _CHILDREN, end, then)
    if children < trees and slots[children].waiting:
        _fetch_children(forest, batch.paths[children])


@kernel(inline=True)
def _ahead(tree, end, then):
    return tree if tree < end else then + tree - end


@kernel(inline=True)
def _fetch_row(forest, batch, policy, g):
    """Fetch what lies at addresses known beforehand."""
    _prefetch(batch.paths, g, 0)
    _prefetch(batch.paths, g, _EDGES_OF_PATH)
    _prefetch(batch.paths, g, _LEGAL_OF_PATH)
    _prefetch(batch.paths, g, _LEGAL_OF_PATH + CACHE_LINE)
    _prefetch(forest.trees, g, 0)
    _prefetch(forest.trees, g, CACHE_LINE)
    _prefetch(forest.trees, g, _TREE_SIZE - 1)
    for offset in range(0, 4 * policy.shape[1], CACHE_LINE):
        _prefetch(policy, g, offset)
    for offset in range(0, 4 * forest.table_room, CACHE_LINE):
        _prefetch(forest.table, g * forest.table_room, offset)
    for offset in range(0, 8 * forest.ladder_keys.shape[1], CACHE_LINE):
        _prefetch(forest.ladder_keys, g, offset)
    _prefetch(forest.boards, g, 0)
    _prefetch(forest.boards, g, CACHE_LINE)
    # A board's arrays are a little longer than its area.
    for offset in range(0, 11 * forest.ownership.shape[1] // 4, CACHE_LINE):
        for k in range(len(_WIDE_ARRAYS)):
            _prefetch(forest.boards, g, _WIDE_ARRAYS[k] + offset)
    for offset in range(0, 11 * forest.ownership.shape[1] // 8, CACHE_LINE):
        for k in range(len(_NARROW_ARRAYS)):
            _prefetch(forest.boards, g, _NARROW_ARRAYS[k] + offset)


@kernel(inline=True)
def _fetch_path(forest, path, g):
    """Fetch the nodes of the waiting leaf's path, all edges, and where its candidates go."""
    tree = forest.trees[g]
    for k in range(min(path.depth + 1, _LONGEST_PATH)):
        _prefetch(forest.nodes, path.nodes[k], 0)
        _prefetch(forest.nodes, path.nodes[k], CACHE_LINE)
    for offset in range(0, _EDGE_SIZE * tree.n_edges, CACHE_LINE):
        _prefetch(forest.edges, g * forest.node_room, offset)
    for offset in range(0, 4 * forest.ownership.shape[1], CACHE_LINE):
        _prefetch(forest.candidates, g * forest.candidate_room + tree.n_candidates, offset)


@kernel(inline=True)
def _fetch_moves(forest, path):
    """Fetch the moves tried at the nodes of a path."""
    for k in range(min(path.depth, _LONGEST_PATH)):
        node = forest.nodes[path.nodes[k]]
        for offset in range(0, 4 * np.int64(node.n_tried) + 4, CACHE_LINE):
            _prefetch(forest.candidates, node.block, offset)


@kernel(inline=True)
def _fetch_children(forest, path):
    """Fetch the children of the nodes of a path."""
    for k in range(min(path.depth, _LONGEST_PATH)):
        node = forest.nodes[path.nodes[k]]
        for at in range(node.block, node.block + node.n_tried):
            _prefetch(forest.nodes, forest.edges[forest.candidates[at]].child, 0)
