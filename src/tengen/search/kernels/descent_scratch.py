"""What a thread walks through trees with; several threads have theirs in one set of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.scratch import FeatureScratch, new_feature_scratch
from tengen.game.geometry import MAX_POINTS
from tengen.game.kernels.board import Boards, new_boards
from tengen.game.kernels.ladder import LadderScratch
from tengen.game.kernels.ladder_memory import LadderMemory, Notes
from tengen.jit import kernel


class DescentScratch(NamedTuple):
    """What one thread walks with."""

    boards: Boards  # [1]
    features: FeatureScratch
    shares: NDArray[np.float32]  # [MAX_POINTS] of a policy, in no scale


class DescentScratches(NamedTuple):
    """A stack of scratches: their arrays with a first dimension more, and side by side, for threads
    of Numba's take no tuples within tuples.
    """

    boards: NDArray[np.void]
    shares: NDArray[np.float32]
    life: NDArray[np.void]
    caught: NDArray[np.uint64]
    catching: NDArray[np.uint64]
    ladder_boards: NDArray[np.void]
    ladder_moves: NDArray[np.uint32]
    ladder_path: NDArray[np.int32]
    ladder_counts: NDArray[np.int64]
    ladder_sets: NDArray[np.uint64]
    ladder_tried: NDArray[np.uint32]
    ladder_keys: NDArray[np.uint64]
    ladder_points: NDArray[np.uint64]


def new_descent_scratches(count: int) -> DescentScratches:
    """A stack of scratches."""
    scratch = new_feature_scratch()
    ladder = scratch.ladder
    one = DescentScratches(
        boards=new_boards(1),
        shares=np.zeros(MAX_POINTS, np.float32),
        life=scratch.life,
        caught=scratch.caught,
        catching=scratch.catching,
        ladder_boards=ladder.boards,
        ladder_moves=ladder.moves,
        ladder_path=ladder.path,
        ladder_counts=ladder.notes.counts,
        ladder_sets=ladder.notes.sets,
        ladder_tried=ladder.notes.tried,
        ladder_keys=ladder.memory.keys,
        ladder_points=ladder.memory.points,
    )
    return DescentScratches(*(np.zeros((count, *array.shape), array.dtype) for array in one))


def nth_descent_scratch(scratches: DescentScratches, k: int) -> DescentScratch:
    """One of a stack of scratches, for Python; a kernel cannot return arrays to it."""
    return DescentScratch(
        scratches.boards[k],
        FeatureScratch(
            scratches.life[k],
            LadderScratch(
                scratches.ladder_boards[k],
                scratches.ladder_moves[k],
                scratches.ladder_path[k],
                Notes(
                    scratches.ladder_counts[k],
                    scratches.ladder_sets[k],
                    scratches.ladder_tried[k],
                ),
                LadderMemory(scratches.ladder_keys[k], scratches.ladder_points[k]),
            ),
            scratches.caught[k],
            scratches.catching[k],
        ),
        scratches.shares[k],
    )


descent_scratch_at = kernel(inline=True)(nth_descent_scratch)  # the same, for kernels


@kernel(inline=True)
def with_ladders_of(scratch, forest, g):
    """Scratch memory to encode positions, with the memory of ladders of tree g."""
    ladder = scratch.ladder
    memory = LadderMemory(forest.ladder_keys[g], forest.ladder_points[g])
    ladder = LadderScratch(ladder.boards, ladder.moves, ladder.path, ladder.notes, memory)
    return FeatureScratch(scratch.life, ladder, scratch.caught, scratch.catching)
