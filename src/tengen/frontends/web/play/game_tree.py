"""A game as a tree of numbered nodes over its SGF, with the position at each node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.position import Move, Position
from tengen.game.sgf.records import (
    CAPTURED,
    SgfError,
    SgfGame,
    SgfNode,
    letters,
    read_sgf,
    save_sgf,
)

MARKS = {"triangle": "TR", "square": "SQ", "circle": "CR", "cross": "MA"}
Stone: TypeAlias = Literal["black", "white", "empty"]
_POSITIONS_KEPT = 1_000
_SET_UP = ("AB", "AW", "AE", "PL", CAPTURED)


@dataclass(eq=False)
class TreeNode:
    """A node; its id is never reused within the tree."""

    id: int
    parent: TreeNode | None
    sgf: SgfNode
    depth: int  # number of nodes before it
    children: list[TreeNode] = field(default_factory=list)  # as in the SGF, the main one first

    def line(self) -> list[TreeNode]:
        """The nodes from the root to this one."""
        nodes = [self]
        while (parent := nodes[-1].parent) is not None:
            nodes.append(parent)
        return nodes[::-1]

    def last(self) -> TreeNode:
        """The end of the main line from here."""
        node = self
        while node.children:
            node = node.children[0]
        return node

    def subtree(self) -> Iterator[TreeNode]:
        """This node and all below, parents first."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))


@dataclass(frozen=True)
class MarkOnPoint:
    """A mark on a point of the board."""

    point: Point
    kind: str
    label: str | None = None


class LineOnBoard(NamedTuple):
    """An arrow or a line from point to point."""

    start: Point
    end: Point
    arrow: bool


def _single_points(tree: GameTree, name: str, properties: dict[str, list[str]]) -> list[str]:
    """The points of a property one by one, where they may be written as rectangles."""
    points = tree.game.points(SgfNode({name: properties.get(name, [])}), name)
    return [letters(point) for point in points]


class GameTree:
    """One game with its variations. Not thread-safe."""

    def __init__(self, game: SgfGame) -> None:
        """Raises RefusedError for a game that is too large, SgfError for a bad record."""
        self.game = game
        self._next_id = 0
        self._bytes = 0  # of all properties, about
        self.nodes: dict[int, TreeNode] = {}
        self._positions: dict[int, Position] = {}  # cache
        self.root = self._new_node(None, game.root)
        todo = [(self.root, sgf) for sgf in reversed(game.root.children)]
        while todo:
            parent, sgf = todo.pop()
            node = self._new_node(parent, sgf)
            parent.children.append(node)
            todo.extend((node, child) for child in reversed(sgf.children))
        self.start = game.start()

    def _new_node(self, parent: TreeNode | None, sgf: SgfNode) -> TreeNode:
        depth = 0 if parent is None else parent.depth + 1
        if len(self.nodes) >= limits.NODES or depth >= limits.LINE:
            most = f"{limits.NODES} nodes, {limits.LINE} in a line"
            raise RefusedError("too_large", f"a game has at most {most}")
        node = TreeNode(self._next_id, parent, sgf, depth)
        self._bytes += _size(sgf)
        self.nodes[node.id] = node
        self._next_id += 1
        return node

    def node(self, number: int) -> TreeNode:
        """The node with this number; raises RefusedError."""
        if number not in self.nodes:
            raise RefusedError("unknown_node", f"there is no node {number}", node=number)
        return self.nodes[number]

    # Positions

    def position(self, node: TreeNode) -> Position:
        """The position at a node; raises SgfError for an impossible move or stone."""
        if (already := self._positions.get(node.id)) is not None:
            return already
        line = node.line()
        known = len(line)
        while known and line[known - 1].id not in self._positions:
            known -= 1
        position = self._positions[line[known - 1].id] if known else self.start
        for each in line[known:]:
            self._positions[each.id] = position = self.game.after(position, each.sgf)
        if len(self._positions) > _POSITIONS_KEPT + len(line):
            self._positions = {each.id: self._positions[each.id] for each in line}
        return position

    def along(self, node: TreeNode) -> list[tuple[TreeNode, Position]]:
        """The nodes of the line to a node, each with its position; raises SgfError."""
        self.position(node)
        return [(each, self._positions[each.id]) for each in node.line()]

    def check(self) -> None:
        """Check that every position is possible; raises SgfError."""
        todo = [(self.root, self.start)]  # nodes with the position before them
        while todo:
            node, before = todo.pop()
            position = self.game.after(before, node.sgf)
            todo.extend((child, position) for child in reversed(node.children))

    def move(self, node: TreeNode) -> Move | None:
        """The move of a node, None if it has none; raises SgfError."""
        return self.game.move(node.sgf)

    def move_number(self, node: TreeNode) -> int:
        """The number of moves up to a node, its own included."""
        return sum("B" in each.sgf.properties or "W" in each.sgf.properties for each in node.line())

    # Changes

    def add(self, parent: TreeNode, move: str, *, main: bool = False) -> tuple[TreeNode, bool]:
        """The node after a legal move, and whether it is new; raises RefusedError.

        With `main` it becomes the first of its siblings.
        """
        position = self.position(parent)
        try:
            after = position.play(move)
        except IllegalMoveError as error:
            raise illegal_move(error) from None
        played = after.last_move
        assert played is not None
        child = next((each for each in parent.children if self._is(each, played)), None)
        new = child is None
        if child is None:
            child = self._new_node(parent, SgfNode({played.color.letter: [letters(played.point)]}))
            parent.children.append(child)
        if main:
            parent.children.remove(child)
            parent.children.insert(0, child)
        parent.sgf.children = [each.sgf for each in parent.children]
        return child, new

    def _is(self, node: TreeNode, move: Move) -> bool:
        """Does the node hold this move and no setup stones?"""
        return not is_set_up(node) and self.move(node) == move

    def remove(self, node: TreeNode) -> None:
        """Remove a node and all below it; raises RefusedError for the root."""
        if node.parent is None:
            raise RefusedError("unknown_node", "the root cannot be removed", node=node.id)
        for each in node.subtree():
            self._bytes -= _size(each.sgf)
            del self.nodes[each.id]
            self._positions.pop(each.id, None)
        node.parent.children.remove(node)
        node.parent.sgf.children = [each.sgf for each in node.parent.children]

    def promote(self, node: TreeNode) -> None:
        """Make the line to a node the first of its siblings all the way up."""
        for before, after in pairwise(node.line()):
            before.children.remove(after)
            before.children.insert(0, after)
            before.sgf.children = [each.sgf for each in before.children]

    def set_up(self, node: TreeNode, point: str, stone: Stone) -> tuple[TreeNode, bool]:
        """Put a stone on a point, or take it away; the node that says so, and whether it is new.

        Raises RefusedError. Nodes with a move or with a game after them stay as they are: the
        change is a variation of its own.
        """
        place = letters(named_point(self.position(node), point))
        names = {"black": "AB", "white": "AW", "empty": "AE"}

        def change(properties: dict[str, list[str]]) -> None:
            for name in names.values():
                left = [value for value in _single_points(self, name, properties) if value != place]
                properties.pop(name, None)
                if left:
                    properties[name] = left
            properties.setdefault(names[stone], [])
            properties[names[stone]] = [*properties[names[stone]], place]

        return self._edited(node, change)

    def set_turn(self, node: TreeNode, color: Color) -> tuple[TreeNode, bool]:
        """Say who moves next; the node that says so, and whether it is new. Raises RefusedError."""
        return self._edited(node, lambda properties: properties.update(PL=[color.letter]))

    def set_captured(self, node: TreeNode, black: int, white: int) -> tuple[TreeNode, bool]:
        """Say how many stones of each side were captured so far; see `set_turn`."""
        return self._edited(node, lambda each: each.update({CAPTURED: [f"{black}:{white}"]}))

    def _edited(
        self, node: TreeNode, change: Callable[[dict[str, list[str]]], None]
    ) -> tuple[TreeNode, bool]:
        new = bool(node.children) or self.move(node) is not None
        target = node
        if new:
            target = self._new_node(node, SgfNode())
            node.children.append(target)
            node.sgf.children = [each.sgf for each in node.children]
        before = dict(target.sgf.properties)
        properties = dict(before)
        change(properties)
        target.sgf.properties = properties
        self._positions.pop(target.id, None)
        try:
            self.position(target)
            self._note_change(target, before)
        except (SgfError, RefusedError) as error:
            target.sgf.properties = before
            self._positions.pop(target.id, None)
            if new:
                self.remove(target)
            if isinstance(error, RefusedError):
                raise
            raise RefusedError("bad_point", str(error), reason="no_liberty") from None
        return target, new

    def line_alone(self, node: TreeNode) -> SgfGame:
        """The game up to a node, without variations, comments, marks and result."""
        kept = {*_SET_UP, "B", "W", "KO"}
        root: SgfNode | None = None
        last = SgfNode()
        for each in node.line():
            properties = each.sgf.properties
            if root is None:
                dropped = {"RE", "C", "LB", "AR", "LN", *MARKS.values()}
                last = root = SgfNode({k: v for k, v in properties.items() if k not in dropped})
            else:
                last.children = [SgfNode({k: v for k, v in properties.items() if k in kept})]
                last = last.children[0]
        assert root is not None
        return SgfGame(root)

    def set_comment(self, number: int, text: str) -> TreeNode:
        """Set the comment of a node; an empty one removes it. Raises RefusedError."""
        node = self.node(number)
        before = dict(node.sgf.properties)
        if text:
            node.sgf.set_text("C", text)
        else:
            node.sgf.properties.pop("C", None)
        self._note_change(node, before)
        return node

    def _note_change(self, node: TreeNode, before: dict[str, list[str]]) -> None:
        """Count the bytes of a change; takes it back and raises RefusedError if they are many."""
        bytes_ = self._bytes + _size(node.sgf) - _size(SgfNode(before))
        if bytes_ > max(self._bytes, limits.GAME_BYTES):
            node.sgf.properties = before
            most = limits.GAME_BYTES // 1000
            raise RefusedError("game_full", f"the text of a game has at most {most} kB")
        self._bytes = bytes_

    def set_mark(self, number: int, point: str, kind: str | None, label: str | None) -> TreeNode:
        """Replace the mark on a point of a node; None removes it. Raises RefusedError."""
        node = self.node(number)
        chosen = named_point(self.position(node), point)
        marks = [each for each in self.marks(node) if each.point != chosen]
        if kind is not None:
            marks.append(MarkOnPoint(chosen, kind, label))
        before = dict(node.sgf.properties)
        properties = node.sgf.properties
        for name in (*MARKS.values(), "LB"):
            properties.pop(name, None)
        for mark in marks:
            if mark.kind == "label":
                text = (mark.label or "?").replace("\\", "\\\\").replace("]", "\\]")
                text = text.replace(":", "\\:")
                properties.setdefault("LB", []).append(f"{letters(mark.point)}:{text}")
            else:
                properties.setdefault(MARKS[mark.kind], []).append(letters(mark.point))
        self._note_change(node, before)
        return node

    # Annotations

    def lines(self, node: TreeNode) -> list[LineOnBoard]:
        """The arrows and lines of a node; unreadable ones are skipped."""
        found = {}
        for name, arrow in (("AR", True), ("LN", False)):
            for value in node.sgf.properties.get(name, ()):
                ends = value.split(":")
                at = SgfNode({"AR": [ends[0]], "LN": [ends[-1]]})
                try:
                    [start], [end] = self.game.points(at, "AR"), self.game.points(at, "LN")
                except ValueError:
                    continue
                found[start, end] = LineOnBoard(start, end, arrow)
        return list(found.values())[: limits.LINES]

    def marks(self, node: TreeNode) -> list[MarkOnPoint]:
        """The marks of a node; unreadable ones are skipped."""
        found = []
        for kind, name in MARKS.items():
            try:
                points = self.game.points(node.sgf, name)
            except SgfError:
                continue
            found += [MarkOnPoint(point, kind) for point in points]
        labels = {
            place: label for place, _, label in map(_parted, node.sgf.properties.get("LB", ()))
        }
        for place, label in labels.items():
            at = SgfNode({"LB": [place], "label": [label]})
            try:
                points = self.game.points(at, "LB")
            except SgfError:
                continue
            text = at.text("label")[: limits.LABEL_LENGTH]
            found += [MarkOnPoint(point, "label", text) for point in points]
        return found

    def sgf(self) -> bytes:
        """The whole game as a file."""
        return save_sgf(self.game)


def _parted(label: str) -> tuple[str, str, str]:
    return label.partition(":")


def _size(sgf: SgfNode) -> int:
    """About how many bytes a node takes."""
    values = sgf.properties.values()
    return 1 + sum(sum(map(len, each)) + 2 * len(each) for each in values)


def is_set_up(node: TreeNode) -> bool:
    """Does the node set up stones?"""
    return any(name in node.sgf.properties for name in _SET_UP)


def named_point(position: Position, text: str) -> Point:
    """The point of a board that a client names; raises RefusedError."""
    try:
        return position.point(text)
    except ValueError as error:
        raise RefusedError("bad_point", str(error), point=text) from None


def illegal_move(error: IllegalMoveError) -> RefusedError:
    """The refusal of a move."""
    why = f"{error.move}: {error.why}"
    return RefusedError("illegal_move", why, reason=error.reason, move=error.move)


class ListedGame(NamedTuple):
    """One of the games of a file, to choose from."""

    black: str
    white: str
    event: str
    date: str
    result: str
    moves: int


def opened_tree(data: bytes | str, number: int | None = None) -> GameTree | list[ListedGame]:
    """A game of an SGF file, checked in full; raises RefusedError.

    If a file has several games and no number is given, a list of them.
    """
    if (
        len(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
        > limits.UPLOAD_BYTES
    ):
        most = limits.UPLOAD_BYTES // 1000
        raise RefusedError("too_large", f"a file has at most {most} kB", bytes=limits.UPLOAD_BYTES)
    try:
        games = read_sgf(data)
    except SgfError as error:
        why = f"this is no game record: {error}"
        reason = "not_sgf" if "no game found" in error.reason else None
        raise RefusedError("bad_sgf", why, reason=reason, place=error.offset) from None
    if number is None and len(games) > 1:
        return [_listed(game) for game in games[: limits.FILE_GAMES]]
    try:
        if not (number or 0) < len(games):
            raise RefusedError("bad_sgf", f"the file has {len(games)} games", place=0)
        game = games[number or 0]
        if min(game.size) < 2 or game.size.width != game.size.height:
            what = f"only square boards can be shown, not {game.size}"
            raise RefusedError("bad_sgf", what, reason="not_square")
        tree = GameTree(game)
        tree.check()
    except SgfError as error:
        what = f"this is no game record: {error}"
        raise RefusedError("bad_sgf", what, place=error.offset) from None
    return tree


def _listed(game: SgfGame) -> ListedGame:
    root = game.root
    moves = sum("B" in each.properties or "W" in each.properties for each in root.main_line())
    event, date, result = (root.text(name)[:200] for name in ("EV", "DT", "RE"))
    black, white = (game.player(color)[:200] for color in (Color.BLACK, Color.WHITE))
    return ListedGame(black, white, event, date, result, moves)
