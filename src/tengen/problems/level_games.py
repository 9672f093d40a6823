"""Games between levels of strength, whose groups get into danger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.engine.engine import Engine
from tengen.engine.levels import Level, level_named
from tengen.game.color import Color
from tengen.game.geometry import Point, Size
from tengen.game.position import Position
from tengen.problems.problem import RULES

PLAYERS = ("learner", "casual", "club", "advanced")
OVER_PRIOR = 0.1  # of a pass, from which a game is over
MOST_MOVES = 1.1  # for each point of the board


class WatchedGame(NamedTuple):
    """The positions of a game, with a network's ownership of each."""

    name: str
    positions: Sequence[Position]
    ownership: Sequence[NDArray[np.float32]]  # [height, width] Black's, from -1 to 1


def play_games(engine: Engine, size: Size, count: int, seed: Sequence[int]) -> list[WatchedGame]:
    """Games side by side, each between two levels that are drawn; the seed decides all."""
    random = np.random.default_rng(list(seed))
    levels = [level_named(name) for name in PLAYERS]
    sides = [
        {color: levels[int(random.integers(len(levels)))] for color in Color} for _ in range(count)
    ]
    lines = [[Position(size, RULES)] for _ in range(count)]
    owners: list[list[NDArray[np.float32]]] = [[] for _ in range(count)]
    going = list(range(count))
    while going:
        positions = [lines[game][-1] for game in going]
        found = engine.evaluate(positions).result()
        still = []
        for game, position, logits, owned in zip(
            going, positions, found.policy, found.ownership, strict=True
        ):
            owners[game].append(owned if position.to_play is Color.BLACK else -owned)
            move = _drawn(position, logits, sides[game][position.to_play], random)
            if move is not None and position.move_number < MOST_MOVES * size.area:
                lines[game].append(position.play(move))
                still.append(game)
        going = still
    return [
        WatchedGame(f"{sides[game][Color.BLACK].id}-{sides[game][Color.WHITE].id}", line, owned)
        for game, (line, owned) in enumerate(zip(lines, owners, strict=True))
    ]


def _drawn(
    position: Position, logits: NDArray[np.float32], level: Level, random: np.random.Generator
) -> Point | None:
    """A move drawn from the policy as the level draws it; None when the game is over."""
    legal = position.legal_mask()
    logits = logits.astype(float)
    chances = np.exp(logits - logits[legal].max()) * legal
    if chances[-1] >= OVER_PRIOR * chances.sum():
        return None
    chances[:-1][position.own_eyes().ravel()] = 0
    weights = chances[:-1] ** (1 / level.temperature_on(position.size))
    if not weights.any():
        return None
    place = int(random.choice(len(weights), p=weights / weights.sum()))
    return Point(place % position.width, place // position.width)


def watched(engine: Engine, name: str, positions: Sequence[Position]) -> WatchedGame:
    """A game that was played elsewhere, with the network's ownership of each position."""
    owners: list[NDArray[np.float32]] = []
    for first in range(0, len(positions), 32):
        batch = positions[first : first + 32]
        found = engine.evaluate(batch).result().ownership
        owners += [
            owned if position.to_play is Color.BLACK else -owned
            for position, owned in zip(batch, found, strict=True)
        ]
    return WatchedGame(name, positions, owners)
