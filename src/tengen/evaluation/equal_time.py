"""Games at equal time: each player has the visits that it can make in the time of a move.

They are played in lockstep, many at a time. That takes a small part of the simulated time, and does
not depend on what else the machine does.
"""

from __future__ import annotations

from collections.abc import Iterator

from tengen.evaluation.elo import Sprt, WinDrawLoss
from tengen.evaluation.lockstep import Player, openings, play_in_lockstep
from tengen.game.position import Position

GAMES_AT_A_TIME = 16
MOST_GAMES = 400
OPENING_MOVES = 4
MOVES_PER_POINT = 2  # of the board, at most
CLEAR = Sprt(-20.0, 20.0)  # ends a match in which one is stronger


def match_at_equal_time(
    players: tuple[Player, Player], empty: Position, seed: int
) -> Iterator[WinDrawLoss]:
    """Play until it is clear who is stronger: the first player's results after some games more.

    Every opening is played with both colours.
    """
    limit = MOVES_PER_POINT * empty.size.area
    board = Position(empty.size, empty.rules, empty.komi, move_limit=limit)
    begun = openings(players[0].evaluator, board, OPENING_MOVES, MOST_GAMES // 2, seed)
    tally, pairs = WinDrawLoss(), GAMES_AT_A_TIME // 2
    for i in range(0, len(begun), pairs):
        for game in play_in_lockstep(players, begun[i : i + pairs], seed=seed + i):
            tally = tally.plus(game.points)
        yield tally
        if CLEAR.verdict(tally) is not None:
            return
