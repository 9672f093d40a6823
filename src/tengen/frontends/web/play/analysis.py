"""Searches for players: hints, dead stones, live analysis and the graph of a game."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tengen.engine.engine import Engine, wait_for
from tengen.engine.levels import pass_is_as_good
from tengen.engine.task import KeptTree
from tengen.frontends.web import limits
from tengen.frontends.web.play.game_tree import TreeNode
from tengen.frontends.web.play.server_messages import (
    Known,
    analysis_view,
    graph_view,
    known_from,
    known_from_network,
)
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.scoring import SEARCH_VISITS, counts_dead_stones, dead_stones
from tengen.search.request import Limits, SearchRequest, Wanted
from tengen.search.result import MoveResult, SearchResult

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession

REPORT_SECONDS = 0.12  # between reports
MEGABYTES = 256.0
GRAPH_BATCH = 8
HINT_LIMITS = Limits(visits=400, seconds=2.0)
JUDGE_LIMITS = Limits(visits=80, seconds=2.0)
DEAD_STONES_LIMITS = Limits(visits=SEARCH_VISITS)
LIVE_LIMITS = Limits(visits=limits.VISITS)
LIVE_WANTED = Wanted(ownership=True, pv_length=20)


async def find_hints(engine: Engine, position: Position, owner: str) -> SearchResult:
    """Search for good moves."""
    request = SearchRequest(unfinished(position), HINT_LIMITS)
    return await wait_for(engine.submit(request, owner=owner))


def hints_of(found: SearchResult) -> list[MoveResult]:
    """The moves to hint at: the pass first where the game is over, as levels see it.

    Searches seldom put a pass first that costs nothing, yet people are told to pass then.
    """
    moves = list(found.moves)
    if pass_is_as_good(found):
        moves.sort(key=lambda each: each.move is not None)
    return moves


async def find_dead_stones(engine: Engine, position: Position, owner: str) -> frozenset[Point]:
    """The stones that would not survive; none where the rules count all stones as alive."""
    if counts_dead_stones(position.rules):
        return frozenset()
    wanted = Wanted(ownership=True)
    request = SearchRequest(unfinished(position), DEAD_STONES_LIMITS, wanted=wanted)
    result = await wait_for(engine.submit(request, owner=owner))
    return dead_stones(result.position, result.ownership)


async def judge_move(
    engine: Engine, before: Position, after: Position, owner: str
) -> tuple[float, MoveResult]:
    """How many points a move lost, 0 or more, and the best move that was found instead of it."""
    requests = [SearchRequest(unfinished(each), JUDGE_LIMITS) for each in (before, after)]
    searches = [engine.submit(request, owner=owner) for request in requests]
    found, then = [await wait_for(search) for search in searches]
    sign = 1 if before.to_play is Color.BLACK else -1
    lost = sign * (known_from(found).standing.lead - known_from(then).standing.lead)
    return max(0.0, lost), found.moves[0]


class LiveAnalysis:
    """A session's analysis. Not thread-safe: belongs to the event loop."""

    def __init__(self, session: PlaySession) -> None:
        self._session, self._tasks = session, session.tasks
        self.known: dict[int, Known] = {}  # by node
        self._node: TreeNode | None = None  # None: off
        self._tree: KeptTree | None = None

    @property
    def on(self) -> bool:
        return self._node is not None

    def follow(self) -> None:
        """Analyse the node shown from now on, and the line through it for the graph."""
        node = self._session.game.at
        moved, self._node = self._node is not node, node
        engine = self._session.loader.engine_if_ready
        if engine is None:
            return
        tree = self._tree = self._tree or engine.new_tree(megabytes=MEGABYTES)
        if moved or not self._tasks.running("analysis"):
            self._tasks.start(
                "analysis", lambda: self._analyse(engine, tree, node), lambda _: self.stop()
            )
        if not self._tasks.running("graph"):
            self._tasks.start("graph", lambda: self._fill_graph(engine), lambda _: None)

    def stop(self) -> None:
        """Stop, and free the tree."""
        self._node = None
        self._tasks.cancel("analysis", "graph")
        if self._tree is not None:
            self._tree.close()
            self._tree = None

    def forget(self) -> None:
        """Stop, and forget what is known of nodes: another game has others."""
        self.stop()
        self.known.clear()

    def note(self, found: list[tuple[int, Known]], key: str | None = None) -> None:
        """Show evaluations of nodes in the graph, except those of fewer visits than before."""
        news = [
            (node, known)
            for node, known in found
            if node not in self.known or self.known[node].visits <= known.visits
        ]
        self.known.update(news)
        if news:
            self._session.send(graph_view(news), key)

    async def _analyse(self, engine: Engine, tree: KeptTree, node: TreeNode) -> None:
        """Search up to the limit of visits, or until cancelled; shows progress."""
        loop = asyncio.get_running_loop()
        request = SearchRequest(
            unfinished(self._session.game.tree.position(node)),
            LIVE_LIMITS,
            wanted=LIVE_WANTED,
            progress_interval=REPORT_SECONDS,
        )

        def report(result: SearchResult) -> None:
            loop.call_soon_threadsafe(self._show, node, result)

        owner = self._session.id
        task = engine.submit(request, owner=owner, tree=tree, on_progress=report)
        self._show(node, await wait_for(task))

    def _show(self, node: TreeNode, result: SearchResult) -> None:
        if self._node is not node or not result.visits:
            return
        speed = (result.visits - result.reused) / max(result.seconds, 1e-3)
        self._session.send(analysis_view(result, node.id, speed), "analysis")
        self.note([(node.id, known_from(result))], f"graph {node.id}")

    async def _fill_graph(self, engine: Engine) -> None:
        """Evaluate the nodes of the line that are not known, by the network alone."""
        game = self._session.game
        while self._node is not None:
            line = game.tree.along(self._node.last())
            unknown = [each for each in line if each[0].id not in self.known][:GRAPH_BATCH]
            if not unknown:
                return
            positions = [unfinished(position) for _, position in unknown]
            known = known_from_network(
                positions, await asyncio.wrap_future(engine.evaluate(positions))
            )
            self.note([(node.id, each) for (node, _), each in zip(unknown, known, strict=True)])


def unfinished(position: Position) -> Position:
    """The position as one that can be searched: without history if the game is over."""
    if not position.is_over:
        return position
    return position.set_up(to_play=position.to_play, handicap=position.handicap)
