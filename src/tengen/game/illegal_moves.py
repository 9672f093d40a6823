"""Exceptions for illegal moves, one for each reason."""

from __future__ import annotations

from tengen.game.color import Color


class IllegalMoveError(ValueError):
    """A move that the rules do not allow; the message names the move, the player and the reason."""

    why = "is not a move"

    def __init__(self, move: str, color: Color, move_number: int) -> None:
        super().__init__(move, color, move_number)
        self.move = move
        self.color = color
        self.move_number = move_number

    def __str__(self) -> str:
        return f"move {self.move_number}, {self.color} {self.move}: {self.why}"


class NotAMoveError(IllegalMoveError):
    """Text or a value that is neither a point nor a pass."""

    why = "not a move (write D4, or pass)"


class OffBoardError(IllegalMoveError):
    """A point that is not on this board."""

    why = "off the board"


class OccupiedError(IllegalMoveError):
    """The point has a stone."""

    why = "the point is occupied"


class SuicideError(IllegalMoveError):
    """The stone's chain would have no liberties, and the rules forbid suicide."""

    why = "suicide is not allowed"


class KoError(IllegalMoveError):
    """The move would retake a ko at once."""

    why = "the ko may not be retaken yet"


class SuperkoError(IllegalMoveError):
    """The move would repeat an earlier position of the whole board."""

    why = "it would repeat an earlier position (superko)"


class GameOverError(IllegalMoveError):
    """The game has ended."""

    why = "the game is over"
