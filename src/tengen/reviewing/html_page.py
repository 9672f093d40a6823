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
from tengen.browser.script_bundle import bundled_script
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

_STRINGS = "report."  # begins the names of the files of the page's own words
_SHARED = (  # begin those that it shares with the web page
    *(
        "black",
        "white",
        "pass",
        "board.",
        "mark.",
        "walk.",
        "play.komi",
        "play.handicap",
        "mine.moves",
    ),
    *("result.", "rules.", "banner.unfamiliar.", "error.illegal_move", "settings.language"),
)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def languages() -> list[str]:
    """The languages that a page may be in."""
    files = (STATIC / "languages").glob(f"{_STRINGS}*.json")
    return sorted(file.stem.removeprefix(_STRINGS) for file in files)


def check_language(language: str | None) -> None:
    """Raise ValueError for a language that pages are not in; None is that of the browser."""
    if language is not None and language not in languages():
        raise ValueError(f"there is no language {language!r}; there are {', '.join(languages())}")


def html_page(game: SgfGame, review: GameReview, language: str | None = None) -> str:
    """The game and its review as a page: board, graph, mistakes to try, better lines.

    It is in a language, or in that of the browser that opens it; it holds the words of all. The
    board is drawn by the web page's own painter. Text of the record is never markup: a content
    security policy allows only the page's own script and style. Raises ValueError for a language
    that there is not.
    """
    check_language(language)
    style = (STATIC / "css" / "review.css").read_text("utf-8")
    script = bundled_script(STATIC / "js" / "review" / "main.js")
    data = _data(game, review) | {"language": language, "strings": _strings()}
    parts = {
        "language": language or "en",  # until the script knows better
        "title": html.escape(data["title"].encode("utf-8", "replace").decode("utf-8")),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "data": _as_json(data),
    }
    template = REVIEW_TEMPLATE.read_text("utf-8")
    return _PLACEHOLDER.sub(lambda placeholder: parts[placeholder[1]], template)


def _strings() -> dict[str, dict[str, Any]]:
    """The words of the page, by language."""
    return {language: _strings_in(language) for language in languages()}


def _strings_in(language: str) -> dict[str, Any]:
    folder = STATIC / "languages"
    shared, own = (
        json.loads((folder / f"{prefix}{language}.json").read_text("utf-8"))
        for prefix in ("", _STRINGS)
    )
    return {key: text for key, text in shared.items() if key.startswith(_SHARED)} | dict(own)


def _hash(text: str) -> str:
    """The source expression by which a content security policy allows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _as_json(data: Any) -> str:
    """JSON that cannot close the script element it is embedded in, nor open another."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _data(game: SgfGame, review: GameReview) -> dict[str, Any]:
    """What the page shows, as plain values: its words are chosen by its script."""
    turns = main_line(game).turns
    first = turns[0].before
    reviews = {turn.number: turn for turn in review.turns}
    comments = [node.text("C").strip() for node in game.root.main_line()]
    players = {str(color): game.player(color) for color in Color}
    named = " – ".join(players[str(color)] or str(color).capitalize() for color in Color)
    nameless = not any(players.values()) and PurePath(game.source).suffix != ""
    file = PurePath(game.source).name if nameless else ""
    return {
        "title": file or named,  # before the script has the words of the page's language
        "file": file,
        "players": players,
        "about": _about(game, first, review),
        "left": _left_out(review, len(turns)),
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


def _about(game: SgfGame, first: Position, review: GameReview) -> dict[str, Any]:
    """The terms of the game, and who reviewed it."""
    told = {
        name: game.root.text(tag).replace("\n", " ").strip()
        for name, tag in (("result", "RE"), ("date", "DT"), ("event", "EV"))
    }
    return told | {
        "rules": str(first.rules),
        "komi": first.komi,
        "handicap": first.handicap,
        "network": review.network,
        "visits": review.visits,
    }


def _left_out(review: GameReview, turns: int) -> dict[str, Any]:
    """Remarks on moves that were not reviewed, and on a network not trained for the game."""
    unfamiliar = review.unfamiliar
    return {
        "broken": {"number": turns + 1, "illegal": review.illegal} if review.broken_off else None,
        "missing": review.missing,
        "unchecked": review.unchecked,
        "unfamiliar": None
        if unfamiliar is None
        else {
            "network": unfamiliar.network,
            "board": None if unfamiliar.board is None else str(unfamiliar.board),
            "rules": None if unfamiliar.rules is None else str(unfamiliar.rules),
        },
    }


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
        "then": review.better.rounded(),
        "line": _line(turn.before, review) if review.is_mistake else [],
        "tries": _tries(review, turn.after) if review.is_mistake else [],
    }


def _line(before: Position, review: TurnReview) -> list[dict[str, Any]]:
    """The better line, move by move."""
    moves = []
    for move in review.line:
        after = before.play(move)
        moves.append(_played(before.to_play, move, before, after))
        before = after
    return moves


def _tries(review: TurnReview, board: Position) -> list[dict[str, Any]]:
    """What the moves lose that the search of the position looked at."""
    return [
        {
            "move": point_text(each.move, board.height),
            "place": _place(each.move, board.width),
            "lost": round(each.points_lost, 2),
        }
        for each in review.candidates
    ]


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
