"""One client's session: its game, what it is shown, and what the program does in the game.

What clients ask for is in client_messages.py; a session does what follows from it: saves the game,
shows it, runs the clock, has the program move, count or analyse.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from concurrent.futures import Executor, Future

from tengen.engine.levels import Decision, level_named
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.play.autosave import Autosave, saved_game
from tengen.frontends.web.play.client_messages import ClientMessage, NewGame
from tengen.frontends.web.play.game_state import GameState, new_game_state
from tengen.frontends.web.play.game_tree import TreeNode, opened_tree
from tengen.frontends.web.play.live_analysis import LiveAnalysis, Place
from tengen.frontends.web.play.outbox import Outbox
from tengen.frontends.web.play.refusal import RefusedError
from tengen.frontends.web.play.reviews import Reviews
from tengen.frontends.web.play.searches import find_dead_stones, find_hints
from tengen.frontends.web.play.server_messages import (
    Json,
    count_view,
    game_view,
    graph_view,
    known_from,
    moves_view,
    node_view,
    position_view,
)
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.game.geometry import Point
from tengen.search.result import SearchResult

LARGE = 1_000  # nodes from which a tree is saved less often, and shown from a thread
LARGE_PAUSE = 1.0  # seconds between two saves of a large tree


class PlaySession:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(
        self,
        id_: str,
        game: GameState,
        loader: EngineLoader,
        reviewers: Executor,
        autosave: Autosave,
    ) -> None:
        self.id, self.game = id_, game
        self._loader, self._autosave = loader, autosave
        self._loop = asyncio.get_running_loop()
        self._tasks = SessionTasks()
        self._live = LiveAnalysis(loader, id_, self._tasks, self.send)
        self.reviews = Reviews(loader, id_, reviewers, self._tasks, self._live, self.send)
        self._outbox: Outbox | None = None
        self._saving: Future[None] | None = None
        self._save_later: asyncio.TimerHandle | None = None
        self._flag: asyncio.TimerHandle | None = None
        self.last_used = time.monotonic()

    # The client

    @property
    def connected(self) -> bool:
        return self._outbox is not None

    async def attach(self, outbox: Outbox, welcome: Json) -> None:
        """Serve a client that has connected: show it everything."""
        self._outbox = outbox
        self.last_used = time.monotonic()
        self._run_clock()
        self.send(welcome)
        await self._show_all()
        self._go_on()

    def detach(self, outbox: Outbox) -> None:
        """The client is gone: stop its clock, analysis, review and hint, not the program's move."""
        if self._outbox is not outbox:
            return
        self._outbox = None
        self.last_used = time.monotonic()
        self._live.stop()
        self.reviews.stop()
        self._tasks.cancel("hint")
        if self.game.clock is not None:
            self.game.clock.run(None)
        self._watch_flag()
        if self._save_later is not None:
            self._save_now()

    def close(self) -> None:
        """End all work for it."""
        if self._outbox is not None:
            self._outbox.close()
            self.detach(self._outbox)
        self._live.stop()
        self._tasks.cancel_all()
        for timer in (self._flag, self._save_later):
            if timer is not None:
                timer.cancel()

    def send(self, message: Json, key: str | None = None) -> None:
        """Send to the client, if connected, after the state that the message describes is saved."""
        if self._outbox is not None:
            self._outbox.put(message, key, self._saving)

    def network_ready(self, info: Json) -> None:
        """The network is loaded: tell the client, and let the program act."""
        self.send({"type": "info", **info})
        self._go_on()
        self._show_position()

    async def receive(self, message: ClientMessage) -> None:
        """Do what a message asks for; raises RefusedError."""
        self.last_used = time.monotonic()
        await message.apply(self)

    async def _show_all(self) -> None:
        game = self.game
        if len(game.tree.nodes) > LARGE:
            view = await asyncio.to_thread(game_view, game)
            if self.game is not game:
                return
        else:
            view = game_view(game)
        self.send(view)
        self._show_position()
        if self._live.known:
            self.send(graph_view(self._live.known.items()))

    def _show_position(self) -> None:
        game = self.game
        self.send(position_view(game, ready=self._loader.ready))
        counted = game.phase == "counting" and not game.dead_unknown
        if counted or (game.phase == "over" and game.position.is_over):
            self.send(count_view(game))

    def show_if_new(self, node: TreeNode, new: bool) -> None:
        """Tell the client of a node that was added to the tree."""
        if new:
            self._show_node(node)

    def _show_node(self, node: TreeNode) -> None:
        self.send({"type": "node", **node_view(self.game.tree, node)})

    # Changes of the game

    def begin(self, wanted: NewGame) -> None:
        """Begin a new game; raises RefusedError for terms that cannot be."""
        self._replace(new_game_state(wanted))
        self.send(game_view(self.game))
        self.changed()

    async def open(self, sgf: str) -> None:
        """Show a game record; raises RefusedError if it cannot be read."""
        tree = await asyncio.to_thread(opened_tree, sgf)
        self._replace(GameState(tree))
        await self._show_all()

    def _replace(self, game: GameState) -> None:
        """Put another game in place; the old one is archived if it was played."""
        before = self.game
        if before.you is not None and before.end.parent is not None:
            self._autosave.archive(before.tree.sgf())
        self._tasks.cancel_all()
        self._live.forget()
        self.reviews.forget()
        self.game = game
        self._save()

    def taken_back(self, node: TreeNode) -> None:
        """Moves of the game, from this node on, were taken back."""
        self._tasks.cancel("move", "count")
        self.reviews.forget()
        self.send({"type": "removed", "node": node.id})
        self.changed()

    def dead_stones_decided(self) -> None:
        """The player has said which stones are dead."""
        self._tasks.cancel("count")
        self.changed()

    def annotated(self, node: TreeNode) -> None:
        """The comment or the marks of a node have changed."""
        self._save()
        self._show_node(node)

    def changed(self) -> None:
        """The position or the phase has changed: save, show, and let the program act."""
        self._save()
        self._run_clock()
        self._show_position()
        self._go_on()

    def _save(self) -> None:
        if len(self.game.tree.nodes) <= LARGE:
            self._save_now()
        elif self._save_later is None:
            self._save_later = self._loop.call_later(LARGE_PAUSE, self._save_now)

    def _save_now(self) -> None:
        if self._save_later is not None:
            self._save_later.cancel()
            self._save_later = None
        self._saving = self._autosave.save(self.id, saved_game(self.game))

    def _go_on(self) -> None:
        """Let the program do what is due: move, look for dead stones, analyse."""
        self._run_clock()
        game = self.game
        if not self._loader.ready:
            return
        if game.bot_to_move:
            self._think()
        else:
            self._tasks.cancel("move")
        if game.phase == "counting" and game.dead_unknown:
            self._look_for_dead()
        if self._live.on:
            self._follow()

    def _run_clock(self) -> None:
        game = self.game
        if game.clock is not None:
            runs = self.connected and game.phase == "playing" and self._loader.ready
            game.clock.run(game.position.to_play if runs else None)
        self._watch_flag()

    def _watch_flag(self) -> None:
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        clock = self.game.clock
        if clock is not None and (left := clock.seconds_to_flag()) < math.inf:
            self._flag = self._loop.call_later(left + 0.001, self._flag_falls)

    def _flag_falls(self) -> None:
        self._flag = None
        clock = self.game.clock
        if clock is None or clock.running is None:
            return
        if not clock.fallen(clock.running):
            self._watch_flag()
            return
        self._tasks.cancel("move")
        self.game.lose_on_time(clock.running)
        self.changed()

    # The program

    def _think(self) -> None:
        game = self.game
        if self._tasks.running("move"):
            return
        position, level = game.position, game.level
        assert level is not None
        seconds = None
        if game.clock is not None:
            area, number = position.size.area, position.move_number
            seconds = game.clock.thinking_time(position.to_play, area, number)
        seed = secrets.randbelow(2**31)
        work = self._loader.engine.decide_async(
            position, level_named(level), seed, seconds=seconds, owner=self.id
        )
        self._tasks.start("move", work, self._bot_moves, self._search_failed)

    def _bot_moves(self, decision: Decision) -> None:
        game = self.game
        if not game.bot_to_move:
            return
        self._live.note([(game.end.id, known_from(decision.result))])
        if decision.resign:
            game.resign(game.bot)
        else:
            self.show_if_new(*game.play(game.position.text(decision.move)))
        self.changed()

    def _search_failed(self, what: str) -> None:
        self.send({"type": "error", "request": None, "code": "engine_failed", "message": what})
        self._show_position()

    def _look_for_dead(self) -> None:
        game, position = self.game, self.game.position

        def propose(dead: frozenset[Point]) -> None:
            if self.game is game and game.phase == "counting" and game.dead_unknown:
                game.propose_dead(dead)
                self.changed()

        if not self._tasks.running("count"):
            work = find_dead_stones(self._loader.engine, position, self.id)
            self._tasks.start("count", work, propose, lambda _: propose(frozenset()))

    def _follow(self) -> None:
        """Analyse the node shown, and the line through it for the graph."""
        tree, at = self.game.tree, self.game.at
        line = [Place(node.id, position) for node, position in tree.along(at.last())]
        self._live.follow(Place(at.id, tree.position(at)), line)

    def analyse(self, on: bool) -> None:
        """Analyse the node shown from now on, or stop."""
        if on:
            self._follow()
        else:
            self._live.stop()

    def look_for_hints(self) -> None:
        """Search the position and show the best moves."""
        node = self.game.at.id

        def show(found: SearchResult) -> None:
            moves = moves_view(found.moves, found.position)
            self.send({"type": "hint", "node": node, "moves": moves})

        work = find_hints(self._loader.engine, self.game.position, self.id)
        self._tasks.start("hint", work, show, self._search_failed)

    def need_network(self) -> None:
        """Raise RefusedError while the network is being loaded."""
        if not self._loader.ready:
            raise RefusedError("not_ready", "the network is still being loaded")
