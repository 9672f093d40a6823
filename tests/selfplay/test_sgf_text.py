from __future__ import annotations

import numpy as np
import pytest

from tengen.game.color import Color
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.kernel_rules import rules_of, terms_of
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame, read_sgf
from tengen.selfplay.record import FAST, FULL, GAME, OPENING, SETUP, TARGET, TURN, Games
from tengen.selfplay.sgf_text import game_record, sgf_text
from tests.replay.games import random_games

GAMES = random_games(40, seed=6)


def game_of(
    moves: list[tuple[str, str, int]], size: tuple[int, int] = (5, 5), komi: float = 7.0
) -> Games:
    """A game of (colour, point, kind)."""
    start = Position(size, "tromp-taylor", komi)
    game, turns = np.zeros(1, GAME), np.zeros(len(moves), TURN)
    game["number"], game["step"] = 12, 3400
    game["width"], game["height"] = size
    game["terms"] = terms_of(start.rules, komi)
    game["n_turns"], game["score"] = len(moves), -3.5
    for turn, (color, text, kind) in zip(turns, moves, strict=True):
        move = start.play(text).moves[-1].point
        turn["move"] = size[0] * size[1] if move is None else move.y * size[0] + move.x
        turn["color"], turn["kind"] = Color[color.upper()], kind
    owners = np.zeros(size[0] * size[1], np.int8)
    return Games(game, turns, np.zeros(0, TARGET), owners)


def read(text: str) -> SgfGame:
    (game,) = read_sgf(text)
    return game


def test_a_game_is_replayed_with_its_rules_and_komi() -> None:
    games = game_of([("black", "C3", FULL), ("white", "B2", FAST), ("black", "pass", FULL)])
    position = game_record(games, 0)
    assert [(move.color.letter, move.point) for move in position.moves] == [
        ("B", (2, 2)),
        ("W", (1, 3)),
        ("B", None),
    ]
    assert position.komi == 7
    assert position.rules.name == "tromp-taylor"


def test_each_game_begins_where_those_before_it_end() -> None:
    begin = 0
    for k, game in enumerate(GAMES.games):
        position = game_record(GAMES, k)
        turns = GAMES.turns[begin : begin + game["n_turns"]]
        begin += game["n_turns"]
        assert [int(move.color) for move in position.moves] == turns["color"].tolist()
        assert position.komi == game["terms"]["komi"]
        assert terms_of(position.rules, position.komi).tolist() == tuple(game["terms"].tolist())


def test_rules_are_those_of_the_terms() -> None:
    for name in ("japanese", "tromp-taylor", "new-zealand", "aga-button"):
        rules = Position(9, name).rules
        back = rules_of(terms_of(rules, 6.5))
        assert terms_of(back, 6.5).tolist() == terms_of(rules, 6.5).tolist()


def test_a_move_onto_a_stone_is_no_game() -> None:
    games = game_of([("black", "C3", FULL), ("white", "C3", FAST)])
    with pytest.raises(IllegalMoveError):
        game_record(games, 0)


def test_sgf_read_back_is_the_game() -> None:
    seen = set()
    for k, game in enumerate(GAMES.games):
        sgf, position = read(sgf_text(GAMES, k)), game_record(GAMES, k)
        assert sgf.size == position.size
        assert sgf.komi == position.komi
        assert sgf.rules == position.rules
        outcome = sgf.outcome
        assert outcome is not None
        if game["no_result"]:
            assert outcome.reason is Reason.NO_RESULT
        else:
            margin = outcome.margin or 0.0
            assert (-margin if outcome.winner is Color.WHITE else margin) == game["score"]
        seen.add((outcome.reason, outcome.winner))
        final = sgf.final_position()
        assert (final.stones == position.stones).all()
        assert final.to_play == position.to_play
    assert len(seen) == 4  # no result, a draw, and either side's wins


def test_set_up_stones_are_no_moves() -> None:
    games = game_of(
        [
            ("black", "A1", SETUP),
            ("black", "E5", SETUP),
            ("white", "C3", SETUP),
            ("white", "B2", OPENING),
            ("black", "D4", FULL),
        ]
    )
    sgf = read(sgf_text(games, 0))
    assert sgf.root.properties["AB"] == ["ea", "ae"]
    assert sgf.root.properties["AW"] == ["cc"]
    assert sgf.root.properties["PL"] == ["W"]
    position = sgf.final_position()
    assert [(move.color.letter, move.point) for move in position.moves] == [
        ("W", (1, 3)),
        ("B", (3, 1)),
    ]
    assert position.handicap == 0
    assert (position.stones == game_record(games, 0).stones).all()


def test_a_game_of_set_up_alone_is_written() -> None:
    games = game_of([("black", "A1", SETUP), ("black", "E5", SETUP)])
    position = read(sgf_text(games, 0)).final_position()
    assert position.to_play is Color.WHITE
    assert position.moves == []


def test_searched_turns_say_what_was_found() -> None:
    games = game_of([("black", "C3", OPENING), ("white", "B2", FULL), ("black", "D4", FAST)])
    turns = games.turns
    turns["value"], turns["score"], turns["visits"] = (0, 0.5, -0.2), (0, 6.25, -1.5), (0, 96, 20)
    turns["no_result"], turns["weight"] = (0, 0.1, 0), (0, 1.5, 0)
    nodes = list(read(sgf_text(games, 0)).root.main_line())
    assert [node.text("C") for node in nodes[1:]] == [
        "",
        "Black wins 70.0%, score +6.2, no result 10.0%, visits 96, learned from 1.5 times",
        "Black wins 40.0%, score -1.5, visits 20",
    ]


def test_names_with_brackets_and_backslashes_survive() -> None:
    games = game_of([("black", "C3", OPENING)])
    sgf = read(sgf_text(games, 0, black="a]b", white="c\\d"))
    assert (sgf.player("b"), sgf.player("w")) == ("a]b", "c\\d")


def test_boards_need_not_be_square() -> None:
    games = game_of([("black", "G1", FULL), ("white", "A5", FAST)], size=(7, 5))
    sgf = read(sgf_text(games, 0))
    assert sgf.size == (7, 5)
    assert [move.point for move in sgf.final_position().moves] == [(6, 4), (0, 0)]
