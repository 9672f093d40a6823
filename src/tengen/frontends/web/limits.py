"""Limits on what clients may ask for, and the error that says why a request is refused."""

from __future__ import annotations

SMALLEST_BOARD, LARGEST_BOARD = 5, 19
MOST_HANDICAP = 9
UPLOAD_BYTES = 1_000_000  # of one SGF file
MESSAGE_BYTES = 4 * UPLOAD_BYTES  # JSON may write a character as several
BODY_BYTES = 64_000  # of a request that is no message: the moves of a game, and little else
GAME_BYTES = 2 * UPLOAD_BYTES  # of the text of one game with what was added to it
NODES = 20_000  # of one game's tree
LINE = 2_000  # nodes from the root to a leaf
MARKS = 50_000  # of one game that are shown
LINES = 200  # arrows and lines of one node that are shown
COMMENT_LENGTH = 20_000
LABEL_LENGTH = 4
CAPTURED = 9_999  # stones of a side in a position that is set up
VISITS = 100_000  # of an analysis of one position
MOVE_SECONDS = 300  # for one move of the program
REVIEW_VISITS = 2_000  # of a review, per position
REVIEW_TOTAL = 1_000_000  # of a review, in all
SESSIONS = 200  # in memory at a time
WAITING_MESSAGES = 2_000  # to a client that does not read them, before it is disconnected
WAITING_BYTES = 32_000_000  # the same, in bytes
NAME_LENGTH = 100  # of a game, as its player calls it
FILE_GAMES = 500  # of one file that are listed to choose from
PING_SECONDS = 20.0  # between signs of life, and for an answer before a WebSocket is closed
REQUEST_SECONDS = 20.0  # until a connection must have sent a request
LONG_TURN = 0.005  # seconds of processor time for a message; after more its client waits as long
LONGEST_CLOCK = 24 * 3600  # seconds


class RefusedError(ValueError):
    """A code that pages translate, a message in English, and data about it."""

    def __init__(
        self, code: str, message: str, *, request: int | None = None, **data: object
    ) -> None:
        """Clients may number requests: `request` is the number, where it is known."""
        super().__init__(message)
        self.code, self.request, self.data = code, request, data


def not_now(message: str, reason: str | None = None) -> RefusedError:
    """The refusal of a request that is not possible at this time; pages translate the reason."""
    return RefusedError("not_now", message, reason=reason)
