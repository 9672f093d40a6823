"""The options of `tengen gtp`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tengen.config import drawn_option, option
from tengen.engine.settings import EngineOptions
from tengen.frontends.options import BOARD_SIZE, CONFIG, LEVEL, LOG, SEED, any_seed


@dataclass(frozen=True)
class GtpOptions(EngineOptions):
    """How to play, until the client says otherwise."""

    level: str | None = option(None, LEVEL)
    adaptive: bool = option(False, "fewer visits where the move is clear", flag="--adaptive")
    board_size: int = option(19, f"{BOARD_SIZE}, until the client sets it", low=2, high=19)
    rules: str = option("tromp-taylor", "name of a rule set")
    komi: float | None = option(None, "points for White; else the usual komi of the rules")
    resign: bool = option(True, "resign lost games")
    resign_winrate: float = 0.05  # resign below this winrate
    resign_turns: int = 3  # at so many own moves in a row
    resign_least_moves: float = 0.2  # after so many moves for each point of the board
    ponder: bool = option(False, "think in the opponent's time")
    name: str = option("Tengen", "name to tell the client; Lizzie shows scores for KataGo")
    seed: int = drawn_option(any_seed, SEED)
    config: str | None = option(None, CONFIG, metavar="FILE", in_file=False)
    log: str | None = option(None, LOG, metavar="FILE")
    # Fields of SearchParams that differ from its defaults: the section [search] of a file.
    search: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})
