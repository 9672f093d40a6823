"""A game in the terminal against one of the levels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tengen.engine.engine import Engine
from tengen.engine.level_ranks import rank_of
from tengen.engine.levels import Level
from tengen.game.color import Color
from tengen.game.position import Position
from tengen.game.sgf.records import record, save_sgf
from tengen.user_messages import tell

HELP = """Your move, such as D4. Or: pass, undo, resign, save FILE, quit.
Two passes end the game and the board is counted as it stands, so capture dead stones first."""


def play_in_terminal(
    engine: Engine,
    level: Level,
    position: Position,
    human: Color,
    seed: int,
    ask: Callable[[str], str] = input,
    show: Callable[[str], None] = tell,
) -> Position:
    """Play until the game is over or the player leaves; returns the last position."""
    rank = rank_of(level, engine.name_for(position), position.size)
    opponent = level.name if rank is None else f"{level.name}, about {rank}"
    show(f"You play {human} against Tengen ({opponent}).\n{HELP}")
    if (unfamiliar := engine.unfamiliar(position)) is not None:
        show(f"Beware: {unfamiliar}.")
    while not position.is_over:
        if position.to_play is human:
            show(f"\n{position}")
            answer = _ask(ask, f"{human}> ")
            if answer == "quit":
                return position
            position = _obey(answer, position, show)
        else:
            decision = engine.genmove(position, level, seed)
            if decision.resign:
                position = position.resign()
                show("\nTengen resigns.")
            else:
                position = position.play(decision.move)
                show(f"\nTengen plays {position.text(decision.move)}.")
    show(f"\n{position}\nResult: {position.outcome()}")
    return position


def _ask(ask: Callable[[str], str], prompt: str) -> str:
    try:
        return ask(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        return "quit"


def _obey(answer: str, position: Position, show: Callable[[str], None]) -> Position:
    """The position after a command of the player; errors are shown and change nothing."""
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
