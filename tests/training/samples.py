"""Rows to learn from: positions of random games with targets drawn at random, but fixed."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.network.evaluator import encode
from tengen.replay.kernels.encode import SURE
from tengen.replay.rows import HORIZONS, OrderedRows, TrainingRows, new_rows


def positions_of_random_games(
    seed: int, count: int, sides: Sequence[int | tuple[int, int]]
) -> list[Position]:
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


def rows_of(positions: Sequence[Position], seed: int) -> dict[Size, OrderedRows]:
    """Positions with targets at random, by board size."""
    found = {}
    for size in sorted({position.size for position in positions}, key=lambda size: size.area):
        order = [k for k, position in enumerate(positions) if position.size == size]
        rows = rows_of_size([positions[k] for k in order], seed)
        found[size] = OrderedRows(rows, np.array(order, np.int64))
    return found


def rows_of_size(positions: Sequence[Position], seed: int) -> TrainingRows:
    """Positions on boards of one size, with targets at random."""
    draw = np.random.default_rng(seed)
    n, size = len(positions), positions[0].size
    batch = encode(KATAGO, positions)
    planes = batch.planes.astype(np.uint32)
    shifts = np.arange(planes.shape[1], dtype=np.uint32)[:, None, None]
    won = draw.integers(0, 2, n)
    value = np.stack([won, 1 - won, np.zeros(n)], 1).astype(np.float32)
    short = draw.dirichlet((1, 1, 1), (n, HORIZONS)).astype(np.float32)
    return new_rows(n, KATAGO, size)._replace(
        planes=np.bitwise_or.reduce(planes << shifts, axis=1),
        globals=batch.globals,
        policy=peaked(draw, n, size.area + 1),
        reply=peaked(draw, n, size.area + 1),
        value=value,
        score=draw.normal(0, 10, n).astype(np.float32),
        short_values=short,
        short_scores=draw.normal(0, 10, (n, HORIZONS)).astype(np.float32),
        search_value=value.copy(),
        lead=draw.normal(0, 10, n).astype(np.float32),
        ownership=SURE * draw.integers(-1, 2, (n, size.height, size.width)).astype(np.int8),
        known=np.ones((n, 4), np.float32),
    )


def peaked(draw: np.random.Generator, count: int, moves: int) -> NDArray[np.float16]:
    """Distributions over the moves with a favourite and a few others."""
    chances = np.exp(2 * draw.standard_normal((count, moves)))
    shares: NDArray[np.float64] = chances / chances.sum(1, keepdims=True)
    return shares.astype(np.float16)
