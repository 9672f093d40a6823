"""The end of a game: dead stones, seki, and a score that is the same wherever it is told."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tengen.frontends.command_options import GtpOptions
from tengen.frontends.gtp.positions import points_to_clean_up, stones_in_seki
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.scoring import dead_stones
from tests.frontends.gtp.client import SMALL, Client, session

# White's stone at C7 is dead, and all else is settled.
SETTLED = """
. . X O . . .
. X X O O . .
X . X X O . .
. O . X O O .
X X X X X O O
. . . . X X O
. . . . . X .
"""


def _laid_out(client: Client, diagram: str, rules: str = "chinese") -> Position:
    """Set a position by commands, and end the game by passes."""
    position = Position.from_diagram(diagram)
    client.body(f"boardsize {position.width}")
    client.body(f"kata-set-rules {rules}")
    words = [
        f"{stone.letter} {position.text((x, y))}"
        for y in range(position.height)
        for x in range(position.width)
        if (stone := position.at((x, y)))
    ]
    client.body(f"set_position {' '.join(words)}")
    client.body("play_sequence b pass w pass")
    return client.session.position


def test_chains_that_will_be_the_opponents_are_dead() -> None:
    position = Position.from_diagram("X X .\n. O O\n. . .", to_play="white")
    black_owns = -np.ones((3, 3), np.float32)  # for White, who is to play
    assert dead_stones(position, black_owns) == {Point(1, 1), Point(2, 1)}
    assert dead_stones(position, -black_owns) == {Point(0, 0), Point(1, 0)}


def test_a_chain_is_dead_as_a_whole_or_not_at_all() -> None:
    position = Position.from_diagram("X X .\n. O O\n. . .", to_play="black")
    ownership = -np.ones((3, 3), np.float32)
    ownership[0, 1] = 0.2
    assert dead_stones(position, ownership) == set()
    assert dead_stones(position, None) == set()


def test_seki_is_told_at_the_end_of_a_game_alone() -> None:
    diagram = """
    . X O O X X X
    X X O O X X X
    O O . . X O O
    O O X X X O O
    X X X X . O .
    O O O O O O O
    . O . O O . O
    """
    position = Position.from_diagram(diagram)
    assert stones_in_seki(position, ()) == set()
    over = position.play("pass").play("pass")
    assert over.is_over
    seki = stones_in_seki(over, ())
    assert Point(2, 0) in seki  # White's four stones have dame alone
    assert Point(0, 6) not in seki


def test_cleaning_up_happens_where_dead_stones_lie() -> None:
    position = Position.from_diagram("X X X .\n. O X .\n. . X O\nX X X .")
    assert points_to_clean_up(position, Color.BLACK, {Point(1, 1)}) == [
        Point(0, 1),
        Point(0, 2),
        Point(1, 2),
    ]
    assert points_to_clean_up(position, Color.WHITE, {Point(1, 1)}) == []


def _final(client: Client) -> tuple[str, str]:
    score = client.body("final_score")
    match = re.search(r"RE\[([^]]*)\]", client.body("printsgf"))
    assert match
    return score, match[1]


@pytest.mark.parametrize("komi", [0.5, 6.5, 7, -10])
@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "japanese", "aga", "stone-scoring"])
def test_the_final_score_is_the_result_of_the_record(rules: str, komi: float) -> None:
    with session(options=replace(SMALL, visits=4)) as client:
        position = _laid_out(client, SETTLED, rules)
        client.body(f"komi {komi}")
        score, record = _final(client)
        assert score == record
        # and it stays so, whatever is searched in between
        client.body("kata-search b")
        assert _final(client) == (score, record)
        assert position.is_over


def test_whole_games_end_with_one_score() -> None:
    with session(options=GtpOptions(seed=0, board_size=5, visits=12, resign=False)) as client:
        for rules in ("tromp-taylor", "chinese", "japanese"):
            client.body(f"kata-set-rules {rules}")
            client.body("clear_board")
            for _ in range(120):
                client.body(f"genmove {client.session.position.to_play}")
                if client.session.position.is_over:
                    break
            else:
                client.body("play_sequence b pass w pass")
            score, record = _final(client)
            assert score == record
            assert re.fullmatch(r"[BW]\+[0-9.]+|0", score)


def test_dead_stones_are_taken_off_where_the_rules_say_so() -> None:
    with session() as client:
        for rules, expected in (("chinese", True), ("japanese", True), ("tromp-taylor", False)):
            _laid_out(client, "X X . O O\n. X X O .\nX . X O O\n. O X X O\nX X . X .", rules)
            client.session._dead = client.session.position, frozenset({Point(1, 3)})
            black = client.body("final_score")
            counted = str(client.session.position.outcome({Point(1, 3)} if expected else ()))
            assert black == counted


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "japanese", "aga", "stone-scoring"])
@pytest.mark.parametrize("over", [True, False])
def test_the_score_is_what_is_left_without_the_stones_that_are_called_dead(
    rules: str, over: bool
) -> None:
    with session() as client:
        _laid_out(client, "X X . O O\n. X X O .\nX . X O O\n. O X X O\nX X . X .", rules)
        if not over:
            client.body("undo")
        client.session._dead = client.session.position, frozenset({Point(1, 3)})
        dead = client.body("final_status_list dead").split()
        assert dead == ([] if over and rules == "tromp-taylor" else ["B2"])
        score = client.session.position.score(dead)
        assert client.body("final_score") == str(score.outcome(Reason.SCORE))


def test_a_game_without_result_counts_as_even() -> None:
    with session(None) as client:
        client.body("kata-set-rules chinese")
        client.body("play_sequence b B3 w D4 b C4 w E3 b C2 w D2 b A1 w C3 b D3")
        client.body("play_sequence w C3 b D3 w C3 b D3")  # a ko, retaken at once again and again
        assert client.session.position.is_over
        assert _final(client) == ("0", "0")


def test_statuses_share_out_all_stones() -> None:
    with session() as client:
        position = _laid_out(client, SETTLED)
        lists = [
            client.body(f"final_status_list {status}").split()
            for status in ("alive", "dead", "seki")
        ]
        told = sorted(vertex for each in lists for vertex in each)
        assert told == sorted(
            position.text(Point(int(x), int(y))) for y, x in np.argwhere(position.stones)
        )
        assert "syntax error" in client.error("final_status_list sleeping")
        assert "syntax error" in client.error("final_status_list")


def test_the_estimate_is_another_thing_than_the_score() -> None:
    with session() as client:
        client.body("play b C3")
        assert client.body("final_score") == "B+24.5"
        assert re.fullmatch(r"[BW]\+[0-9]+\.[0-9]", client.body("estimate_score"))


def test_dead_stones_are_captured_one_move_after_another() -> None:
    with session() as client:
        _laid_out(client, SETTLED, "japanese")
        dead = Point(1, 3)
        for _ in range(12):
            position = client.session.position
            still = {dead} if position.at(dead) is Color.WHITE else set()
            client.session._dead = position, frozenset(still)
            vertex = client.body("kgs-genmove_cleanup b")
            if vertex == "pass":
                break
            client.body("play w pass")
        assert client.session.position.at(dead) is not Color.WHITE
        assert vertex == "pass"
