"""What pages are told of a table, as JSON."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.frontends.web.http import limits
from tengen.frontends.web.play.game_tree import GameTree, TreeNode, is_set_up
from tengen.frontends.web.play.table import Table
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.scoring import Tally

Json: TypeAlias = dict[str, Any]
_SIGNS = np.array([".", "X", "O"])


def board_text(colors: NDArray[np.int8]) -> str:
    """A board as one line of signs, row by row from the top."""
    return "".join(_SIGNS[colors.ravel()])


def game_view(table: Table) -> Json:
    """The whole game."""
    tree = table.tree
    position = tree.position(tree.root)
    marks_left = limits.MARKS
    nodes = []
    for node in tree.root.subtree():
        view = node_view(tree, node, with_marks=marks_left > 0)
        marks_left -= len(view.get("marks", ()))
        nodes.append(view)
    return {
        "type": "game",
        "mode": table.mode,
        "size": position.width,
        "rules": str(position.rules),
        "komi": position.komi,
        "handicap": position.handicap,
        "players": {str(color): tree.game.player(color) for color in Color},
        "you": table.you,
        "level": table.level,
        "nodes": nodes,
        "at": table.at.id,
    }


def node_view(tree: GameTree, node: TreeNode, *, with_marks: bool = True) -> Json:
    """One node."""
    move = tree.move(node)
    view: Json = {
        "id": node.id,
        "parent": None if node.parent is None else node.parent.id,
        "move": None if move is None else move_text(move.point, tree.start),
        "colour": None if move is None else str(move.color),
    }
    if comment := node.sgf.text("C"):
        view["comment"] = comment
    if with_marks and (marks := tree.marks(node)):
        view["marks"] = [
            {
                "point": move_text(mark.point, tree.start),
                "kind": mark.kind,
                **({} if mark.label is None else {"label": mark.label}),
            }
            for mark in marks
        ]
    if is_set_up(node):
        view["setup"] = True
    return view


def move_text(point: Point | None, position: Position) -> str:
    """A move as text."""
    return position.text(point)


def position_view(table: Table, *, ready: bool) -> Json:
    """Where one is, and what one may do there."""
    position, phase = table.position, table.phase
    move = table.tree.move(table.at)
    ko = position.ko
    yours = table.yours_to_move
    result = table.result
    if phase == "free":
        result = table.tree.root.sgf.text("RE") or None
    return {
        "type": "position",
        "node": table.at.id,
        "stones": board_text(position.stones),
        "to_play": str(position.to_play),
        "last": None if move is None else position.text(move.point),
        "ko": None if ko is None else position.text(ko),
        "captures": {str(color): position.captured(color.opponent) for color in Color},
        "move_number": table.tree.move_number(table.at),
        "phase": phase,
        "result": result,
        "can": {
            "play": yours,
            "pass": yours,
            "undo": table.can_undo,
            "resign": phase == "playing",
            "hint": yours and ready,
        },
        "clock": None if table.clock is None else table.clock.view(),
        "thinking": table.bot_to_move or (phase == "counting" and table.dead_unknown),
    }


def count_view(table: Table) -> Json:
    """The count, area by area."""
    position = table.position
    score = position.score(table.dead)
    result = table.result or str(score.outcome(Reason.SCORE))
    return {
        "type": "count",
        "dead": sorted(position.text(point) for point in table.dead),
        "owner": board_text(score.owner),
        "black": _tally(score.black),
        "white": _tally(score.white),
        "result": result,
    }


def _tally(tally: Tally) -> Json:
    return {
        "stones": tally.stones,
        "area": tally.territory,
        "prisoners": tally.prisoners,
        "tax": tally.tax,
        "komi": tally.compensation,
        "total": tally.total,
    }
