"""Exceptions for illegal moves, one for each reason."""

from __future__ import annotations

import re

from tengen.game.color import Color


class IllegalMoveError(ValueError):
    """A move that the rules do not allow; the message names the move, the player and the reason."""

    why = "is not a move"

    def __init__(self, move: str, color: Color, move_number: int) -> None:
        super().__init__(move, color, move_number)
        self.move = move
        self.color = color
        self.move_number = move_number

    @property
    def reason(self) -> str:
        """The reason as a fixed word for programs, such as `not_a_move`."""
        name = type(self).__name__.removesuffix("Error")
        return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()

    def __str__(self) -> str:
        return f"move {self.move_number}, {self.color} {self.move}: {self.why}"


class NotAMoveError(IllegalMoveError):
    why = "not a move (write D4, or pass)"


class OffBoardError(IllegalMoveError):
    why = "off the board"


class OccupiedError(IllegalMoveError):
    why = "the point is occupied"


class SuicideError(IllegalMoveError):
    why = "suicide is not allowed"


class KoError(IllegalMoveError):
    why = "the ko may not be retaken yet"


class SuperkoError(IllegalMoveError):
    why = "it would repeat an earlier position (superko)"


class GameOverError(IllegalMoveError):
    why = "the game is over"
