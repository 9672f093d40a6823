"""Requests in a game that is played: moves, hints, the end, the count."""

from __future__ import annotations

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.client_messages import LevelId, NewGame, NodeId, PointText, message
from tengen.frontends.web.play.game_state import USUAL_LEVEL, Mode, new_game_state
from tengen.frontends.web.play.requests.request_group import Requests
from tengen.frontends.web.play.server_messages import game_view


class PlayingRequests(Requests):
    async def begin(self, wanted: NewGame) -> None:
        """Begin a new game."""
        if wanted.even:
            wanted = await self.session.kept.made_even(wanted)
        self.session.replace(new_game_state(wanted))
        self.session.send(game_view(self.game))
        self.session.changed()

    @message
    async def play(self, move: PointText) -> None:
        if self.game.bot_to_move:
            raise RefusedError("not_your_turn", "it is the opponent's move")
        before, game = self.game.position, self.game
        node, new = game.play(move)
        self.session.show_if_new(node, new)
        self.session.changed()
        if game.teach is not None and game.phase == "playing" and self.session.loader.ready:
            self.session.program.judge(before, node, game.teach)

    @message
    async def undo(self) -> None:
        node = self.game.undo()
        if node is None:
            self.session.changed()
        else:
            self.session.taken_back(node)

    @message
    async def resign(self) -> None:
        self.game.resign()
        self.session.changed()

    @message
    async def hint(self) -> None:
        self.session.need_network()
        if not self.game.yours_to_move:
            raise RefusedError("not_your_turn", "hints are for your own moves")
        self.session.program.hint()

    @message
    async def mark_dead(self, point: PointText) -> None:
        self.game.mark_dead(point)
        self.session.tasks.cancel("count")
        self.session.changed()

    @message
    async def accept_count(self) -> None:
        self.game.accept_count()
        self.session.tasks.cancel("count")
        self.session.changed()

    @message
    async def resume(self) -> None:
        self.session.taken_back(self.game.resume())

    @message
    async def set_mode(self, mode: Mode) -> None:
        self.game.set_mode(mode)
        if mode == "play":
            self.session.live.stop()
        self.session.changed()

    @message
    async def play_on(self, node: NodeId, level: LevelId | None = None) -> None:
        if level is None:
            size = self.game.position.width
            level = (await self.session.kept.made_even(NewGame(size=size, colour="either"))).level
        self.session.replace(self.game.played_on_from(node, level or USUAL_LEVEL))
        await self.session.go_on_with_it()

    @message
    async def ping(self) -> None:
        self.session.send({"type": "pong"})
