"""Even games: an estimate that follows results, and terms by which a player wins half of them."""

from __future__ import annotations

import random
import time

import pytest

from tengen.engine.engine import Engine
from tengen.engine.level_ranks import MEASURED
from tengen.evaluation.elo import share_of
from tengen.evaluation.scripted_beginner import ScriptedBeginner
from tengen.frontends.web.play.even_games import (
    STONE_POINTS,
    EvenTerms,
    PlayedGame,
    _point_elo,
    even_terms,
    read_results,
    strengths,
    write_results,
)
from tengen.game.color import Color
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tests.frontends.web.server import Client

NINE = MEASURED["tengen-9x9", 9]
USUAL = 7.5


def points(terms: EvenTerms) -> float:
    """That the terms give the person."""
    black = USUAL - terms.komi + STONE_POINTS * max(0, terms.handicap - 1)
    return black if terms.colour == "black" else -black


def played(terms: EvenTerms, score: float) -> PlayedGame:
    return PlayedGame("x", "2026-01-01", 9, terms.level, points(terms), score)


def expected(elo: float, terms: EvenTerms) -> float:
    """The chance of a person of this strength."""
    ahead = elo + points(terms) * _point_elo(terms.level) - NINE.levels[terms.level]
    return share_of(ahead)


@pytest.mark.parametrize("elo", [-1700, -1527, -1200, -760, -300, 0, 300, 700, 1000, 1300])
def test_whoever_plays_on_gets_even_chances(elo: float) -> None:
    later = []
    for seed in range(20):
        draw = random.Random(seed)
        results: list[PlayedGame] = []
        for _ in range(30):
            terms = even_terms(results, 9, "chinese")
            results.append(played(terms, float(draw.random() < expected(elo, terms))))
        later += [each.score for each in results[10:]]
        found = strengths(results, 9)[-1]
        assert abs(found.elo - elo) < 4 * found.deviation
        assert found.deviation < 200
    assert 0.4 < sum(later) / len(later) < 0.6


def test_the_first_game_is_one_that_newcomers_can_win() -> None:
    terms = even_terms([], 9, "chinese")
    assert terms.level == "newcomer"
    assert expected(NINE.first_day, terms) > 0.4
    assert even_terms([], 19, "japanese").level == "newcomer"


@pytest.mark.parametrize("size", [5, 6, 7, 9, 13, 19])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_terms_are_possible_on_every_board(size: int, score: float) -> None:
    results: list[PlayedGame] = []
    for _ in range(25):
        terms = even_terms(results, size, "chinese")
        position = Position(size, "chinese", terms.komi)
        if terms.handicap:
            position.with_handicap(terms.handicap)
        results.append(played(terms, score)._replace(size=size))
    assert read_results(write_results(results)) == results


@pytest.mark.parametrize("content", [b"", b"nonsense", b"{}", b'[{"level":"god"}]', b"[[]]"])
def test_damaged_results_are_none(content: bytes) -> None:
    assert read_results(content) == []


def test_results_make_the_next_game_harder_or_easier(client: Client) -> None:
    client.new_game(even=True)
    assert client.game["even"]
    assert client.game["level"] == "newcomer"
    before = client.ask("strength", "strength", size=9)
    assert (before["games"], before["curve"]) == (0, [])
    for games in range(1, 4):
        client.new_game(even=True)
        client.say("resign")
        client.hear("position")
        after = client.ask("strength", "strength", size=9)
        assert after["games"] == games
    assert client.ask("undo")["phase"] == "playing"  # the resignation counts no more
    assert client.ask("strength", "strength", size=9)["games"] == 2
    assert client.ask("strength", "strength", size=13)["games"] == 0
    assert after["curve"][-1]["elo"] < after["curve"][0]["elo"]
    assert after["terms"]["handicap"] >= before["terms"]["handicap"]


@pytest.mark.long
def test_a_player_of_the_first_day_wins_half_of_its_games_after_ten() -> None:
    results: list[PlayedGame] = []
    with Engine(first_game=Position(9)) as engine:
        for game in range(50):
            terms = even_terms(results, 9, "chinese")
            position = Position(9, "chinese", terms.komi)
            if terms.handicap:
                position = position.with_handicap(terms.handicap)
            person = Color.BLACK if terms.colour == "black" else Color.WHITE
            newcomer = ScriptedBeginner(seed=game)
            while not position.is_over:
                if position.to_play is person:
                    move = newcomer.move(position)
                else:
                    seed = 1000 * game + position.move_number
                    move = engine.genmove(position, level=terms.level, seed=seed).move
                position = position.play(move)
            winner = position.score().outcome(Reason.SCORE).winner
            results.append(played(terms, 0.5 if winner is None else float(winner is person)))
    share = sum(each.score for each in results[10:]) / 40
    print(time.strftime("%Y-%m-%d"), [each.score for each in results], share)
    assert 0.25 <= share <= 0.75  # three deviations of 40 games
