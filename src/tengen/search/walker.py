"""What a thread walks through trees with; several threads have theirs in one set of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.scratch import FeatureScratch, new_feature_scratch
from tengen.game.board import Boards, new_boards
from tengen.game.geometry import MAX_POINTS
from tengen.game.ladder import LadderScratch
from tengen.jit import kernel


class Walker(NamedTuple):
    """What one thread walks with."""

    boards: Boards  # [1]
    scratch: FeatureScratch
    shares: NDArray[np.float32]  # [MAX_POINTS] of a policy, in no scale


class Walkers(NamedTuple):
    """A stack of walkers: their arrays with a first dimension more, and side by side, for threads
    of Numba's take no tuples within tuples.
    """

    boards: NDArray[np.void]
    shares: NDArray[np.float32]
    life: NDArray[np.void]
    caught: NDArray[np.uint64]
    catching: NDArray[np.uint64]
    ladder_boards: NDArray[np.void]
    ladder_moves: NDArray[np.uint32]
    ladder_nodes: NDArray[np.int32]
    ladder_working: NDArray[np.uint32]


def new_walkers(count: int) -> Walkers:
    """A stack of walkers."""
    scratch = new_feature_scratch()
    ladder = scratch.ladder
    one = Walkers(
        boards=new_boards(1),
        shares=np.zeros(MAX_POINTS, np.float32),
        life=scratch.life,
        caught=scratch.caught,
        catching=scratch.catching,
        ladder_boards=ladder.boards,
        ladder_moves=ladder.moves,
        ladder_nodes=ladder.nodes,
        ladder_working=ladder.working,
    )
    return Walkers(*(np.zeros((count, *array.shape), array.dtype) for array in one))


def nth_walker(walkers: Walkers, k: int) -> Walker:
    """One of a stack of walkers, for Python; a kernel cannot return arrays to it."""
    return Walker(
        walkers.boards[k],
        FeatureScratch(
            walkers.life[k],
            LadderScratch(
                walkers.ladder_boards[k],
                walkers.ladder_moves[k],
                walkers.ladder_nodes[k],
                walkers.ladder_working[k],
            ),
            walkers.caught[k],
            walkers.catching[k],
        ),
        walkers.shares[k],
    )


walker_at = kernel(inline=True)(nth_walker)  # the same, for kernels
