"""Positions to learn from, encoded: what replay hands to training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class TrainingRows(NamedTuple):
    """Positions with their targets, for the side to play.

    Height and width are those of the largest board; smaller ones lie in the upper left corner. A
    move is y * width + x with this width, a pass height * width.
    """

    planes: NDArray[np.uint32]  # [rows, height, width]: bit k of a point is plane k
    globals: NDArray[np.float32]  # [rows, globals]
    policy: NDArray[np.float16]  # [rows, height * width + 1] sums to 1
    reply: NDArray[np.float16]  # [rows, height * width + 1] of the next turn; 0 if there is none
    value: NDArray[np.float32]  # [rows, 3] win, loss, no result
    score: NDArray[np.float32]  # [rows] final points
    short_values: NDArray[np.float32]  # [rows, HORIZONS, 3]
    short_scores: NDArray[np.float32]  # [rows, HORIZONS]
    search_value: NDArray[np.float32]  # [rows, 3] what the search thought
    lead: NDArray[np.float32]  # [rows] points, as the search saw it
    ownership: NDArray[np.int8]  # [rows, height, width] 1 own, -1 the opponent's, 0 nobody's
    side: NDArray[np.uint8]  # [rows, 2] width and height of the board
