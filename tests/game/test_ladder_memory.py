"""Ladders are the same whether they are recalled or read, on all boards of a search."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.game.geometry import MAX_SIDE, Size
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels import ladder
from tengen.game.kernels.board import Boards, clear, new_boards, put_stone
from tengen.game.kernels.ladder import LadderScratch, new_ladder_scratch
from tengen.game.kernels.ladder_memory import (
    NODES,
    READ,
    RECALLED,
    LadderMemory,
    memory_shape,
)
from tengen.game.kernels.moves import new_history, start_game
from tengen.game.kernels.point_sets import MAX_WORDS
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tengen.game.sgf.records import load_sgf
from tests.game.playouts import play_out

pytestmark = pytest.mark.kernel

WITHOUT_COMPILER = "NUMBA_DISABLE_JIT" in os.environ
SIZES = [Size(7, 7), Size(9, 9), Size(13, 13), Size(19, 19), Size(19, 4), Size(6, 11)]
GAMES = Path(__file__).parents[2] / "docs" / "strength" / "bundled-64-b6c96-64.sgf"
TERMS = terms_of(parse_rules("chinese"), 0)


def read(boards: Boards, scratch: LadderScratch) -> list[list[int]]:
    """The caught stones and the moves that catch, as sets."""
    caught, catching = np.zeros(MAX_WORDS, np.uint64), np.zeros((3, MAX_WORDS), np.uint64)
    ladder.mark_ladders(boards[0], scratch, caught, catching)
    return [caught.tolist(), *catching.tolist()]


def read_anew(boards: Boards, scratch: LadderScratch) -> list[list[int]]:
    """The same, with nothing to recall."""
    scratch.memory.keys[:] = 0
    recalled = scratch.notes.counts[RECALLED]
    found = read(boards, scratch)
    assert scratch.notes.counts[RECALLED] == recalled
    return found


def memory_for(size: Size, ladders: int) -> LadderMemory:
    """A memory as trees have it, with no more room than boards of this area need."""
    shape = memory_shape(size.area, ladders)
    return LadderMemory(np.zeros(shape.keys, np.uint64), np.zeros(shape.points, np.uint64))


def searched_boards(size: Size, count: int, seed: int) -> Iterator[Boards]:
    """Boards as a search meets them: random moves after boards before, and jumps between them."""
    choice = np.random.default_rng(seed)
    boards, history = new_boards(1), new_history(3 * size.area)
    rng = np.array([seed], np.uint64)
    kept: list[tuple[Boards, NDArray[np.uint64]]] = []
    while count > 0:
        if len(kept) < 4 or choice.random() < 0.02:
            start_game(boards[0], history, *size, TERMS)
            play_out(boards[0], history, rng, int(choice.integers(size.area // 4, size.area)))
        else:
            board, past = kept[choice.integers(len(kept))]
            boards[:], history[:] = board, past
            moves = int(choice.integers(1, 4))
            play_out(boards[0], history, rng, int(boards["ply"][0]) + moves)
        if boards["end"][0] == 0:
            yield boards
            count -= 1
            if boards["ply"][0] < 2 * size.area:  # so that the history has room
                kept = [*kept[-11:], (boards.copy(), history.copy())]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("room", [4, 128])
def test_recalled_ladders_are_those_of_the_board(size: Size, room: int) -> None:
    scratch = new_ladder_scratch()._replace(memory=memory_for(size, room))
    fresh = new_ladder_scratch()
    count, kos = (4 if WITHOUT_COMPILER else 1500), 0
    for boards in searched_boards(size, count, seed=room):
        assert read(boards, scratch) == read_anew(boards, fresh)
        kos += boards["ko"][0] != 0
    recalled = scratch.notes.counts[RECALLED]
    assert WITHOUT_COMPILER or (kos > 2 and recalled > (20 if room == 4 else 300))


def test_ladders_of_real_games_are_recalled() -> None:
    scratch, fresh = new_ladder_scratch(), new_ladder_scratch()
    for game in load_sgf(GAMES)[: 1 if WITHOUT_COMPILER else 12]:
        positions = list(game.positions())
        for position in positions[:: 20 if WITHOUT_COMPILER else 1]:
            boards = position.arrays(0)[0]
            assert read(boards, scratch) == read_anew(boards, fresh)
    counts = scratch.notes.counts
    assert WITHOUT_COMPILER or counts[RECALLED] > counts[READ] / 2


def test_boards_of_all_sizes_may_share_a_memory() -> None:
    scratch, fresh = new_ladder_scratch(), new_ladder_scratch()
    lines = [searched_boards(size, 2 if WITHOUT_COMPILER else 200, seed=3) for size in SIZES]
    for boards in (boards for group in zip(*lines, strict=True) for boards in group):
        assert read(boards, scratch) == read_anew(boards, fresh)
    assert WITHOUT_COMPILER or scratch.notes.counts[RECALLED] > 500


def test_the_same_stones_have_the_same_ladders_however_they_came_there() -> None:
    choice, fresh = np.random.default_rng(1), new_ladder_scratch()
    again, nodes = new_boards(1), []
    for boards in searched_boards(Size(13, 13), 2 if WITHOUT_COMPILER else 500, seed=5):
        board = boards[0]
        clear(again[0], 13, 13, TERMS)
        for p in choice.permutation(np.flatnonzero(np.isin(board["color"], (1, 2)))):
            put_stone(again[0], np.uint32(p), board["color"][p])
        again["ko"], again["to_play"] = board["ko"], board["to_play"]
        assert read_anew(boards, fresh) == read_anew(again, fresh)
        nodes.append(int(fresh.notes.counts[NODES]))
    assert WITHOUT_COMPILER or max(nodes) > 10


def test_ladders_that_the_budget_cuts_off_are_recalled_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ladder, "NODE_BUDGET", 3)
    cut_off = 0

    def as_python(name: str) -> Any:
        function = getattr(ladder, name)
        return getattr(function, "py_func", function)  # reads the budget when it runs

    read_chain = as_python("_read")

    def counting(scratch: LadderScratch, target: int) -> bool:
        nonlocal cut_off
        is_caught: bool = read_chain(scratch, target)
        cut_off += int(scratch.notes.counts[NODES]) > 3
        return is_caught

    monkeypatch.setattr(ladder, "_read", counting)
    for name in ("_is_caught_by", "mark_ladders"):
        monkeypatch.setattr(ladder, name, as_python(name))
    scratch, fresh = new_ladder_scratch(), new_ladder_scratch()
    for boards in searched_boards(Size(9, 9), 2 if WITHOUT_COMPILER else 150, seed=7):
        assert read(boards, scratch) == read_anew(boards, fresh)
    assert WITHOUT_COMPILER or (cut_off > 100 and scratch.notes.counts[RECALLED] > 100)


def test_a_ladder_is_recalled_until_something_stands_in_its_way() -> None:
    scratch = new_ladder_scratch()
    start = Position(19).set_up(black=[(2, 1), (1, 2), (1, 3), (3, 2)], white=[(2, 2)])

    def read_and_recalled(position: Position) -> tuple[int, int]:
        before = scratch.notes.counts.copy()
        expected = read_anew(position.arrays(0)[0], new_ladder_scratch())
        assert read(position.arrays(0)[0], scratch) == expected
        after = scratch.notes.counts - before
        return int(after[READ]), int(after[RECALLED])

    assert read_and_recalled(start) == (1, 0)
    assert read_and_recalled(start.set_up(white=[(15, 1)], black=[(1, 15)])) == (0, 1)
    assert read_and_recalled(start.set_up(white=[(15, 15)])) == (1, 0)  # breaks it
    assert read_and_recalled(start) == (0, 1)
    assert read_and_recalled(start.set_up(white=[(15, 15)])) == (0, 1)


def test_a_memory_has_room_for_all_boards_of_its_area() -> None:
    for width, height in itertools.product(range(1, MAX_SIDE + 1), repeat=2):
        bits = 64 * memory_shape(width * height, 4).points[1] // 2
        assert bits >= (height + 2) * (width + 1) + 1
