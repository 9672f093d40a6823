"""Positions from random games, and how the feature sets see them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.features.scratch import FeatureScratch, new_feature_scratch
from tengen.game.color import Color
from tengen.game.geometry import Size
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax

WITHOUT_COMPILER = bool(numba.config.DISABLE_JIT)
GARBAGE = 77  # what stands in buffers before they are written; fits every dtype


class Encoded(NamedTuple):
    """What a network sees of one position."""

    planes: NDArray[Any]  # [planes, height, width]
    globals: NDArray[np.float32]  # [globals]


def encoded(
    features: FeatureSet,
    position: Position,
    size: Size | None = None,
    dtype: type[Any] = np.float32,
    scratch: FeatureScratch | None = None,
) -> Encoded:
    """Encode into buffers full of garbage, as large as the board unless a size is given."""
    width, height = size or position.size
    planes = np.full((len(features.planes), height, width), GARBAGE, dtype)
    globals_ = np.full(len(features.globals), GARBAGE, np.float32)
    scratch = scratch or new_feature_scratch()
    scratch.caught[:] = GARBAGE
    scratch.catching[:] = GARBAGE
    features.encode_position(position, planes, globals_, scratch)
    return Encoded(planes, globals_)


def marked(features: FeatureSet, position: Position, plane: str) -> set[str]:
    """The points that a plane marks, as text, such as {"D4"}."""
    rows = encoded(features, position).planes[features.planes.index(plane)]
    assert set(rows.ravel().tolist()) <= {0, 1}
    return {position.text((int(x), int(y))) for y, x in np.argwhere(rows)}


def random_rules(choice: random.Random) -> Rules:
    return Rules(
        choice.choice(list(KoRule)),
        choice.choice([Scoring.AREA, Scoring.AREA, Scoring.TERRITORY]),
        choice.choice(list(Tax)),
        suicide=choice.random() < 0.5,
        button=choice.random() < 0.2,
        friendly_pass=choice.random() < 0.5,
    )


def random_positions(seed: int, count: int) -> Iterator[Position]:
    """Positions of random games that go on, one a game, every second one on a square board.

    Now and then there is a pass, a move out of turn, or a stone put down by hand. Every third is
    the last of its game with a ko or superko ban, if there was one.
    """
    choice = random.Random(seed)
    for number in range(max(3, count // 15) if WITHOUT_COMPILER else count):
        width, height = choice.randint(2, 9), choice.randint(2, 9)
        size = (width, width if number % 2 else height)
        komi = choice.randint(-30, 30) / 2
        position = Position(size, random_rules(choice), komi)
        if choice.random() < 0.2:
            position = position.set_up(white=["A1"], to_play=choice.choice("bw"))
        banned = None
        for _ in range(choice.randint(0, int(1.2 * position.size.area))):
            moves: list[Any] = list(position.legal_moves())
            move = choice.choice(moves) if moves and choice.random() > 0.04 else None
            if choice.random() < 0.02:  # out of turn
                out_of_turn = position.to_play.opponent
                move = move if position.is_legal(move, out_of_turn) else None
                after = position.play(move, out_of_turn)
            else:
                after = position.play(move)
            if after.is_over:
                break
            position = after
            if number % 3 == 0 and has_ban(position):
                banned = position
        yield position if banned is None else banned


def has_ban(position: Position) -> bool:
    """May the side to play not play somewhere because of a ko or superko?"""
    if position.ko is not None:
        return True
    if position.rules.ko is KoRule.SIMPLE:
        return False
    lenient = Position(position.size, replace(position.rules, ko=KoRule.SIMPLE))
    black, white = (
        [(int(x), int(y)) for y, x in np.argwhere(position.stones == color)] for color in Color
    )
    lenient = lenient.set_up(black, white, to_play=position.to_play)
    return bool((lenient.legal_mask() & ~position.legal_mask()).any())
