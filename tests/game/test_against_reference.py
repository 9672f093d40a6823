"""The kernels agree with the reference board in thousands of random games."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numba
import numpy as np
import pytest

from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.scoring import area
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules
from tests.game.reference import ReferenceGame

# (sides from, to, games, plies between two full comparisons): large boards are compared less often,
# for the slow board takes seconds for each of their games.
PLAN = [(1, 4, 2000, 1), (2, 6, 800, 3), (5, 9, 160, 12), (9, 13, 30, 60), (13, 19, 14, 150)]
# Played again without the compiler and with bounds checks, fewer games will do.
SHARE = 0.01 if numba.config.DISABLE_JIT else 0.2 if numba.config.BOUNDSCHECK else 1.0

pytestmark = pytest.mark.kernel


def games() -> Iterator[tuple[int, int, int, KoRule, bool, int]]:
    for smallest, largest, count, every in PLAN:
        for number in range(max(1, round(count * SHARE))):
            choice = random.Random(f"{smallest} {number}")
            width, height = (choice.randint(smallest, largest) for _ in range(2))
            if number % 2:
                height = width
            yield width, height, every, choice.choice(list(KoRule)), choice.random() < 0.5, number


def compare(position: Position, reference: ReferenceGame) -> None:
    """Compare every stone, liberty, prisoner and legal move, and the area."""
    stones = position.stones
    chains: dict[tuple[int, int], tuple[list[tuple[int, int]], int]] = {}  # and their liberties
    for x, y in reference.points():
        assert stones[y, x] == reference.stones.get((x, y), 0)
        if (x, y) in reference.stones:
            if (x, y) not in chains:
                chain, liberties = reference.chain(reference.stones, (x, y))
                chains |= dict.fromkeys(chain, (sorted(chain), len(liberties)))
            assert (position.chain((x, y)), position.liberties((x, y))) == chains[x, y]
    legal = position.legal_mask()
    if not position.is_over:
        expected = [reference.is_legal(point) for point in reference.points()]
        assert legal.tolist() == [*expected, True]
    for color in (1, 2):
        assert position._boards[0]["captured"][color] == reference.captured[color]
    assert area(position._boards[0], new_life_scratch(1)[0]) == reference.area()


def play_and_compare(
    width: int, height: int, every: int, ko: KoRule, suicide: bool, seed: int
) -> None:
    choice = random.Random(seed)
    position = Position((width, height), Rules(ko=ko, suicide=suicide), 0)
    reference = ReferenceGame(width, height, ko.value.lower(), suicide)
    hashes = {position.stones_hash: reference.past[0].stones}
    for ply in range(3 * width * height + 4):
        if ply % every == 0:
            compare(position, reference)
        moves = position.legal_moves()
        if position.is_over:
            break
        move = choice.choice(moves) if moves and choice.random() > 0.03 else None
        position = position.play(move)
        reference.play(move)
        # Equal hashes for equal positions, other hashes for others.
        assert hashes.setdefault(position.stones_hash, reference.past[-1].stones) == (
            reference.past[-1].stones
        )
    compare(position, reference)


def test_random_games_agree_with_the_reference_board() -> None:
    played = 0
    for game in games():
        play_and_compare(*game)
        played += 1
    assert played >= 3000 * SHARE


def test_a_game_without_passes_cannot_last_under_positional_superko() -> None:
    """On 2x2 every game ends by superko; the reference board says when."""
    position = Position(2, "tromp-taylor", 0)
    reference = ReferenceGame(2, 2, "positional", suicide=True)
    choice = np.random.default_rng(5)
    while moves := position.legal_moves():
        assert [reference.is_legal(point) for point in reference.points()].count(True) == len(moves)
        move = moves[choice.integers(len(moves))]
        position = position.play(move)
        reference.play(move)
    assert not any(reference.is_legal(point) for point in reference.points())
