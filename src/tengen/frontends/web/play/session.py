"""One client's session: its game, what it is shown, and what the program does in the game.

The methods marked by `message` are what clients may ask for. What follows from each is done below
them: the game is saved and shown, the clock runs, the program moves, counts or analyses.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import math
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.analysis import (
    LiveAnalysis,
    find_dead_stones,
    find_hints,
    hints_of,
    judge_move,
)
from tengen.frontends.web.play.autosave import Autosave, GameKey, new_game_id
from tengen.frontends.web.play.client_messages import (
    BoardSide,
    ClientMessage,
    CommentText,
    FileContent,
    GameId,
    GameName,
    GameNumber,
    Hello,
    LabelText,
    LevelId,
    MarkKind,
    NetworkName,
    NewGame,
    NodeId,
    PointText,
    ReviewVisits,
    message,
)
from tengen.frontends.web.play.game_state import (
    USUAL_LEVEL,
    GameState,
    Mode,
    new_game_state,
    opponent_named,
)
from tengen.frontends.web.play.game_tree import GameTree, Stone, TreeNode, opened_tree
from tengen.frontends.web.play.kept_games import KeptGames, name_of
from tengen.frontends.web.play.liberties import liberties_of
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.frontends.web.play.reviews import Reviews
from tengen.frontends.web.play.saved_games import snapshot
from tengen.frontends.web.play.server_messages import (
    Json,
    board_view,
    count_view,
    error_view,
    game_view,
    graph_view,
    known_from,
    moves_view,
    node_view,
    position_view,
)
from tengen.frontends.web.play.session_saving import SessionSaving
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.game.color import parse_color
from tengen.game.geometry import Point
from tengen.game.position import Position

if TYPE_CHECKING:
    from tengen.frontends.web.play.connection import Outbox

LARGE = 1_000  # nodes from which a tree is shown from a thread
WATCHED_MOVE = 0.8  # seconds that a move takes at least when the program plays itself


class PlaySession:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(
        self,
        id_: str,
        game: GameState,
        player: str,
        networks: OfferedNetworks,
        reviewers: Executor,
        autosave: Autosave,
        take_over: Callable[[GameKey, PlaySession], None],
        answering: asyncio.Lock,
    ) -> None:
        """`take_over` ends another session that shows a game; raises RefusedError if it is used.

        `answering` is for all sessions: searches that share batches end together, and the loop
        shall read what clients send between their answers.
        """
        self.id, self.game = id_, game
        self._networks, self._autosave, self._take_over = networks, autosave, take_over
        self._answering = answering
        self._loop = asyncio.get_running_loop()
        game.id = game.id or new_game_id()
        self.kept = KeptGames(self, player, autosave)
        self.loader = networks.use(None, id_)
        with suppress(RefusedError):  # the file is gone: the server's own network does it
            self._use_network(game.network)
        self.tasks = SessionTasks()
        self.live = LiveAnalysis(self)
        self.reviews = Reviews(self, reviewers)
        self._outbox: Outbox | None = None
        self._saving = SessionSaving(self._begin_saving)
        self._flag: asyncio.TimerHandle | None = None
        self._told_result = game.result
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
        self._saving.save_if_due()

    def close(self) -> None:
        """End all work for it."""
        if self._outbox is not None:
            self._outbox.close()
            self.detach(self._outbox)
        self._saving.save_if_due()
        self.tasks.cancel_all()
        if self._flag is not None:
            self._flag.cancel()
        self._networks.give_back(self.id)

    def send(self, content: Json, key: str | None = None) -> None:
        """Send to the client, if connected, after the state that the message describes is saved."""
        if self._outbox is not None:
            self._outbox.put(content, key, self._saving.done)

    def network_ready(self, info: Json) -> None:
        """The network is loaded: tell the client, and let the program act."""
        self.send({"type": "info", **info})
        self._act()

    def _act(self) -> None:
        """The network is there: let the program do what is due."""
        self._run_clock()
        self._go_on()
        self._show_position()

    def _use_network(self, name: str | None) -> None:
        """Play and analyse with another network from now on; raises RefusedError."""
        self.loader = loader = self._networks.use(name, self.id)
        self.game.network = name
        if name is None:
            return

        def loaded(_: object) -> None:
            with suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._loaded, loader)

        loader.future.add_done_callback(loaded)

    def _loaded(self, loader: object) -> None:
        if self.loader is not loader:
            return
        error = self.loader.future.exception()
        if error is not None:
            self._use_network(None)
            self.send(error_view(RefusedError("network_failed", str(error))))
        self._act()

    async def receive(self, received: ClientMessage) -> None:
        """Do what a message asks for; raises RefusedError."""
        self.last_used = time.monotonic()
        if isinstance(received, NewGame):
            await self._begin(received)
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

    async def _begin(self, wanted: NewGame) -> None:
        if wanted.even:
            wanted = await self.kept.made_even(wanted)
        self._replace(new_game_state(wanted))
        self.send(game_view(self.game))
        self._changed()

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
            self._replace(GameState(found))
            await self._show_all()
        else:
            self.send({"type": "file_games", "games": [each._asdict() for each in found]})

    @message
    async def games(self) -> None:
        self.send(await self.kept.view())

    @message
    async def open_game(self, game: GameId) -> None:
        key = self.kept.key(game)
        if game != self.game.id:
            self._take_over(key, self)
            self._replace(await self.kept.load(game))
        await self._go_on_with_it()

    async def _go_on_with_it(self) -> None:
        self._run_clock()
        await self._show_all()
        self._go_on()

    @message
    async def rename_game(self, game: GameId, name: GameName) -> None:
        if game == self.game.id:
            self.game.name = name.strip()
            self._save()
        else:
            await self.kept.rename(game, name)
        self.send(await self.kept.view())

    @message
    async def delete_game(self, game: GameId) -> None:
        if game == self.game.id:
            raise not_now("this game is on the board: begin another one first", "on_board")
        self._take_over(self.kept.key(game), self)
        await self.kept.delete(game)
        self.send(await self.kept.view())

    @message
    async def strength(self, size: BoardSide, rules: str = "chinese") -> None:
        self.send(await self.kept.strength(size, rules, name_of(self, size)))

    @message
    async def use_network(self, network: NetworkName | None) -> None:
        if network != self.game.network:
            self.tasks.cancel("move", "hint", "count")
            self.live.forget()
            self.reviews.forget()
            self._use_network(network)
        self.send(game_view(self.game))
        self._changed()

    @message
    async def play(self, move: PointText) -> None:
        if self.game.bot_to_move:
            raise RefusedError("not_your_turn", "it is the opponent's move")
        before, game = self.game.position, self.game
        node, new = game.play(move)
        self._show_if_new(node, new)
        self._changed()
        if game.teach is not None and game.phase == "playing" and self.loader.ready:
            judge = partial(self._judge, before, node, game.teach)
            self.tasks.start("judge", judge, lambda _: None)

    @message
    async def undo(self) -> None:
        node = self.game.undo()
        if node is None:
            self._changed()
        else:
            self._taken_back(node)

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
    async def promote(self, node: NodeId) -> None:
        self.game.promote(node)
        self._save()
        await self._show_all()

    @message
    async def set_up(self, node: NodeId, point: PointText, stone: Stone) -> None:
        self._show_node(self.game.set_up(node, point, stone)[0])
        self._changed()

    @message
    async def set_turn(self, node: NodeId, colour: Literal["black", "white"]) -> None:
        self._show_node(self.game.set_turn(node, parse_color(colour))[0])
        self._changed()

    @message
    async def play_on(self, node: NodeId, level: LevelId | None = None) -> None:
        if level is None:
            size = self.game.position.width
            level = (await self.kept.made_even(NewGame(size=size, colour="either"))).level
        self._replace(self.game.played_on_from(node, level or USUAL_LEVEL))
        await self._go_on_with_it()

    @message
    async def boards(self) -> None:
        tree = self.game.tree
        line = tree.along(self.game.at.last())
        self.send({"type": "boards", "boards": [board_view(tree, *each) for each in line]})

    @message
    async def liberties(self, point: PointText) -> None:
        position = self.game.position
        try:
            chosen = position.point(point)
        except ValueError as error:
            raise RefusedError("bad_point", str(error), point=point) from None
        chain, free = liberties_of(position, chosen)
        told = {"stones": len(chain), "liberties": len(free)}
        self.send({"type": "liberties", "point": position.text(chosen), **told})

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
        """Put another game in place; the old one is kept if anything was done in it."""
        before = self.game
        if before.worth_keeping:
            self._saving.save_now()
        elif before.id:
            self._autosave.delete(self.kept.key(before.id))
        self.tasks.cancel_all()
        self.live.forget()
        self.reviews.forget()
        self.game = game
        game.id = game.id or new_game_id()
        self._told_result = game.result
        try:
            self._use_network(game.network)
        except RefusedError as refusal:
            self._use_network(None)
            self.send(error_view(refusal))
        self._save()

    def _taken_back(self, node: TreeNode) -> None:
        """Moves of the game, from this node on, were taken back."""
        self.tasks.cancel("move", "count", "judge")
        self.reviews.forget()
        self.send({"type": "removed", "node": node.id})
        self._changed()

    def _annotated(self, node: TreeNode) -> None:
        """The comment or the marks of a node have changed."""
        self.game.changed = True
        self._save()
        self._show_node(node)

    def _changed(self) -> None:
        """The position or the phase has changed: save, show, and let the program act."""
        self._save()
        self._run_clock()
        self._show_position()
        self._go_on()
        result = self.game.result
        if result != self._told_result:
            self._told_result = result
            self.kept.note_result(self.game)

    def _save(self) -> None:
        self._saving.save()

    def _begin_saving(self) -> Future[None]:
        key = GameKey(self.kept.player, self.game.id)
        return self._autosave.save(self.id, key, snapshot(self.game))

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
        """Move, pass or resign for the program, as long as it is its turn.

        Where it plays itself, it does so as long as somebody looks on.
        """
        while self.game.bot_to_move and (self.connected or self.game.you != "neither"):
            await self._move()

    async def _move(self) -> None:
        game, position = self.game, self.game.position
        assert game.level is not None
        level, seconds = opponent_named(game.level)
        if game.clock is not None:
            area, number = position.size.area, position.move_number
            allowed = game.clock.thinking_time(position.to_play, area, number)
            seconds = min(filter(None, (seconds, allowed)), default=None)
        begun, seed = self._loop.time(), secrets.randbelow(2**31)
        decision = await self.loader.engine.decide_async(
            position, level, seed, seconds=seconds, owner=self.id
        )
        if game.you == "neither":  # people want to see it
            await asyncio.sleep(begun + WATCHED_MOVE - self._loop.time())
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

    async def _judge(self, before: Position, node: TreeNode, told_from: float) -> None:
        """Say how many points the person's move lost, where the network knows such games."""
        engine = self.loader.engine
        if engine.unfamiliar(before) is not None:
            return
        after = self.game.tree.position(node)
        lost, best = await judge_move(engine, before, after, self.id)
        view = {"loss": round(lost, 1), "told": lost >= told_from, "best": before.text(best.move)}
        self.send({"type": "taught", "node": node.id, **view})

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
        moves = moves_view(hints_of(found), found.position)
        self.send({"type": "hint", "node": node, "moves": moves})
