"""Searches for players: good moves, and which stones are dead at the end of a game."""

from __future__ import annotations

from tengen.engine.engine import Engine, wait_for
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.game.scoring import SEARCH_VISITS, counts_dead_stones, dead_stones
from tengen.search.request import Limits, SearchRequest, Wanted
from tengen.search.result import SearchResult

HINT_LIMITS = Limits(visits=400, seconds=2.0)
DEAD_STONES_LIMITS = Limits(visits=SEARCH_VISITS)


async def find_hints(engine: Engine, position: Position, owner: str) -> SearchResult:
    """Search for good moves."""
    request = SearchRequest(unfinished(position), HINT_LIMITS)
    return await wait_for(engine.submit(request, owner=owner))


async def find_dead_stones(engine: Engine, position: Position, owner: str) -> frozenset[Point]:
    """The stones that would not survive; none where the rules count all stones as alive."""
    if counts_dead_stones(position.rules):
        return frozenset()
    request = SearchRequest(unfinished(position), DEAD_STONES_LIMITS, wanted=Wanted(ownership=True))
    result = await wait_for(engine.submit(request, owner=owner))
    return dead_stones(result.position, result.ownership)


def unfinished(position: Position) -> Position:
    """The position as one that can be searched: without history if the game is over."""
    if not position.is_over:
        return position
    return position.set_up(to_play=position.to_play, handicap=position.handicap)
