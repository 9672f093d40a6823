"""What GTP and the JSON analysis have in common: KataGo's reports, its moves and handicap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tengen.engine.katago_params import SIDE_TO_MOVE
from tengen.game.color import Color
from tengen.game.illegal_moves import SuicideError

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.game.geometry import Point, Size
    from tengen.game.position import MoveLike, Position
    from tengen.search.request import Wanted
    from tengen.search.result import Uncertainty


@dataclass(frozen=True)
class ReportFields:
    """The optional parts of reports that a client wants."""

    ownership: bool = False
    ownership_stdev: bool = False
    moves_ownership: bool = False
    moves_ownership_stdev: bool = False
    policy: bool = False
    pv_visits: bool = False
    pv_edge_visits: bool = False
    no_result: bool = False

    def wanted(self, pv_length: int) -> Wanted:
        """The parts of a search result that these reports need."""
        from tengen.search.request import Wanted

        return Wanted(
            ownership=self.ownership or self.ownership_stdev,
            moves_ownership=self.moves_ownership or self.moves_ownership_stdev,
            pv_length=pv_length,
        )


def described_networks(engine: Engine) -> list[dict[str, Any]]:
    """The networks of an engine, as described to clients."""
    return [
        {
            "name": network.file or network.evaluator.name,
            "internalName": network.evaluator.name,
            "maxBatchSize": engine.scheduler.batch_size,
            "usesHumanSLProfile": network.evaluator.imitates_people,
            "version": network.katago_version,
            "usingFP16": "auto",
            **({"sha256": network.sha256} if network.sha256 else {}),
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
    """All points and the pass, without these: the moves to avoid if only these are allowed."""
    from tengen.game.geometry import Point

    points = (Point(x, y) for y in range(size.height) for x in range(size.width))
    return {None, *points} - set(moves)


def after_move(position: Position, move: MoveLike, color: Color) -> Position:
    """The position after a move of either colour; raises IllegalMoveError.

    As in KataGo, retaking a ko, repeating a position, suicide of several stones and moves after
    the end of the game are played: the rules of servers and records may allow them.
    """
    after = position.play(move, color, strict=False)
    if after.captured(color) == position.captured(color) + 1:
        raise SuicideError(position.text(move), color, after.move_number)
    return after


class HandicapCount(NamedTuple):
    """The handicap stones so far, and whether Black's next stones count as such.

    They are the stones of the first position, unless White has some there, and those that Black
    adds before White's first one: clients lay out handicap so. A move out of turn begins anew with
    the board before it.
    """

    stones: int
    counting: bool

    @property
    def handicap(self) -> int:
        """The number of stones by which White's bonus is computed."""
        return self.stones if self.stones > 1 else 0

    @classmethod
    def at(cls, position: Position) -> HandicapCount:
        """The count where a game begins."""
        stones = position.stones
        if (stones == Color.WHITE).any():
            return cls(0, False)
        return cls(int((stones == Color.BLACK).sum()), True)

    def after(self, before: Position, position: Position) -> HandicapCount:
        """The count after the last move of a position, which follows another one."""
        last = position.last_move
        if last is None:
            return self
        count = self if last.color is before.to_play else HandicapCount.at(before)
        if last.point is None:
            return count
        counting = count.counting and last.color is Color.BLACK
        return HandicapCount(count.stones + counting, counting)


def handicap_counts(line: Iterable[Position]) -> Iterator[HandicapCount]:
    """The count at each position of a line of moves."""
    positions = iter(line)
    before = next(positions)
    count = HandicapCount.at(before)
    yield count
    for position in positions:
        count = count.after(before, position)
        yield count
        before = position
