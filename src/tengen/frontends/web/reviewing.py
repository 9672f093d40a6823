"""Reviews of games: what each move lost against the best that the search found."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.sgf import SgfGame, save_sgf
from tengen.network.evaluator import Evaluator
from tengen.search.params import Limits, SearchParams
from tengen.search.search import Search

MISTAKE = 1.0


class Standing(NamedTuple):
    """How a game stands for Black."""

    winrate: float
    lead: float


class TurnReview(NamedTuple):
    """What is thought of one move; None stands for a pass."""

    number: int  # of the move, from 1
    node: int  # place of its node in the main line; the root is 0
    color: Color
    move: Point | None
    best: Point | None
    points_lost: float
    winrate_lost: float
    line: tuple[Point | None, ...]


class SideReview(NamedTuple):
    """How one side played."""

    accuracy: float | None
    mistakes: tuple[TurnReview, ...]  # the worst first


@dataclass(frozen=True)
class GameReview:
    """What is thought of the moves of a game."""

    turns: tuple[TurnReview, ...]
    black: SideReview
    white: SideReview


class Searched(NamedTuple):
    """A position of the review has been searched."""

    done: int
    total: int
    node: int | None
    standing: Standing


def review_game(
    evaluator: Evaluator,
    game: SgfGame,
    visits: int,
    on_turn: Callable[[Searched], None],
    stopped: Callable[[], bool],
) -> GameReview:
    """Search every position of the main line and compare each move with the best one there."""
    search = Search(evaluator, SearchParams(megabytes=32), ownership=False)
    nodes = list(game.root.main_line())
    positions = list(game.positions(nodes))
    standings, bests = {}, {}
    for i, position in enumerate(positions):
        if stopped():
            break
        if position.is_over:
            position = position.set_up(to_play=position.to_play, handicap=position.handicap)
        search.set_position(position)
        found = search.run(Limits(visits=visits))
        black = position.to_play is Color.BLACK
        standings[i] = (
            Standing(found.winrate, found.lead)
            if black
            else Standing(1 - found.winrate, -found.lead)
        )
        bests[i] = found.pv or (found.move,)
        on_turn(Searched(i + 1, len(positions), i, standings[i]))
    turns = []
    number = 0
    for i, node in enumerate(nodes):
        move = game.move(node)
        if move is None:
            continue
        number += 1
        if i not in standings:
            break
        sign = 1 if move.color is Color.BLACK else -1
        before, after, best = standings[i - 1], standings[i], bests[i - 1]
        same = best[0] == move.point
        lost = 0.0 if same else max(0.0, sign * (before.lead - after.lead))
        winrate = 0.0 if same else max(0.0, sign * (before.winrate - after.winrate))
        turns.append(TurnReview(number, i, move.color, move.point, best[0], lost, winrate, best))
    return GameReview(tuple(turns), _side(turns, Color.BLACK), _side(turns, Color.WHITE))


def _side(turns: Iterable[TurnReview], color: Color) -> SideReview:
    own = [turn for turn in turns if turn.color is color]
    mistakes = [turn for turn in own if turn.points_lost >= MISTAKE]
    accuracy = 100 * (1 - len(mistakes) / len(own)) if own else None
    return SideReview(accuracy, tuple(sorted(mistakes, key=lambda turn: -turn.points_lost)))


def annotated(game: SgfGame, review: GameReview) -> str:
    """The game with what was found written beside the moves."""
    nodes = list(game.root.main_line())
    for turn in review.turns:
        node = nodes[turn.node]
        words = f"{turn.points_lost:.1f} points lost"
        node.set_text("C", "\n".join(filter(None, [node.text("C"), words])))
    return save_sgf(game).decode()


def html_page(game: SgfGame, review: GameReview) -> str:
    """The review as one page."""
    names = " – ".join(html.escape(game.player(color)) for color in Color)
    rows = "".join(
        f"<li>{turn.number}: {turn.points_lost:.1f}</li>"
        for side in (review.black, review.white)
        for turn in side.mistakes
    )
    return f"<!DOCTYPE html><meta charset=utf-8><title>{names}</title><ul>{rows}</ul>"
