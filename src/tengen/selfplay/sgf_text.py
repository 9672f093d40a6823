"""A recorded game as a Position, and as SGF with the searches' results as comments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.game.color import BLACK, WHITE, Color
from tengen.game.geometry import Point, policy_point
from tengen.game.kernel_rules import rules_of
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import record, save_sgf
from tengen.selfplay.record import FAST, FULL, SETUP, Games, Records, offsets


def game_record(games: Games, k: int) -> Position:
    """The position at the end of game k, played from the empty board, its set-up included.

    Raises IllegalMoveError for a move onto a stone.
    """
    return _play(_empty_board(games.games[k]), _turns(games, k))


def sgf_text(games: Games, k: int, black: str = "", white: str = "") -> str:
    """Game k as SGF; comments give each search's results, from Black's view."""
    game, turns = games.games[k], _turns(games, k)
    position = _empty_board(game)
    first = int(np.argmin(np.append(turns["kind"], SETUP + 1) == SETUP))  # after the set-up
    if first:
        set_up = _play(position, turns[:first])
        to_play = set_up.to_play if first == len(turns) else Color(int(turns["color"][first]))
        # No handicap, since the komi includes its bonus.
        position = position.set_up(
            _points(set_up, BLACK), _points(set_up, WHITE), to_play=to_play, handicap=0
        )
    sgf = record(_play(position, turns[first:]), black, white)
    sgf.root.set_text("AP", "Tengen")
    sgf.root.set_text("GN", f"game {game['number']}, step {game['step']}")
    sgf.root.set_text("RE", str(_outcome(game)))
    _, *nodes = sgf.root.main_line()
    for node, turn in zip(nodes, turns[first:], strict=True):
        if turn["kind"] in (FAST, FULL):
            node.set_text("C", _comment(turn))
    return save_sgf(sgf).decode()


def _turns(games: Games, k: int) -> Records:
    begin, end = offsets(games.games["n_turns"])[k : k + 2]
    return games.turns[begin:end]


def _empty_board(game: Any) -> Position:
    size = int(game["width"]), int(game["height"])
    return Position(size, rules_of(game["terms"]), float(game["terms"]["komi"]))


def _play(position: Position, turns: Records) -> Position:
    for turn in turns:
        point = policy_point(int(turn["move"]), position.size)
        position = position.play(point, Color(int(turn["color"])), strict=False)
    return position


def _points(position: Position, color: int) -> list[Point]:
    return [Point(int(x), int(y)) for y, x in np.argwhere(position.stones == color)]


def _outcome(game: Any) -> Outcome:
    score = float(game["score"])
    winner = None if score == 0 else Color.BLACK if score > 0 else Color.WHITE
    return Outcome(winner, abs(score), Reason.NO_RESULT if game["no_result"] else Reason.SCORE)


def _comment(turn: Any) -> str:
    """The search's results for Black."""
    win = (1 - turn["no_result"] + turn["value"]) / 2
    parts = [f"Black wins {100 * win:.1f}%", f"score {turn['score']:+.1f}"]
    if turn["no_result"] >= 0.0005:
        parts.append(f"no result {100 * turn['no_result']:.1f}%")
    learned = f", learned from {turn['weight']:g} times" if turn["kind"] == FULL else ""
    return f"{', '.join(parts)}, visits {turn['visits']}{learned}"
