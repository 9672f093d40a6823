"""Symmetric moves at the root: search one of each kind, report the others as its images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tengen.game.color import Color
from tengen.game.geometry import Point, Symmetry, symmetry_points
from tengen.game.position import Position
from tengen.search.request import Avoid, RootOptions
from tengen.search.result import MoveResult


def symmetric_moves_to_avoid(position: Position, root: RootOptions) -> list[Avoid]:
    """The moves that are mirror images of others, all but one of each kind.

    The one is Black's nearest to the upper right corner, White's to the lower left, as in KataGo.
    """
    symmetries = _symmetries_of(position) if root.symmetry_pruning else []
    if not symmetries:
        return []
    avoided = _avoided_now(position, root)
    side = -1 if position.to_play is Color.BLACK else 1
    kept: set[Point] = set()
    avoid = []
    for point in sorted(position.legal_moves(), key=lambda p: (side * p.x, -side * p.y)):
        if point in avoided:
            continue
        images = {symmetry.point(point, position.size) for symmetry in symmetries} - {point}
        if images & kept:
            avoid.append(Avoid(position.to_play, point))
        else:
            kept.add(point)
    return avoid


def with_symmetric_moves(
    moves: tuple[MoveResult, ...], position: Position, root: RootOptions
) -> tuple[MoveResult, ...]:
    """These moves, each followed by the mirror images that were not searched themselves."""
    symmetries = _symmetries_of(position)
    if not symmetries:
        return moves
    avoided = _avoided_now(position, root)
    shown = []
    for each in moves:
        shown.append(each)
        known = {*avoided, each.move}
        for image in (_image(each, symmetry, position) for symmetry in symmetries):
            if image.move not in known:
                known.add(image.move)
                shown.append(image)
    return tuple(replace(move, order=i) for i, move in enumerate(shown))


def _symmetries_of(position: Position) -> list[Symmetry]:
    """The symmetries that leave stones and legal moves as they are, the identity left out."""
    size = position.size
    points = np.stack([position.stones.ravel(), position.legal_mask()[:-1]])
    return [
        symmetry
        for symmetry in sorted(Symmetry)
        if symmetry is not Symmetry.IDENTITY
        and symmetry.size(size) == size
        and (points[:, symmetry_points(symmetry, size)] == points).all()
    ]


def _avoided_now(position: Position, root: RootOptions) -> set[Point | None]:
    """The moves that the side to play must avoid at the root."""
    return {each.move for each in root.avoid if each.color is position.to_play}


def _image(move: MoveResult, symmetry: Symmetry, position: Position) -> MoveResult:
    """What was found about a move, turned by a symmetry."""
    line = tuple(None if p is None else symmetry.point(p, position.size) for p in move.pv)
    places = symmetry_points(symmetry, position.size)
    ownership, stdev = (
        None if each is None else each.ravel()[places].reshape(each.shape)
        for each in (move.ownership, move.ownership_stdev)
    )
    return replace(
        move,
        move=line[0],
        symmetry_of=move.move,
        pv=line,
        ownership=ownership,
        ownership_stdev=stdev,
    )
