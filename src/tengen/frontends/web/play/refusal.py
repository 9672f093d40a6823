"""Why a request of a client is refused."""

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
    """A code that pages translate, a message in English, and data about it."""

    def __init__(self, code: str, message: str, **data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def illegal(error: IllegalMoveError) -> RefusedError:
    """The refusal of an illegal move."""
    reason = _REASONS.get(type(error), "not_a_move")
    return RefusedError(
        "illegal_move", f"{error.move}: {error.why}", reason=reason, move=error.move
    )


def not_now(message: str) -> RefusedError:
    """The refusal of a request that is not possible at this time."""
    return RefusedError("not_now", message)
