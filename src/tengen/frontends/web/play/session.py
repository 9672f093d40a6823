"""One player's session: what a client says, what it does to the table, and what comes of it."""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tengen.engine.levels import Decision
from tengen.frontends.web.http.outbox import Outbox
from tengen.frontends.web.play import messages
from tengen.frontends.web.play.autosave import Autosave
from tengen.frontends.web.play.engine_room import EngineRoom
from tengen.frontends.web.play.errands import Errands
from tengen.frontends.web.play.game_tree import TreeNode, opened_tree
from tengen.frontends.web.play.judgements import graph_view, known_from, moves_view
from tengen.frontends.web.play.live import Live, Place
from tengen.frontends.web.play.opponent import decide, look_for_dead_stones, look_for_hints
from tengen.frontends.web.play.refusal import RefusedError, not_now
from tengen.frontends.web.play.reviews import Reviews
from tengen.frontends.web.play.snapshot import saved_table
from tengen.frontends.web.play.table import Table, new_table, opened_table
from tengen.frontends.web.play.views import Json, count_view, game_view, node_view, position_view
from tengen.game.geometry import Point

LARGE = 1_000  # nodes from which a tree is written and shown in a thread, and less often
LARGE_PAUSE = 1.0  # seconds between two times


class Session:
    """Belongs to the event loop: all methods are called there."""

    def __init__(self, id_: str, table: Table, room: EngineRoom, autosave: Autosave) -> None:
        self.id, self.table = id_, table
        self._room, self._autosave = room, autosave
        self._loop = asyncio.get_running_loop()
        self._errands = Errands(room, id_, self._loop)
        self._live = Live(room, self._errands, lambda: self._outbox)
        self.reviews = Reviews(self._errands, self._live, self.send)
        self._outbox: Outbox | None = None
        self._request: int | None = None  # the message that is being answered
        self._saving: Future[None] | None = None
        self._save_later: asyncio.TimerHandle | None = None
        self._flag: asyncio.TimerHandle | None = None
        self.last_used = time.monotonic()
        self._handlers: dict[type[messages.Message], Callable[[Any], None]] = {
            messages.NewGame: self._new_game,
            messages.Play: self._play,
            messages.Undo: lambda _: self._take_out(self.table.undo()),
            messages.Resign: self._resign,
            messages.Hint: self._hint,
            messages.MarkDead: self._mark_dead,
            messages.AcceptCount: self._accept_count,
            messages.Resume: lambda _: self._take_out(self.table.resume()),
            messages.Go: self._go,
            messages.Add: self._add,
            messages.Remove: self._remove,
            messages.Comment: self._comment,
            messages.Mark: self._mark,
            messages.SetMode: self._set_mode,
            messages.Analyse: self._analyse,
            messages.Review: self._review,
            messages.StopReview: lambda _: self.reviews.stop(),
            messages.Better: self._better,
            messages.Ping: lambda _: self.send({"type": "pong"}),
        }

    # The client

    @property
    def connected(self) -> bool:
        return self._outbox is not None

    async def attach(self, outbox: Outbox, welcome: Json) -> None:
        """Serve a client that has come: show it all, and go on."""
        self._outbox = outbox
        self.last_used = time.monotonic()
        self._run_clock()
        self.send(welcome)
        await self._show_all()
        self._go_on()

    def detach(self, outbox: Outbox) -> None:
        """The client is gone; the clock stops, and what it alone looked at."""
        if self._outbox is not outbox:
            return
        self._outbox = None
        self.last_used = time.monotonic()
        self._live.stop()
        self.reviews.stop()
        self._errands.drop("hint")
        if self.table.clock is not None:
            self.table.clock.run(None)
        self._watch_flag()
        if self._save_later is not None:
            self._save_now()

    def close(self) -> None:
        """End all that goes on for it."""
        if self._outbox is not None:
            self._outbox.close()
            self.detach(self._outbox)
        self._live.stop()
        self._errands.drop_all()
        for timer in (self._flag, self._save_later):
            if timer is not None:
                timer.cancel()

    def send(self, message: Json, key: str | None = None) -> None:
        """Tell the client, if there is one, once what it is told of has been saved."""
        if self._outbox is not None:
            self._outbox.put(message, key, self._saving)

    def network_ready(self, info: Json) -> None:
        """Go on with what waited for the network."""
        self.send({"type": "info", **info})
        self._go_on()
        self._show_position()

    async def take(self, message: messages.ClientMessage) -> None:
        """Do what a message asks for; raises RefusedError."""
        self.last_used = time.monotonic()
        if isinstance(message, messages.Open):
            tree = await asyncio.to_thread(opened_tree, message.sgf)
            self._replace(opened_table(tree))
            await self._show_all()
        elif (handler := self._handlers.get(type(message))) is not None:
            handler(message)
        else:
            raise not_now("a session says hello once")

    async def _show_all(self) -> None:
        table = self.table
        if len(table.tree.nodes) > LARGE:
            game = await asyncio.to_thread(game_view, table)
            if self.table is not table:
                return
        else:
            game = game_view(table)
        self.send(game)
        self._show_position()
        if self._live.known:
            self.send(graph_view(self._live.known.items()))

    def _show_position(self) -> None:
        table = self.table
        self.send(position_view(table, ready=self._room.ready))
        counted = table.phase == "counting" and not table.dead_unknown
        if counted or (table.phase == "over" and table.position.is_over):
            self.send(count_view(table))

    def _show_node(self, node: TreeNode) -> None:
        self.send({"type": "node", **node_view(self.table.tree, node)})

    # What follows from a change

    def _changed(self) -> None:
        """The table is another: save it, show it, and go on."""
        self._save()
        self._run_clock()
        self._show_position()
        self._go_on()

    def _save(self) -> None:
        if len(self.table.tree.nodes) <= LARGE:
            self._save_now()
        elif self._save_later is None:
            self._save_later = self._loop.call_later(LARGE_PAUSE, self._save_now)

    def _save_now(self) -> None:
        if self._save_later is not None:
            self._save_later.cancel()
            self._save_later = None
        self._saving = self._autosave.save(self.id, saved_table(self.table))

    def _go_on(self) -> None:
        """Do what is the program's to do: move, look for dead stones, analyse."""
        self._run_clock()
        table = self.table
        if not self._room.ready:
            return
        if table.bot_to_move:
            self._think()
        else:
            self._errands.drop("move")
        if table.phase == "counting" and table.dead_unknown:
            self._look_for_dead()
        if self._live.on:
            self._follow()

    def _run_clock(self) -> None:
        table = self.table
        if table.clock is not None:
            runs = self.connected and table.phase == "playing" and self._room.ready
            table.clock.run(table.position.to_play if runs else None)
        self._watch_flag()

    def _watch_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        clock = self.table.clock
        if clock is not None and (left := clock.seconds_to_flag()) < math.inf:
            self._flag = self._loop.call_later(left + 0.001, self._flag_falls)

    def _flag_falls(self) -> None:
        self._flag = None
        clock = self.table.clock
        if clock is None or clock.running is None:
            return
        if not clock.fallen(clock.running):
            self._watch_flag()
            return
        self._errands.drop("move")
        self.table.lose_on_time(clock.running)
        self._changed()

    # The program's part

    def _think(self) -> None:
        table = self.table
        if self._errands.busy("move"):
            return
        position, level = table.position, table.level
        assert level is not None
        seconds = None
        if table.clock is not None:
            area, number = position.size.area, position.move_number
            seconds = table.clock.thinking_time(position.to_play, area, number)
        seed = secrets.randbelow(2**31)
        self._errands.do(
            "move",
            lambda desk: decide(desk, position, level, seed, seconds),
            self._bot_moves,
            self._bot_failed,
        )

    def _bot_moves(self, decision: Decision) -> None:
        table = self.table
        if not table.bot_to_move:
            return
        self._live.note([(table.end.id, known_from(decision.result))])
        if decision.resign:
            table.resign(table.bot)
        else:
            node, new = table.play(table.position.text(decision.move))
            if new:
                self._show_node(node)
        self._changed()

    def _bot_failed(self, what: str) -> None:
        self.send({"type": "error", "request": None, "code": "engine_failed", "message": what})
        self._show_position()

    def _look_for_dead(self) -> None:
        table, position = self.table, self.table.position

        def propose(dead: frozenset[Point]) -> None:
            if self.table is table and table.phase == "counting" and table.dead_unknown:
                table.propose_dead(dead)
                self._changed()

        if not self._errands.busy("count"):
            self._errands.do(
                "count",
                lambda desk: look_for_dead_stones(desk, position),
                propose,
                lambda _: propose(frozenset()),
            )

    def _follow(self) -> None:
        """Analyse where one is, and the line through it."""
        tree, at = self.table.tree, self.table.at
        line = [Place(node.id, position) for node, position in tree.along(at.last())]
        self._live.follow(Place(at.id, tree.position(at)), line)

    # What clients ask for

    def _new_game(self, message: messages.NewGame) -> None:
        self._replace(new_table(message))
        self.send(game_view(self.table))
        self._changed()

    def _replace(self, table: Table) -> None:
        """Put another game on the table; the one before is kept if it was played."""
        before = self.table
        if before.you is not None and before.end.parent is not None:
            self._autosave.put_away(before.tree.sgf())
        self._errands.drop_all()
        self._live.forget()
        self.reviews.forget()
        self.table = table
        self._save()

    def _play(self, message: messages.Play) -> None:
        if self.table.bot_to_move:
            raise RefusedError("not_your_turn", "it is the opponent's move")
        node, new = self.table.play(message.move)
        if new:
            self._show_node(node)
        self._changed()

    def _take_out(self, node: TreeNode) -> None:
        self._errands.drop("move")
        self._errands.drop("count")
        self.reviews.forget()
        self.send({"type": "removed", "node": node.id})
        self._changed()

    def _resign(self, _: messages.Resign) -> None:
        self.table.resign()
        self._changed()

    def _hint(self, _: messages.Hint) -> None:
        self._need_network()
        position, node = self.table.position, self.table.at.id
        if not self.table.yours_to_move:
            raise RefusedError("not_your_turn", "hints are for your own moves")
        self._errands.do(
            "hint",
            lambda desk: look_for_hints(desk, position),
            lambda found: self.send(
                {"type": "hint", "node": node, "moves": moves_view(found.moves, found.position)}
            ),
            self._bot_failed,
        )

    def _mark_dead(self, message: messages.MarkDead) -> None:
        self.table.mark_dead(message.point)
        self._errands.drop("count")
        self._changed()

    def _accept_count(self, _: messages.AcceptCount) -> None:
        self.table.accept_count()
        self._errands.drop("count")
        self._changed()

    def _go(self, message: messages.Go) -> None:
        self.table.go(message.node)
        self._changed()

    def _add(self, message: messages.Add) -> None:
        node, new = self.table.add(message.node, message.move)
        if new:
            self._show_node(node)
        self._changed()

    def _remove(self, message: messages.Remove) -> None:
        node = self.table.remove(message.node)
        self.send({"type": "removed", "node": node.id})
        self._changed()

    def _comment(self, message: messages.Comment) -> None:
        node = self.table.tree.node(message.node)
        self.table.tree.set_comment(node, message.text)
        self._save()
        self._show_node(node)

    def _mark(self, message: messages.Mark) -> None:
        node = self.table.tree.node(message.node)
        self.table.tree.set_mark(node, message.point, message.kind, message.label)
        self._save()
        self._show_node(node)

    def _set_mode(self, message: messages.SetMode) -> None:
        self.table.set_mode(message.mode)
        if message.mode == "play":
            self._live.stop()
        self._changed()

    def _analyse(self, message: messages.Analyse) -> None:
        if not message.on:
            self._live.stop()
            return
        if self.table.phase == "playing" and self.table.bot is not None:
            raise not_now("during a game against the program there is no analysis, only hints")
        self._follow()

    def _review(self, message: messages.Review) -> None:
        self._need_network()
        self.reviews.begin(self.table, message.visits)

    def _better(self, _: messages.Better) -> None:
        self._need_network()
        if self.table.result is None:
            raise not_now("what was better is told after the game")
        self.reviews.begin_better(self.table)

    def _need_network(self) -> None:
        if not self._room.ready:
            raise RefusedError("not_ready", "the network is still being loaded")
