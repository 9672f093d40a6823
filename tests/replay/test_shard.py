from __future__ import annotations

import hashlib
import json
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.replay import shard
from tengen.replay.shard import (
    NewerShardError,
    ShardError,
    read_or_set_aside,
    read_shard,
    shard_files,
    write_shard,
)
from tengen.selfplay.record import Games, joined, no_games
from tests.replay.games import random_games, read_shards

PREFIX, CHECKSUM = 16, 32  # bytes before the header; at the end


def assert_equal(games: Games, others: Games) -> None:
    for one, other in zip(games, others, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def with_checksum(content: bytes) -> bytes:
    return content + hashlib.sha256(content).digest()


def changed_header(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another header and a checksum that is right."""
    length = int.from_bytes(data[12:16], "little")
    header = json.loads(data[PREFIX : PREFIX + length])
    change(header)
    text = json.dumps(header).encode()
    tables = data[PREFIX + length : -CHECKSUM]
    return with_checksum(data[:12] + len(text).to_bytes(4, "little") + text + tables)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_shard(tmp_path, random_games(3), {"run": "nine", "step": 7})


def test_games_come_back_as_they_were(tmp_path: Path) -> None:
    games = random_games(20)
    assert_equal(read_shard(write_shard(tmp_path, games)).games, games)


def test_games_can_be_written_to_after_reading(path: Path) -> None:
    games = read_shard(path).games
    games.games["step"] = 5
    games.ownership[:] = 0


def test_the_provenance_comes_back(path: Path) -> None:
    assert read_shard(path).provenance == {"run": "nine", "step": 7}


def test_files_are_numbered_and_named_after_their_games(tmp_path: Path) -> None:
    for first in (0, 100, 200):
        write_shard(tmp_path / "shards", random_games(5, first=first))
    assert [path.name for path in shard_files(tmp_path / "shards")] == [
        "000001-games-0-4.games",
        "000002-games-100-104.games",
        "000003-games-200-204.games",
    ]


def test_shards_are_read_in_the_order_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "999999-games-5-5.games").touch()
    parts = [random_games(2, seed=first, first=first) for first in (30, 20, 10)]
    for part in parts:
        write_shard(tmp_path, part)  # numbers 1000000 and more sort after 999999
    (tmp_path / "999999-games-5-5.games").unlink()
    (tmp_path / "notes.games").write_text("not ours")
    assert_equal(joined(list(read_shards(tmp_path))), joined(parts))


def test_no_games_make_no_shard(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one game"):
        write_shard(tmp_path, no_games())


def test_games_that_do_not_hold_together_are_not_written(tmp_path: Path) -> None:
    games = random_games(2)
    with pytest.raises(ValueError, match="the number of turns is impossible"):
        write_shard(tmp_path, games._replace(turns=games.turns[1:]))
    assert list(tmp_path.iterdir()) == []


def test_every_flipped_bit_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    header_end = PREFIX + int.from_bytes(data[12:16], "little")
    choice = random.Random(1)
    everywhere = [choice.randrange(len(data)) for _ in range(400)]
    tables = [choice.randrange(header_end, len(data) - CHECKSUM) for _ in range(200)]
    places = [*range(header_end), *tables, *range(len(data) - CHECKSUM, len(data)), *everywhere]
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << choice.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(ShardError, match=r"damaged|not a shard") as raised:
            read_shard(path)
        assert not isinstance(raised.value, NewerShardError)
        assert str(path) in str(raised.value)


def test_every_truncation_is_noticed(path: Path) -> None:
    data = path.read_bytes()
    for length in [*range(200), *range(200, len(data), 97), *range(len(data) - 40, len(data))]:
        path.write_bytes(data[:length])
        with pytest.raises(ShardError, match=r"cut off|not a shard|is empty"):
            read_shard(path)


def test_bytes_too_many_are_noticed(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ShardError, match="checksum"):
        read_shard(path)


def test_a_foreign_file_is_no_shard(path: Path) -> None:
    path.write_bytes(zlib.compress(bytes(1000)))
    with pytest.raises(ShardError, match="is not a shard of games"):
        read_shard(path)


def test_a_missing_file_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(ShardError, match="cannot be read"):
            read_shard(path)


def test_a_shard_that_cannot_be_read_now_is_left_where_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", broken)
        assert read_or_set_aside(path) is None
    assert "Input/output error; left out" in capsys.readouterr().err
    assert len(read_shard(path).games.games)


def test_a_later_version_is_told_from_damage_and_stays(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(path.read_bytes()[:-CHECKSUM])
    content[8] = 2
    content[16:] = b"whatever a later version holds"
    path.write_bytes(with_checksum(bytes(content)))
    with pytest.raises(NewerShardError, match="has version 2, but this Tengen reads 1"):
        read_shard(path)
    assert read_or_set_aside(path) is None
    assert path.exists()
    assert "left out" in capsys.readouterr().err


def test_counts_that_cannot_be_take_no_memory(path: Path) -> None:
    def say_many(header: dict[str, Any]) -> None:
        header["counts"][1] = 10**15

    path.write_bytes(changed_header(path.read_bytes(), say_many))
    with pytest.raises(ShardError, match="1000000000000000 turns, too many"):
        read_shard(path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("counts", [1, 2, 3], "how large"),
        ("counts", [1, 2, 3, -4], "impossible sizes"),
        ("counts", [True, 2, 3, 4], "impossible sizes"),
        ("packed", [1, 2, 3, 4], "bytes of tables"),
        ("packed", None, "how large"),
        ("layout", {}, "other fields"),
        ("provenance", None, "says nothing"),
    ],
)
def test_headers_that_make_no_sense_are_refused(
    path: Path, key: str, value: Any, message: str
) -> None:
    path.write_bytes(changed_header(path.read_bytes(), lambda header: header.update({key: value})))
    with pytest.raises(ShardError, match=message):
        read_shard(path)


@pytest.mark.parametrize("difference", [-1, 1])
def test_counts_off_by_one_are_refused(path: Path, difference: int) -> None:
    def change(header: dict[str, Any]) -> None:
        header["counts"][2] += difference

    path.write_bytes(changed_header(path.read_bytes(), change))
    with pytest.raises(ShardError, match="does not hold the"):
        read_shard(path)


def test_records_that_kernels_could_not_bear_are_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = random_games(2)
    games.turns["move"][3] = 500
    monkeypatch.setattr(shard, "check_games", lambda games: None)
    broken = write_shard(path.parent, games)
    monkeypatch.undo()
    with pytest.raises(ShardError, match="the point of a move is impossible"):
        read_shard(broken)


def test_a_damaged_shard_is_set_aside_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [random_games(2, seed=first, first=first) for first in (0, 10, 20)]
    paths = [write_shard(tmp_path, part) for part in parts]
    data = bytearray(paths[1].read_bytes())
    data[200] ^= 1
    paths[1].write_bytes(data)
    assert_equal(joined(list(read_shards(tmp_path))), joined([parts[0], parts[2]]))
    message = capsys.readouterr().err
    assert message.startswith("tengen: ")
    assert "000002-games-10-11.games" in message
    assert "checksum" in message
    assert (tmp_path / "000002-games-10-11.games.damaged").exists()
    assert len(list(read_shards(tmp_path))) == 2
    assert capsys.readouterr().err == ""


def test_the_number_of_a_shard_set_aside_is_not_given_again(tmp_path: Path) -> None:
    write_shard(tmp_path, random_games(1, first=0))
    last = write_shard(tmp_path, random_games(1, first=1))
    last.write_bytes(b"")
    assert len(list(read_shards(tmp_path))) == 1
    assert write_shard(tmp_path, random_games(1, first=2)).name.startswith("000003-")


def test_a_write_that_was_killed_leaves_nothing_to_read(tmp_path: Path) -> None:
    write_shard(tmp_path, random_games(1))
    (tmp_path / "unfinished.tmp").write_bytes(b"half of a shard")
    assert len(list(read_shards(tmp_path))) == 1
    write_shard(tmp_path, random_games(1, first=1))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = write_shard(tmp_path, random_games(1))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_shard(tmp_path, random_games(1, first=1))
    assert list(tmp_path.iterdir()) == [before]
