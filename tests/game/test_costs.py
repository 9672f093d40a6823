"""Long games and large files cost what they are long, not the square of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tengen.game.position import Position
from tengen.game.sgf import records
from tengen.game.sgf.records import SgfError, SgfGame, read_sgf, record, save_sgf
from tengen.game.sgf.syntax import text_value
from tests.costs import MOST_GROWTH, TIMES, cpu_growth, memory_growth, peak_bytes


def passes(n: int) -> Position:
    position = Position(5)
    for _ in range(n):
        position = position.play(None, strict=False)
    return position


def long_game(nodes: int) -> SgfGame:
    return read_sgf(f"(;SZ[5]{';B[];W[]' * (nodes // 2)})")[0]


def last_position(game: SgfGame) -> Position:
    return game.final_position()


def test_a_long_game_takes_linear_memory_and_time() -> None:
    assert memory_growth(int, passes, 500) < 1.5 * TIMES
    assert cpu_growth(int, passes, 500) < MOST_GROWTH


def test_the_record_of_a_long_game_is_written_in_linear_time() -> None:
    assert cpu_growth(passes, lambda game: save_sgf(record(game)), 500) < MOST_GROWTH


def test_a_file_of_a_long_game_is_played_through_in_linear_time_and_memory() -> None:
    assert memory_growth(long_game, last_position, 500) < 1.5 * TIMES
    assert cpu_growth(long_game, last_position, 500) < MOST_GROWTH


def test_a_root_property_costs_nothing_at_each_node() -> None:
    """A handicap of 600 kB was searched for a number again and again."""

    def played(filler: int) -> SgfGame:
        wide = "x" * filler
        return read_sgf(f"(;SZ[5]HA[{wide}]KM[{wide}]{';B[];W[]' * 200})")[0]

    assert cpu_growth(played, last_position, 150_000) < 2


def test_a_line_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LONGEST_LINE", 10)
    assert long_game(9).final_position().move_number == 8
    with pytest.raises(SgfError, match="10 nodes, not more"):
        long_game(10).final_position()


def test_numbers_of_the_root_end_somewhere() -> None:
    game = read_sgf(f"(;SZ[{' ' * 20}9]KM[{'6' * 400}.5]HA[{' ' * 20}3])")[0]
    assert (game.size, game.handicap, game.komi) == ((9, 9), 3, None)
    with pytest.raises(SgfError, match="boards run from 1x1 to 19x19"):
        _ = read_sgf(f"(;SZ[{' ' * 200}9])")[0].size


def test_escapes_take_a_few_times_the_memory_of_their_text() -> None:
    raw = b"(;SZ[9]C[" + rb"\]" * 500_000 + b"])"
    assert peak_bytes(read_sgf, raw) < 8 * len(raw)
    game = read_sgf(raw)[0]
    assert peak_bytes(lambda _: game.root.text("C"), None) < 8 * len(raw)
    assert game.root.text("C") == "]" * 500_000


def test_text_is_what_sgfmill_reads() -> None:
    from sgfmill import sgf_grammar

    signs = ["a", "]", "\\", "\\", "\n", "\r", "\t", "\v", "é", "棋", ":", " "]
    draw = np.random.default_rng(7)
    for _ in range(5_000):
        raw = "".join(draw.choice(signs, draw.integers(12)))
        assert text_value(raw) == sgf_grammar.text_value(raw.encode()).decode()


# Positions of a line share their histories; nobody may notice.


def test_variations_do_not_disturb_each_other() -> None:
    start = Position(5).play_all("A1 B1")
    first, second, third = (start.play(move) for move in ("C1", "D1", "E1"))
    deeper = first.play("A2")
    assert not start.is_legal("A1")
    fourth = start.play("E5")
    for position, moves in (
        (first, "A1 B1 C1"),
        (second, "A1 B1 D1"),
        (third, "A1 B1 E1"),
        (deeper, "A1 B1 C1 A2"),
        (fourth, "A1 B1 E5"),
        (start, "A1 B1"),
    ):
        assert " ".join(position.text(move) for move in position.moves) == moves


def test_threads_that_play_on_from_one_position_do_not_disturb_each_other() -> None:
    points = [point for point in Position(9).legal_moves() if point.y < 8]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(20):
            start = Position(9).play("A1")
            positions = list(threads.map(start.play, points))
            assert [after.moves[-1].point for after in positions] == points
            assert all(after.play("J1").moves[0] == start.moves[0] for after in positions)
