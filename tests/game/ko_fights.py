"""Games in which two kos are fought in the clean-up phases."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from tengen.game.position import Position
from tengen.game.rules import Rules
from tests.game.reference import PlayedOutGame, Point

TWO_KOS = """
    . X O . X O
    X . X O O .
    . X O . X O
    X X O O X X
    . X O X X .
    X X O O X X
"""


def ko_fight(rules: Rules, seed: int) -> Iterator[tuple[Position, PlayedOutGame]]:
    """The positions of a game with hardly any other moves after two passes, and its reference."""
    choice = random.Random(seed)
    position = Position.from_diagram(TWO_KOS, rules=rules, komi=0)
    slow = PlayedOutGame(*position.size, rules.ko.value.lower(), rules.suicide, rules.tax.value)
    slow.set_up({(x, y): int(position.stones[y, x]) for y, x in np.argwhere(position.stones)})
    for _ in range(60):
        yield position, slow
        if slow.over:
            break
        legal = [p for p in slow.points() if slow.is_legal(p)]
        kos = [p for p in legal if slow.ko_stone(p) or slow.block_at(p)]
        moves: list[Point | None] = [None]
        if position.move_number >= 2 and choice.random() > 0.3:
            moves = [*(kos or legal)] or [None]
        move = choice.choice(moves)
        slow.play(move)
        position = position.play(move)
