"""Requests about a player's kept games: list, open, rename, delete, and their strength."""

from __future__ import annotations

from tengen.frontends.web.limits import not_now
from tengen.frontends.web.play.client_messages import BoardSide, GameId, GameName, message
from tengen.frontends.web.play.requests.request_group import Requests


class KeptGameRequests(Requests):
    @message
    async def games(self) -> None:
        self.session.send(await self.session.kept.view())

    @message
    async def open_game(self, game: GameId) -> None:
        key = self.session.kept.key(game)
        if game != self.game.id:
            self.session.take_over(key, self.session)
            self.session.replace(await self.session.kept.load(game))
        await self.session.go_on_with_it()

    @message
    async def rename_game(self, game: GameId, name: GameName) -> None:
        if game == self.game.id:
            self.game.name = name.strip()
            self.session.save()
        else:
            await self.session.kept.rename(game, name)
        self.session.send(await self.session.kept.view())

    @message
    async def delete_game(self, game: GameId) -> None:
        if game == self.game.id:
            raise not_now("this game is on the board: begin another one first", "on_board")
        self.session.take_over(self.session.kept.key(game), self.session)
        await self.session.kept.delete(game)
        self.session.send(await self.session.kept.view())

    @message
    async def strength(self, size: BoardSide, rules: str = "chinese") -> None:
        self.session.send(await self.session.kept.strength(size, rules))
