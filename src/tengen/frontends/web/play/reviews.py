"""Reviews that a session asks for: of a whole game, and of what the player did worst."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError, not_now
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.server_messages import Json, Known, unfamiliar_view
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame, read_sgf
from tengen.reviewing.review import GameReview, Searched, TurnReview, review_game

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession

BETTER_VISITS = 60
BETTER_TURNS = 5

View: TypeAlias = Callable[[GameReview, list[TreeNode], Position], Json]


class Reviews:
    """One review at a time, and the last one. Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession, reviewers: Executor) -> None:
        self._session, self._reviewers = session, reviewers
        self._stop = threading.Event()  # ends the review under way
        self._done: tuple[bytes, GameReview] | None = None  # the game as it was, and the review

    def begin(self, visits: int) -> None:
        """Review the whole game; raises RefusedError if there is nothing to review."""
        self._begin(visits, review_view)

    def begin_better(self) -> None:
        """Find what the player could have done better; raises RefusedError as `begin` does."""
        self._begin(BETTER_VISITS, partial(better_view, self._session.game.bot))

    def _begin(self, visits: int, view: View) -> None:
        tree = self._session.game.tree
        nodes = tree.root.last().line()
        if not any(tree.move(node) for node in nodes):
            raise not_now("there is no move to review yet")
        if len(nodes) * visits > limits.REVIEW_TOTAL:
            most = limits.REVIEW_TOTAL // len(nodes)
            raise RefusedError("too_large", f"this game is reviewed with at most {most} visits")
        sgf, start = tree.sgf(), tree.start

        async def review() -> None:
            found = await self._review(sgf, visits, nodes)
            self._done = sgf, found
            self._session.send(view(found, nodes, start))
            self._session.moments.find(sgf, found)

        self._session.tasks.start("review", review, self._session.program.failed)

    async def _review(self, sgf: bytes, visits: int, nodes: list[TreeNode]) -> GameReview:
        """Review a game in a thread; shows progress. Cancelling it ends the review."""
        loop, session = asyncio.get_running_loop(), self._session
        engine = session.loader.engine
        stop = self._stop = threading.Event()

        def show(searched: Searched) -> None:
            if self._stop is stop:
                self._show_progress(searched, nodes, visits)

        def on_turn(searched: Searched) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(show, searched)

        def work() -> GameReview:
            game = read_sgf(sgf)[0]
            return review_game(engine, game, visits, on_turn, stop.is_set, owner=session.id)

        try:
            return await loop.run_in_executor(self._reviewers, work)
        finally:
            stop.set()

    def _show_progress(self, searched: Searched, nodes: list[TreeNode], visits: int) -> None:
        if searched.node is not None:
            known = Known(searched.standing, visits)
            self._session.live.note([(nodes[searched.node].id, known)])
        progress = {"type": "review_progress", "done": searched.done, "total": searched.total}
        self._session.send(progress, "review_progress")

    def stop(self) -> None:
        """End the review under way, with what it has found."""
        self._stop.set()

    def forget(self) -> None:
        """End the review and drop the last one: the session has another game."""
        self._session.tasks.cancel("review")
        self._stop, self._done = threading.Event(), None

    def written(self, write: Callable[[SgfGame, GameReview], str]) -> bytes | None:
        """The last review, written as a file of some form; None if there is none."""
        if self._done is None:
            return None
        sgf, review = self._done
        return write(read_sgf(sgf)[0], review).encode()


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
        "unfamiliar": unfamiliar_view(review.unfamiliar),
    }


def better_view(
    bot: Color | None, review: GameReview, nodes: list[TreeNode], position: Position
) -> Json:
    """The worst mistakes of the players who are people."""
    sides = {Color.BLACK: review.black, Color.WHITE: review.white}
    own = [turn for color, side in sides.items() if color is not bot for turn in side.mistakes]
    worst = sorted(own, key=lambda turn: -turn.points_lost)[:BETTER_TURNS]
    return {
        "type": "better",
        "turns": [_turn_view(turn, nodes, position) for turn in worst],
        "unfamiliar": unfamiliar_view(review.unfamiliar),
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
