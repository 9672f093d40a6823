"""One client's session: its game, what it is shown, and what the program does in the game.

The methods marked by `message` are what clients may ask for. What follows from each is done below
them: the game is saved and shown, the clock runs, the program moves, counts or analyses.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import TYPE_CHECKING, Any

from tengen.engine.levels import level_named
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.analysis import LiveAnalysis, find_dead_stones, find_hints
from tengen.frontends.web.play.autosave import Autosave, saved_game
from tengen.frontends.web.play.client_messages import (
    ClientMessage,
    CommentText,
    Hello,
    LabelText,
    MarkKind,
    NewGame,
    NodeId,
    PointText,
    ReviewVisits,
    message,
)
from tengen.frontends.web.play.game_state import GameState, Mode, new_game_state
from tengen.frontends.web.play.game_tree import TreeNode, opened_tree
from tengen.frontends.web.play.reviews import Reviews
from tengen.frontends.web.play.server_messages import (
    Json,
    count_view,
    error_view,
    game_view,
    graph_view,
    known_from,
    moves_view,
    node_view,
    position_view,
)
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.frontends.web.play.connection import Outbox

LARGE = 1_000  # nodes from which a tree is saved less often, and shown from a thread
LARGE_PAUSE = 1.0  # seconds between two saves of a large tree


class SessionTasks:
    """A session's asyncio tasks: at most one of each name, such as the program's move."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def running(self, name: str) -> bool:
        """Is the task of this name under way?"""
        return name in self._tasks

    def start(
        self, name: str, work: Callable[[], Awaitable[Any]], failed: Callable[[str], None]
    ) -> None:
        """Run `work` in the place of the task of this name; `failed` gets a message if it raises.

        A task that was cancelled runs no further and reports nothing.
        """
        self.cancel(name)
        self._tasks[name] = asyncio.create_task(self._run(name, work, failed))

    async def _run(
        self, name: str, work: Callable[[], Awaitable[Any]], failed: Callable[[str], None]
    ) -> None:
        try:
            await work()
        except RefusedError as refusal:
            failed(str(refusal))
        except Exception as error:  # a bug must not end a game
            what = f"the search failed: {type(error).__name__}: {error}"
            say(what)
            failed(what)
        finally:
            if self._tasks.get(name) is asyncio.current_task():
                del self._tasks[name]

    def cancel(self, *names: str) -> None:
        """Cancel the tasks of these names; searches that they await end soon."""
        for name in names:
            if name in self._tasks:
                self._tasks.pop(name).cancel()

    def cancel_all(self) -> None:
        """Cancel all tasks."""
        self.cancel(*list(self._tasks))


class PlaySession:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(
        self,
        id_: str,
        game: GameState,
        loader: EngineLoader,
        reviewers: Executor,
        autosave: Autosave,
        answering: asyncio.Lock,
    ) -> None:
        """`answering` is for all sessions: searches that share batches end together, and the loop
        shall read what clients send between their answers.
        """
        self.id, self.game = id_, game
        self.loader, self._autosave, self._answering = loader, autosave, answering
        self._loop = asyncio.get_running_loop()
        self.tasks = SessionTasks()
        self.live = LiveAnalysis(self)
        self.reviews = Reviews(self, reviewers)
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
        self.live.stop()
        self.reviews.stop()
        self.tasks.cancel("hint")
        self._run_clock()
        if self._save_later is not None:
            self._save_now()

    def close(self) -> None:
        """End all work for it."""
        if self._outbox is not None:
            self._outbox.close()
            self.detach(self._outbox)
        self.tasks.cancel_all()
        for timer in (self._flag, self._save_later):
            if timer is not None:
                timer.cancel()

    def send(self, content: Json, key: str | None = None) -> None:
        """Send to the client, if connected, after the state that the message describes is saved."""
        if self._outbox is not None:
            self._outbox.put(content, key, self._saving)

    def network_ready(self, info: Json) -> None:
        """The network is loaded: tell the client, and let the program act."""
        self.send({"type": "info", **info})
        self._run_clock()
        self._go_on()
        self._show_position()

    async def receive(self, received: ClientMessage) -> None:
        """Do what a message asks for; raises RefusedError."""
        self.last_used = time.monotonic()
        if isinstance(received, NewGame):
            self._begin(received)
        elif isinstance(received, Hello):
            raise not_now("hello is only the first message of a connection")
        else:
            fields = received.model_dump(exclude={"type", "request"})
            await getattr(self, received.type)(**fields)  # one of those marked below

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
        if self.live.known:
            self.send(graph_view(self.live.known.items()))

    def _show_position(self) -> None:
        game = self.game
        self.send(position_view(game, self.loader.engine_if_ready))
        counted = game.phase == "counting" and not game.dead_unknown
        if counted or (game.phase == "over" and game.position.is_over):
            self.send(count_view(game))

    def _show_if_new(self, node: TreeNode, new: bool) -> None:
        if new:
            self._show_node(node)

    def _show_node(self, node: TreeNode) -> None:
        self.send({"type": "node", **node_view(self.game.tree, node)})

    # What clients ask for; all raise RefusedError for what cannot be

    def _begin(self, wanted: NewGame) -> None:
        self._replace(new_game_state(wanted))
        self.send(game_view(self.game))
        self._changed()

    @message
    async def open(self, sgf: str) -> None:
        tree = await asyncio.to_thread(opened_tree, sgf)
        self._replace(GameState(tree))
        await self._show_all()

    @message
    async def play(self, move: PointText) -> None:
        if self.game.bot_to_move:
            raise RefusedError("not_your_turn", "it is the opponent's move")
        self._show_if_new(*self.game.play(move))
        self._changed()

    @message
    async def undo(self) -> None:
        self._taken_back(self.game.undo())

    @message
    async def resign(self) -> None:
        self.game.resign()
        self._changed()

    @message
    async def hint(self) -> None:
        self._need_network()
        if not self.game.yours_to_move:
            raise RefusedError("not_your_turn", "hints are for your own moves")
        self.tasks.start("hint", self._find_hints, self.search_failed)

    @message
    async def mark_dead(self, point: PointText) -> None:
        self.game.mark_dead(point)
        self.tasks.cancel("count")
        self._changed()

    @message
    async def accept_count(self) -> None:
        self.game.accept_count()
        self.tasks.cancel("count")
        self._changed()

    @message
    async def resume(self) -> None:
        self._taken_back(self.game.resume())

    @message
    async def go(self, node: NodeId) -> None:
        self.game.go(node)
        self._changed()

    @message
    async def add(self, node: NodeId, move: PointText) -> None:
        self._show_if_new(*self.game.add(node, move))
        self._changed()

    @message
    async def remove(self, node: NodeId) -> None:
        self.send({"type": "removed", "node": self.game.remove(node).id})
        self._changed()

    @message
    async def comment(self, node: NodeId, text: CommentText) -> None:
        self._annotated(self.game.tree.set_comment(node, text))

    @message
    async def mark(
        self, node: NodeId, point: PointText, kind: MarkKind | None, label: LabelText | None = None
    ) -> None:
        self._annotated(self.game.tree.set_mark(node, point, kind, label))

    @message
    async def set_mode(self, mode: Mode) -> None:
        self.game.set_mode(mode)
        if mode == "play":
            self.live.stop()
        self._changed()

    @message
    async def analyse(self, on: bool) -> None:
        if not on:
            self.live.stop()
        elif self.game.phase == "playing" and self.game.bot is not None:
            raise not_now("there is no analysis during a game against the program, only hints")
        else:
            self.live.follow()

    @message
    async def review(self, visits: ReviewVisits = 50) -> None:
        self._need_network()
        self.reviews.begin(visits)

    @message
    async def stop_review(self) -> None:
        self.reviews.stop()

    @message
    async def better(self) -> None:
        self._need_network()
        if self.game.result is None:
            raise not_now("better moves are shown after the game")
        self.reviews.begin_better()

    @message
    async def ping(self) -> None:
        self.send({"type": "pong"})

    def _need_network(self) -> None:
        if not self.loader.ready:
            raise RefusedError("not_ready", "the network is still being loaded")

    # What follows from it

    def _replace(self, game: GameState) -> None:
        """Put another game in place; the old one is archived if it was played."""
        before = self.game
        if before.you is not None and before.end.parent is not None:
            self._autosave.archive(before.tree.sgf())
        self.tasks.cancel_all()
        self.live.forget()
        self.reviews.forget()
        self.game = game
        self._save()

    def _taken_back(self, node: TreeNode) -> None:
        """Moves of the game, from this node on, were taken back."""
        self.tasks.cancel("move", "count")
        self.reviews.forget()
        self.send({"type": "removed", "node": node.id})
        self._changed()

    def _annotated(self, node: TreeNode) -> None:
        """The comment or the marks of a node have changed."""
        self._save()
        self._show_node(node)

    def _changed(self) -> None:
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
        game = self.game
        if not self.loader.ready:
            return
        if not game.bot_to_move:
            self.tasks.cancel("move")
        elif not self.tasks.running("move"):
            self.tasks.start("move", self._think, self.search_failed)
        if game.phase == "counting" and game.dead_unknown and not self.tasks.running("count"):
            count = partial(self._count, game.position)
            self.tasks.start("count", count, lambda _: self._propose_dead(frozenset()))
        if self.live.on:
            self.live.follow()

    def _run_clock(self) -> None:
        """Run the clock of the side to move while its game is played, and watch for its flag."""
        if self._flag is not None:
            self._flag.cancel()
            self._flag = None
        game, clock = self.game, self.game.clock
        if clock is not None:
            runs = self.connected and game.phase == "playing" and self.loader.ready
            clock.run(game.position.to_play if runs else None)
            if (left := clock.seconds_to_flag()) < math.inf:
                self._flag = self._loop.call_later(left + 0.001, self._flag_falls)

    def _flag_falls(self) -> None:
        clock = self.game.clock
        if clock is None or clock.running is None:
            return
        if clock.fallen(clock.running):
            self.tasks.cancel("move")
            self.game.lose_on_time(clock.running)
            self._changed()
        else:
            self._run_clock()

    # The program

    async def _think(self) -> None:
        """Move, pass or resign for the program."""
        game, position = self.game, self.game.position
        assert game.level is not None
        seconds = None
        if game.clock is not None:
            area, number = position.size.area, position.move_number
            seconds = game.clock.thinking_time(position.to_play, area, number)
        level, seed = level_named(game.level), secrets.randbelow(2**31)
        decision = await self.loader.engine.decide_async(
            position, level, seed, seconds=seconds, owner=self.id
        )
        await self._answering.acquire()
        self._loop.call_soon(self._answering.release)  # after the loop has looked for messages
        if not game.bot_to_move:
            return
        self.live.note([(game.end.id, known_from(decision.result))])
        if decision.resign:
            game.resign(game.bot)
        else:
            self._show_if_new(*game.play(position.text(decision.move)))
        self._changed()

    async def _count(self, position: Position) -> None:
        self._propose_dead(await find_dead_stones(self.loader.engine, position, self.id))

    def _propose_dead(self, dead: frozenset[Point]) -> None:
        if self.game.phase == "counting" and self.game.dead_unknown:
            self.game.propose_dead(dead)
            self._changed()

    def search_failed(self, what: str) -> None:
        """Tell the client what went wrong in the engine."""
        self.send(error_view(RefusedError("engine_failed", what)))
        self._show_position()

    async def _find_hints(self) -> None:
        node = self.game.at.id
        found = await find_hints(self.loader.engine, self.game.position, self.id)
        moves = moves_view(found.moves, found.position)
        self.send({"type": "hint", "node": node, "moves": moves})
