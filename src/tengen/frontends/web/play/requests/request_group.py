"""Base class of a group of requests."""

from __future__ import annotations

from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.session import PlaySession


class Requests:
    """Its methods marked by `message` are what clients may ask a session for.

    All of them raise RefusedError for what cannot be.
    """

    def __init__(self, session: PlaySession) -> None:
        self.session = session

    @property
    def game(self) -> GameState:
        """The game that the session shows now."""
        return self.session.game
