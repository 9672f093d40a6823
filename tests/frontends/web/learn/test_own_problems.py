"""Problems out of a player's own games, where games are hostile and files grow."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.engine.engine import Engine
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.learn import own_problems
from tengen.frontends.web.learn.own_problems import OwnProblems
from tengen.frontends.web.play.game_store import GameKey, GameStore
from tengen.game.position import Position
from tengen.network.loaded_network import LoadedNetwork
from tengen.problems import making
from tengen.problems.solver import Question
from tests.frontends.web.made_up import HALVES

PLAYER = 32 * "a"
GAMES = [f"20260101-00000{number}-00000000" for number in range(3)]
LONG = b"(;SZ[9]" + b"".join(b";B[];W[%c%c]" % (97 + k % 9, 97 + k // 9) for k in range(9)) + b")"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[OwnProblems]:
    def engine() -> Engine:
        return Engine(LoadedNetwork(HALVES, "fake.bin.gz"))

    with GameStore(tmp_path) as game_store, EngineLoader(engine) as loader:
        loader.wait()
        for game, content in zip(GAMES, (b"(;SZ[9]B[zz", LONG, b"no game"), strict=True):
            game_store.write(GameKey(PLAYER, game), content).result(5)
        with OwnProblems(tmp_path / "problems", game_store, loader) as own:
            yield own


def wait_for_rest(own: OwnProblems) -> None:
    until = time.monotonic() + 60
    while own.view(PLAYER, GAMES)["working"]:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_game_that_fails_is_read_once_and_the_others_are_read(
    own: OwnProblems, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(own_problems, "watched", fail)
    own.start(PLAYER, GAMES)
    wait_for_rest(own)
    assert own.view(PLAYER, GAMES)["unread"] == 0
    assert own.problems(PLAYER) == []
    assert "RuntimeError: a fault of ours" in capsys.readouterr().err


def test_the_server_ends_in_the_middle_of_a_game(
    own: OwnProblems, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, seen = threading.Event(), []

    def slow(position: Position, _: object) -> list[Question]:
        seen.append(position)
        begun.set()
        while not own._stop.is_set():
            time.sleep(0.01)
        return []

    monkeypatch.setattr(making, "questions_in", slow)
    own.start(PLAYER, GAMES[1:2])
    assert begun.wait(60)
    own.close()
    assert len(seen) == 1
    assert own.view(PLAYER, GAMES[1:2])["unread"] == 1  # it is read the next time


def test_files_of_those_who_were_away_longest_go_when_all_take_too_much(
    own: OwnProblems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_problems, "MOST_BYTES", 3_000)
    folder = tmp_path / "problems"
    folder.mkdir()
    for number in range(4):
        file = folder / f"{number:032}.json"
        file.write_text(json.dumps(200 * ["game"]))
        os.utime(file, (number, number))
    own.start(PLAYER, GAMES[:1])
    wait_for_rest(own)
    left = sorted(file.stem for file in folder.iterdir())
    assert left == [*(f"{number:032}" for number in (1, 2, 3)), PLAYER]
