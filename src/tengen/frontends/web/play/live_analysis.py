"""Live analysis of the node shown, and the graph of the line through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from tengen.engine.engine import Engine, wait_for
from tengen.engine.loading import EngineLoader
from tengen.engine.task import KeptTree
from tengen.frontends.web import limits
from tengen.frontends.web.play.searches import unfinished
from tengen.frontends.web.play.server_messages import (
    Known,
    analysis_view,
    graph_view,
    known_from,
    known_from_network,
)
from tengen.frontends.web.play.session_tasks import SessionTasks
from tengen.game.position import Position
from tengen.search.request import Limits, SearchRequest, Wanted
from tengen.search.result import SearchResult

REPORT_SECONDS = 0.12  # between reports
MEGABYTES = 256.0
GRAPH_BATCH = 8
LIMITS = Limits(visits=limits.VISITS)
WANTED = Wanted(ownership=True, pv_length=20)


class Place(NamedTuple):
    """A node and its position."""

    node: int
    position: Position


class LiveAnalysis:
    """A session's analysis. Not thread-safe: belongs to the event loop."""

    def __init__(
        self, loader: EngineLoader, owner: str, tasks: SessionTasks, send: Callable[..., None]
    ) -> None:
        self._loader, self._owner, self._tasks, self._send = loader, owner, tasks, send
        self.known: dict[int, Known] = {}  # by node
        self._place: Place | None = None  # None: off
        self._line: list[Place] = []  # of the graph
        self._tree: KeptTree | None = None

    @property
    def on(self) -> bool:
        return self._place is not None

    def follow(self, place: Place, line: list[Place]) -> None:
        """Analyse this place from now on, and fill the graph of a line."""
        moved = self._place is None or self._place.node != place.node
        self._place, self._line = place, line
        engine = self._loader.engine_if_ready
        if engine is None:
            return
        if self._tree is None:
            self._tree = engine.new_tree(megabytes=MEGABYTES)
        if moved or not self._tasks.running("analysis"):
            work = self._analyse(engine, self._tree, place)
            self._tasks.start(
                "analysis", work, lambda result: self._show(place, result), lambda _: self.stop()
            )
        if not self._tasks.running("graph"):
            self._tasks.start("graph", self._fill_graph(engine), lambda _: None, lambda _: None)

    def stop(self) -> None:
        """Stop, and free the tree."""
        self._place = None
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
            self._send(graph_view(news), key)

    async def _analyse(self, engine: Engine, tree: KeptTree, place: Place) -> SearchResult:
        """Search up to the limit of visits, or until cancelled; shows progress."""
        loop = asyncio.get_running_loop()
        request = SearchRequest(
            unfinished(place.position), LIMITS, wanted=WANTED, progress_interval=REPORT_SECONDS
        )

        def report(result: SearchResult) -> None:
            loop.call_soon_threadsafe(self._show, place, result)

        return await wait_for(
            engine.submit(request, owner=self._owner, tree=tree, on_progress=report)
        )

    def _show(self, place: Place, result: SearchResult) -> None:
        if self._place is None or self._place.node != place.node or not result.visits:
            return
        speed = (result.visits - result.reused) / max(result.seconds, 1e-3)
        self._send(analysis_view(result, place.node, speed), "analysis")
        self.note([(place.node, known_from(result))], f"graph {place.node}")

    async def _fill_graph(self, engine: Engine) -> None:
        """Evaluate the nodes of the line that are not known, by the network alone."""
        while some := [each for each in self._line if each.node not in self.known][:GRAPH_BATCH]:
            positions = [unfinished(each.position) for each in some]
            found = await asyncio.wrap_future(engine.evaluate(positions))
            known = known_from_network(positions, found)
            self.note(list(zip([each.node for each in some], known, strict=True)))
