"""What searches found, as pages are told it; win rates and leads of positions are Black's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.frontends.web.play.views import Json
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.network.evaluator import Evaluation
from tengen.search.result import MoveResult, SearchResult

MOST_MOVES = 12


class Known(NamedTuple):
    """What is thought of a position."""

    winrate: float
    lead: float
    visits: int


def known_from(result: SearchResult) -> Known:
    """What a search thinks of its position."""
    black = result.position.to_play is Color.BLACK
    winrate = result.winrate if black else 1 - result.winrate
    return Known(winrate, result.lead if black else -result.lead, result.visits)


def known_from_network(positions: list[Position], found: Evaluation) -> list[Known]:
    """What the network itself thinks of some positions."""
    known = []
    for i, position in enumerate(positions):
        win, _, nothing = (float(chance) for chance in found.value[i])
        winrate, lead = win + nothing / 2, float(found.lead[i])
        black = position.to_play is Color.BLACK
        known.append(Known(winrate if black else 1 - winrate, lead if black else -lead, 1))
    return known


def graph_view(known: Iterable[tuple[int, Known]]) -> Json:
    """Points of the graph."""
    return {
        "type": "graph",
        "points": [
            {
                "node": node,
                "winrate": round(each.winrate, 4),
                "lead": round(each.lead, 2),
                "visits": each.visits,
            }
            for node, each in known
        ],
    }


def analysis_view(result: SearchResult, node: int, speed: float) -> Json:
    """What a search found at a node."""
    known = known_from(result)
    sign = 1 if result.position.to_play is Color.BLACK else -1
    ownership: Any = None
    if result.ownership is not None:
        ownership = _rounded(sign * result.ownership, 2)
    return {
        "type": "analysis",
        "node": node,
        "visits": result.visits,
        "speed": round(speed, 1),
        "winrate": round(known.winrate, 4),
        "lead": round(known.lead, 2),
        "moves": moves_view(result.moves, result.position),
        "ownership": ownership,
        "policy": _rounded(result.policy, 4),
    }


def _rounded(values: NDArray[np.float32], digits: int) -> list[float]:
    return np.round(values.ravel().astype(np.float64), digits).tolist()  # type: ignore[no-any-return]


def moves_view(moves: Iterable[MoveResult], position: Position) -> list[Json]:
    """The best moves first."""
    return [
        {
            "move": position.text(each.move),
            "visits": each.visits,
            "winrate": round(each.winrate, 4),
            "lead": round(each.lead, 2),
            "prior": round(each.prior, 4),
            "pv": [position.text(point) for point in each.pv],
        }
        for each in list(moves)[:MOST_MOVES]
    ]
