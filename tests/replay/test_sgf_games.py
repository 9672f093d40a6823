"""Game records as games to learn from: what they tell is known, and nothing else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.color import BLACK
from tengen.game.sgf.records import SgfError, load_sgf, read_sgf
from tengen.network.evaluator import encode
from tengen.replay.rows import TrainingRows, encode_games
from tengen.replay.sgf_games import games_of_sgf
from tengen.selfplay.record import (
    BY_AGREEMENT,
    BY_DECISION,
    BY_PASSES,
    FULL,
    SETUP,
    UNFINISHED,
    Games,
    check_games,
    joined,
)

MOVES = ";B[ee];W[cc];B[gg];W[gc];B[cg]"


def game(result: str, rest: str = "", moves: str = MOVES) -> Games:
    (source,) = read_sgf(f"(;GM[1]SZ[9]KM[7]RU[Chinese]RE[{result}]{rest}{moves})")
    found = games_of_sgf(source, 3)
    check_games(found)
    return found


def rows_of(games: Games) -> TrainingRows:
    ((rows, _),) = encode_games(games, KATAGO, 1).values()
    return rows


def test_every_move_is_a_target_and_inputs_are_those_of_play() -> None:
    (source,) = read_sgf(f"(;GM[1]SZ[9]KM[7]RU[Chinese]RE[B+R]{MOVES})")
    rows = rows_of(games_of_sgf(source, 1))
    positions = [source.start(), *source.positions()]
    positions = [p for p in positions if p.move_number == 0][:1] + [
        p for p in positions if p.move_number
    ]
    for k, (before, after) in enumerate(pairwise(positions)):
        planes, _ = KATAGO.unpacked(rows.planes[k : k + 1], rows.globals[k : k + 1])
        shown = encode(KATAGO, [before])
        np.testing.assert_array_equal(planes, shown.planes)
        np.testing.assert_allclose(rows.globals[k], shown.globals[0], atol=1e-6)
        move = after.last_move
        assert move is not None
        assert move.point is not None
        assert rows.policy[k].argmax() == move.point.y * 9 + move.point.x
    assert len(rows.score) == 5
    np.testing.assert_array_equal(rows.value.argmax(1), [0, 1, 0, 1, 0])  # whoever is Black wins


@pytest.mark.parametrize(
    ("result", "end", "known"),
    [
        ("B+R", BY_DECISION, [1, 0, 0, 0]),
        ("W+Resign", BY_DECISION, [1, 0, 0, 0]),
        ("B+3.5", BY_AGREEMENT, [1, 1, 1, 0]),  # the board, counted as it is, says otherwise
        ("B+T", UNFINISHED, [0, 0, 0, 0]),
        ("W+F", UNFINISHED, [0, 0, 0, 0]),
        ("Void", UNFINISHED, [0, 0, 0, 0]),
        ("?", UNFINISHED, [0, 0, 0, 0]),
    ],
)
def test_a_record_teaches_what_it_tells(result: str, end: int, known: list[int]) -> None:
    games = game(result)
    assert games.games["end"].tolist() == [end]
    rows = rows_of(games)
    np.testing.assert_array_equal(rows.known, np.tile(known, (5, 1)))
    if known[0]:
        sign = 1 if result.startswith("B") else -1
        np.testing.assert_array_equal(np.sign(rows.value[:, 0] - rows.value[:, 1])[0], sign)
    if known[1]:
        np.testing.assert_array_equal(rows.score, [3.5, -3.5, 3.5, -3.5, 3.5])
        np.testing.assert_array_equal(rows.lead, rows.score)


def test_a_board_that_gives_the_result_tells_who_owns_what() -> None:
    # Black's wall along the fifth line, White's along the seventh: 5x9 against 3x9, 9 for nobody.
    wall = "".join(f";B[{x}e];W[{x}g]" for x in "abcdefghi")
    games = game("B+11", moves=wall + ";B[];W[]")  # 45 - 27 - 7
    assert games.games["end"].tolist() == [BY_PASSES]
    rows = rows_of(games)
    owners = rows.ownership.reshape(-1, 9, 9)
    np.testing.assert_array_equal(owners[0, :5], 100)
    np.testing.assert_array_equal(owners[0, 6:], -100)
    np.testing.assert_array_equal(owners[0, 5], 0)
    np.testing.assert_array_equal(owners[1], -owners[0])
    assert (rows.known == 1).all()
    assert game("B+12", moves=wall).games["end"].tolist() == [BY_AGREEMENT]


def test_handicap_stones_are_set_up_and_white_begins() -> None:
    games = game("W+R", "HA[2]AB[gc][cg]", ";W[ee];B[cc]")
    assert games.turns["kind"].tolist() == [SETUP, SETUP, FULL, FULL]
    rows = rows_of(games)
    assert len(rows.score) == 2
    (source,) = read_sgf("(;GM[1]SZ[9]KM[7]RU[Chinese]HA[2]AB[gc][cg];W[ee];B[cc])")
    first, *_ = source.positions()
    shown = encode(KATAGO, [first])
    planes, _ = KATAGO.unpacked(rows.planes[:1], rows.globals[:1])
    np.testing.assert_array_equal(planes[0, :3], shown.planes[0, :3])
    np.testing.assert_allclose(rows.globals[0], shown.globals[0], atol=1e-6)  # White's bonus, too


def test_a_game_ends_where_stones_are_set_up_in_its_middle() -> None:
    games = game("B+R", moves=";B[ee];W[cc];AB[aa];B[gg]")
    assert len(games.turns) == 2
    assert games.games["end"].tolist() == [BY_DECISION]
    onto = game("B+R", moves=";B[ee];W[cc];B[ee];W[gg]")
    assert len(onto.turns) == 2


def test_records_without_moves_or_with_impossible_ones_are_refused() -> None:
    for moves in ("", ";B[zz]", ";C[nothing]"):
        with pytest.raises(SgfError):
            game("B+R", moves=moves)


def test_records_of_whole_matches_become_rows() -> None:
    sources = load_sgf("docs/strength/bundled-100-gnugo.sgf")
    games = joined([games_of_sgf(source, k) for k, source in enumerate(sources)])
    check_games(games)
    rows = rows_of(games)
    assert len(rows.score) == int((games.turns["kind"] == FULL).sum()) > 6000
    # Tromp-Taylor: nearly all of them end by passes, and are counted as they stand.
    assert rows.known[:, 3].mean() > 0.9
    for source, score in zip(sources, games.games["score"].tolist(), strict=True):
        outcome = source.outcome
        assert outcome is not None
        assert outcome.winner is not None
        sign = 1 if outcome.winner == BLACK else -1
        assert score == sign * (1 if outcome.margin is None else outcome.margin)
