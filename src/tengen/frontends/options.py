"""The options of all commands but `gtp` and `analysis`, which have their own packages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tengen.config import drawn_option, option
from tengen.engine.settings import DEVICE, NetworkOptions
from tengen.frontends.loopback import LOOPBACK
from tengen.network.backends.registry import AUTO, TRAINING_DEVICES

BOARD_SIZE = "side of the board"
CONFIG = "settings file; `tengen config` writes one"
LEVEL = "strength, from beginner to full; docs/levels.md lists them"
LOG = "add all input and output to this file"
SEED = "the same seed makes the same moves; else each game has its own"


def any_seed() -> int:
    """A seed that nobody chose."""
    from secrets import randbits

    return randbits(32)


@dataclass(frozen=True)
class PlayOptions(NetworkOptions):
    """Options of `tengen play`."""

    level: str = option("casual", LEVEL)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    rules: str = option("chinese", "name of a rule set")
    komi: float | None = option(None, "points for White; else the usual komi of the rules")
    color: str = option("black", "your colour: black or white")
    host: str = option(LOOPBACK, "address to serve at; others than loopback need a token")
    port: int | None = option(
        None, "0: any free one; else the usual one or the next free one", low=0, high=65535
    )
    token: str | None = option(
        None, "secret of browsers on other machines; made up where one is needed"
    )
    run: Path | None = option(None, "show a training run, too", metavar="DIR")
    browser: bool = option(True, "open a browser")
    terminal: bool = option(False, "play in the terminal", flag="--terminal")
    seed: int = drawn_option(any_seed, SEED)
    data: Path | None = None  # where games are kept; None: the user's own folder


@dataclass(frozen=True)
class MatchOptions:
    """Options of `tengen match`."""

    games: int = option(100, "games, half with each colour", low=1)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    rules: str = option("tromp-taylor", "name of a rule set")
    komi: float = option(7.0, "points for White")
    opening_moves: int = option(4, "first moves, drawn from a network's policy", low=0)
    parallel: int = option(2, "games at a time, unless both are networks with visits", low=1)
    sprt: tuple[float, float] | None = option(
        None, "stop when the Elo is clearly below or above", metavar="LOW HIGH"
    )
    device: str = option(AUTO, DEVICE)
    seed: int = option(1, "seed of openings and searches")
    out: str | None = option(None, "folder for results and games; a stopped match goes on")


@dataclass(frozen=True)
class ReviewOptions(NetworkOptions):
    """Options of `tengen review`."""

    visits: int = option(100, "for each position", low=2)
    out: str | None = option(None, "where to write; else beside the game", metavar="FOLDER")


@dataclass(frozen=True)
class TrainOptions:
    """Options of `tengen train`; None where the run's own settings are to stay."""

    minutes: float | None = option(None, "how long the whole run takes")
    games: int | None = option(None, "or how many games")
    iterations: int | None = option(None, "or how many iterations")
    model: str | None = option(None, "architecture, such as b6c96; see `tengen net list`")
    board_size: int | None = option(None, BOARD_SIZE, low=2, high=19)
    preset: str | None = option(None, "a recipe: katago (the default), gumbel or tutorial")
    config: str | None = option(None, "settings file", metavar="FILE")
    settings: list[str] = option(
        (), "one setting, as in training.rate=0.001", flag="--set", metavar="KEY=VALUE"
    )
    device: str | None = option(None, f"where to train: {', '.join(TRAINING_DEVICES)}")
    seed: int | None = option(None, "seed of weights and games")


@dataclass(frozen=True)
class SelfPlayOptions:
    """Options of `tengen selfplay`."""

    out: Path = option(..., "where the games go", metavar="FOLDER")
    games: int = option(1000, "how many games", low=1)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    visits: int = option(96, "of full searches", low=1)
    sgf: bool = option(True, "write each game as SGF, too")
    rows: str | None = option(None, "write training rows for KataGo, too", metavar="katago")
    device: str = option(AUTO, DEVICE)
    seed: int = option(1, "seed of the games")


@dataclass(frozen=True)
class BenchmarkOptions(NetworkOptions):
    """Options of `tengen benchmark`."""

    board_size: int = option(19, BOARD_SIZE, low=2, high=19)
    seconds: float = option(3.0, "for each measurement", low=0.1)
    config: str | None = option(None, "write the recommended settings", metavar="FILE")
