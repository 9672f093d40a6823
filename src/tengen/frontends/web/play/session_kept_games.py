"""What a session does with its player's kept games: list, open, rename, delete, rate."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.even_games import (
    PlayedGame,
    even_terms,
    read_results,
    result_of,
    strength_view,
    write_results,
)
from tengen.frontends.web.play.game_snapshot import restored_game, saved_game
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_store import GAME_ID, NEARLY_FULL, GameKey, GameStore, KeptGame
from tengen.frontends.web.play.server_messages import Json
from tengen.game.position import Position

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession


class KeptGames:
    """Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession, player: str, game_store: GameStore) -> None:
        self._session, self.player, self._game_store = session, player, game_store

    def key(self, game: str) -> GameKey:
        """The key of one of the player's games; raises RefusedError for what is no id."""
        if not GAME_ID.fullmatch(game):
            raise RefusedError("unknown_game", "there is no such game", game=game[:64])
        return GameKey(self.player, game)

    async def view(self) -> Json:
        """The list of games as pages are told it."""
        games = await asyncio.wrap_future(self._game_store.games(self.player))
        return {
            "type": "games",
            "player": self.player,
            "games": [self._game_view(each) for each in games],
            "room": self.room(),
        }

    def room(self) -> Json:
        """How much room for games is used; where it is nearly full, people are told before."""
        used = self._game_store.share_used
        return {
            "megabytes": round(self._game_store.most_bytes / 1e6),
            "used": round(used, 3),
            "nearly_full": used >= NEARLY_FULL,
        }

    def _game_view(self, kept: KeptGame) -> Json:
        card = kept.card
        return {
            "id": kept.id,
            "changed": round(kept.changed),
            "current": kept.id == self._session.game.id,
            "name": card.name,
            "players": {"black": card.black, "white": card.white},
            "you": card.you,
            "level": card.level,
            "size": card.size,
            "moves": card.moves,
            "stones": card.stones if len(card.stones) == card.size**2 else "." * card.size**2,
            "result": card.result,
            "under_way": card.under_way,
        }

    async def load(self, game: str) -> GameState:
        """A kept game; raises RefusedError if there is none."""
        saved = await asyncio.to_thread(self._game_store.load_game, self.key(game))
        found = None if saved is None else await asyncio.to_thread(restored_game, saved)
        if found is None:
            raise RefusedError("unknown_game", "there is no such game", game=game)
        found.id = game
        return found

    async def rename(self, game: str, name: str) -> None:
        """Give a game a name, or an empty one to remove it; raises RefusedError."""
        found = await self.load(game)
        found.name = name.strip()
        await asyncio.wrap_future(self._game_store.write(self.key(game), saved_game(found)))

    async def delete(self, game: str) -> None:
        """Delete a game; raises RefusedError for what is no id."""
        await asyncio.wrap_future(self._game_store.delete(self.key(game)))

    # Results

    async def _all_results(self) -> list[PlayedGame]:
        return read_results(
            await asyncio.wrap_future(self._game_store.notes(self.player, "results"))
        )

    def note_result(self, game: GameState) -> None:
        """Note how a game ended, replacing an earlier note; without a result remove the note."""
        found = result_of(game, time.strftime("%Y-%m-%d"))
        id_ = game.id

        def change(content: bytes) -> bytes | None:
            results = read_results(content)
            others = [each for each in results if each.game != id_]
            if found is None and len(others) == len(results):
                return None
            return write_results(others if found is None else [*others, found])

        self._game_store.change_notes(self.player, "results", change)

    async def strength(self, size: int, rules: str) -> Json:
        """The player's strength on a board, and the terms of an even game, for pages."""
        engine = self._session.loader.engine_if_ready
        network = "" if engine is None else engine.name_for(Position(size))
        results = await self._all_results()
        return {"type": "strength", **strength_view(results, size, rules, network)}

    async def made_even(self, wanted: NewGame) -> NewGame:
        """The terms of a new game with colour, level, handicap and komi for even chances."""
        results, wish = await self._all_results(), wanted.colour
        colour = wish if wish in ("black", "white") else None
        terms = even_terms(results, wanted.size, wanted.rules, colour)
        return wanted.model_copy(update=terms._asdict())
