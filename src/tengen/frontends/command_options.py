"""The options of all commands, as dataclasses, and the settings files that set them.

A file has sections for the engine, its search, its imitation of people, and for commands.
The sections [search] and [human] take KataGo's names of parameters, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tengen.config import drawn_option, load_keys, load_sections, option, write_sections
from tengen.engine.katago_params import FIELDS_IN_FILES, PERSPECTIVES, PLAYING, SIDE_TO_MOVE
from tengen.engine.settings import DEVICE, PRECISION, EngineOptions, NetworkOptions, PlayerOptions
from tengen.frontends.loopback import LOOPBACK
from tengen.network.backends.registry import AUTO, TRAINING_DEVICES
from tengen.pip_package import DISTRIBUTION
from tengen.search.human_style import NO_STYLE, HumanStyle

ALL_PRECISIONS = "all"
BOARD_SIZE = "side of the board"
CONFIG = "settings file: of Tengen's (`tengen config` writes one), or a .cfg of KataGo's"
OVERRIDES = "parameters under KataGo's names, such as maxVisits=100; they override the file"
LEVEL = "strength, from newcomer to full, or human:5k; docs/levels.md lists them"
LOG = "add all input and output to this file"
RECORDS = "learn from SGF files, shards or KataGo's rows (.npz), not from self-play; repeatable"
POSITIONS = "take positions from game records, not from self-play; repeatable"
SEED = "the same seed gives the same moves; by default each game has its own"


def any_seed() -> int:
    """A random seed."""
    from secrets import randbits

    return randbits(32)


def _check_perspective(word: str) -> None:
    if word not in PERSPECTIVES:
        raise ValueError(f"{word!r} is none of {', '.join(PERSPECTIVES)}")


# Fields of SearchParams as KataGo has them in GTP: moves vary a little.
GTP_SEARCH: Mapping[str, Any] = MappingProxyType(
    {**PLAYING, "fill_dame": True, "temperature": 0.1, "temperature_early": 0.5}
)


@dataclass(frozen=True)
class GtpOptions(EngineOptions):
    """How `tengen gtp` plays and reports, until the client says otherwise; raises ValueError."""

    level: str | None = option(None, LEVEL)
    adaptive: bool = option(False, "fewer visits where the move is clear", flag="--adaptive")
    board_size: int = option(19, f"{BOARD_SIZE}, until the client sets it", low=2, high=19)
    rules: str = option("tromp-taylor", "name of a rule set")
    komi: float | None = option(None, "points for White; by default the usual komi of the rules")
    resign: bool = option(True, "resign lost games")
    resign_winrate: float = 0.05  # resign below this winrate
    resign_turns: int = 3  # at so many own moves in a row
    resign_least_moves: float = 0.2  # after so many moves for each point of the board
    ponder: bool = option(False, "think in the opponent's time")
    ponder_visits: int | None = None  # in the opponent's time; else as many as fit in ten minutes
    ponder_playouts: int | None = None
    ponder_seconds: float | None = None
    lag: float = 0.1  # seconds that a move may take beyond its search
    more_time: float = 1.0  # the time for a move is multiplied by this,
    midgame_time: float = 1.0  # and by this at the peak of the middle game
    midgame_peak: float = 130.0  # which is at this move on 19x19
    endgame_decay: float = 100.0  # and over so many moves later
    obvious_time: float = 1.0  # share of the time for moves that policy and search agree on
    obvious_entropy: float = 0.3  # of a policy that is sure, and
    obvious_surprise: float = 0.15  # of a search that agrees with it
    after_pass: float = 1.0  # share of visits and time after the opponent's pass,
    after_two_passes: float = 1.0  # and after two of them
    delay: float = 0.0  # seconds to wait before moves of little policy, as people do; 0: none
    delay_most: float = 1e6
    perspective: str = SIDE_TO_MOVE  # whose winrates and points are reported
    pv_length: int = 15  # moves of a variation that is reported
    analysis_noise: float = 0.04  # makes analysis look at more moves
    analysis_ignore_history: bool = True  # so that analysis judges the board alone
    ignore_history: bool = False  # the same for moves to play
    ignore_all_history: bool = False  # show networks no moves at all, not even those searched
    # Look for moves that punish an opponent who mirrors; None: as analysis does, if [search] says
    # so, else true.
    anti_mirror: bool | None = None
    symmetry_pruning: bool = True  # search one of several moves that a symmetry makes equal
    symmetries: int = 1  # of the board, over which the root's evaluation is averaged
    playout_advantage: float = 0.0  # log2 of the playouts that the network is told one side has
    advantage_of: str = "E"  # B or W; E: the side to play
    playouts: int | None = None  # new visits for each move
    root_noise: bool = False  # Dirichlet noise
    root_temperature: float = 1.0  # of the policy at the root
    root_temperature_early: float = 1.0
    name: str = option("Tengen", "name to tell the client; Lizzie shows scores only for KataGo")
    seed: int = drawn_option(any_seed, SEED)
    config: str | None = option(None, CONFIG, metavar="FILE", in_file=False)
    override_config: list[str] = option((), OVERRIDES, metavar="NAME=VALUE,...", in_file=False)
    log: str | None = option(None, LOG, metavar="FILE")
    # The section [human] of a file.
    human: HumanStyle = field(default=NO_STYLE, metadata={"in_file": False})
    # Fields of SearchParams that differ from GTP's defaults: the section [search] of a file.
    search: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})
    # KataGo's parameters that clients set and read, by their names.
    without_effect: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("lag", "resign_winrate", "resign_least_moves", "analysis_noise"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)!r}")
        for name in ("resign_turns", "pv_length"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be 1 or more, not {getattr(self, name)!r}")
        _check_perspective(self.perspective)

    @property
    def plays_anti_mirror(self) -> bool:
        """Does the search for a move punish an opponent who mirrors? Analyses do not by default."""
        asked = self.anti_mirror
        return bool(self.search.get("anti_mirror", True)) if asked is None else asked

    @property
    def noisy_root(self) -> bool:
        """Does the root want other priors than the network's own?"""
        return self.root_noise or (self.root_temperature_early, self.root_temperature) != (1.0, 1.0)


@dataclass(frozen=True)
class AnalysisOptions(PlayerOptions):
    """Options of `tengen analysis`; raises ValueError for values out of range."""

    visits: int = option(500, "for each position, unless a query says otherwise", low=1)
    searches: int | None = option(
        None, "positions of a client to search at a time; by default what suits the device", low=1
    )
    megabytes: float = 2048.0  # for all search trees together
    cache_megabytes: float = 256.0  # for evaluations that queries share; 0: none are kept
    perspective: str = option("BLACK", "whose win rates: BLACK, WHITE or SIDETOMOVE")
    listen: str | None = option(None, "serve a WebSocket in place of stdin", metavar="HOST:PORT")
    token: str | None = option(None, "secret of WebSocket clients; needed beyond loopback")
    quit_without_waiting: bool = option(
        False, "drop open queries at the end of input", flag="--quit-without-waiting"
    )
    config: str | None = option(None, CONFIG, metavar="FILE", in_file=False)
    override_config: list[str] = option((), OVERRIDES, metavar="NAME=VALUE,...", in_file=False)
    log: str | None = option(None, LOG, metavar="FILE")
    # The section [human] of a file.
    human: HumanStyle = field(default=NO_STYLE, metadata={"in_file": False})
    # Fields of SearchParams that differ from those of analysis: the section [search] of a file.
    search: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})
    # KataGo's parameters that queries begin with, as if each had them in `overrideSettings`.
    of_queries: Mapping[str, Any] = field(default_factory=dict, metadata={"in_file": False})

    def __post_init__(self) -> None:
        if self.visits < 1:
            raise ValueError(f"visits must be at least 1, not {self.visits}")
        if self.searches is not None and not 1 <= self.searches <= 1024:
            raise ValueError(f"searches at a time run from 1 to 1024, not {self.searches}")
        if not self.megabytes > 0 or not self.cache_megabytes >= 0:
            raise ValueError("megabytes must be over 0, those of the cache 0 or more")
        _check_perspective(self.perspective)


@dataclass(frozen=True)
class PlayOptions(PlayerOptions):
    level: str = option("newcomer", LEVEL)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    rules: str = option("chinese", "name of a rule set")
    komi: float | None = option(None, "points for White; by default the usual komi of the rules")
    color: str = option("black", "your colour: black or white")
    host: str = option(LOOPBACK, "address to serve at; others than loopback need a token")
    port: int | None = option(None, "port of the page; 0: any free one", low=0, high=65535)
    token: str | None = option(
        None, "secret that browsers on other machines need; by default a random one"
    )
    networks: Path | None = option(
        None,
        "networks to choose from in the page; by default those of `tengen net add`",
        metavar="FOLDER",
    )
    games_megabytes: float = option(
        256.0, "room for kept games; the oldest finished ones make room for new ones", low=1
    )
    run: Path | None = option(None, "show a training run, too", metavar="DIR")
    training: bool | None = option(
        None, "let people train 5x5 in the page; by default only if no other machine can reach it"
    )
    browser: bool = option(True, "open a browser")
    terminal: bool = option(False, "play in the terminal", flag="--terminal")
    seed: int = drawn_option(any_seed, SEED)
    data: Path | None = None  # where games are kept; None: the user's own folder


@dataclass(frozen=True)
class MatchOptions:
    games: int = option(100, "games, half with each colour", low=1)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    rules: str = option("tromp-taylor", "name of a rule set")
    komi: float = option(7.0, "points for White")
    opening_moves: int = option(4, "first moves, drawn from a network's policy", low=0)
    parallel: int = option(
        2, "games at a time; no effect if both engines are networks with visits", low=1
    )
    sprt: tuple[float, float] | None = option(
        None, "stop once the Elo is clearly below LOW or above HIGH", metavar="LOW HIGH"
    )
    device: str = option(AUTO, DEVICE)
    precision: str = option(AUTO, PRECISION)
    seed: int = option(1, "seed of openings and searches")
    out: str | None = option(None, "folder for results and games; the same command resumes a match")


@dataclass(frozen=True)
class ReviewOptions(NetworkOptions):
    visits: int = option(100, "for each position", low=2)
    out: str | None = option(None, "where to write; by default beside the game", metavar="FOLDER")
    language: str | None = option(
        None, "of the page: en, zh-Hans, zh-Hant, ja, ko or ar; by default that of the browser"
    )


@dataclass(frozen=True)
class RunOptions:
    """Options of all commands that train a run; None where the run's own settings are to stay."""

    minutes: float | None = option(None, "length of the whole run")
    games: int | None = option(None, "or end it after so many games")
    iterations: int | None = option(None, "or after so many iterations")
    session_minutes: float | None = option(
        None, "end this session after so many; the same command resumes the run", low=0
    )
    pack: Path | None = option(
        None, "write files of this name that let the run go on elsewhere", metavar="FILE"
    )
    board_size: int | None = option(None, BOARD_SIZE, low=2, high=19)
    config: str | None = option(
        None, "settings file, or the name of a recipe: 9x9, 7x7 and others", metavar="FILE"
    )
    settings: list[str] = option(
        (), "one setting, as in training.rate=0.001", flag="--set", metavar="KEY=VALUE"
    )
    device: str | None = option(None, f"where to train: {', '.join(TRAINING_DEVICES)}")
    seed: int | None = option(None, "seed of weights and games")


@dataclass(frozen=True)
class TrainOptions(RunOptions):
    """Options of `tengen train`."""

    origin: Path | None = option(
        None, "begin a run that goes on from this pack", flag="--from", metavar="PACK"
    )
    cluster: str | None = option(
        None, "train on a Ray cluster: auto, or where it is; see docs/cluster.md", metavar="ADDRESS"
    )
    workers: int | None = option(
        None, "how many self-play workers; without --cluster all on this machine", low=1
    )
    records: list[str] = option((), RECORDS, metavar="FILE_OR_FOLDER")
    model: str | None = option(None, "architecture, such as b6c96; see `tengen net list`")
    preset: str | None = option(
        None, "a recipe: katago (the default), gumbel, tutorial, records or distil"
    )
    allow_commands: bool = option(
        False, "start the programs that the run's rating.outside names (gtp:COMMAND)"
    )


@dataclass(frozen=True)
class DistilOptions(RunOptions):
    """Options of `tengen distil`."""

    into: str | None = option(None, "architecture of the network that learns, such as b6c96")
    records: list[str] = option((), POSITIONS, metavar="FILE_OR_FOLDER")


@dataclass(frozen=True)
class SweepOptions:
    out: Path = option(..., "where the runs go, each in a folder of its own", metavar="FOLDER")
    seeds: int = option(3, "runs of each variant, with seeds from 1 on", low=1)
    vary: list[str] = option(
        (), "values of a setting, as in training.rate=0.001,0.002", metavar="KEY=VALUE,..."
    )
    settings: list[str] = option(
        (), "one setting of all runs, as in run.iterations=20", flag="--set", metavar="KEY=VALUE"
    )
    metric: str = option("loss/policy", "what is compared: a name in metrics.jsonl, such as elo")
    over: str = option("rows", "what it is drawn over: rows, games, minutes or step")


@dataclass(frozen=True)
class SelfPlayOptions:
    out: Path = option(..., "where the games go", metavar="FOLDER")
    games: int = option(1000, "how many games", low=1)
    board_size: int = option(9, BOARD_SIZE, low=2, high=19)
    visits: int = option(96, "of full searches", low=1)
    sgf: bool = option(True, "write each game as SGF, too")
    rows: str | None = option(None, "write training rows for KataGo, too", metavar="katago")
    device: str = option(AUTO, DEVICE)
    seed: int = option(1, "seed of the games")


@dataclass(frozen=True)
class ProblemsOptions(NetworkOptions):
    """What `tengen problems make` makes."""

    sizes: list[str] = option(
        ("9",), "board to play on, such as 9; give it several times", flag="--size", metavar="SIDE"
    )
    count: int = option(100, "problems on each board, about", low=1)
    second: list[str] = option(
        (), "another network that must agree; by default the other bundled one", metavar="NETWORK"
    )
    visits: int = option(64, "of each search", low=2)
    batch: int = option(8, "games that are played side by side", low=1)
    most_of_a_grade: int | None = option(
        None, "problems of a grade to keep for each board, at most", low=1
    )
    seed: int = option(1, "seed of the games")


@dataclass(frozen=True)
class ExportOptions:
    """What `tengen net export` writes."""

    katago: str | None = option(None, "write a file that KataGo reads", metavar="OUT.bin.gz")
    onnx: str | None = option(
        None, f"write ONNX; needs {DISTRIBUTION}[onnxruntime]", metavar="OUT.onnx"
    )
    half: str | None = option(
        None, "write Tengen's own format as float16", metavar="OUT.safetensors"
    )
    name: str | None = option(None, "with --katago or --half: name of the network in the file")
    rules: str | None = option(
        None, "with --half: the only rules it was trained on; it treats all rules as these"
    )


@dataclass(frozen=True)
class VerifyOptions:
    """What `tengen net verify` compares."""

    device: str = option(AUTO, DEVICE)
    precision: str = option(AUTO, PRECISION)
    against: str | None = option(
        None,
        "what to compare with, in float32: torch, onnxruntime or openvino; by default the first "
        "that is installed",
        metavar="LIBRARY",
    )
    positions: int = option(48, "how many, after random moves", low=1)
    seed: int = option(1, "seed of the positions")


@dataclass(frozen=True)
class BenchmarkOptions(NetworkOptions):
    board_size: int = option(19, BOARD_SIZE, low=2, high=19)
    precision: str = option(
        AUTO,
        f"{PRECISION}; or {ALL_PRECISIONS}: find and keep what plays best in equal time",
    )
    seconds: float = option(3.0, "for each measurement", low=0.1)
    minutes: float = option(4.0, "of games with --precision all, at most", low=0.1)
    move_seconds: float = option(0.1, "for a move in these games", low=0.001)
    config: str | None = option(None, "write the recommended settings", metavar="FILE")
    signature: bool = option(False, "only print the signature of this version's behaviour")


@cache
def sections() -> dict[str, type[Any]]:
    """The dataclasses that a settings file fills."""
    from tengen.search.params import SearchParams

    return {
        "engine": EngineOptions,
        "search": SearchParams,
        "human": HumanStyle,
        "gtp": GtpOptions,
        "analysis": AnalysisOptions,
    }


def load_settings(path: str | Path) -> dict[str, Any]:
    """A dataclass for each section of a file; raises ValueError that names section and key."""
    return load_sections(path, sections(), FIELDS_IN_FILES)


def write_settings(settings: dict[str, Any] | None = None) -> str:
    """A file that explains each setting; sections that are left out have their defaults."""
    given = settings or {}
    return write_sections({name: given.get(name, kind()) for name, kind in sections().items()})


def options_in_file(
    kind: type[Any], path: str | Path, given: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """What a file sets of a command's options; `given` ones come from the command line.

    Raises ValueError that names section and key.
    """
    keys = load_keys(path, sections(), FIELDS_IN_FILES)
    own = next((name for name, section in sections().items() if section is kind), "")
    known = {each.name: each for each in fields(kind)}
    inherited = {each.name for each in fields(EngineOptions) if known.get(each.name) is each}
    found = {key: value for key, value in keys.get("engine", {}).items() if key in inherited}
    found |= keys.get(own, {})
    if "search" in known:
        found["search"] = keys.get("search", {})
        if "human" in keys:
            found["human"] = HumanStyle(**keys["human"])
    return without_limits_of_levels(found, given)


def without_limits_of_levels(found: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What files set, without limits where they or the command line name a level.

    A level has limits of its own.
    """
    if not {**found, **given}.get("level"):
        return found
    return {key: value for key, value in found.items() if key not in ("visits", "seconds")}
