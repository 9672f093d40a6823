"""Why something that a client asked for cannot be."""

from __future__ import annotations

from tengen.game.illegal_moves import (
    GameOverError,
    IllegalMoveError,
    KoError,
    NotAMoveError,
    OccupiedError,
    OffBoardError,
    SuicideError,
    SuperkoError,
)

_REASONS = {
    NotAMoveError: "not_a_move",
    OffBoardError: "off_board",
    OccupiedError: "occupied",
    SuicideError: "suicide",
    KoError: "ko",
    SuperkoError: "superko",
    GameOverError: "game_over",
}


class RefusedError(ValueError):
    """A code that pages translate, a message for people, and what the message is about."""

    def __init__(self, code: str, message: str, **data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def illegal(error: IllegalMoveError) -> RefusedError:
    """The refusal of a move that the rules do not allow."""
    reason = _REASONS.get(type(error), "not_a_move")
    return RefusedError(
        "illegal_move", f"{error.move}: {error.why}", reason=reason, move=error.move
    )


def not_now(message: str) -> RefusedError:
    """The refusal of something that makes sense at other times."""
    return RefusedError("not_now", message)
