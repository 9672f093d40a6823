"""Shards: files of games, written atomically, with a checksum.

A file is: a signature, the version, the length of the header (both 4 bytes, little-endian); the
header, JSON with the counts, the layout of the records and the provenance of the games; the tables,
each compressed; a SHA-256 of all that. Signature, version and checksum keep their places in all
versions.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.atomic_files import replace_file, sync_folder
from tengen.selfplay.record import GAME, TARGET, TURN, Games, check_games
from tengen.user_messages import say

VERSION = 1
SUFFIX = ".games"
DAMAGED = ".damaged"

_SIGNATURE = b"TENGEN\r\n"  # a transfer in text mode would change the line end
_PREFIX = len(_SIGNATURE) + 8
_CHECKSUM = 32
_MOST_BYTES = 2**30  # of a file, far more than a batch of games takes
# zlib unpacks a byte into at most so many, so larger counts are wrong.
_MOST_UNPACKED = 1032
_LEVEL = 6  # 9 is 1% smaller and several times slower
_UNFINISHED = "unfinished.tmp"
_NAME = re.compile(r"(\d+)-games-(\d+)-(\d+)\.games")

_LAYOUT: dict[str, np.dtype[Any]] = {
    "games": GAME,
    "turns": TURN,
    "targets": TARGET,
    "ownership": np.dtype(np.int8),
}


class ShardError(Exception):
    """A file whose games cannot be used; the message says which and why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class NewerShardError(ShardError):
    """An undamaged file of a later version."""


class UnreadableShardError(ShardError):
    """A file that cannot be read now, though it may be undamaged."""


class Shard(NamedTuple):
    """The content of a file."""

    games: Games
    provenance: dict[str, Any]  # as it was written


def write_shard(folder: Path, games: Games, provenance: Mapping[str, Any] | None = None) -> Path:
    """Write a batch of games as the folder's next shard; returns its file.

    The file appears whole or, on an OSError, not at all. The provenance (the run, the network) is
    any JSON object. Only one process may write into a folder at a time.
    """
    content = shard_bytes(games, provenance)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = games.games["number"]
    next_number = max(shard_numbers(folder), default=0) + 1
    name = f"{next_number:06d}-games-{numbers.min()}-{numbers.max()}{SUFFIX}"
    replace_file(folder / name, content, _UNFINISHED)
    sync_folder(folder)  # the name, too
    return folder / name


def read_shard(path: Path) -> Shard:
    """The games of a shard and their provenance; raises ShardError for a damaged file."""
    return parse_shard(path, _bytes_of(path))


def parse_shard(path: Path, content: bytes) -> Shard:
    """As `read_shard`, of the content of a file, whose path is for messages alone."""
    header, body = _checked(path, content)
    try:
        counts, packed = _sizes(header, len(body))
        games = Games(*_tables(body, counts, packed))
        check_games(games)
    except (ValueError, zlib.error) as error:
        raise ShardError(path, str(error)) from None
    return Shard(games, header["provenance"])


def shard_files(folder: Path) -> list[Path]:
    """The shards of a folder in the order they were written, without damaged ones."""
    found = [path for path in folder.glob(f"*{SUFFIX}") if _NAME.fullmatch(path.name)]
    return sorted(found, key=shard_number)


def shard_number(path: Path) -> int:
    """Shards are numbered as they are written, from 1."""
    return int(path.name.split("-", 1)[0])


def shard_numbers(folder: Path) -> set[int]:
    """The numbers of all shards of the folder, damaged ones included."""
    names = (_NAME.match(path.name) for path in folder.iterdir())
    return {int(name[1]) for name in names if name}


def last_game_number(path: Path) -> int:
    """The highest number of a shard's games, by its name."""
    return int(path.stem.rpartition("-")[2])


def read_or_set_aside(path: Path) -> Games | None:
    """The games of a shard, or None and a message to the user.

    A damaged shard is renamed, so that it is not read again; one of a later version, or one that
    cannot be read now, keeps its name.
    """
    try:
        return read_shard(path).games
    except (NewerShardError, UnreadableShardError) as error:
        say(f"{error}; left out")
    except ShardError as error:
        aside = path.with_name(path.name + DAMAGED)
        try:
            path.replace(aside)
            say(f"{error}; renamed to {aside.name}; training goes on without its games")
        except OSError as problem:
            say(f"{error}; left out (it cannot be renamed: {problem.strerror})")
    return None


def shard_bytes(games: Games, provenance: Mapping[str, Any] | None = None) -> bytes:
    """A batch of games as the content of a shard; raises ValueError for impossible games."""
    if not len(games.games):
        raise ValueError("a shard holds at least one game")
    check_games(games)
    tables = games[: len(_LAYOUT)]
    # Records are transposed into columns of single bytes, which compress better.
    packed = [
        zlib.compress(
            array.view(np.uint8).reshape(len(array), array.dtype.itemsize).T.tobytes(), _LEVEL
        )
        for array in map(np.ascontiguousarray, tables)
    ]
    header = json.dumps(
        {
            "counts": [len(table) for table in tables],
            "packed": [len(content) for content in packed],
            "layout": _layout(),
            "provenance": dict(provenance or {}),
        }
    ).encode()
    numbers = VERSION.to_bytes(4, "little") + len(header).to_bytes(4, "little")
    content = b"".join([_SIGNATURE, numbers, header, *packed])
    return content + hashlib.sha256(content).digest()


def _layout() -> dict[str, str]:
    """The fields of each table as text, to recognize other layouts."""
    return {name: str(dtype.descr) for name, dtype in _LAYOUT.items()}


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _MOST_BYTES:
                raise ShardError(path, f"{size} bytes are too many for a shard")
            return file.read(size)
    except OSError as error:
        raise UnreadableShardError(path, f"cannot be read: {error.strerror}") from None


def _checked(path: Path, data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The header and the tables of an undamaged file; raises ShardError."""
    if not data.startswith(_SIGNATURE):
        raise ShardError(path, "is not a shard of games" if data else "is empty")
    if len(data) < _PREFIX + _CHECKSUM:
        raise ShardError(path, f"is cut off after {len(data)} bytes")
    content = memoryview(data)[:-_CHECKSUM]
    if hashlib.sha256(content).digest() != data[-_CHECKSUM:]:
        raise ShardError(path, "is damaged or cut off: its checksum is wrong")
    version, length = (
        int.from_bytes(content[at : at + 4], "little") for at in (_PREFIX - 8, _PREFIX - 4)
    )
    if version > VERSION:
        raise NewerShardError(
            path, f"has version {version}, but this Tengen reads {VERSION}: update it"
        )
    if version < 1 or length > len(content) - _PREFIX:
        raise ShardError(path, f"has an impossible version ({version}) or header ({length} bytes)")
    try:
        header = json.loads(bytes(content[_PREFIX : _PREFIX + length]))
    except (ValueError, RecursionError):
        raise ShardError(path, "has a header that is not JSON") from None
    if not isinstance(header, dict) or not isinstance(header.get("provenance"), dict):
        raise ShardError(path, "has a header that says nothing about its games")
    # "place" is what Tengen 0.1 called a move.
    if str(header.get("layout")).replace("('place'", "('move'") != str(_layout()):
        raise ShardError(path, "has records with other fields than this version's")
    return header, content[_PREFIX + length :]


def _sizes(header: dict[str, Any], available: int) -> tuple[list[int], list[int]]:
    """How many records each table has, and its compressed size; raises ValueError."""
    counts, packed = (header.get(key) for key in ("counts", "packed"))
    for sizes in (counts, packed):
        if not isinstance(sizes, list) or len(sizes) != len(_LAYOUT):
            raise ValueError("does not say how large its tables are")
        if not all(type(size) is int and size >= 0 for size in sizes):
            raise ValueError("has tables of impossible sizes")
    assert isinstance(counts, list)
    assert isinstance(packed, list)
    if sum(packed) != available:
        raise ValueError(f"has {available} bytes of tables, not {sum(packed)}")
    for name, count, size in zip(_LAYOUT, counts, packed, strict=True):
        if count * _LAYOUT[name].itemsize > _MOST_UNPACKED * size:
            raise ValueError(f"says {count} {name}, too many for the {size} bytes they take")
    return counts, packed


def _tables(body: memoryview, counts: list[int], packed: list[int]) -> Iterator[NDArray[Any]]:
    """Unpack the tables; raises ValueError or zlib.error."""
    begin = 0
    for (name, dtype), count, size in zip(_LAYOUT.items(), counts, packed, strict=True):
        unpacker = zlib.decompressobj()
        wanted = count * dtype.itemsize
        columns = unpacker.decompress(body[begin : begin + size], wanted + 1)
        if len(columns) != wanted or not unpacker.eof:
            raise ValueError(f"does not hold the {count} {name} that it says")
        rows = np.frombuffer(columns, np.uint8).reshape(dtype.itemsize, count).T
        yield rows.copy().reshape(-1).view(dtype)
        begin += size
