"""A review as SGF: the game with comments, better lines as variations, and marks."""

from __future__ import annotations

from tengen.game.color import Color
from tengen.game.geometry import Point, point_text
from tengen.game.sgf.records import SgfGame, SgfNode, letters, read_sgf, save_sgf
from tengen.reviewing.review import GameReview, TurnReview
from tengen.reviewing.wording import (
    line_text,
    points_text,
    remarks,
    side_text,
    standing_text,
    verdict_text,
)

BAD = 5.0  # points lost from which a mistake is SGF's bad move (BM), else doubtful (DO)
WORST = 3  # mistakes of each side that the summary names
_JUDGEMENTS = ("BM", "DO", "IT", "TE")  # of a move; a node may have one
_MARKS = ("CR", "MA", "SQ", "TR")  # a point may have one


def annotated_sgf(game: SgfGame, review: GameReview) -> str:
    """The game as SGF with comments, marks and better lines added; its own are kept.

    Does not change `game`.
    """
    (copy,) = read_sgf(save_sgf(game).decode("utf-8"), game.source)
    nodes = list(copy.root.main_line())
    height = copy.size.height
    for turn in review.turns:
        node = nodes[turn.node]
        _add_comment(node, f"{verdict_text(turn, height)}\nNow {standing_text(turn.after)}.")
        if turn.is_mistake:
            _judge(node, turn)
            if turn.best is not None:
                _mark(node, turn.best)
            if turn.node:
                _add_line(nodes[turn.node - 1], turn, height)
    _add_comment(copy.root, _summary(copy, review))
    return save_sgf(copy).decode("utf-8")


def _add_comment(node: SgfNode, text: str) -> None:
    own = node.text("C").strip()
    node.set_text("C", f"{own}\n\n{text}" if own else text)


def _judge(node: SgfNode, turn: TurnReview) -> None:
    if not any(name in node.properties for name in _JUDGEMENTS):
        name, value = ("BM", "1") if turn.points_lost >= BAD else ("DO", "")
        node.properties[name] = [value]


def _mark(node: SgfNode, point: Point) -> None:
    written = letters(point)
    if not any(written in node.properties.get(name, ()) for name in _MARKS):
        node.properties.setdefault("TR", []).append(written)


def _add_line(parent: SgfNode, turn: TurnReview, height: int) -> None:
    """Add the better line as a variation, along existing nodes where there are some."""
    color, node = turn.color, parent
    for move in turn.line:
        node = _child_by(node, color, move)
        color = color.opponent
    first = _child_by(parent, turn.color, turn.best)
    _add_comment(
        first,
        f"Better by {points_text(turn.points_lost)} than {point_text(turn.move, height)}.\n"
        f"Expected: {line_text(turn.line, height)}\n"
        f"Then {standing_text(turn.better)}.",
    )


def _child_by(node: SgfNode, color: Color, move: Point | None) -> SgfNode:
    """The child by a move, a new one if there is none."""
    played = {color.letter: [letters(move)]}
    for child in node.children:
        if child.properties.get(color.letter) == played[color.letter]:
            return child
    node.children.append(SgfNode(played))
    return node.children[-1]


def _summary(game: SgfGame, review: GameReview) -> str:
    lines = [f"Reviewed by {review.network}, {review.visits} visits for each position."]
    for color in Color:
        played = side_text(review, color)
        if played:
            lines.append(f"{str(color).capitalize()}: {played}.")
        worst = [
            f"move {turn.number} {point_text(turn.move, game.size.height)} "
            f"({points_text(turn.points_lost)})"
            for turn in review.side(color).mistakes[:WORST]
        ]
        if worst:
            lines.append(f"The biggest: {', '.join(worst)}.")
    return "\n".join([*lines, *remarks(review)])
