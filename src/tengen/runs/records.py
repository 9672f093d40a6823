"""Game records that a run learns from, read once into its folder.

`RUN/records` has shards of games in a random order, and `index.json` about them; files of KataGo's
rows stay where they are. Reading that was interrupted is resumed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.features.feature_set import FeatureSet
from tengen.game.geometry import Size, parse_size
from tengen.game.kernel_rules import rules_of
from tengen.game.sgf.files import SGF, sgf_files
from tengen.game.sgf.records import SgfError, load_sgf
from tengen.network.trained_on import ALL
from tengen.replay.katago_rows_reader import ENDING as ROWS
from tengen.replay.katago_rows_reader import RowsFileError, read_katago_rows
from tengen.replay.sgf_games import games_of_sgf
from tengen.replay.shard import SUFFIX as SHARD
from tengen.replay.shard import ShardError, read_shard, shard_files, shard_number, write_shard
from tengen.replay.teacher_outputs import ENDING as TEACHER_ENDING
from tengen.runs.folder import RunError, RunFolder, write_whole, writing
from tengen.runs.params import DataParams, RunConfig
from tengen.runs.row_maker import Piece
from tengen.selfplay.record import BY_DECISION, UNFINISHED, Games, games_where, joined, split_games
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say

ENDINGS = (*SGF, ".sgfs", SHARD, ROWS)  # .sgfs: KataGo's name for many games in a file
GAMES_IN_A_PIECE = 64  # learned from at a time
LEAST_SHARE = 0.01  # of the rows, of a board size that is learned
MOST_RULES = 20  # that are named as what a network was trained on
TAKEN = "taken"  # in checkpoints: how many pieces a run has gone through
_NAMED = 5  # files that cannot be used are named, up to so many


@dataclass
class Index:
    """What was read so far."""

    sources: list[str]
    files: int = 0  # how many there are
    done: int = 0
    games: int = 0
    counted: int = 0  # games with a score
    pieces: int = 0  # shards
    rows_files: list[str] = field(default_factory=list)  # KataGo's, in place
    rows: dict[str, float] = field(default_factory=dict)  # by board size
    rules: dict[str, int] = field(default_factory=dict)  # rows by rules
    left_out: int = 0  # games and files that cannot be learned from

    @property
    def common(self) -> dict[str, float]:
        """The rows of board sizes that are learned."""
        least = LEAST_SHARE * sum(self.rows.values())
        return {size: rows for size, rows in self.rows.items() if rows >= least}


def read_records(folder: RunFolder, data: DataParams, features: FeatureSet, seed: int) -> Index:
    """Read all records into the folder of a run, as far as that has not been done yet.

    Raises RunError where there is nothing to learn from.
    """
    index = _load(folder)
    if index is not None and index.done == index.files:
        return index
    files = sgf_files(data.records, ENDINGS)
    if not files:
        named = ", ".join(data.records)
        what = f"there are no SGF files, shards ({SHARD}) or rows ({ROWS}) in it"
        raise RunError(f"{named}: {what}; name files of these kinds, or folders with such files")
    sources = [str(file) for file in files]
    if index is None or index.sources != list(data.records) or index.files != len(files):
        index = Index(list(data.records), len(files))
        _clear(folder, 0)
    _clear(folder, index.pieces)  # of a reading that was cut off
    with writing(folder.records):
        folder.records.mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng(seed).permutation(len(sources)).tolist()
    _read_on(folder, index, [Path(sources[k]) for k in order], data, features)
    if not index.rows:
        _index_file(folder).unlink()  # so that the next start reads anew
        named = ", ".join(data.records)
        raise RunError(
            f"{named}: none of the {len(files)} files can be used for training; name others"
        )
    _report(index)
    return index


def _read_on(
    folder: RunFolder, index: Index, files: list[Path], data: DataParams, features: FeatureSet
) -> None:
    """Read the remaining files, and save the progress after each piece."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bars = Progress(*columns, TimeRemainingColumn(), console=TerminalConsole(stderr=True))
    wanted = {parse_size(size) for size in data.record_sizes}
    waiting: list[Games] = []
    with bars as progress:
        bar = progress.add_task("reading records", total=len(files), completed=index.done)
        for number in range(index.done, len(files)):
            found = _games_in(files[number], data, features, index)
            waiting += [_renumbered(_on_sizes(games, wanted), index) for games in found]
            if sum(len(each.games) for each in waiting) >= GAMES_IN_A_PIECE:
                _write(folder, index, joined(waiting))
                waiting, index.done = [], number + 1
                _save(folder, index)
            progress.update(bar, completed=number + 1)
    if waiting:
        _write(folder, index, joined(waiting))
    index.done = len(files)
    _save(folder, index)


def _games_in(file: Path, data: DataParams, features: FeatureSet, index: Index) -> Iterator[Games]:
    """The games of a file; rows are counted, and their file is noted. Names what is unusable."""
    try:
        match file.suffix.lower():
            case ".npz":
                _note_rows(file, features, index)
            case ".games":
                yield read_shard(file).games
            case _:
                for source in load_sgf(file):
                    try:
                        yield games_of_sgf(source, 0, data.record_rules)
                    except SgfError as error:  # the file's other games may be good
                        _leave_out(error, index)
    except (SgfError, ShardError, RowsFileError) as error:
        _leave_out(error, index)


def _leave_out(error: Exception, index: Index) -> None:
    """Count a game or a file that cannot be used; the first ones are named."""
    index.left_out += 1
    if index.left_out <= _NAMED:
        say(f"left out: {error}")
    elif index.left_out == _NAMED + 1:
        say("left out: more games or files, which are not listed")


def _note_rows(file: Path, features: FeatureSet, index: Index) -> None:
    found = read_katago_rows(file, features, seed=0)
    for size, rows in found.rows.items():
        index.rows[str(size)] = index.rows.get(str(size), 0) + len(rows.order)
        index.rules[ALL] = index.rules.get(ALL, 0) + len(rows.order)
        index.games += len(set(found.games[size].tolist()))
    index.rows_files.append(str(file.resolve()))


def _on_sizes(games: Games, wanted: set[Size]) -> Games:
    if not wanted:
        return games
    sizes = zip(games.games["width"].tolist(), games.games["height"].tolist(), strict=True)
    return games_where(games, np.array([size in wanted for size in sizes], bool))


def _renumbered(games: Games, index: Index) -> Games:
    """The games with numbers that no other game of the run has; counts what they are."""
    played = games.games.copy()
    played["number"] = np.arange(index.games, index.games + len(played))
    index.games += len(played)
    index.counted += int((~np.isin(played["end"], (BY_DECISION, UNFINISHED))).sum())
    begin = 0
    for game in played:
        rows = float(games.turns["weight"][begin : begin + game["n_turns"]].sum())
        begin += int(game["n_turns"])
        size = str(Size(int(game["width"]), int(game["height"])))
        rules = str(replace(rules_of(game["terms"]), played_out=False))
        index.rows[size] = index.rows.get(size, 0) + rows
        index.rules[rules] = index.rules.get(rules, 0) + int(rows)
    return games._replace(games=played)


def _write(folder: RunFolder, index: Index, games: Games) -> None:
    for part in split_games(games, GAMES_IN_A_PIECE):
        with writing(folder.records):
            write_shard(folder.records, part, {"of": "records"})
        index.pieces += 1


def _report(index: Index) -> None:
    boards = ", ".join(f"{size} {rows:,.0f}" for size, rows in index.rows.items())
    say(f"{index.games:,} games to learn from; positions by board: {boards}")
    if not index.rows_files and index.counted < index.games / 2:
        say(
            f"only {index.counted:,} of them have a score; points and ownership are learned from "
            "these alone"
        )
    if rare := [size for size in index.rows if size not in index.common]:
        say(f"left out: games on {', '.join(rare)} boards, of which there are too few")
    if index.left_out:
        say(f"{index.left_out:,} games or files were left out")


def with_records(folder: RunFolder, config: RunConfig) -> RunConfig:
    """The settings of a run with the boards and rules of its records, if it learns from such."""
    index = _load(folder) if config.data.records else None
    if index is None or not index.rows:
        return config
    sizes = {parse_size(size): rows for size, rows in index.common.items()}
    names = [name for name, _ in Counter(index.rules).most_common(MOST_RULES)]
    if ALL in names:
        names = ["random", *(name for name in names if name != ALL)]
    selfplay = replace(
        config.selfplay,
        board_sizes=tuple(str(size) for size in sizes),
        size_weights=tuple(rows / size.area for size, rows in sizes.items()),
        komi=(),
        rules=tuple(names),
    )
    return replace(config, selfplay=selfplay)


def record_pieces(folder: RunFolder) -> list[Piece]:
    """The files that a run goes through, in their order; raises RunError for missing ones."""
    index = _load(folder)
    if index is None:
        raise RunError(f"{folder.records}: has no index; begin a new run")
    shards = shard_files(folder.records)
    if [shard_number(path) for path in shards] != list(range(1, index.pieces + 1)):
        what = f"{index.pieces} shards were written, but {len(shards)} are there"
        raise RunError(f"{folder.records}: {what}; restore them, or remove that folder")
    files = [*shards, *map(Path, index.rows_files)]
    if missing := [str(file) for file in files if not file.is_file()]:
        raise RunError(f"{missing[0]}: is gone, and the run learns from it; restore it")
    names = (file.stem if file in shards else f"{file.stem}-{k}" for k, file in enumerate(files))
    return [
        Piece(file, folder.teacher_outputs / f"{name}{TEACHER_ENDING}")
        for file, name in zip(files, names, strict=True)
    ]


def _clear(folder: RunFolder, last: int) -> None:
    """Remove the shards after this one."""
    for path in shard_files(folder.records) if folder.records.is_dir() else ():
        if shard_number(path) > last:
            with writing(path):
                path.unlink()


def _index_file(folder: RunFolder) -> Path:
    return folder.records / "index.json"


def _save(folder: RunFolder, index: Index) -> None:
    write_whole(_index_file(folder), json.dumps(asdict(index)).encode())


def _load(folder: RunFolder) -> Index | None:
    try:
        found: Mapping[str, Any] = json.loads(_index_file(folder).read_text("utf-8"))
        return Index(**found)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        what = f"cannot be used: {error}; remove it, and the records are read again"
        raise RunError(f"{_index_file(folder)}: {what}") from None
