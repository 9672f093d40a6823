"""Requests about records: open one, walk and edit its tree, list its boards."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Literal

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.client_messages import (
    CapturedCount,
    CommentText,
    FileContent,
    GameNumber,
    LabelText,
    MarkKind,
    NodeId,
    PointText,
    message,
)
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_tree import GameTree, Stone, named_point, opened_tree
from tengen.frontends.web.play.liberties import liberties_of
from tengen.frontends.web.play.requests.request_group import Requests
from tengen.frontends.web.play.server_messages import board_view
from tengen.game.color import parse_color


class RecordRequests(Requests):
    @message
    async def open(
        self,
        sgf: str | None = None,
        file: FileContent | None = None,
        game: GameNumber | None = None,
    ) -> None:
        """Open a record: a text, or the bytes of a file in base64, which may hold several games."""
        try:
            data = (sgf or "") if file is None else base64.b64decode(file, validate=True)
        except binascii.Error:
            raise RefusedError("bad_message", "file: not base64", field="file") from None
        found = await asyncio.to_thread(opened_tree, data, game)
        if isinstance(found, GameTree):
            self.session.replace(GameState(found))
            await self.session.show_all()
        else:
            self.session.send({"type": "file_games", "games": [each._asdict() for each in found]})

    @message
    async def go(self, node: NodeId) -> None:
        self.game.go(node)
        self.session.changed()

    @message
    async def add(self, node: NodeId, move: PointText) -> None:
        self.session.show_if_new(*self.game.add(node, move))
        self.session.changed()

    @message
    async def remove(self, node: NodeId) -> None:
        self.session.send({"type": "removed", "node": self.game.remove(node).id})
        self.session.changed()

    @message
    async def promote(self, node: NodeId) -> None:
        self.game.promote(node)
        self.session.save()
        await self.session.show_all()

    @message
    async def set_up(self, node: NodeId, point: PointText, stone: Stone) -> None:
        self.session.show_node(self.game.set_up(node, point, stone)[0])
        self.session.changed()

    @message
    async def set_turn(self, node: NodeId, colour: Literal["black", "white"]) -> None:
        self.session.show_node(self.game.set_turn(node, parse_color(colour))[0])
        self.session.changed()

    @message
    async def set_captured(self, node: NodeId, black: CapturedCount, white: CapturedCount) -> None:
        """So many stones of Black and of White were captured before this node."""
        self.session.show_node(self.game.set_captured(node, black, white)[0])
        self.session.changed()

    @message
    async def comment(self, node: NodeId, text: CommentText) -> None:
        self.session.annotated(self.game.tree.set_comment(node, text))

    @message
    async def mark(
        self, node: NodeId, point: PointText, kind: MarkKind | None, label: LabelText | None = None
    ) -> None:
        self.session.annotated(self.game.tree.set_mark(node, point, kind, label))

    @message
    async def boards(self) -> None:
        tree = self.game.tree
        line = tree.along(self.game.at.last())
        self.session.send({"type": "boards", "boards": [board_view(tree, *each) for each in line]})

    @message
    async def liberties(self, point: PointText) -> None:
        position = self.game.position
        chosen = named_point(position, point)
        chain, free = liberties_of(position, chosen)
        told = {"stones": len(chain), "liberties": len(free)}
        self.session.send({"type": "liberties", "point": position.text(chosen), **told})
