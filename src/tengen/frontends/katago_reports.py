"""What GTP and the JSON analysis have in common: KataGo's reports on a search, and handicap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tengen.engine.katago_params import SIDE_TO_MOVE
from tengen.game.color import Color

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.game.geometry import Point, Size
    from tengen.search.request import Wanted
    from tengen.search.result import Uncertainty


@dataclass(frozen=True)
class ReportFields:
    """What a client wants to be told besides the usual."""

    ownership: bool = False
    ownership_stdev: bool = False
    moves_ownership: bool = False
    moves_ownership_stdev: bool = False
    policy: bool = False
    pv_visits: bool = False
    pv_edge_visits: bool = False
    no_result: bool = False

    def wanted(self, pv_length: int) -> Wanted:
        """What the search has to find out for it."""
        from tengen.search.request import Wanted

        return Wanted(
            ownership=self.ownership or self.ownership_stdev,
            moves_ownership=self.moves_ownership or self.moves_ownership_stdev,
            pv_length=pv_length,
        )


def described_networks(engine: Engine) -> list[dict[str, Any]]:
    """What clients are told about the networks of an engine."""
    return [
        {
            "name": network.file or network.evaluator.name,
            "internalName": network.evaluator.name,
            "maxBatchSize": engine.scheduler.batch_size,
            "usesHumanSLProfile": network.evaluator.imitates_people,
            "version": network.katago_version,
            "usingFP16": "auto",
        }
        for network in engine.networks
    ]


def sign_for(perspective: str, to_play: Color) -> int:
    """1 if reports are for the side to play, -1 if they are for its opponent."""
    return 1 if perspective in (SIDE_TO_MOVE, to_play.name) else -1


def winrate_for(sign: int, winrate: float) -> float:
    """The winrate of the side to play, or of its opponent if the sign is -1."""
    return winrate if sign > 0 else 1 - winrate


def reported_uncertainty(uncertainty: Uncertainty | None) -> Uncertainty:
    """As KataGo reports it: -1 where it is unknown, as for networks before its version 9."""
    from tengen.search.result import Uncertainty

    if uncertainty is not None and (uncertainty.value or uncertainty.score):
        return uncertainty
    return Uncertainty(-1.0, -1.0, -1.0)


# Whose advantage `playoutDoublingAdvantagePla` means.
SIDES = {"B": Color.BLACK, "W": Color.WHITE, "E": None}


def all_moves_but(moves: Iterable[Point | None], size: Size) -> set[Point | None]:
    """All points of a board and the pass, without these: what is avoided where they are allowed."""
    from tengen.game.geometry import Point

    points = (Point(x, y) for y in range(size.height) for x in range(size.width))
    return {None, *points} - set(moves)


def stones_before_white(moves: Sequence[tuple[Color, Point | None]]) -> int:
    """How many stones Black put down before White's first one: clients lay out handicap so.

    0 if White moves twice in a row, then: that sets up a position.
    """
    count = 0
    for k, (color, point) in enumerate(moves):
        if color is Color.BLACK:
            count += point is not None
        elif k + 1 < len(moves) and moves[k + 1][0] is Color.WHITE:
            return 0
        elif point is not None:
            break
    return count
