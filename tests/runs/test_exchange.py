"""Shards of workers: which are learned from, which are refused, and what is left when they go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.replay.shard import shard_bytes
from tengen.runs.exchange import (
    INCOMING,
    REJECTED,
    BrokenShardError,
    WorkerShard,
    clear_counted,
    count_left_over,
    first_game,
    incoming_shards,
    read_worker_shard,
    session_of,
)
from tengen.runs.ledger import Ledger
from tengen.runs.store import FolderStore
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import Games
from tests.search.scripts import opinions
from tests.selfplay.fleets import PLAIN, new_fleet, play_games

THREE = replace(PLAIN, board_sizes=(3,))


@pytest.fixture(scope="module")
def games() -> Games:
    return play_games(new_fleet(opinions(1), THREE), 8)


def of_session(games: Games, session: int, step: int = 0) -> Games:
    """The same games, as if a session had played them."""
    played = games.games.copy()
    played["number"] = first_game(session) + np.arange(len(played), dtype=np.uint64)
    played["step"] = step
    return games._replace(games=played, turns=games.turns.copy())


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


def put(store: FolderStore, shard: WorkerShard, games: Games) -> None:
    store.write(f"{INCOMING}/{shard.file}", shard_bytes(games))


def refusal(store: FolderStore, shard: WorkerShard, params: SelfPlayParams = THREE) -> str:
    with pytest.raises(BrokenShardError) as caught:
        read_worker_shard(store, shard, params, last_step=5)
    return str(caught.value)


def test_numbers_of_games_tell_their_session() -> None:
    assert session_of(first_game(9) + 2**32 - 1) == 9
    assert first_game(2**21) <= 2**53  # what browsers count exactly


def test_a_good_shard_is_read(store: FolderStore, games: Games) -> None:
    put(store, WorkerShard(3, 1), of_session(games, 3, step=5))
    read = read_worker_shard(store, WorkerShard(3, 1), THREE, last_step=5)
    assert np.array_equal(read.turns, games.turns)
    assert set(map(session_of, read.games["number"].tolist())) == {3}


def test_broken_shards_are_refused_by_name(store: FolderStore, games: Games) -> None:
    shard = WorkerShard(3, 1)
    put(store, shard, of_session(games, 4))
    assert "numbers are of another session" in refusal(store, shard)
    put(store, shard, of_session(games, 3, step=6))
    assert "trained for 6 steps, and none was trained for more than 5" in refusal(store, shard)
    put(store, shard, of_session(games, 3))
    five = replace(THREE, board_sizes=(5,))
    assert "3x3 boards, which are not played" in refusal(store, shard, five)
    twice = of_session(games, 3)
    twice.games["number"][1] = twice.games["number"][0]
    put(store, shard, twice)
    assert "the same game twice" in refusal(store, shard)
    whole = shard_bytes(of_session(games, 3))
    store.write(f"{INCOMING}/{shard.file}", whole[:-40] + bytes(8) + whole[-32:])
    assert "checksum is wrong" in refusal(store, shard)
    store.write(f"{INCOMING}/{shard.file}", whole[:8] + (9).to_bytes(4, "little") + whole[12:])
    assert refusal(store, shard)


def test_games_with_nan_cannot_even_be_written(games: Games) -> None:
    broken = of_session(games, 3)
    broken.turns["value"][0] = np.nan
    with pytest.raises(ValueError, match="search result"):
        shard_bytes(broken)


def test_what_workers_left_is_counted_once(store: FolderStore, games: Games) -> None:
    for number in (1, 2):
        put(store, WorkerShard(3, number), of_session(games, 3))
    put(store, WorkerShard(4, 1), of_session(games, 4))
    put(store, WorkerShard(5, 1), of_session(games, 4))  # broken
    put(store, WorkerShard(6, 1), of_session(games, 6))  # of a worker that was set aside
    ledger = Ledger()
    ledger.add(3, 1)
    found = count_left_over(store, ledger, THREE, {"6": "has NaN"})
    assert [session_of(int(each.games["number"][0])) for each in found] == [3, 4]
    assert ledger.to_json() == {"3": [[1, 2]], "4": [[1, 1]]}
    assert store.names(REJECTED) == ["000005-000001.games"]
    assert count_left_over(store, ledger, THREE, {"6": "has NaN"}) == []
    clear_counted(store, ledger)
    assert incoming_shards(store) == [WorkerShard(6, 1)]
