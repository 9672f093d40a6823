"""One client's session: its game, and what it is shown.

What clients may ask for is in `requests`. What follows from it is done here: the game is saved and
shown, `session_clock` runs its clock, and `program` does what is due.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import TYPE_CHECKING

from tengen.frontends.web.limits import RefusedError
from tengen.frontends.web.play.analysis import LiveAnalysis
from tengen.frontends.web.play.game_snapshot import snapshot
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_store import GameKey, GameStore, new_game_id
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.frontends.web.play.program import Program
from tengen.frontends.web.play.reviews import Reviews
from tengen.frontends.web.play.server_messages import (
    Json,
    count_view,
    error_view,
    game_view,
    graph_view,
    node_view,
    position_view,
)
from tengen.frontends.web.play.session_clock import SessionClock
from tengen.frontends.web.play.session_kept_games import KeptGames
from tengen.frontends.web.play.session_saving import SessionSaving
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.frontends.web.play.your_moments import YourMoments

if TYPE_CHECKING:
    from tengen.frontends.web.play.connection import Outbox

LARGE = 1_000  # nodes from which a tree is shown from a thread
OF_THE_PLAYER = ("moments", "trial", "telling")  # tasks that go on when another game begins


class PlaySession:
    """Not thread-safe: all methods are called on the event loop."""

    def __init__(
        self,
        id_: str,
        game: GameState,
        player: str,
        networks: OfferedNetworks,
        reviewers: Executor,
        game_store: GameStore,
        take_over: Callable[[GameKey, PlaySession], None],
        answering: asyncio.Lock,
    ) -> None:
        """`take_over` ends another session that shows a game; raises RefusedError if it is used.

        All sessions share the lock `answering`: searches that share batches end together, and
        between their answers the event loop should read messages of clients.
        """
        self.id, self.game = id_, game
        self._networks, self._game_store, self.take_over = networks, game_store, take_over
        self._loop = asyncio.get_running_loop()
        game.id = game.id or new_game_id()
        self.kept = KeptGames(self, player, game_store)
        self.loader = networks.use(None, id_)
        with suppress(RefusedError):  # the file is gone: the server's own network does it
            self.use_network(game.network)
        self.tasks = SessionTasks()
        self.live = LiveAnalysis(self)
        self.reviews = Reviews(self, reviewers)
        self.program = Program(self, answering)
        self.moments = YourMoments(self, game_store)
        self._outbox: Outbox | None = None
        self._saving = SessionSaving(self._begin_saving)
        self._clock = SessionClock(self)
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
        self._clock.run()
        self.send(welcome)
        await self.show_all()
        self.program.go_on()
        self.tasks.start("telling", self.moments.tell, lambda _: None)

    def detach(self, outbox: Outbox) -> None:
        """The client is gone: stop its clock, analysis, review and hint, not the program's move."""
        if self._outbox is not outbox:
            return
        self._outbox = None
        self.last_used = time.monotonic()
        self.live.stop()
        self.reviews.stop()
        self.tasks.cancel("hint")
        self._clock.run()
        self._saving.save_if_due()

    def close(self) -> None:
        """End all work for it."""
        if self._outbox is not None:
            self._outbox.close()
            self.detach(self._outbox)
        self._saving.save_if_due()
        self.tasks.cancel_all()
        self._clock.stop_watching()
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
        self._clock.run()
        self.program.go_on()
        self.show_position()

    def use_network(self, name: str | None) -> None:
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
            self.use_network(None)
            self.send(error_view(RefusedError("network_failed", str(error))))
        self._act()

    # What the client is shown

    async def show_all(self) -> None:
        """The whole game, its position and what is known for its graph."""
        game = self.game
        if len(game.tree.nodes) > LARGE:
            view = await asyncio.to_thread(game_view, game)
            if self.game is not game:
                return
        else:
            view = game_view(game)
        self.send(view)
        self.show_position()
        if self.live.known:
            self.send(graph_view(self.live.known.items()))

    def show_position(self) -> None:
        """The position, and its count once there is one."""
        game = self.game
        self.send(position_view(game, self.loader.engine_if_ready))
        counted = game.phase == "counting" and not game.dead_unknown
        if counted or (game.phase == "over" and game.position.is_over):
            self.send(count_view(game))

    def show_if_new(self, node: TreeNode, new: bool) -> None:
        """A node, unless the client has it."""
        if new:
            self.show_node(node)

    def show_node(self, node: TreeNode) -> None:
        """A node with its comment and its marks."""
        self.send({"type": "node", **node_view(self.game.tree, node)})

    # What follows from what is asked

    async def go_on_with_it(self) -> None:
        """Show a game that was put in place, and go on with it."""
        self._clock.run()
        await self.show_all()
        self.program.go_on()

    def need_network(self) -> None:
        """Raise RefusedError if the network is still being loaded."""
        if not self.loader.ready:
            raise RefusedError("not_ready", "the network is still being loaded")

    def replace(self, game: GameState) -> None:
        """Put another game in place; the old one is kept if anything was done in it."""
        before = self.game
        if before.worth_keeping:
            self._saving.save_now()
        elif before.id:
            self._game_store.delete(self.kept.key(before.id))
        self.tasks.cancel_all(but=OF_THE_PLAYER)
        self.live.forget()
        self.reviews.forget()
        self.game = game
        game.id = game.id or new_game_id()
        self._told_result = game.result
        try:
            self.use_network(game.network)
        except RefusedError as refusal:
            self.use_network(None)
            self.send(error_view(refusal))
        self.save()

    def taken_back(self, node: TreeNode) -> None:
        """Moves of the game, from this node on, were taken back."""
        self.tasks.cancel("move", "count", "judge")
        self.reviews.forget()
        self.send({"type": "removed", "node": node.id})
        self.changed()

    def annotated(self, node: TreeNode) -> None:
        """The comment or the marks of a node have changed."""
        self.game.changed = True
        self.save()
        self.show_node(node)

    def changed(self) -> None:
        """The position or the phase has changed: save, show, and let the program act."""
        self.save()
        self._clock.run()
        self.show_position()
        self.program.go_on()
        result = self.game.result
        if result != self._told_result:
            self._told_result = result
            self.kept.note_result(self.game)

    def save(self) -> None:
        """Save the game, now or soon."""
        self._saving.save()

    def _begin_saving(self) -> Future[None]:
        key = GameKey(self.kept.player, self.game.id)
        return self._game_store.save(self.id, key, snapshot(self.game))
