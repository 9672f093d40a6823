"""What a GTP session is started with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tengen.network.files.bundled import BUNDLED

if TYPE_CHECKING:
    from tengen.search.params import SearchParams


@dataclass(frozen=True)
class GtpOptions:
    """How to play, until the client says otherwise."""

    model: str = BUNDLED  # a network file, or its name
    device: str = "auto"
    level: str | None = None  # of strength; it has visits of its own
    visits: int | None = None  # of a search; without any limit, a few hundred
    seconds: float | None = None  # for a move, within what the clock allows
    adaptive: bool = False  # fewer visits where the move is clear
    rules: str = "tromp-taylor"
    komi: float | None = None  # without one, the usual one of the rules
    board_size: int = 19
    resign: bool = True
    resign_winrate: float = 0.05  # below which a game is given up,
    resign_turns: int = 3  # at so many own moves in a row,
    resign_least_moves: float = 0.2  # after so many moves for each point of the board
    ponder: bool = False  # think while the opponent does
    params: SearchParams | None = None  # of the search
    leaves: int | None = None  # positions that the network gets at a time
    seed: int = 0
    name: str = "Tengen"  # Lizzie shows scores for names that begin with KataGo
    log_file: str | None = None  # everything said and heard is added to it
