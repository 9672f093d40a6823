"""The networks that come with the package: one for 9x9, and one for all boards.

`bundled` names them all; the game decides which one plays. What each was trained on is in its file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tengen.network.files.errors import NetworkFileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tengen.game.position import Position
    from tengen.network.trained_on import TrainedOn

BUNDLED = "bundled"  # their name wherever a network can be named
FOLDER = Path(__file__).parent
# The first that was trained for a game plays it; the last one plays what none was trained for.
FILES = ("tengen-9x9.safetensors", "tengen-all.safetensors")


def bundled_networks() -> tuple[Path, ...]:
    """The files that are there, in the order of preference; raises NetworkFileError without any."""
    found = tuple(path for path in (FOLDER / name for name in FILES) if path.is_file())
    if not found:
        what = "the network that comes with Tengen is missing"
        raise NetworkFileError(
            f"{FOLDER / FILES[0]}: {what}; install Tengen again, or name a network file"
        )
    return found


def bundled_for(game: Position) -> Path:
    """The file of the bundled network that plays a game; raises NetworkFileError."""
    from tengen.network.files.tengen_format import read_trained_on

    files = bundled_networks()
    return files[choose_network([read_trained_on(path) for path in files], game)]


def choose_network(networks: Sequence[TrainedOn], game: Position) -> int:
    """Which of some networks plays a game: the first that was trained for its board and rules.

    Else the first that was trained for its board, else the last.
    """
    boards = [i for i, known in enumerate(networks) if known.knows_board(game.size)]
    both = [i for i in boards if networks[i].knows_rules(game.rules)]
    return [*both, *boards, len(networks) - 1][0]
