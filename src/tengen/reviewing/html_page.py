"""A review as one HTML file that needs nothing but a browser."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import PurePath
from typing import Any

import numpy as np

from tengen.browser import REVIEW_TEMPLATE, STATIC
from tengen.browser.inline_modules import inline_modules
from tengen.game.color import Color
from tengen.game.geometry import Point, point_text
from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame
from tengen.reviewing.review import (
    MISTAKE,
    GameReview,
    SideReview,
    Turn,
    TurnReview,
    main_line,
)
from tengen.reviewing.wording import remarks, standing_text, verdict_text

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def html_page(game: SgfGame, review: GameReview) -> str:
    """The game and its review as a page: board, graph, mistakes, better lines.

    The board is drawn by the web page's own painter. Text of the record is never markup: a content
    security policy allows only the page's own script and style.
    """
    style = (STATIC / "css" / "review.css").read_text("utf-8")
    script = inline_modules(STATIC / "js" / "review" / "main.js")
    data = _data(game, review)
    parts = {
        "title": html.escape(data["title"].encode("utf-8", "replace").decode("utf-8")),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": _as_json(data),
    }
    template = REVIEW_TEMPLATE.read_text("utf-8")
    return _PLACEHOLDER.sub(lambda placeholder: parts[placeholder[1]], template)


def _hash(text: str) -> str:
    """The source expression by which a content security policy allows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _as_json(data: Any) -> str:
    """JSON that cannot close the script element it is embedded in, nor open another."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _data(game: SgfGame, review: GameReview) -> dict[str, Any]:
    turns = main_line(game).turns
    first = turns[0].before
    reviews = {turn.number: turn for turn in review.turns}
    comments = [node.text("C").strip() for node in game.root.main_line()]
    players = {str(color): game.player(color) for color in Color}
    named = " – ".join(players[str(color)] or str(color).capitalize() for color in Color)
    return {
        "title": named if any(players.values()) else PurePath(game.source).name,
        "players": players,
        "facts": _facts(game, first, review),
        "remarks": remarks(review),
        "mistake": MISTAKE,
        "width": first.width,
        "height": first.height,
        "start": _start(first, reviews.get(1)),
        "comment": comments[0] if turns[0].node else "",
        "steps": [
            _step(turns[i - 1].after if i else first, turn, reviews.get(turn.number), comments)
            for i, turn in enumerate(turns)
        ],
        "sides": {str(color): _side(review.side(color)) for color in Color},
    }


def _facts(game: SgfGame, first: Position, review: GameReview) -> list[str]:
    width, height = first.size
    facts = [f"{width}×{height}", f"{first.rules} rules", f"komi {first.komi:g}"]
    if first.handicap:
        facts.append(f"{first.handicap} handicap stones")
    for name in ("RE", "DT", "EV"):
        text = game.root.text(name).replace("\n", " ").strip()
        if text:
            facts.append(text)
    return [*facts, f"reviewed by {review.network}, {review.visits} visits a position"]


def _start(first: Position, review: TurnReview | None) -> dict[str, Any]:
    empty = np.zeros_like(first.stones)
    return {
        "changes": _changes(empty, first),
        "taken": _taken(first),
        **(review.before.rounded() if review else {}),
    }


def _step(
    earlier: Position, turn: Turn, review: TurnReview | None, comments: list[str]
) -> dict[str, Any]:
    """A move: how it changes the board, and its review."""
    height = turn.after.height
    step = _played(turn.color, turn.move, earlier, turn.after) | {
        "number": turn.number,
        "taken": _taken(turn.after),
        "comment": comments[turn.node],
    }
    if review is None:
        return step
    return step | {
        **review.after.rounded(),
        "lost": round(review.points_lost, 2),
        "winrateLost": round(review.winrate_lost, 4),
        "best": point_text(review.best, height),
        "bestPlace": _place(review.best, turn.after.width),
        "verdict": verdict_text(review, height),
        "now": _sentence(standing_text(review.after)),
        "then": _sentence(standing_text(review.better)),
        "line": _line(turn.before, review) if review.is_mistake else [],
    }


def _line(before: Position, review: TurnReview) -> list[dict[str, Any]]:
    """The better line, move by move."""
    moves = []
    for move in review.line:
        after = before.play(move)
        moves.append(_played(before.to_play, move, before, after))
        before = after
    return moves


def _played(color: Color, move: Point | None, before: Position, after: Position) -> dict[str, Any]:
    return {
        "color": str(color),
        "move": point_text(move, after.height),
        "place": _place(move, after.width),
        "changes": _changes(before.stones, after),
    }


def _side(side: SideReview) -> dict[str, Any]:
    return {
        "moves": side.moves,
        "accuracy": None if side.accuracy is None else round(side.accuracy, 1),
        "meanLoss": round(side.mean_loss, 2),
        "mistakes": [turn.number for turn in side.mistakes],
    }


def _place(move: tuple[int, int] | None, width: int) -> int | None:
    """The index of a point, row by row from the top; None for a pass."""
    return None if move is None else move[1] * width + move[0]


def _changes(earlier: Any, later: Position) -> list[list[int]]:
    """[index, stone] for each point that changed; stones: 0 none, 1 black, 2 white."""
    stones = later.stones.ravel()
    places = np.flatnonzero(earlier.ravel() != stones)
    return [[int(place), int(stones[place])] for place in places]


def _taken(position: Position) -> list[int]:
    """The numbers of stones captured by Black and by White."""
    return [position.captured(color.opponent) for color in Color]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
