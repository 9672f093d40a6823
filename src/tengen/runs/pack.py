"""Packs: all that a run needs to go on elsewhere, in a few files to copy.

A pack has the weights, their averages, the optimizer's state, counters, settings, ratings and
metrics; beside these, as far as there is room, and in this order:

1. the networks that the next rating needs, if they take no more than a quarter of the room;
2. games, the newest first, until they fill the replay window;
3. more of the rated networks, the newest first.

Games under way are not packed: they begin anew.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.filesize import decimal

from tengen import __version__
from tengen.config import changed_keys, parse_sections, write_sections
from tengen.replay.shard import (
    last_game_number,
    read_or_set_aside,
    shard_files,
    shard_number,
    write_shard,
)
from tengen.runs.background_thread import BackgroundThread
from tengen.runs.checkpoint import GAMES_IN_A_SHARD, load_latest, save_checkpoint
from tengen.runs.folder import LOCK, RunError, RunFolder, is_run, read_lines, write_whole, writing
from tengen.runs.pack_file import INDEX_BYTES, MOST_BYTES, Pack, read_facts, write_pack
from tengen.runs.packed_games import packed_games, unpacked_games
from tengen.runs.packed_state import packed_state, unpacked_state
from tengen.runs.params import FIXED_IN_PACKS, SECTIONS, RunConfig
from tengen.runs.rating import network_file, network_name
from tengen.runs.records import TAKEN
from tengen.runs.selfplay_network import DEFAULTS
from tengen.runs.tensorboard_events import EventWriter
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games, games_where, joined
from tengen.training.params import window_size
from tengen.user_messages import say

SECONDS_BETWEEN = 180.0  # two packs of a run under way
NETWORKS_SHARE = 0.25  # of the room beside the weights, that networks take before games
_SPARE_ROWS = 1_000  # more than the window: the number of rows of a turn is drawn at random
_LEVEL = 6


class Chosen(NamedTuple):
    """What fits into a pack beside the weights."""

    networks: dict[str, bytes]  # by name
    games: list[bytes]  # groups of games, the newest first
    n_games: int
    n_rows: int


def pack_run(folder: RunFolder, file: Path, most_bytes: int = MOST_BYTES) -> str:
    """Pack the latest checkpoint of a run, and say what the pack holds; raises RunError.

    Reads files of the run alone, so another thread or process may go on with it meanwhile.
    """
    checkpoint = load_latest(folder)
    if checkpoint is None:
        raise RunError(f"{folder.path}: has no checkpoint yet, so there is nothing to pack")
    text = folder.config.read_text("utf-8")
    config = RunConfig(**parse_sections(text, folder.config, SECTIONS))
    facts = checkpoint.facts
    shards = [
        path for path in shard_files(folder.shards) if shard_number(path) <= facts["last_shard"]
    ]
    members = {
        "state": packed_state(checkpoint.part("trainer.")),
        "ratings": zlib.compress(_read(folder.ratings), _LEVEL),
        "metrics": zlib.compress(_read(folder.metrics), _LEVEL),
    }
    if config.rating.gate:
        playing = str(facts["playing"])
        members[f"network-{playing}"] = _read_network(folder, playing)
    needed = sum(map(len, members.values()))
    room = most_bytes - INDEX_BYTES - needed
    if room < 0:
        sizes = f"take {decimal(needed)}, but a pack has at most {decimal(most_bytes)}"
        raise RunError(f"{file}: weights and optimizer alone {sizes}; train a smaller network")
    window = window_size(int(facts["rows"]), config.window)
    capacity = config.run.most_rows or max(each.most_rows for each in DEFAULTS.values())
    chosen = choose(
        room,
        networks=_newest_networks(folder, checkpoint.number, set(members)),
        opponents=config.rating.opponents if config.rating.every else 0,
        groups=_newest_games(shards),
        rows=min(window, capacity),
    )
    members |= {f"network-{name}": content for name, content in chosen.networks.items()}
    members |= {f"games-{k}": content for k, content in enumerate(chosen.games)}
    numbers = [last_game_number(path) + 1 for path in shards]
    taken = checkpoint.part("fleet.").get(TAKEN)  # of a run that learns from records
    index = {
        "tengen": __version__,
        "run": folder.path.name,
        "checkpoint": checkpoint.number,
        "state": facts
        | {"numbers_from": max([int(facts.get("numbers_from", 0)), *numbers])}
        | ({} if taken is None else {TAKEN: int(taken)}),
        "config": text,
    }
    write_pack(file, index, members)
    size = decimal(sum(map(len, members.values())))
    held = f"{chosen.n_games:,} games ({chosen.n_rows:,} rows of a window of {window:,})"
    return f"{file}: packed iteration {checkpoint.number} with {held} in {size}"


def choose(
    room: int,
    networks: Iterable[tuple[str, bytes]],
    opponents: int,
    groups: Iterable[Games],
    rows: int,
) -> Chosen:
    """Fill so many bytes in the order above; networks and groups of games come newest first."""
    kept: dict[str, bytes] = {}
    for_networks = NETWORKS_SHARE * room
    waiting = iter(networks)
    left_out: list[tuple[str, bytes]] = []
    for name, content in waiting:
        if len(kept) >= opponents or len(content) > for_networks:
            left_out.append((name, content))
            break
        kept[name] = content
        for_networks -= len(content)
        room -= len(content)
    packed: list[bytes] = []
    n_games, n_rows = 0, 0.0
    for group in groups:
        if n_rows >= rows + _SPARE_ROWS:
            break
        content, fitting = _as_fits(group, room)
        if fitting is not None:
            packed.append(content)
            room -= len(content)
            n_games += len(fitting.games)
            n_rows += float(fitting.turns["weight"].sum())
        if fitting is not group:
            return Chosen(kept, packed, n_games, int(n_rows))
    for name, content in (*left_out, *waiting):
        if len(content) > room:
            break
        kept[name] = content
        room -= len(content)
    return Chosen(kept, packed, n_games, int(n_rows))


def _as_fits(games: Games, room: int) -> tuple[bytes, Games | None]:
    """A group of games packed, or as many of its last ones as there is room for."""
    content = packed_games(games)
    while len(content) > room:
        fitting = int(len(games.games) * room / len(content) * 0.98)
        if not fitting:
            return b"", None
        games = games_where(games, np.arange(len(games.games)) >= len(games.games) - fitting)
        content = packed_games(games)
    return content, games


def _newest_games(shards: list[Path]) -> Iterator[Games]:
    """Groups of about as many games as a large shard has, the newest group first."""
    waiting: list[Games] = []
    for path in reversed(shards):
        if (games := read_or_set_aside(path)) is not None:
            waiting.insert(0, games)
        if sum(len(each.games) for each in waiting) >= GAMES_IN_A_SHARD:
            yield joined(waiting)
            waiting = []
    if waiting:
        yield joined(waiting)


def _newest_networks(
    folder: RunFolder, iteration: int, known: set[str]
) -> Iterator[tuple[str, bytes]]:
    """Names and packed files of the networks that were kept, the newest first."""
    names = sorted((path.stem for path in folder.networks.glob("*.safetensors")), reverse=True)
    for name in names:
        if name <= network_name(iteration) and f"network-{name}" not in known:
            yield name, _read_network(folder, name)


def _read_network(folder: RunFolder, name: str) -> bytes:
    return zlib.compress(_read(network_file(folder, name)), _LEVEL)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}; make it readable") from None


# Going on from a pack


def packed_config(file: Path) -> RunConfig:
    """The settings of the run in a pack; raises RunError."""
    return RunConfig(**parse_sections(str(read_facts(file)["config"]), file, SECTIONS))


def unpack_run(pack: Pack, path: str | Path, wanted: RunConfig | None = None) -> None:
    """Create a run from a pack, with other settings if they are wanted; raises RunError.

    Everything may change but what makes the network and the optimizer's pace (FIXED_IN_PACKS).
    The caller holds the lock of the folder, which must be new or empty.
    """
    folder, facts = RunFolder(Path(path)), pack.facts
    source = f"the pack of {facts['run']}"
    kept = RunConfig(**parse_sections(str(facts["config"]), source, SECTIONS))
    config = wanted or kept
    changed = changed_keys(vars(kept), vars(config))
    if fixed := [key for key in changed if key in FIXED_IN_PACKS]:
        what = f"{', '.join(fixed)} cannot change after a run has begun"
        raise RunError(f"{source}: {what}; leave it, or begin a new run")
    _check_new(folder)
    try:
        arrays = unpacked_state(pack.members["state"])
        games = [unpacked_games(pack.members[name]) for name in _members(pack, "games-")]
    except (KeyError, ValueError) as error:
        raise RunError(f"{source}: {error}; use the version of Tengen that wrote it") from None
    for each in folder.folders:
        with writing(each):
            each.mkdir(exist_ok=True)
    last_shard = _write_games(folder, games[::-1], config, source)
    for name in _members(pack, "network-"):
        target = network_file(folder, name.removeprefix("network-"))
        write_whole(target, zlib.decompress(pack.members[name]))
    write_whole(folder.ratings, zlib.decompress(pack.members["ratings"]))
    write_whole(folder.metrics, zlib.decompress(pack.members["metrics"]))
    _draw_curves(folder)
    state = facts["state"] | {"last_shard": last_shard}
    saved = {f"trainer.{name}": array for name, array in arrays.items()}
    if TAKEN in state:
        saved[f"fleet.{TAKEN}"] = np.array(state.pop(TAKEN))
    save_checkpoint(folder, int(facts["checkpoint"]), saved, state)
    text = write_sections(vars(config), defaults_too=True)
    write_whole(folder.config, text.encode())  # last: a folder that has it is a run
    say(f"{folder.path}: goes on from {source}; games that were under way begin anew")


def _members(pack: Pack, prefix: str) -> list[str]:
    return [name for name in pack.members if name.startswith(prefix)]


def _check_new(folder: RunFolder) -> None:
    """Raise RunError unless the folder is new or empty."""
    if is_run(folder.path):
        what = "is a run already; resume it without --from, or name a new folder"
        raise RunError(f"{folder.path}: {what}")
    found = sorted({each.name for each in folder.path.iterdir()} - {LOCK})
    if found:
        what = f"holds other files ({found[0]!r} for one)"
        raise RunError(f"{folder.path}: {what}; name an empty or a new folder")


def _write_games(folder: RunFolder, groups: list[Games], config: RunConfig, source: str) -> int:
    """Write the games on boards that are still played as shards; returns the last one's number."""
    left_out = 0
    for number, games in enumerate(groups):
        fits = _still_played(games, config.selfplay)
        left_out += int((~fits).sum())
        if fits.any():
            with writing(folder.shards):
                provenance = {"run": source, "group": number}
                write_shard(folder.shards, games_where(games, fits), provenance)
    if left_out:
        sizes = ", ".join(map(str, config.selfplay.played_sizes))
        say(f"{folder.path}: left out {left_out:,} packed games on other boards than {sizes}")
    return max(map(shard_number, shard_files(folder.shards)), default=0)


def _still_played(games: Games, params: SelfPlayParams) -> NDArray[np.bool_]:
    """[games] Which of them are on boards that self-play still uses."""
    sizes = zip(games.games["width"].tolist(), games.games["height"].tolist(), strict=True)
    played = params.played_sizes
    return np.array([size in played for size in sizes], bool)


def _draw_curves(folder: RunFolder) -> None:
    """Write the metrics so far for TensorBoard, too."""
    with EventWriter(folder.tensorboard) as events:
        for line in read_lines(folder.metrics):
            values = {name: value for name, value in line.items() if value is not None}
            events.write(int(values.pop("step")), values)


class Packer(BackgroundThread):
    """Updates the pack of a run under way in the background."""

    def __init__(self, folder: RunFolder, file: Path | None) -> None:
        super().__init__("packing")
        self._folder, self._file = folder, file
        self._last = time.monotonic()

    def offer(self) -> None:
        """Start to pack, unless that is under way, was done a moment ago, or is not wanted."""
        due = time.monotonic() - self._last >= SECONDS_BETWEEN
        if self._file is not None and due and self.is_idle():
            self._last = time.monotonic()
            self.start(self._try, self._file)

    def pack(self) -> None:
        """Pack now, if that is wanted; raises RunError."""
        self.finish()
        if self._file is not None:
            say(pack_run(self._folder, self._file))

    def _try(self, file: Path) -> None:
        """Pack; if that fails, the run goes on, and the last pack says so again."""
        try:
            pack_run(self._folder, file)
        except RunError as error:
            say(f"{error} (the run goes on, its pack is the one before)")
