"""A table as its file holds it, and back: a game record that says a little more than others do."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from tengen.engine.levels import level_named
from tengen.frontends.web.play.clocks import GameClock
from tengen.frontends.web.play.game_tree import GameTree, TreeNode
from tengen.frontends.web.play.table import Table
from tengen.game.sgf.records import SgfGame, SgfNode, read_sgf, save_sgf

PROPERTY = "TENGEN"  # of the record's root; other programs skip what they do not know
FORM = 1  # of what it holds


def saved_table(table: Table) -> bytes:
    """All that is needed to go on with a table."""
    position = table.position
    state = {
        "form": FORM,
        "mode": table.mode,
        "you": table.you,
        "level": table.level,
        "at": _path(table.at),
        "end": _path(table.end),
        "counting": table.counting,
        "dead_unknown": table.dead_unknown,
        "dead": sorted(position.text(point) for point in table.dead),
        "result": table.result,
        "clock": None if table.clock is None else table.clock.saved(),
    }
    game = table.tree.game
    root = SgfNode(dict(game.root.properties), game.root.children)
    root.set_text(PROPERTY, json.dumps(state))
    return save_sgf(SgfGame(root))


def restored_table(saved: bytes) -> Table | None:
    """A table that was saved, None if the file makes no sense any more."""
    try:
        game = read_sgf(saved)[0]
        state = json.loads(game.root.text(PROPERTY))
        del game.root.properties[PROPERTY]
        return _restored(GameTree(game), state)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None


def _restored(tree: GameTree, state: dict[str, Any]) -> Table | None:
    if state["form"] != FORM:
        return None
    you, level, clock = state["you"], state["level"], state["clock"]
    if you not in (None, "black", "white", "both"):
        return None
    if level is not None:
        level_named(level)
    table = Table(tree, you, level, None if clock is None else GameClock.restored(clock))
    table.mode = "play" if you and state["mode"] == "play" else "analyse"
    if you:
        table.end = _at(tree, state["end"])
    table.at = table.end if table.mode == "play" else _at(tree, state["at"])
    position = tree.position(table.end)
    table.result = None if state["result"] is None else str(state["result"])
    table.counting = table.result is None and bool(you) and position.is_over
    if position.is_over:
        chains = [position.chain(str(point)) for point in state["dead"]]
        table.dead_unknown = table.counting and bool(state["dead_unknown"])
        table.dead = frozenset(point for chain in chains for point in chain)
    tree.position(table.at)
    return table


def _path(node: TreeNode) -> list[int]:
    """Which child to take at each node from the root."""
    line = node.line()
    return [before.children.index(after) for before, after in pairwise(line)]


def _at(tree: GameTree, path: list[int]) -> TreeNode:
    """The node at the end of a path, or as far as it can be followed."""
    node = tree.root
    for index in path:
        if not 0 <= index < len(node.children):
            break
        node = node.children[index]
    return node
