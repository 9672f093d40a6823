"""Whether a chain can be caught or gets away, read from the rules as far as lessons need it."""

from __future__ import annotations

from collections.abc import Iterator

from tengen.game.board_view import neighbours
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Position


def gets_away(position: Position, stone: Point) -> bool:
    """Is a chain on the board and out of danger, with its opponent to move?"""
    if position.at(stone) is None:
        return False
    liberties = position.liberties(stone)
    return liberties > 2 or (liberties == 2 and not position.is_caught_in_ladder(stone))


def is_caught(position: Position, stone: Point) -> bool:
    """Is a chain lost though its side is to move, by a ladder or in a net?"""
    owner = position.at(stone)
    if owner is None:
        return True
    if position.liberties(stone) == 1:
        return position.is_caught_in_ladder(stone)
    if position.liberties(stone) > 2:
        return False
    return not any(gets_away(after, stone) for _, after in moves_of(position, owner))


def way_out(position: Position, stone: Point) -> Point | None:
    """The move by which a chain gets away with the most liberties; None if there is none."""
    owner = position.at(stone)
    if owner is None:
        return None
    found = {
        move: after.liberties(stone)
        for move, after in moves_of(position, owner)
        if gets_away(after, stone)
    }
    return max(found, key=lambda move: found[move], default=None)


def longest_run(position: Position, stone: Point) -> Point | None:
    """The move of a chain that is caught by which it has the most liberties; None if none helps.

    It gets out of atari, or captures what attacks it.
    """
    owner = position.at(stone)
    if owner is None:
        return None
    chain = position.chain(stone)
    liberties = {near for each in chain for near in neighbours(each, position.size)}
    taken = position.captured(owner.opponent)
    found = {
        move: after.liberties(stone)
        for move, after in moves_of(position, owner)
        if after.captured(owner.opponent) > taken
        or (move in liberties and after.at(stone) is owner and after.liberties(stone) > 1)
    }
    return max(found, key=lambda move: found[move], default=None)


def extension(position: Position, stone: Point) -> Point | None:
    """A legal move on a liberty of a chain; None if there is none."""
    owner = position.at(stone)
    chain = position.chain(stone)
    liberties = {near for each in chain for near in neighbours(each, position.size)}
    moves = () if owner is None else moves_of(position, owner)
    return next((move for move, _ in moves if move in liberties), None)


def attack(position: Position, stone: Point) -> Point | None:
    """A move against a chain after which it is lost; None if there is none."""
    owner = position.at(stone)
    if owner is None:
        return None
    for move, after in moves_of(position, owner.opponent):
        if after.at(stone) is None or is_caught(after, stone):
            return move
    return None


def in_atari(position: Position, color: Color) -> set[Point]:
    """The stones of a side whose chains have one liberty."""
    return {
        Point(x, y)
        for y in range(position.height)
        for x in range(position.width)
        if position.at((x, y)) is color and position.liberties((x, y)) == 1
    }


def moves_of(position: Position, color: Color) -> Iterator[tuple[Point, Position]]:
    """The legal moves of a side, with the positions after them."""
    for y in range(position.height):
        for x in range(position.width):
            if position.at((x, y)) is None:
                try:
                    yield Point(x, y), position.play((x, y), color)
                except IllegalMoveError:
                    continue
