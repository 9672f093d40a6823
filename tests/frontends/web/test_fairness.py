"""Many at a time: everybody has a turn, nobody waits for ever, and nothing piles up."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tengen.engine.engine import Engine
from tengen.engine.levels import Decision
from tengen.engine.loading import EngineLoader
from tengen.frontends.web.play.client_messages import NewGame
from tengen.frontends.web.play.game_state import new_game_state
from tengen.frontends.web.play.game_store import GameStore, new_id
from tengen.frontends.web.play.networks import OfferedNetworks
from tengen.frontends.web.play.session import PlaySession
from tengen.game.position import Position
from tengen.search.request import Limits, SearchRequest
from tests.frontends.web.made_up import HALVES, slow_halves
from tests.frontends.web.players import play_many
from tests.frontends.web.server import Client, serving


def test_live_analyses_do_not_starve_a_game(tmp_path: Path) -> None:
    with serving(tmp_path, slow_halves(0.005)) as port:
        watchers = [Client(port) for _ in range(20)]  # each in a tree of its own
        for i, watcher in enumerate(watchers):
            watcher.say("open", sgf=f"(;SZ[9]KM[7.5];B[{'abcdefghi'[i % 9]}a])")
            watcher.say("analyse", on=True)
        with Client(port) as player:
            player.new_game()
            begun = time.monotonic()
            player.play("D4")
            player.play("pass")
            assert time.monotonic() - begun < 5
        for watcher in watchers:
            assert watcher.hear("analysis")["visits"] > 0
            watcher.close()


def test_twelve_players_get_fair_shares_without_an_error(tmp_path: Path) -> None:
    with serving(tmp_path, slow_halves(0.002)) as port:
        players = asyncio.run(play_many(f"ws://127.0.0.1:{port}/ws", 12 * ["beginner"], 4.0))
    assert [error for player in players for error in player.errors] == []
    counts = sorted(len(player.answers) for player in players)
    assert counts[0] >= 5
    assert counts[0] >= 0.5 * counts[-1]


def test_a_move_is_shown_within_fifty_milliseconds_while_the_server_analyses(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as port, Client(port) as client:
        client.say("open", sgf="(;SZ[19]KM[7.5])")
        client.hear("game")
        client.say("analyse", on=True)
        client.hear("analysis")
        taken = []
        for move in [f"{column}{row}" for row in (3, 10, 17) for column in "BDFHKMOQS"]:
            begun = time.monotonic()
            client.ask("play", move=move)
            taken.append(time.monotonic() - begun)
        assert sorted(taken)[len(taken) // 2] < 0.05


def test_analysis_is_told_five_times_a_second_and_all_input_is_answered(tmp_path: Path) -> None:
    with serving(tmp_path) as port, Client(port) as client:
        client.say("open", sgf="(;SZ[19]KM[7.5])")
        client.hear("game")
        client.say("analyse", on=True)
        client.hear("analysis")
        reports = answers = 0
        begun = time.monotonic()
        for _ in range(300):
            client.say("ping")
        while (now := time.monotonic()) - begun < 2:
            kind = client.next()["type"]
            reports += kind == "analysis"
            answers += kind == "pong"
        assert answers == 300
        assert reports >= 5 * (now - begun)


def test_messages_are_read_between_answers_that_come_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = 12

    async def answers_before_a_message(loader: EngineLoader) -> int:
        """How many answers were given before a message was read that came with the first one."""
        loop, together, read = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        search = SearchRequest(Position(9, "chinese"), Limits(visits=2))
        decision = Decision(None, False, loader.engine.search(search))
        near, far = socket.socketpair()
        answers, before = 0, 0

        async def decide(*_: object, **__: object) -> Decision:
            await together.wait()
            return decision

        def send(*_: object, **__: object) -> None:
            nonlocal answers
            answers = sum(not session.game.bot_to_move for session in playing)
            if answers == 1:
                near.send(b"play")

        def receive() -> None:
            nonlocal before
            before = answers
            loop.remove_reader(far)
            read.set()

        monkeypatch.setattr(loader.engine, "decide_async", decide)
        loop.add_reader(far, receive)
        answering = asyncio.Lock()
        with near, far, GameStore(tmp_path) as game_store, ThreadPoolExecutor(1) as reviewers:
            playing = []
            for k in range(sessions):
                game = new_game_state(NewGame(size=9, colour="white", level="beginner"))
                session = PlaySession(
                    str(k),
                    game,
                    new_id(),
                    OfferedNetworks(loader),
                    reviewers,
                    game_store,
                    lambda key, session: None,
                    answering,
                )
                session.network_ready({})
                monkeypatch.setattr(session, "send", send)
                playing.append(session)
            await asyncio.sleep(0)
            together.set()
            await read.wait()
            while any(session.game.bot_to_move for session in playing):
                await asyncio.sleep(0)
        return before

    with EngineLoader(lambda: Engine(HALVES)) as loader:
        loader.wait()
        assert 1 <= asyncio.run(answers_before_a_message(loader)) <= sessions // 2
