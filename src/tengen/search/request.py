"""What a search is asked for: a position, when to stop, what the root may do, what to report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.search.human_style import NO_STYLE, HumanStyle
from tengen.search.params import SearchParams

DEFAULT_VISITS = 400

# Why a search stopped.
VISITS, PLAYOUTS, TIME = "visits", "playouts", "time"
CANCELLED, DECIDED, OVER = "cancelled", "decided", "game over"
RUNNING = "running"


@dataclass(frozen=True)
class Limits:
    """When a search ends: at the first limit reached, or after DEFAULT_VISITS without any."""

    visits: int | None = None  # of the root, those kept from the previous move included
    playouts: int | None = None  # descents of this search alone
    seconds: float | None = None
    stop_when_decided: bool = False  # the remaining visits cannot change the choice
    stop_when_clear: bool = False  # also when the runner-up cannot reach half the leader's visits

    def __post_init__(self) -> None:
        for name in ("visits", "playouts", "seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be over 0, not {value!r}")

    @property
    def max_visits(self) -> float:
        """The visits that the root may reach; infinity where only time or playouts limit it."""
        if self.visits is not None:
            return self.visits
        return DEFAULT_VISITS if self.playouts is None and self.seconds is None else math.inf


class Avoid(NamedTuple):
    """A move that a colour must not consider in the first `depth` moves of a line."""

    color: Color
    move: Point | None
    depth: int = 1


@dataclass(frozen=True)
class RootOptions:
    """How the root differs from other nodes."""

    noisy: bool = False  # Dirichlet noise, root temperature and forced playouts
    gumbel: int = 0  # moves that a Gumbel root considers; 0: no Gumbel root
    avoid: tuple[Avoid, ...] = ()
    symmetry_pruning: bool = False  # search only one of several symmetric moves
    symmetries: int = 1  # of the board, from 1 to 8, over which the root's evaluation is averaged
    ignore_history: bool = False  # show the network no move from before the root; rules know them
    ignore_all_history: bool = False  # show it no moves at all
    fresh: bool = False  # start without a tree, whatever is known already
    # The network is told that this side has 2^advantage times as many playouts as the other one.
    playout_advantage: float = 0.0
    advantage_of: Color | None = None  # None: the side to play at the root
    human: HumanStyle = NO_STYLE


ROOT_DEFAULTS = RootOptions()


def allow_only(position: Position, moves: Iterable[Point | None]) -> RootOptions:
    """Root options that restrict the side to play to these moves at the root."""
    allowed = set(moves)
    everywhere = [Point(x, y) for y in range(position.height) for x in range(position.width)]
    return RootOptions(
        avoid=tuple(
            Avoid(position.to_play, move, 1) for move in (*everywhere, None) if move not in allowed
        )
    )


@dataclass(frozen=True)
class Wanted:
    """The parts of a result that take time to compute."""

    ownership: bool = False
    moves_ownership: bool = False
    pv_length: int = 15
    root_evaluation: bool = False  # the network's full output at the root

    def within(self, *, ownership: bool) -> Wanted:
        """The part of this that a tree with or without ownership can report."""
        return self if ownership else replace(self, ownership=False, moves_ownership=False)

    @property
    def any_ownership(self) -> bool:
        """Does the tree have to keep ownership?"""
        return self.ownership or self.moves_ownership


@dataclass(frozen=True)
class SearchRequest:
    """One search, whole: everything that it depends on except the network."""

    position: Position
    limits: Limits = field(default_factory=Limits)
    root: RootOptions = ROOT_DEFAULTS
    wanted: Wanted = field(default_factory=Wanted)
    params: SearchParams | None = None  # None: the engine's
    progress_interval: float | None = None  # seconds between reports; None: no reports
    first_progress: float | None = None  # seconds to the first report; None: as the others
    priority: int = 0  # higher ones go first
