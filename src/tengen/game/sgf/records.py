"""Game records: the games in SGF files, read with tolerance and written cleanly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tengen.bounded_files import RECORD_BYTES, read_bounded
from tengen.game.color import BLACK, EMPTY, WHITE, Color, parse_color
from tengen.game.geometry import MAX_SIDE, Point, Size, parse_point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.outcome import Outcome, Reason, parse_outcome
from tengen.game.position import Move, Position
from tengen.game.rules import Rules, RulesError, check_komi, parse_rules
from tengen.game.sgf.syntax import SgfError, SgfNode, read_trees, write_tree
from tengen.user_messages import failure_text

__all__ = ["SgfError", "SgfGame", "SgfNode", "load_sgf", "read_sgf", "record", "save_sgf"]

LONGEST_LINE = 20_000  # nodes from the root: each position takes 6 kB while a game is in use
CAPTURED = "CAPTURED"  # our own property of set-up nodes: stones of Black and White so far, "3:2"
LONGEST_NUMBER = 100  # characters of a size, a komi or a handicap
_PLAIN_KOMI = 150.0


@dataclass(eq=False)
class SgfGame:
    """One game of a file: its tree, with properties for the information in its root node."""

    root: SgfNode
    source: str = "SGF"
    encoding: str = "utf-8"

    @property
    def size(self) -> Size:
        """The board size, 19x19 if the file has none; raises SgfError."""
        raw = self._number("SZ")
        if not raw and len(self.root.raw("SZ") or "") <= LONGEST_NUMBER:
            return Size(MAX_SIDE, MAX_SIDE)
        match = re.fullmatch(r"(\d{1,3})(?:\s*[:xX,]\s*(\d{1,3}))?", raw, re.ASCII)
        size = Size(int(match[1]), int(match[2] or match[1])) if match else Size(0, 0)
        if not (min(size) >= 1 and max(size) <= MAX_SIDE):
            raise self._error(self.root, f"SZ[{raw[:20]}]: boards run from 1x1 to 19x19")
        return size

    @property
    def komi(self) -> float | None:
        """The komi, None if missing or invalid."""
        match = re.search(r"[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)", self._number("KM"), re.ASCII)
        if not match:
            return None
        komi = float(match[0].replace(",", "."))
        if abs(komi) > _PLAIN_KOMI:
            komi /= 100  # some servers write 650 for 6.5, and 375 for 3.75
        if not (2 * komi).is_integer():
            komi *= 2  # Chinese counting writes 3.75 stones for 7.5 points
        try:
            return check_komi(komi)
        except RulesError:
            return None

    @property
    def handicap(self) -> int:
        """The number of handicap stones, 0 if missing or unreadable."""
        return self._stated_handicap() or 0

    def _stated_handicap(self) -> int | None:
        """The stated handicap, None if missing, so that `set_up` derives it from the stones."""
        match = re.search(r"\d{1,3}", self._number("HA"), re.ASCII)
        if not match:
            return None
        return int(match[0]) if int(match[0]) >= 2 else 0

    def _number(self, name: str) -> str:
        """The text of a root property that holds a number, cut where it cannot be one any more.

        It is read again for every node, which must not depend on how long it is.
        """
        return (self.root.raw(name) or "")[:LONGEST_NUMBER].strip()

    @property
    def rules(self) -> Rules | None:
        """The rules, None if missing or unknown."""
        try:
            return parse_rules(self.root.text("RU"))
        except RulesError:
            return None

    @property
    def outcome(self) -> Outcome | None:
        """The result, None if missing or unreadable."""
        return parse_outcome(self.root.text("RE"))

    def player(self, color: Color | str) -> str:
        """The name of a player, "" if missing."""
        return self.root.text(f"P{parse_color(color).letter}").replace("\n", " ").strip()

    def start(self, rules: Rules | str = "japanese", komi: float | None = None) -> Position:
        """The empty board before the first node; `rules` and `komi` apply if the file has none.

        A handicap game without komi gets half a point, to break ties.
        """
        if self.komi is not None:
            komi = self.komi
        elif komi is None and self.handicap:
            komi = 0.5
        return Position(self.size, self.rules or parse_rules(rules), komi)

    def positions(
        self, nodes: Iterable[SgfNode] | None = None, rules: Rules | str = "japanese"
    ) -> Iterator[Position]:
        """The position after each node of a line from the root, by default the main line.

        Raises SgfError for a move or a stone that is impossible, and beyond LONGEST_LINE.
        """
        position = self.start(rules)
        for number, node in enumerate(self.root.main_line() if nodes is None else nodes):
            if number == LONGEST_LINE:
                raise self._error(node, f"a game may have {LONGEST_LINE:,} nodes, not more")
            position = self.after(position, node)
            yield position

    def final_position(self, rules: Rules | str = "japanese") -> Position:
        """The position at the end of the main line; raises SgfError."""
        *_, last = self.positions(rules=rules)
        return last

    def after(self, position: Position, node: SgfNode) -> Position:
        """The position after a node: first its set-up stones, then its moves; raises SgfError."""
        black, white, empty = (self.points(node, name) for name in ("AB", "AW", "AE"))
        turn = (node.raw("PL") or "").strip().lower()[:1]
        try:
            handicap = self._stated_handicap()
            given = node is self.root and bool(handicap)
            captured = self._captured(node)
            if black or white or empty or turn in ("b", "w") or given or captured:
                to_play = turn if turn in ("b", "w") else None
                if to_play is None and given and black:
                    to_play = "w"
                position = position.set_up(black, white, empty, to_play, handicap, captured)
            for move in self._moves(node):
                position = self._played(position, move)
        except (ValueError, IllegalMoveError) as error:
            if isinstance(error, SgfError):
                raise
            raise self._error(node, str(error)) from None
        return position

    def _captured(self, node: SgfNode) -> tuple[int, int] | None:
        """How many stones of each side were captured so far, where a set-up node says so."""
        match = re.fullmatch(r"\s*(\d{1,4}):(\d{1,4})\s*", node.raw(CAPTURED) or "", re.ASCII)
        return (int(match[1]), int(match[2])) if match else None

    def _played(self, position: Position, move: Move) -> Position:
        """Play a recorded move, legal or not; a move on a stone replaces that stone."""
        color, point = move
        if point is None or position.at(point) is None:
            return position.play(point, color, strict=False)
        cleared = position.set_up(empty=[point], to_play=color, handicap=position.handicap)
        return cleared.play(point, color, strict=False)

    def move(self, node: SgfNode) -> Move | None:
        """The first move of a node, None if there is none; raises SgfError."""
        return next(self._moves(node), None)

    def _moves(self, node: SgfNode) -> Iterator[Move]:
        for color in Color:
            for value in node.properties.get(color.letter, ()):
                is_pass = value.strip().lower() in ("", "tt", "pass")
                yield Move(color, None if is_pass else self._point(node, value))

    def points(self, node: SgfNode, name: str) -> list[Point]:
        """The points of a property, ``aa:cc`` being a rectangle; raises SgfError."""
        points: dict[Point, None] = {}
        for value in dict.fromkeys(node.properties.get(name, ())):
            first, _, last = value.strip().partition(":")
            if not first:
                continue
            corner = self._point(node, first)
            opposite = self._point(node, last) if last else corner
            (left, right), (top, bottom) = map(sorted, zip(corner, opposite, strict=True))
            for y in range(top, bottom + 1):
                points |= {Point(x, y): None for x in range(left, right + 1)}
        return list(points)

    def _point(self, node: SgfNode, text: str) -> Point:
        """Parse two letters in either case, or coordinates such as D4."""
        size, text = self.size, text.strip()
        if re.fullmatch(r"[a-zA-Z]{2}", text, re.ASCII):
            point = Point(*(ord(letter) - ord("a") for letter in text.lower()))
        else:
            try:
                point = parse_point(text, size.height)
            except ValueError:
                raise self._error(node, f"not a point: {text[:20]!r}") from None
        if not (0 <= point.x < size.width and 0 <= point.y < size.height):
            raise self._error(node, f"{text!r} is off the {size} board")
        return point

    def _error(self, node: SgfNode, reason: str) -> SgfError:
        return SgfError(self.source, node.offset, reason)


def read_sgf(data: bytes | str, source: str = "SGF") -> list[SgfGame]:
    """Parse all games of an SGF file, at least one; raises SgfError."""
    roots, encoding = read_trees(data, source)
    return [SgfGame(root, source, encoding) for root in roots]


def load_sgf(path: str | Path) -> list[SgfGame]:
    """Load all games of a file, at least one; raises SgfError, also if the file is unreadable."""
    try:
        data = read_bounded(path, RECORD_BYTES)
    except OSError as error:
        raise SgfError(str(path), 0, f"cannot be read: {failure_text(error)}") from None
    return read_sgf(data, str(path))


def save_sgf(game: SgfGame) -> bytes:
    """The game as the content of a UTF-8 file, whatever encoding it was read from."""
    header = {"FF": ["4"], "GM": ["1"], "CA": ["UTF-8"]}
    return write_tree(SgfNode(header | game.root.properties | header, game.root.children))


def record(position: Position, black: str = "", white: str = "") -> SgfGame:
    """The record of the game that led to a position."""
    size = position.size
    root = SgfNode()
    root.properties |= {
        "SZ": [str(size.width) if size.width == size.height else f"{size.width}:{size.height}"],
        "KM": [f"{position.komi:g}"],
    }
    root.set_text("RU", str(position.rules))
    for name, player in (("PB", black), ("PW", white)):
        if player:
            root.set_text(name, player)
    outcome = position.outcome()
    if outcome is not None:
        root.set_text("RE", str(outcome))
    node = root
    for earlier, later in pairwise(position.line()):
        if later.move_number > earlier.move_number:
            node = _child(node)
            last = later.last_move
            assert last is not None  # there is one move more than before
            node.properties[last.color.letter] = [letters(last.point)]
        elif not _is_resigned(later):
            if node is not root or "AB" in root.properties or "AW" in root.properties:
                node = _child(node)
            _write_set_up(node, earlier, later)
            # Even if it is 0, since the stones alone may look like a handicap.
            root.properties["HA"] = [str(position.handicap)]
    return SgfGame(root)


def _is_resigned(position: Position) -> bool:
    outcome = position.outcome()
    return outcome is not None and outcome.reason is Reason.RESIGNATION


def _child(node: SgfNode) -> SgfNode:
    """Add a child to a node."""
    child = SgfNode()
    node.children.append(child)
    return child


def _write_set_up(node: SgfNode, earlier: Position, later: Position) -> None:
    """Write the changed stones and the side to play into a node."""
    before, after = earlier.stones, later.stones
    for name, stone in (("AB", BLACK), ("AW", WHITE), ("AE", EMPTY)):
        points = np.argwhere((before != after) & (after == stone)).tolist()
        if points:
            node.properties[name] = [letters(Point(x, y)) for y, x in points]
    node.properties["PL"] = [later.to_play.letter]
    counts = [[each.captured(color) for color in Color] for each in (earlier, later)]
    if counts[0] != counts[1]:
        node.properties[CAPTURED] = ["{}:{}".format(*counts[1])]


def letters(point: Point | None) -> str:
    """A point in SGF notation, "" for a pass."""
    return "" if point is None else "".join(chr(ord("a") + at) for at in point)
