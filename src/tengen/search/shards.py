"""Kernels: many trees by many threads, each thread with its share of the trees and of the rows.

The rows of a share follow each other, so between two shares some rows may stay unused.
"""

from __future__ import annotations

from numba import prange

from tengen.jit import kernel
from tengen.search.absorb import absorb
from tengen.search.descend import find_leaves
from tengen.search.walker import walker_at


@kernel(parallel=True)
def find_in_shards(forest, trees, rows, room, ends, settings, walkers, kind):
    """Let the trees look for up to `room` leaves each; ends[shard] says where its rows end.

    Threads take no records, so settings is an array [1] of them.
    """
    shards = ends.shape[0]
    for s in prange(shards):
        begin, end = first_tree(trees, s, shards), first_tree(trees, s + 1, shards)
        ends[s] = find_leaves(
            forest,
            trees[begin:end],
            rows,
            begin * room,
            end * room,
            settings[0],
            walker_at(walkers, s),
            kind,
        )


@kernel(parallel=True)
def absorb_in_shards(forest, trees, rows, room, ends, evaluation, settings, walkers):
    """Take in the evaluations of the rows that `find_in_shards` filled."""
    shards = ends.shape[0]
    for s in prange(shards):
        begin = first_tree(trees, s, shards) * room
        absorb(forest, rows, begin, ends[s], evaluation, settings[0], walkers.shares[s])


@kernel(inline=True)
def first_tree(trees, shard, shards):
    return trees.shape[0] * shard // shards
