"""Games as files: SGF with the state of the game in a property of the root, read back in full."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from tengen.frontends.web.play.game_clock import GameClock
from tengen.frontends.web.play.game_state import GameState, opponent_named
from tengen.frontends.web.play.game_tree import GameTree, TreeNode
from tengen.game.color import Color
from tengen.game.diagram import stones_text
from tengen.game.sgf.records import SgfGame, SgfNode, read_sgf, save_sgf

PROPERTY = "TENGEN"  # of the root of a saved game; other programs ignore it
FORMAT = 1  # of what it holds
# What reading a file raises that is damaged, or written by somebody else.
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Snapshot(NamedTuple):
    """A game as it was."""

    as_sgf: Callable[[], bytes]  # may be called in another thread
    nodes: int


def saved_game(game: GameState) -> bytes:
    """A game as SGF, with its state in a property of the root."""
    return snapshot(game).as_sgf()


def snapshot(game: GameState) -> Snapshot:
    """The game as it is now, to be written.

    Values of properties are never changed in place, so that copies of the nodes suffice.
    """
    position = game.tree.position(game.end)
    state = {
        "form": FORMAT,
        "mode": game.mode,
        "you": game.you,
        "level": game.level,
        "network": game.network,
        "even": game.even,
        "teach": game.teach,
        "at": _path(game.at),
        "end": _path(game.end),
        "counting": game.counting,
        "dead_unknown": game.dead_unknown,
        "dead": sorted(position.text(point) for point in game.dead),
        "result": game.result,
        "clock": None if game.clock is None else game.clock.saved(),
        "name": game.name,
        "keep": game.worth_keeping,
        "moves": game.tree.move_number(_last(game)),
        "stones": stones_text(game.tree.position(_last(game)).stones),
    }
    copies = {node.id: SgfNode(dict(node.sgf.properties)) for node in game.tree.nodes.values()}
    for node in game.tree.nodes.values():
        copies[node.id].children = [copies[child.id] for child in node.children]
    root = copies[game.tree.root.id]

    def as_sgf() -> bytes:
        root.set_text(PROPERTY, json.dumps(state))
        return save_sgf(SgfGame(root))

    return Snapshot(as_sgf, len(copies))


def _last(game: GameState) -> TreeNode:
    """The node that the picture of a game shows: the end of what is played, or of the record."""
    return game.end if game.you else game.tree.root.last()


def restored_game(saved: bytes) -> GameState | None:
    """A saved game; None if the file cannot be understood."""
    try:
        record = read_sgf(saved)[0]
        state = json.loads(record.root.text(PROPERTY))
        del record.root.properties[PROPERTY]
        return _restored(GameTree(record), state)
    except UNREADABLE:
        return None


def _restored(tree: GameTree, state: dict[str, Any]) -> GameState | None:
    if state["form"] != FORMAT:
        return None
    you, level, clock = state["you"], state["level"], state["clock"]
    if you not in (None, "black", "white", "both", "neither"):
        return None
    if level is not None:
        opponent_named(level)
    game = GameState(tree, you, level, None if clock is None else GameClock.restored(clock))
    game.mode = "play" if you and state["mode"] == "play" else "analyse"
    game.network, game.even = state.get("network"), bool(state.get("even"))
    game.teach = None if state.get("teach") is None else float(state["teach"])
    game.name, game.changed = str(state.get("name") or ""), bool(state.get("keep"))
    if you:
        game.end = _at(tree, state["end"])
    game.at = game.end if game.mode == "play" else _at(tree, state["at"])
    position = tree.position(game.end)
    game.result = None if state["result"] is None else str(state["result"])
    game.counting = game.result is None and bool(you) and position.is_over
    if position.is_over:
        chains = [position.chain(str(point)) for point in state["dead"]]
        game.dead_unknown = game.counting and bool(state["dead_unknown"])
        game.dead = frozenset(point for chain in chains for point in chain)
    tree.position(game.at)
    return game


def _path(node: TreeNode) -> list[int]:
    """The index of the child at each node from the root."""
    return [before.children.index(after) for before, after in pairwise(node.line())]


def _at(tree: GameTree, path: list[int]) -> TreeNode:
    """The node at the end of a path, or as far as it can be followed."""
    node = tree.root
    for index in path:
        if not 0 <= index < len(node.children):
            break
        node = node.children[index]
    return node


@dataclass(frozen=True)
class GameCard:
    """What a list of games says of one."""

    name: str
    black: str
    white: str
    you: str | None
    level: str | None
    size: int
    moves: int
    stones: str
    result: str | None
    under_way: bool
    keep: bool


NO_CARD = GameCard("", "", "", None, None, 0, 0, "", None, under_way=False, keep=False)


def card_of(saved: bytes) -> GameCard:
    """The card of a saved game; NO_CARD if the file cannot be understood."""
    try:
        record = read_sgf(saved)[0]
        state = json.loads(record.root.text(PROPERTY))
        result = state["result"] or record.root.text("RE") or None
        you = state["you"]
        return GameCard(
            str(state.get("name") or ""),
            record.player(Color.BLACK),
            record.player(Color.WHITE),
            you,
            state["level"],
            record.size.width,
            int(state.get("moves", 0)),
            str(state.get("stones", "")),
            result,
            under_way=bool(you) and state["result"] is None,
            keep=bool(state.get("keep")),
        )
    except UNREADABLE:
        return NO_CARD
