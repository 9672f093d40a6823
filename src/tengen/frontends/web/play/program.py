"""What the program does in a session's game: it moves, counts, hints and judges moves."""

from __future__ import annotations

import asyncio
import secrets
from functools import partial
from typing import TYPE_CHECKING

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.analysis import find_dead_stones, find_hints, hints_of, judge_move
from tengen.frontends.web.play.game_state import opponent_named
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.server_messages import error_view, known_from, moves_view
from tengen.game.geometry import Point
from tengen.game.position import Position

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession

WATCHED_MOVE = 0.8  # seconds that a move takes at least when the program plays itself


class Program:
    """The program's part in the game of a session. Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession, answering: asyncio.Lock) -> None:
        """All sessions share the lock `answering`: see PlaySession."""
        self._session, self._answering = session, answering

    def go_on(self) -> None:
        """Do what is due: move, look for dead stones, analyse."""
        session, game, tasks = self._session, self._session.game, self._session.tasks
        if not session.loader.ready:
            return
        if not game.bot_to_move:
            tasks.cancel("move")
        elif not tasks.running("move"):
            tasks.start("move", self._think, self.failed)
        if game.phase == "counting" and game.dead_unknown and not tasks.running("count"):
            count = partial(self._count, game.position)
            tasks.start("count", count, lambda _: self._propose_dead(frozenset()))
        if session.live.on:
            session.live.follow()

    def hint(self) -> None:
        """Look for good moves for the person."""
        self._session.tasks.start("hint", self._find_hints, self.failed)

    def judge(self, before: Position, node: TreeNode, told_from: float) -> None:
        """Say how many points the person's move lost, where the network knows such games."""
        judge = partial(self._judge, before, node, told_from)
        self._session.tasks.start("judge", judge, lambda _: None)

    def failed(self, what: str) -> None:
        """Tell the client what went wrong in the engine."""
        self._session.send(error_view(RefusedError("engine_failed", what)))
        self._session.show_position()

    async def _think(self) -> None:
        """Move, pass or resign for the program, as long as it is its turn.

        Where it plays itself, it does so as long as somebody looks on.
        """
        session = self._session
        while session.game.bot_to_move and (session.connected or session.game.you != "neither"):
            await self._move()

    async def _move(self) -> None:
        session, game = self._session, self._session.game
        position, loop = game.position, asyncio.get_running_loop()
        assert game.level is not None
        level, seconds = opponent_named(game.level)
        if game.clock is not None:
            area, number = position.size.area, position.move_number
            allowed = game.clock.thinking_time(position.to_play, area, number)
            seconds = min(filter(None, (seconds, allowed)), default=None)
        begun, seed = loop.time(), secrets.randbelow(2**31)
        decision = await session.loader.engine.decide_async(
            position, level, seed, seconds=seconds, owner=session.id
        )
        if game.you == "neither":  # people want to see it
            await asyncio.sleep(begun + WATCHED_MOVE - loop.time())
        await self._answering.acquire()
        loop.call_soon(self._answering.release)  # after the loop has looked for messages
        if not game.bot_to_move:
            return
        session.live.note([(game.end.id, known_from(decision.result))])
        if decision.resign:
            game.resign(game.bot)
        else:
            session.show_if_new(*game.play(position.text(decision.move)))
        session.changed()

    async def _judge(self, before: Position, node: TreeNode, told_from: float) -> None:
        session = self._session
        engine = session.loader.engine
        if engine.unfamiliar(before) is not None:
            return
        after = session.game.tree.position(node)
        lost, best = await judge_move(engine, before, after, session.id)
        view = {"loss": round(lost, 1), "told": lost >= told_from, "best": before.text(best.move)}
        session.send({"type": "taught", "node": node.id, **view})

    async def _count(self, position: Position) -> None:
        session = self._session
        self._propose_dead(await find_dead_stones(session.loader.engine, position, session.id))

    def _propose_dead(self, dead: frozenset[Point]) -> None:
        game = self._session.game
        if game.phase == "counting" and game.dead_unknown:
            game.propose_dead(dead)
            self._session.changed()

    async def _find_hints(self) -> None:
        session = self._session
        node = session.game.at.id
        found = await find_hints(session.loader.engine, session.game.position, session.id)
        moves = moves_view(hints_of(found), found.position)
        session.send({"type": "hint", "node": node, "moves": moves})
