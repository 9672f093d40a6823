"""Reviews that a session asks for: of a whole game, and of what the player did worst."""

from __future__ import annotations

from collections.abc import Callable

from tengen.frontends.web import limits
from tengen.frontends.web.play.engine_room import Desk
from tengen.frontends.web.play.errands import Errands
from tengen.frontends.web.play.game_state import GameState
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.live import Live
from tengen.frontends.web.play.refusal import RefusedError, not_now
from tengen.frontends.web.play.server_messages import Json, Known
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf.records import read_sgf
from tengen.reviewing.annotated import annotated
from tengen.reviewing.html_page import html_page
from tengen.reviewing.review import GameReview, Searched, TurnReview, review_game

BETTER_VISITS = 60
BETTER_TURNS = 5


class Reviews:
    """One review at a time, and the last one. Belongs to the event loop."""

    def __init__(self, errands: Errands, live: Live, send: Callable[..., None]) -> None:
        self._errands, self._live, self._send = errands, live, send
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
        call_soon = self._errands.call_soon

        def on_turn(searched: Searched) -> None:
            call_soon(lambda: self._progress(searched, nodes, visits))

        def work(desk: Desk) -> GameReview:
            return review_game(desk.evaluator, read_sgf(sgf)[0], visits, on_turn, desk.stop.is_set)

        def then(review: GameReview) -> None:
            self._done = sgf, review
            finish(review, nodes, start)

        self._errands.do("review", work, then, self._failed, takes_long=True)

    def _progress(self, searched: Searched, nodes: list[TreeNode], visits: int) -> None:
        if not self._errands.busy("review"):
            return
        if searched.node is not None:
            known = Known(searched.standing.winrate, searched.standing.lead, visits)
            self._live.note([(nodes[searched.node].id, known)])
        progress = {"type": "review_progress", "done": searched.done, "total": searched.total}
        self._send(progress, "review_progress")

    def _failed(self, what: str) -> None:
        self._send({"type": "error", "request": None, "code": "engine_failed", "message": what})

    def stop(self) -> None:
        """End the review under way, with what it has found."""
        self._errands.hurry("review")

    def forget(self) -> None:
        """The game is another."""
        self._errands.drop("review")
        self._done = None

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
