"""A game in the terminal against an opponent that judges moves by random playouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.game.board import new_boards
from tengen.game.color import Color
from tengen.game.geometry import MAX_POINTS, Point, point_index
from tengen.game.life import new_life_scratch
from tengen.game.playout import is_own_eye, judge_moves
from tengen.game.position import Position
from tengen.game.sgf import record, save_sgf

HELP = """Your move, such as D4. Or: pass, undo, resign, save FILE, quit.
Two passes end the game and the board is counted as it stands, so capture dead stones first."""


def play_in_terminal(
    position: Position,
    human: Color,
    playouts: int,
    seed: int,
    ask: Callable[[str], str] = input,
    show: Callable[[str], None] = print,
) -> Position:
    """Play until the game is over or the player leaves; returns where it stood."""
    random = np.array([seed * 2 + 1], np.uint64)
    show(HELP)
    while not position.is_over:
        if position.to_play is human:
            show(f"\n{position}")
            answer = _ask(ask, f"{human}> ")
            if answer == "quit":
                return position
            position = _obey(answer, position, show)
        else:
            move = choose_move(position, playouts, random)
            position = position.play(move)
            show(f"\nTengen plays {position.text(move)}.")
    show(f"\n{position}\nResult: {position.outcome()}")
    return position


def _ask(ask: Callable[[str], str], prompt: str) -> str:
    try:
        return ask(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        return "quit"


def _obey(answer: str, position: Position, show: Callable[[str], None]) -> Position:
    """The position after what the player wants; what cannot be is said, and nothing changes."""
    command, _, argument = answer.partition(" ")
    try:
        match command.lower():
            case "" | "help":
                show(HELP)
            case "undo":
                return position.undo().undo()
            case "resign":
                return position.resign()
            case "save":
                Path(argument.strip()).write_bytes(save_sgf(record(position)))
                show(f"Saved as {argument.strip()}.")
            case _:
                return position.play(answer)
    except OSError as error:
        show(f"Cannot save: {error.strerror}.")
    except ValueError as error:
        message = str(error)
        show(f"{message[:1].upper()}{message[1:]}.")
    return position


def choose_move(position: Position, playouts: int, random: NDArray[np.uint64]) -> Point | None:
    """The move that most random games preferred, None for a pass."""
    last, margin = position.last_move, position.score().margin
    ahead = margin > 0 if position.to_play is Color.BLACK else margin < 0
    if last is not None and last.point is None and ahead:
        return None
    boards, history = position.arrays(room=4 * position.size.area)
    visits, wins = np.zeros((2, MAX_POINTS), np.int32)
    judge_moves(
        boards[0],
        history,
        position.komi,
        playouts,
        random,
        new_boards(1),
        new_life_scratch(1)[0],
        np.zeros(MAX_POINTS, np.uint8),
        visits,
        wins,
    )
    candidates = [
        point
        for point in position.legal_moves()
        if not is_own_eye(boards[0], point_index(point, position.width))
    ]
    return max(
        candidates, key=lambda point: visits[point_index(point, position.width)], default=None
    )
