"""A recorded game as a Position, and as SGF with the searches' results as comments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tengen.game.color import BLACK, WHITE, Color
from tengen.game.geometry import Point, policy_point
from tengen.game.kernel_rules import rules_of
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import record, save_sgf
from tengen.selfplay.record import FAST, FULL, SETUP, Games, Records, offsets

_PHASES = ("", "the first clean-up begins", "the second clean-up begins")


def game_record(games: Games, k: int) -> Position:
    """The position at the end of game k, played from the empty board, its set-up included.

    Raises IllegalMoveError for a move onto a stone.
    """
    return _play(_empty_board(games.games[k]), _turns(games, k))


def sgf_text(games: Games, k: int, black: str = "", white: str = "") -> str:
    """Game k as SGF; comments give each search's results, from Black's view.

    In a clean-up a pass for a ko is written as a pass, since other programs would play it.
    """
    game, turns = games.games[k], _turns(games, k)
    first = int(np.argmin(np.append(turns["kind"], SETUP + 1) == SETUP))  # after the set-up
    position = _after_set_up(_empty_board(game), turns, first)
    shown = _after_set_up(_empty_board(game, played_out=False), turns, first)
    shown, notes = _without_clean_up(position, shown, turns[first:])
    sgf = record(shown, black, white)
    sgf.root.set_text("AP", "Tengen")
    sgf.root.set_text("GN", f"game {game['number']}, step {game['step']}")
    sgf.root.set_text("RE", str(_outcome(game)))
    _, *nodes = sgf.root.main_line()
    for node, turn, note in zip(nodes, turns[first:], notes, strict=True):
        found = _comment(turn) if turn["kind"] in (FAST, FULL) else ""
        if found or note:
            node.set_text("C", "; ".join(filter(None, (found, note))))
    return save_sgf(sgf).decode()


def _turns(games: Games, k: int) -> Records:
    begin, end = offsets(games.games["n_turns"])[k : k + 2]
    return games.turns[begin:end]


def _empty_board(game: Any, *, played_out: bool = True) -> Position:
    """The board before the first turn, by the rules of the game, or without their clean-up."""
    size, rules = (int(game["width"]), int(game["height"])), rules_of(game["terms"])
    rules = replace(rules, played_out=rules.played_out and played_out)
    return Position(size, rules, float(game["terms"]["komi"]))


def _after_set_up(position: Position, turns: Records, first: int) -> Position:
    """The position whose stones the turns before the first one have set up."""
    if not first:
        return position
    set_up = _play(position, turns[:first])
    to_play = set_up.to_play if first == len(turns) else Color(int(turns["color"][first]))
    # No handicap, since the komi includes its bonus.
    return position.set_up(
        _points(set_up, BLACK), _points(set_up, WHITE), to_play=to_play, handicap=0
    )


def _play(position: Position, turns: Records) -> Position:
    for turn in turns:
        position = position.play(*_move(position, turn), strict=False)
    return position


def _move(position: Position, turn: Any) -> tuple[Point | None, Color]:
    return policy_point(int(turn["move"]), position.size), Color(int(turn["color"]))


def _without_clean_up(
    position: Position, shown: Position, turns: Records
) -> tuple[Position, list[str]]:
    """The end of a game by rules that have no clean-up, and for each turn what it was in one.

    It starts at `position`, or `shown` by those rules.
    """
    notes = []
    for turn in turns:
        point, color = _move(position, turn)
        after = position.play(point, color, strict=False)
        note = _PHASES[after.phase] if after.phase != position.phase else ""
        if position.phase and point is not None and after.stones_hash == position.stones_hash:
            note, point = f"passes for the ko at {position.text(point)}", None
        shown = shown.play(point, color, strict=False)
        notes.append(note)
        position = after
    return shown, notes


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
