"""The program's part in a game: its moves, its hints, and which stones it thinks are dead."""

from __future__ import annotations

from tengen.engine.levels import Decision, choose, level_named
from tengen.frontends.web.play.engine_room import Desk
from tengen.game.dead_stones import SEARCH_VISITS, counts_dead_stones, dead_stones
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.result import SearchResult

HINT_VISITS, HINT_SECONDS = 400, 2.0


def decide(
    desk: Desk, position: Position, level: str, seed: int, seconds: float | None
) -> Decision:
    """What an opponent of this level does, in at most so many seconds."""
    return choose(desk, position, level_named(level), seed, seconds)


def look_for_hints(desk: Desk, position: Position) -> SearchResult:
    """What would be good moves here."""
    return desk.search(going_on(position), visits=HINT_VISITS, seconds=HINT_SECONDS)


def look_for_dead_stones(desk: Desk, position: Position) -> frozenset[Point]:
    """The stones that would not survive, where the rules take such stones off."""
    if counts_dead_stones(position.rules):
        return frozenset()
    found = desk.search(going_on(position), visits=SEARCH_VISITS)
    return dead_stones(found.position, found.ownership)


def going_on(position: Position) -> Position:
    """The position in a game that goes on."""
    if not position.is_over:
        return position
    return position.set_up(to_play=position.to_play, handicap=position.handicap)
