"""Symmetric moves at the root: search one of each kind, report the others as its images."""

from __future__ import annotations

from dataclasses import replace

from tengen.game.geometry import Point, Symmetry, symmetry_points
from tengen.game.position import Position
from tengen.search.request import Avoid, RootOptions
from tengen.search.result import MoveResult


def symmetric_moves_to_avoid(position: Position, root: RootOptions) -> list[Avoid]:
    """The moves that are mirror images of others, all but one of each kind."""
    if not root.symmetry_pruning:
        return []
    symmetries = _symmetries_of(position)
    avoided = _avoided_now(position, root)
    kept: set[Point] = set()
    avoid = []
    for point in position.legal_moves():
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
    avoided = _avoided_now(position, root)
    shown = []
    for each in moves:
        shown.append(each)
        if each.move is not None:
            images = {symmetry.point(each.move, position.size): symmetry for symmetry in symmetries}
            shown.extend(
                _image(each, symmetry, position)
                for point, symmetry in sorted(images.items())
                if point != each.move and point not in avoided
            )
    return tuple(replace(move, order=i) for i, move in enumerate(shown))


def _symmetries_of(position: Position) -> list[Symmetry]:
    """The symmetries that leave the position as it is, the identity left out."""
    return [
        symmetry
        for symmetry in Symmetry
        if symmetry is not Symmetry.IDENTITY
        and symmetry.size(position.size) == position.size
        and position.transformed(symmetry) == position
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
