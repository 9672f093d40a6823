"""Live analysis of where one is, and the graph of the game that fills in meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import NamedTuple

from tengen.frontends.web import limits
from tengen.frontends.web.play.engine_room import Desk, EngineRoom
from tengen.frontends.web.play.errands import Errands
from tengen.frontends.web.play.opponent import going_on
from tengen.frontends.web.play.outbox import Outbox
from tengen.frontends.web.play.server_messages import (
    Known,
    analysis_view,
    graph_view,
    known_from,
    known_from_network,
)
from tengen.frontends.web.play.turnstile import TurnTaking
from tengen.game.position import Position
from tengen.network.evaluator import encode, evaluate
from tengen.search.params import SearchParams
from tengen.search.request import Limits, Wanted
from tengen.search.result import SearchResult
from tengen.search.search import Search

EVERY = 0.12  # seconds between reports
SLICE = 0.6  # seconds that an analysis keeps a thread, before others have theirs
MEGABYTES = 256.0
GRAPH_BATCH = 8
WANTED = Wanted(ownership=True, pv_length=20)


class Place(NamedTuple):
    """A node and its position."""

    node: int
    position: Position


class Live:
    """A session's analysis. Belongs to the event loop; the search itself does not."""

    def __init__(
        self, room: EngineRoom, errands: Errands, outbox: Callable[[], Outbox | None]
    ) -> None:
        self._room, self._errands, self._outbox = room, errands, outbox
        self.known: dict[int, Known] = {}  # by node
        self._place: Place | None = None  # None: off
        self._line: list[Place] = []  # to fill the graph
        self._mind: _Mind | None = None

    @property
    def on(self) -> bool:
        return self._place is not None

    def follow(self, place: Place, line: list[Place]) -> None:
        """Analyse this place from now on, and fill in the graph of a line."""
        moved = self._place is None or self._place.node != place.node
        self._place, self._line = place, line
        if not self._room.ready:
            return
        if self._mind is None:
            self._mind = _Mind(self._room)
        if self._errands.busy("analysis"):
            if moved:
                self._errands.hurry("analysis")
        else:
            self._next_slice()
        self._fill_graph()

    def stop(self) -> None:
        """Analyse nothing."""
        self._place = None
        for kind in ("analysis", "graph"):
            self._errands.drop(kind)
        if self._mind is not None:
            self._mind.close()
            self._mind = None

    def forget(self) -> None:
        """Another game: what was known of nodes is not about its nodes."""
        self.stop()
        self.known.clear()

    def note(self, found: list[tuple[int, Known]]) -> None:
        """Take in what became known of nodes, and show it where it is better than before."""
        news = [
            (node, known)
            for node, known in found
            if node not in self.known or self.known[node].visits <= known.visits
        ]
        self.known.update(news)
        outbox = self._outbox()
        if news and outbox is not None:
            outbox.put(graph_view(news))

    # The analysis

    def _next_slice(self) -> None:
        place, mind = self._place, self._mind
        if place is None or mind is None:
            return
        call_soon = self._errands.call_soon

        def report(result: SearchResult, speed: float) -> None:
            text = json.dumps(analysis_view(result, place.node, speed), separators=(",", ":"))
            call_soon(lambda: self._show(place, text))

        def finish(result: SearchResult) -> None:
            if result.visits:
                self.note([(place.node, known_from(result))])
            if result.visits < limits.VISITS or place is not self._place:
                self._next_slice()

        self._errands.do(
            "analysis", lambda desk: mind.think(desk, place, report), finish, lambda _: self.stop()
        )

    def _show(self, place: Place, text: str) -> None:
        outbox = self._outbox()
        if outbox is not None and self._place is not None and self._place.node == place.node:
            outbox.put_text(text, key="analysis")

    # The graph

    def _fill_graph(self) -> None:
        """Ask the network about the nodes of the line of which nothing is known."""
        todo = [place for place in self._line if place.node not in self.known]
        if not todo or self._errands.busy("graph"):
            return
        call_soon = self._errands.call_soon

        def work(desk: Desk) -> None:
            for i in range(0, len(todo), GRAPH_BATCH):
                if desk.stop.is_set():
                    return
                some = todo[i : i + GRAPH_BATCH]
                positions = [going_on(each.position) for each in some]
                found = evaluate(desk.evaluator, encode(desk.evaluator.features, positions))
                known = known_from_network(positions, found)
                news = list(zip([each.node for each in some], known, strict=True))
                call_soon(lambda news=news: self._note_if_on(news))  # type: ignore[misc]

        self._errands.do("graph", work, lambda _: self._fill_graph(), lambda _: None)

    def _note_if_on(self, news: list[tuple[int, Known]]) -> None:
        if self.on:
            self.note(news)


class _Mind:
    """A tree that goes on from slice to slice; used by one thread at a time."""

    def __init__(self, room: EngineRoom) -> None:
        self._memory = room.memory
        self._megabytes = self._memory.take(MEGABYTES)
        self._evaluator = TurnTaking(room.evaluator)
        self._search = Search(self._evaluator, SearchParams(megabytes=self._megabytes))
        self._node: int | None = None
        self._began, self._visits = 0.0, 0  # at this node

    def think(
        self, desk: Desk, place: Place, report: Callable[[SearchResult, float], None]
    ) -> SearchResult:
        """Search a place for a while."""
        self._evaluator.turn = desk.evaluator.turn
        if self._node != place.node:
            self._search.set_position(going_on(place.position))
            self._node, self._began = place.node, time.monotonic()
            self._visits = self._search.result().visits

        def tell(result: SearchResult) -> None:
            passed = max(time.monotonic() - self._began, 1e-3)
            report(result, (result.visits - self._visits) / passed)

        limits_ = Limits(visits=limits.VISITS, seconds=SLICE)
        result = self._search.run(
            limits_, wanted=WANTED, stop=desk.stop, on_progress=tell, every=EVERY
        )
        if result.visits:
            tell(result)
        return result

    def close(self) -> None:
        """Give its memory back."""
        self._memory.give_back(self._megabytes)
