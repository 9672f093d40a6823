"""Rows to learn from: positions of random games with targets drawn at random, but fixed."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.evaluator import encode
from tengen.replay.rows import HORIZONS, TrainingRows, new_rows


def positions_of_random_games(seed: int, count: int, sides: Sequence[int]) -> list[Position]:
    """One position a turn, from when on boards have enough stones to be told apart."""
    choice = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        position = Position(choice.choice(sides), komi=choice.randint(-20, 20) / 2)
        for _ in range(position.size.area):
            moves = list(position.legal_moves())
            position = position.play(choice.choice(moves) if moves else None)
            if position.is_over:
                break
            if position.move_number > position.size.area // 4:
                found.append(position)
    return found[:count]


def rows_of(positions: Sequence[Position], seed: int, side: int) -> TrainingRows:
    """Positions in the corner of boards of this side, with targets at random."""
    draw = np.random.default_rng(seed)
    n, area = len(positions), side * side
    batch = encode(KATAGO, positions)
    _, planes, height, width = batch.planes.shape
    bits = np.zeros((n, side, side), np.uint32)
    for plane in range(planes):
        bits[:, :height, :width] |= batch.planes[:, plane].astype(np.uint32) << np.uint32(plane)
    on_board = np.concatenate([(bits & 1).reshape(n, area), np.ones((n, 1))], 1)
    won = draw.integers(0, 2, n)
    value = np.stack([won, 1 - won, np.zeros(n)], 1).astype(np.float32)
    short = draw.dirichlet((1, 1, 1), (n, HORIZONS)).astype(np.float32)
    return new_rows(n, KATAGO, side)._replace(
        planes=bits,
        globals=batch.globals,
        policy=peaked(draw, on_board),
        reply=peaked(draw, on_board),
        value=value,
        score=draw.normal(0, 10, n).astype(np.float32),
        short_values=short,
        short_scores=draw.normal(0, 10, (n, HORIZONS)).astype(np.float32),
        search_value=value.copy(),
        lead=draw.normal(0, 10, n).astype(np.float32),
        ownership=(draw.integers(-1, 2, (n, side, side)) * (bits & 1)).astype(np.int8),
        size=np.array([(p.width, p.height) for p in positions], np.uint8),
    )


def peaked(draw: np.random.Generator, on_board: NDArray[np.float64]) -> NDArray[np.float16]:
    """Distributions over the moves with a favourite and a few others."""
    logits = 2 * draw.standard_normal(on_board.shape)
    chances = np.exp(logits) * on_board
    shares: NDArray[np.float64] = chances / chances.sum(1, keepdims=True)
    return shares.astype(np.float16)
