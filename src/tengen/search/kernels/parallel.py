"""Kernels: many trees by many threads, each thread with a chunk of the trees and of the rows.

The rows of a chunk follow each other, so between two chunks some rows may stay unused.
"""

from __future__ import annotations

from numba import prange

from tengen.jit import kernel
from tengen.search.kernels.descend import find_leaves
from tengen.search.kernels.descent_scratch import descent_scratch_at
from tengen.search.kernels.expand import expand_leaves


@kernel(parallel=True)
def find_leaves_in_parallel(
    forest, trees, batch, room, ends, settings, scratches, kind, human_kind
):
    """Let the trees look for up to `room` leaves each; ends[chunk] says where its rows end.

    Threads take no records, so settings is an array [1] of them.
    """
    chunks = ends.shape[0]
    for s in prange(chunks):
        begin, end = first_tree(trees, s, chunks), first_tree(trees, s + 1, chunks)
        ends[s] = find_leaves(
            forest,
            trees[begin:end],
            batch,
            begin * room,
            end * room,
            settings[0],
            descent_scratch_at(scratches, s),
            kind,
            human_kind,
        )


@kernel(parallel=True)
def expand_leaves_in_parallel(forest, trees, batch, room, ends, evaluation, settings, scratches):
    """Take in the evaluations of the rows that `find_leaves_in_parallel` filled."""
    chunks = ends.shape[0]
    for s in prange(chunks):
        begin = first_tree(trees, s, chunks) * room
        expand_leaves(forest, batch, begin, ends[s], evaluation, settings[0], scratches.shares[s])


@kernel(inline=True)
def first_tree(trees, chunk, chunks):
    return trees.shape[0] * chunk // chunks
