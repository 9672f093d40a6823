"""A recorded game as a Position, and as SGF with the searches' results as comments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tengen.game.color import BLACK, WHITE, Color
from tengen.game.geometry import Point, policy_point
from tengen.game.kernel_rules import rules_of
from tengen.game.position import Position
from tengen.game.sgf.records import letters
from tengen.selfplay.record import FAST, FULL, SETUP, Games, Records, offsets


class _Played(NamedTuple):
    """One recorded game."""

    game: Any  # GAME
    turns: Records  # [turns] of TURN


def game_record(games: Games, k: int) -> Position:
    """The position at the end of game k, played from the empty board, its set-up included.

    Raises IllegalMoveError for a move onto a stone.
    """
    *_, position = _positions(_played(games, k))
    return position


def sgf_text(games: Games, k: int, black: str = "", white: str = "") -> str:
    """Game k as SGF in one line; comments give each search's results, from Black's view."""
    played = _played(games, k)
    game, turns = played
    positions = list(_positions(played))
    first = 0
    while first < len(turns) and turns["kind"][first] == SETUP:
        first += 1
    root = {
        "FF": ["4"],
        "GM": ["1"],
        "CA": ["UTF-8"],
        "AP": ["Tengen"],
        "SZ": [_size_text(positions[0])],
        "KM": [f"{positions[0].komi:g}"],
        "RU": [str(positions[0].rules)],
        "RE": [result_text(game)],
        "PB": [black],
        "PW": [white],
        "GN": [f"game {game['number']}, step {game['step']}"],
    }
    if first:
        to_play = positions[first].to_play if first == len(turns) else turns["color"][first]
        root |= _set_up(positions[first], Color(int(to_play)))
    nodes = [_node(root)]
    for turn in turns[first:]:
        letter = Color(int(turn["color"])).letter
        point = policy_point(int(turn["place"]), positions[0].size)
        nodes.append(_node({letter: [letters(point)], "C": [_comment(turn)]}))
    return f"({''.join(nodes)})\n"


def result_text(game: Any) -> str:
    """The result as SGF writes it: B+3.5, 0 for a draw, Void."""
    if game["no_result"]:
        return "Void"
    if game["score"] == 0:
        return "0"
    return f"{'B' if game['score'] > 0 else 'W'}+{abs(float(game['score'])):g}"


def _played(games: Games, k: int) -> _Played:
    begin, end = offsets(games.games["n_turns"])[k : k + 2]
    return _Played(games.games[k], games.turns[begin:end])


def _positions(played: _Played) -> Iterator[Position]:
    """The empty board, then the position after each turn."""
    game, turns = played
    size = int(game["width"]), int(game["height"])
    position = Position(size, rules_of(game["terms"]), float(game["terms"]["komi"]))
    yield position
    for turn in turns:
        point = policy_point(int(turn["place"]), position.size)
        position = position.play(point, Color(int(turn["color"])), strict=False)
        yield position


def _set_up(position: Position, to_play: Color) -> dict[str, list[str]]:
    """The stones before the first move; HA[0], since the komi includes the handicap bonus."""
    stones: dict[str, list[str]] = {}
    for name, color in (("AB", BLACK), ("AW", WHITE)):
        stones[name] = [
            letters(Point(int(x), int(y))) for y, x in np.argwhere(position.stones == color)
        ]
    return stones | {"PL": [to_play.letter], "HA": ["0"]}


def _comment(turn: Any) -> str:
    """The search's results for Black; empty without a search."""
    if turn["kind"] not in (FAST, FULL):
        return ""
    win = (1 - turn["no_result"] + turn["value"]) / 2
    parts = [f"Black wins {100 * win:.1f}%", f"score {turn['score']:+.1f}"]
    if turn["no_result"] >= 0.0005:
        parts.append(f"no result {100 * turn['no_result']:.1f}%")
    learned = f", learned from {turn['weight']:g} times" if turn["kind"] == FULL else ""
    return f"{', '.join(parts)}, visits {turn['visits']}{learned}"


def _node(properties: dict[str, list[str]]) -> str:
    """A node as text, without properties that are empty; an empty move is a pass."""
    return ";" + "".join(
        name + "".join(f"[{_escaped(value)}]" for value in values)
        for name, values in properties.items()
        if any(values) or (values and name in ("B", "W"))
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _size_text(position: Position) -> str:
    width, height = position.size
    return str(width) if width == height else f"{width}:{height}"
