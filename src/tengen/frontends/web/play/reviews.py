"""Reviews that a session asks for: of a whole game, and of what the player did worst."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress

from tengen.engine.loading import EngineLoader
from tengen.frontends.web import limits
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.live_analysis import LiveAnalysis
from tengen.frontends.web.play.refusal import RefusedError, not_now
from tengen.frontends.web.play.server_messages import Json, Known
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf.records import read_sgf
from tengen.reviewing.annotated import annotated
from tengen.reviewing.html_page import html_page
from tengen.reviewing.review import GameReview, Searched, TurnReview, review_game

BETTER_VISITS = 60
BETTER_TURNS = 5


class Reviews:
    """One review at a time, and the last one. Not thread-safe: belongs to the event loop."""

    def __init__(
        self,
        loader: EngineLoader,
        owner: str,
        reviewers: Executor,
        tasks: SessionTasks,
        live: LiveAnalysis,
        send: Callable[..., None],
    ) -> None:
        self._loader, self._owner, self._reviewers = loader, owner, reviewers
        self._tasks, self._live, self._send = tasks, live, send
        self._stop = threading.Event()  # ends the review under way
        self._done: tuple[bytes, GameReview] | None = None  # the game as it was, and the review

    def begin(self, table: GameState, visits: int) -> None:
        """Review a whole game; raises RefusedError if there is nothing to review."""

        def finish(review: GameReview, nodes: list[TreeNode], position: Position) -> None:
            self._send(review_view(review, nodes, position))

        self._begin(table, visits, finish)

    def begin_better(self, table: GameState) -> None:
        """Find what the player could have done better; raises RefusedError as `begin` does."""
        bot = table.bot

        def finish(review: GameReview, nodes: list[TreeNode], position: Position) -> None:
            sides = [(Color.BLACK, review.black), (Color.WHITE, review.white)]
            own = [turn for color, side in sides if color is not bot for turn in side.mistakes]
            worst = sorted(own, key=lambda turn: -turn.points_lost)[:BETTER_TURNS]
            turns = [_turn_view(turn, nodes, position) for turn in worst]
            self._send({"type": "better", "turns": turns})

        self._begin(table, BETTER_VISITS, finish)

    def _begin(
        self,
        table: GameState,
        visits: int,
        finish: Callable[[GameReview, list[TreeNode], Position], None],
    ) -> None:
        nodes = table.tree.root.last().line()
        if not any(table.tree.move(node) for node in nodes):
            raise not_now("there is no move to review yet")
        if len(nodes) * visits > limits.REVIEW_TOTAL:
            most = limits.REVIEW_TOTAL // len(nodes)
            raise RefusedError("too_large", f"this game is reviewed with at most {most} visits")
        sgf, start = table.tree.sgf(), table.tree.start

        def then(review: GameReview) -> None:
            self._done = sgf, review
            finish(review, nodes, start)

        self._tasks.start("review", self._review(sgf, visits, nodes), then, self._failed)

    async def _review(self, sgf: bytes, visits: int, nodes: list[TreeNode]) -> GameReview:
        """Review a game in a thread; shows progress. Cancelling it ends the review."""
        loop, engine = asyncio.get_running_loop(), self._loader.engine
        stop = self._stop = threading.Event()

        def show(searched: Searched) -> None:
            if self._stop is stop:
                self._show_progress(searched, nodes, visits)

        def on_turn(searched: Searched) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(show, searched)

        def work() -> GameReview:
            game = read_sgf(sgf)[0]
            return review_game(engine, game, visits, on_turn, stop.is_set, owner=self._owner)

        try:
            return await loop.run_in_executor(self._reviewers, work)
        finally:
            stop.set()

    def _show_progress(self, searched: Searched, nodes: list[TreeNode], visits: int) -> None:
        if searched.node is not None:
            known = Known(searched.standing.winrate, searched.standing.lead, visits)
            self._live.note([(nodes[searched.node].id, known)])
        progress = {"type": "review_progress", "done": searched.done, "total": searched.total}
        self._send(progress, "review_progress")

    def _failed(self, what: str) -> None:
        self._send({"type": "error", "request": None, "code": "engine_failed", "message": what})

    def stop(self) -> None:
        """End the review under way, with what it has found."""
        self._stop.set()

    def forget(self) -> None:
        """The game is another."""
        self._tasks.cancel("review")
        self._stop, self._done = threading.Event(), None

    def sgf(self) -> bytes | None:
        """The game with the last review written into it."""
        if self._done is None:
            return None
        sgf, review = self._done
        return annotated(read_sgf(sgf)[0], review).encode()

    def html(self) -> str | None:
        """The last review as one page."""
        if self._done is None:
            return None
        sgf, review = self._done
        return html_page(read_sgf(sgf)[0], review)


def review_view(review: GameReview, nodes: list[TreeNode], position: Position) -> Json:
    """A review as pages are told it."""
    sides = {"black": review.black, "white": review.white}
    return {
        "type": "review",
        "turns": [_turn_view(turn, nodes, position) for turn in review.turns],
        "mistakes": {
            name: [nodes[turn.node].id for turn in side.mistakes] for name, side in sides.items()
        },
        "accuracy": {
            name: None if side.accuracy is None else round(side.accuracy, 1)
            for name, side in sides.items()
        },
    }


def _turn_view(turn: TurnReview, nodes: list[TreeNode], position: Position) -> Json:
    return {
        "node": nodes[turn.node].id,
        "move_number": turn.number,
        "colour": str(turn.color),
        "move": position.text(turn.move),
        "best": position.text(turn.best),
        "loss": round(turn.points_lost, 2),
        "winrate_loss": round(turn.winrate_lost, 4),
        "pv": [position.text(point) for point in turn.line],
    }
