"""Sessions that play as one of the levels."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest

from tengen.engine.levels import LEVELS, level_named
from tengen.frontends.command_options import GtpOptions
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tests.frontends.gtp.client import Client, session
from tests.frontends.gtp.opponents import black_wins, surveyor

LEARNER = GtpOptions(board_size=7, komi=0.5, level="learner", seed=3)


def _moves(client: Client, count: int) -> list[str]:
    return [client.body(f"genmove {'bw'[number % 2]}") for number in range(count)]


def test_moves_are_those_of_the_level_and_of_the_seed() -> None:
    games = []
    for seed in (3, 3, 4):
        with session(options=replace(LEARNER, seed=seed)) as client:
            games.append(_moves(client, 8))
            assert client.session.last_result is not None
            assert client.session.last_result.visits == level_named("learner").visits
    assert games[0] == games[1] != games[2]
    assert Position(7, "tromp-taylor", 0.5).play_all(games[0]).move_number == 8


def test_analysis_of_the_level_s_move_ends_with_the_move() -> None:
    with session(options=LEARNER) as client:
        reply = client.body("kata-genmove_analyze b 10")
        played = reply.splitlines()[-1].removeprefix("play ")
        assert client.session.position.moves[-1].point == Position(7).play(played).moves[0].point


def test_what_a_client_forbids_is_not_played_by_a_level_either() -> None:
    with session(options=LEARNER) as client:
        for _ in range(6):
            reply = client.body("kata-genmove_analyze b 10 allow b D4,pass 1")
            assert reply.splitlines()[-1] in ("play D4", "play pass")


def test_analysis_is_not_weakened() -> None:
    with session(options=LEARNER) as client:
        client.body("kata-search_debug b")
        client.send(b"kata-analyze b 1\n")
        assert client.lines.next_line() == "="
        most = 0
        while most < 30:
            visits = re.findall(r"\bvisits (\d+)", client.lines.next_line())
            most = max(map(int, visits))
        client.send(b"name\n")
        while client.lines.next_line() != "= Tengen":
            pass


@pytest.mark.parametrize(("level", "resigns"), [("beginner", False), ("full", True)])
def test_a_lost_game_is_given_up_by_strong_levels_alone(level: str, resigns: bool) -> None:
    assert bool(level_named(level).resign_winrate) == resigns
    options = replace(LEARNER, board_size=5, level=level)
    with session(black_wins, options) as client:
        replies: list[str] = []
        while len(replies) < 9 and "resign" not in replies:
            free = client.session.position.legal_moves()
            client.body(f"play b {client.session.position.text(free[0])}")
            replies.append(client.body("genmove w"))
        assert ("resign" in replies) == resigns


def test_a_level_answers_within_the_clock() -> None:
    def slow(batch: Batch) -> Evaluation:
        time.sleep(0.01)
        return surveyor(batch)

    with session(slow, replace(LEARNER, level=LEVELS[-1].id)) as client:
        client.body("time_settings 1 0 0")
        assert client.body("genmove b")
        assert client.session.last_result is not None
        assert client.session.last_result.visits < LEVELS[-1].visits
