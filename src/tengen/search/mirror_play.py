"""Detection of an opponent who mirrors every move at the centre, and of what he gains by it.

With KataGo's meaning and constants. What the search does about it is in `kernels/mirror.py`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.rules import Scoring
from tengen.search.params import SearchParams

# An opponent mirrors who did so at least this often, and in half of his moves more.
_LEAST_MOVES, _SHARE_OF_MOVES = 7.0, 0.5
_FADING, _SHARE_OF_LATEST = 0.75, 0.45  # each move counts less than the next; of these, this share
_NO_CENTRE = 1e10  # how asymmetric boards are that are too small to have one
_LEAST_SIDE, _REACH = 7, 3  # of a board with a centre, and of the centre itself


def params_at(params: SearchParams, position: Position) -> SearchParams:
    """The parameters as a search of this position has them: against a mirror, or not.

    Against a mirror moves are forced on both sides, so all visits count alike: what looks bad is
    neither noise nor an error of the network.
    """
    if not params.anti_mirror:
        return params
    if not opponent_mirrors(position):
        return replace(params, anti_mirror=False)
    return replace(params, noise_pruning=False, value_bias=0.0, value_weight=0.0)


def opponent_mirrors(position: Position) -> bool:
    """Has the opponent mirrored most moves of the game, many of the last ones and the very last?"""
    mirrored = turns = 0
    latest_mirrored = latest = 0.0
    last = False
    moves = position.moves
    for before, move in pairwise(moves):
        if move.color is position.to_play:
            continue
        last = move.point == mirror_image(position, before.point)
        mirrored, turns = mirrored + last, turns + 1
        latest_mirrored = (latest_mirrored + last) * _FADING
        latest = (latest + 1) * _FADING
    enough = mirrored >= _LEAST_MOVES + _SHARE_OF_MOVES * turns
    return last and enough and latest_mirrored >= _SHARE_OF_LATEST * latest


def mirror_image(position: Position, point: Point | None) -> Point | None:
    """The point opposite to one; a pass is its own image."""
    if point is None:
        return None
    return Point(position.width - 1 - point.x, position.height - 1 - point.y)


def mirror_advantage(position: Position) -> float:
    """By how many points the opponent would win if all moves to the end were mirrored."""
    rules, stones = position.rules, position.handicap
    black = -rules.white_handicap_bonus.points(stones)
    if rules.scoring is Scoring.AREA:
        black += max(stones - 1, 0)
        has_centre = position.width % 2 == 1 and position.height % 2 == 1
        black += has_centre == (stones == 0 or stones % 2 == 1)  # who gets the last move
    white = position.komi - black
    return white if position.to_play is Color.BLACK else -white


def mirror_asymmetry(position: Position) -> float:
    """How far the stones around the centre are from mirroring each other: 0 if they do."""
    if min(position.size) < _LEAST_SIDE:
        return _NO_CENTRE
    x, y = position.width // 2, position.height // 2
    unmirrored = theirs_alone = 0
    for dy in range(-_REACH, _REACH + 1):
        for dx in range(-_REACH, _REACH + 1):
            point = Point(x + dx, y + dy)
            image = mirror_image(position, point)
            assert image is not None
            if point == image:
                continue
            here, there = position.at(point), position.at(image)
            unmirrored += here is position.to_play and there is not position.to_play.opponent
            theirs_alone += here is position.to_play.opponent and there is None
    if unmirrored == 0:
        return 0.0
    error = unmirrored + 0.2 * theirs_alone
    return 0.5 * error * (1 + error)
