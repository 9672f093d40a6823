"""Fleets that play by scripts, and their games one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.game.geometry import Point
from tengen.game.kernel_rules import rules_of
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tengen.network.inference_buffers import EvaluatorBuffers
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch
from tengen.selfplay.record import SETUP, Games, Records, joined
from tests.search.scripts import Script

# Even games without noise of any kind, to change one thing at a time.
PLAIN = SelfPlayParams(
    board_sizes=(4,),
    visits=16,
    fast_visits=6,
    komi_spread=0.0,
    wide_komi_share=0.0,
    opening_share=0.0,
    handicap_share=0.0,
    decided_value=2.0,
)


class Played(NamedTuple):
    """One game of a fleet."""

    game: np.void  # of GAME
    turns: Records  # [turns] of TURN
    targets: list[dict[int, int]]  # of each turn, weights by place
    ownership: NDArray[np.int8]  # [area]


def new_fleet(
    script: Script,
    params: SelfPlayParams = PLAIN,
    search: SelfPlaySearch | None = None,
    games: int = 16,
    seed: int = 1,
    *,
    move_values: bool = False,
) -> Fleet:
    evaluator = FakeEvaluator(script)
    buffers = [EvaluatorBuffers(evaluator, shape) for shape in params.halves(games)]
    return Fleet(buffers, params, search or SelfPlaySearch(), seed, move_values=move_values)


def play_games(fleet: Fleet, count: int, ticks: int = 64) -> Games:
    """Let a fleet play until so many games were taken away, every so many ticks."""
    taken: list[Games] = []
    while sum(len(games.games) for games in taken) < count:
        for _ in range(ticks):
            fleet.tick()
        taken.append(fleet.take_games())
    return joined(taken)


def each_game(games: Games) -> Iterator[Played]:
    turn = target = point = 0
    for game in games.games:
        turns = games.turns[turn : turn + game["n_turns"]]
        wanted = []
        for n in turns["n_targets"].tolist():
            rows = games.targets[target : target + n]
            wanted.append(dict(zip(rows["move"].tolist(), rows["weight"].tolist(), strict=True)))
            target += n
        turn += len(turns)
        area = int(game["width"]) * int(game["height"])
        yield Played(game, turns, wanted, games.ownership[point : point + area])
        point += area
    assert (turn, target, point) == tuple(map(len, games[1:4]))


def positions(played: Played) -> list[Position]:
    """The empty board, then the position after each turn, all of which must be legal."""
    game = played.game
    size = int(game["width"]), int(game["height"])
    position = Position(size, rules_of(game["terms"]), float(game["terms"]["komi"]))
    found = [position]
    for turn in played.turns:
        place = int(turn["move"])
        y, x = divmod(place, position.width)
        move = None if place == position.size.area else Point(x, y)
        assert not position.is_over
        # The game begins after the stones that are set up: what was before does not count for ko.
        by_the_rules = turn["kind"] != SETUP
        color = "black" if turn["color"] == 1 else "white"
        position = position.play(move, color, strict=by_the_rules)
        found.append(position)
    return found


def by_number(games: Games) -> dict[int, tuple[bytes, ...]]:
    """All that is known of each game."""
    return {
        int(played.game["number"]): (
            played.game.tobytes(),
            played.turns.tobytes(),
            repr(played.targets).encode(),
            played.ownership.tobytes(),
        )
        for played in each_game(games)
    }
