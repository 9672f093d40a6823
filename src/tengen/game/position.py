"""Position: a board with its rules, komi and history, as all code outside kernels uses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.game.board_view import BoardView, ColorLike, PointLike
from tengen.game.color import BLACK, EMPTY, WHITE, Color, parse_color
from tengen.game.diagram import read_diagram, write_diagram, write_svg
from tengen.game.geometry import (
    Point,
    Symmetry,
    board_size,
    handicap_points,
    index_point,
    parse_point,
    point_index,
    point_text,
)
from tengen.game.illegal_moves import (
    GameOverError,
    IllegalMoveError,
    KoError,
    NotAMoveError,
    OccupiedError,
    OffBoardError,
    SuicideError,
    SuperkoError,
)
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels import moves as kernels
from tengen.game.kernels.board import NO_CHAIN, Boards, new_boards, put_stone, remove_chain
from tengen.game.kernels.clean_up_phases import second_start
from tengen.game.outcome import Outcome, Reason
from tengen.game.rules import Rules, Scoring, check_komi, parse_rules
from tengen.game.scoring import Score, count_board
from tengen.game.shared_history import SharedHistory

MoveLike: TypeAlias = PointLike | None

_ILLEGAL: dict[int, type[IllegalMoveError]] = {
    kernels.OCCUPIED: OccupiedError,
    kernels.SUICIDE: SuicideError,
    kernels.KO: KoError,
    kernels.SUPERKO: SuperkoError,
}


class Move(NamedTuple):
    """A move in a game; the point is None for a pass."""

    color: Color
    point: Point | None


MOST_CAPTURED = 9_999  # stones of a side, when a position is set up

# Of the board's record: what replaying the moves of a game may not give back.
_STATE = ("komi", "passes", "since", "passes_since", "end", "button", "button_owner")


class Position(BoardView):
    """A position in a game of Go, immutable: playing a move returns a new one.

    Moves are text (``"D4"``, ``"pass"``), points (x from the left, y from the top, from 0) or
    None for a pass. Two positions are equal if their stones, prisoners, side to play, ko ban,
    passes, rules and komi are equal; their histories may differ.
    """

    __slots__ = (
        "_history",
        "_parent",
        "_resigned",
        "_room",
        "_start",
        "handicap",
        "komi",
        "move_limit",
        "rules",
    )

    rules: Rules
    komi: float
    handicap: int  # the number of handicap stones that White's bonus is based on
    move_limit: int | None
    _history: NDArray[np.uint64]  # [ply + 1], read-only: later positions share its memory
    _room: SharedHistory  # where it is
    _parent: Position | None  # before the last move or set-up
    _start: Position  # at entry 0 of the history; self if no move was played since
    _resigned: Color | None

    def __init__(
        self,
        size: int | tuple[int, int] = 19,
        rules: Rules | str = "tromp-taylor",
        komi: float | None = None,
        *,
        move_limit: int | None = None,
    ) -> None:
        """An empty board with Black to play; raises ValueError for invalid arguments.

        `komi` defaults to the usual one of the rules. After `move_limit` moves the game ends and
        is scored as it is.
        """
        self.size = board_size(size)
        self.rules = parse_rules(rules)
        self.komi = check_komi(self.rules.default_komi if komi is None else komi)
        self.move_limit = move_limit
        self.handicap = 0
        self._boards = new_boards(1)
        self._parent = None
        self._start = self
        self._resigned = None
        terms = terms_of(self.rules, self.komi)
        self._history = kernels.new_history(0)
        kernels.start_game(self._boards[0], self._history, self.width, self.height, terms)
        self._room = SharedHistory(self._history)
        self._boards[0]["settled"] = self.rules.settled

    @classmethod
    def from_diagram(
        cls,
        diagram: str,
        to_play: ColorLike = Color.BLACK,
        rules: Rules | str = "tromp-taylor",
        komi: float | None = None,
    ) -> Position:
        """Parse a diagram: ``X`` or ``#`` black, ``O`` white, ``.`` or ``+`` empty.

        Ignores coordinates around it. Raises ValueError.
        """
        size, stones = read_diagram(diagram)
        black, white = ([at for at in stones if stones[at] is color] for color in Color)
        return cls(size, rules, komi).set_up(black, white, to_play=to_play)

    # Moves

    def play(
        self, move: MoveLike, color: ColorLike | None = None, *, strict: bool = True
    ) -> Position:
        """The position after a move, by the side to play unless a colour is given.

        Raises an IllegalMoveError with the reason. Unless `strict`, as for game records, ko,
        superko, suicide and the end of the game do not prevent a move, and one out of turn starts
        the game anew: nothing before it counts for ko, passes or the button.
        """
        mover = self.to_play if color is None else parse_color(color)
        index = self._move_index(move, mover)
        if strict and self.is_over:
            raise GameOverError(self._text(index), mover, self.move_number + 1)
        after = self._next()
        verdict = kernels.try_play(after._boards[0], after._history, index, int(mover), strict)
        if verdict != kernels.LEGAL:
            after._room.give_back(after._history)
            raise _ILLEGAL[verdict](self._text(index), mover, self.move_number + 1)
        return after

    def play_all(self, moves: Iterable[MoveLike] | str) -> Position:
        """The position after several moves by alternating sides; text is split at white space."""
        position = self
        for move in moves.split() if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def pass_(self) -> Position:
        """The position after a pass."""
        return self.play(None)

    def resign(self, color: ColorLike | None = None) -> Position:
        """The position after a resignation, by the side to play unless a colour is given."""
        loser = self.to_play if color is None else parse_color(color)
        if self.is_over:
            raise GameOverError("resign", loser, self.move_number + 1)
        after = self._copy()
        after._resigned = loser
        return after

    def resumed(self) -> Position:
        """The position as if the game had not ended.

        Its passes count towards no other end; under territory scoring the next pass is one more of
        them, as KataGo has it.
        """
        after = self._copy()
        after._boards[0]["end"] = kernels.GOING_ON
        if self.rules.scoring is Scoring.AREA:
            after._boards[0]["passes"] = 0
        after._resigned = None
        return after

    def is_legal(self, move: MoveLike, color: ColorLike | None = None) -> bool:
        """Whether a move is legal, for the side to play unless a colour is given."""
        try:
            after = self.play(move, color)
        except IllegalMoveError:
            return False
        after._room.give_back(after._history)
        return True

    def legal_mask(self) -> NDArray[np.bool_]:
        """[area + 1]: the legal moves of the side to play, row by row from the top, pass last."""
        mask = np.zeros(self.size.area + 1, np.bool_)
        if not self.is_over:
            kernels.legal_moves(self._boards[0], self._history, mask)
        return mask

    def legal_moves(self) -> list[Point]:
        """The points where the side to play may play; passing is also legal."""
        mask = self.legal_mask()[:-1].reshape(self.height, self.width)
        return [Point(x, y) for y, x in np.argwhere(mask).tolist()]

    # History

    @property
    def moves(self) -> list[Move]:
        """All moves since the start or the last set-up."""
        return [self._move_at(i) for i in range(1, len(self._history))]

    @property
    def last_move(self) -> Move | None:
        """The last move, None if there is none since the start or the last set-up."""
        return self._move_at(len(self._history) - 1) if len(self._history) > 1 else None

    @property
    def move_number(self) -> int:
        """The number of moves since the start or the last set-up."""
        return len(self._history) - 1

    @property
    def previous(self) -> Position | None:
        """The position before the last move, set-up or resignation; None at the start."""
        return self._parent

    def undo(self) -> Position:
        """Like `previous`, but raises ValueError at the start."""
        if self._parent is None:
            raise ValueError("there is no move to undo")
        return self._parent

    def line(self) -> Iterator[Position]:
        """All positions of the game, from the start to this one."""
        positions = [self]
        while (parent := positions[-1]._parent) is not None:
            positions.append(parent)
        return reversed(positions)

    # Handicap and set-up

    def set_up(
        self,
        black: Iterable[PointLike] = (),
        white: Iterable[PointLike] = (),
        empty: Iterable[PointLike] = (),
        to_play: ColorLike | None = None,
        handicap: int | None = None,
        captured: tuple[int, int] | None = None,
    ) -> Position:
        """The position with stones added and removed; it starts a new history.

        Raises ValueError if a chain would have no liberties. If `handicap` is not given and no
        move was played, two or more black stones without white ones are handicap stones.
        `captured` says how many stones of Black and of White were captured so far, if that changes.
        """
        colors = self.stones
        for stone, points in ((BLACK, black), (WHITE, white), (EMPTY, empty)):
            for point in points:
                x, y = self.point(point)
                colors[y, x] = stone
        mover = self.to_play if to_play is None else parse_color(to_play)
        after = Position(self.size, self.rules, self.komi, move_limit=self.move_limit)
        board = after._boards[0]
        for y, x in np.argwhere(colors):
            put_stone(board, point_index((x, y), self.width), int(colors[y, x]))
        for y, x in np.argwhere(colors):
            if after.liberties((int(x), int(y))) == 0:
                where = point_text((x, y), self.height)
                raise ValueError(f"the stones around {where} would have no liberty")
        board["captured"] = self._boards[0]["captured"]
        if captured is not None:
            if not all(0 <= count <= MOST_CAPTURED for count in captured):
                raise ValueError(f"between 0 and {MOST_CAPTURED} stones of a side are captured")
            board["captured"][1:] = captured
        kernels.start_history(board, after._history, int(mover))
        after._room = SharedHistory(after._history)
        after._parent = self
        after.handicap = self.handicap if handicap is None else handicap
        if handicap is None and not self.move_number:
            blacks = int(np.count_nonzero(colors == BLACK))
            after.handicap = 0 if blacks < 2 or (colors == WHITE).any() else blacks
        board["komi"] = self.komi + self.rules.white_handicap_bonus.points(after.handicap)
        return after

    def with_handicap(self, stones: int | Iterable[PointLike]) -> Position:
        """The position with handicap stones and White to play; raises ValueError.

        A number means GTP's fixed placement.
        """
        if self.stones.any() or self.move_number:
            raise ValueError("handicap stones need an empty board")
        points: list[PointLike] = (
            list(handicap_points(self.size, stones)) if isinstance(stones, int) else list(stones)
        )
        placed = {self.point(point) for point in points}
        if len(placed) != len(points):
            raise ValueError("two handicap stones on one point")
        return self.set_up(black=placed, to_play=Color.WHITE)

    def compensated(self, handicap: int) -> Position:
        """The same position with White's bonus for so many handicap stones."""
        if handicap == self.handicap:
            return self
        after = self._copy()
        after._parent, after.handicap = self._parent, handicap
        after._boards[0]["komi"] = self.komi + self.rules.white_handicap_bonus.points(handicap)
        return after

    # The end

    @property
    def is_over(self) -> bool:
        """Whether the game ended, by passes, resignation, repetition or the move limit."""
        return (
            self._resigned is not None
            or int(self._boards[0]["end"]) != kernels.GOING_ON
            or (self.move_limit is not None and self.move_number >= self.move_limit)
        )

    def score(self, dead: Iterable[PointLike] = ()) -> Score:
        """The score of the board after removing the chains of these dead stones.

        Raises ValueError for a dead stone on an empty point.
        """
        boards = self._boards.copy()
        for point in dead:
            index = self._index(point)
            if self.at(point) is None:
                raise ValueError(f"no dead stone at {point_text(self.point(point), self.height)}")
            head = int(boards[0]["head"][index])
            if head != NO_CHAIN:
                remove_chain(boards[0], head)
        return count_board(boards[0])

    def outcome(self, dead: Iterable[PointLike] = ()) -> Outcome | None:
        """The result of the game, None if it is not over; `dead` as for `score`."""
        if self._resigned is not None:
            return Outcome(self._resigned.opponent, None, Reason.RESIGNATION)
        end = int(self._boards[0]["end"])
        if end == kernels.ENDED_BY_REPETITION:
            return Outcome(None, None, Reason.NO_RESULT)
        if not self.is_over:
            return None
        by_passes = end == kernels.ENDED_BY_PASSES
        return self.score(dead).outcome(Reason.SCORE if by_passes else Reason.MOVE_LIMIT)

    # Conversions

    def transformed(self, symmetry: Symmetry) -> Position:
        """The game so far, rotated or reflected."""

        def image(point: tuple[int, int]) -> Point:
            return symmetry.point(point, self.size)

        start = self._start
        position = Position(
            symmetry.size(self.size), self.rules, self.komi, move_limit=self.move_limit
        )
        if start.stones.any() or start._parent is not None or start.to_play is not Color.BLACK:
            black, white = (
                [image((x, y)) for y, x in np.argwhere(start.stones == color).tolist()]
                for color in Color
            )
            position = position.set_up(black, white, to_play=start.to_play)
            position._boards[0]["captured"] = start._boards[0]["captured"]
        for color, point in self.moves:
            position = position.play(None if point is None else image(point), color, strict=False)
        position._take_state(self.handicap, self._state(), self._resigned)
        return position

    def diagram(self) -> str:
        """A diagram that `from_diagram` reads, one line for each row."""
        return write_diagram(self.stones)

    def text(self, move: Move | MoveLike) -> str:
        """A move as text, such as D4 or pass."""
        if isinstance(move, Move):
            move = move.point
        return self._text(self._move_index(move, self.to_play))

    def __str__(self) -> str:
        last = self.last_move
        picture = write_diagram(self.stones, last.point if last else None, coordinates=True)
        return f"{picture}\n{self._caption()}"

    def __repr__(self) -> str:
        return f"<Position {self.size}, {self._caption()}>"

    def _repr_svg_(self) -> str:
        last = self.last_move
        return write_svg(self.stones, last.point if last else None, self._caption())

    def _caption(self) -> str:
        outcome = self.outcome()
        state = f"{self.to_play} to play" if outcome is None else f"over, {outcome}"
        return f"move {self.move_number}, {state}, {self.rules}, komi {self.komi:g}"

    # Equality, copies, pickling

    def _identity(self) -> tuple[object, ...]:
        """All that decides equality."""
        board = self._boards[0]
        return (
            self.size,
            self.rules,
            self.komi,
            self.handicap,
            self.stones.tobytes(),
            *(int(board[name]) for name in ("to_play", "ko", "passes", "end", "button")),
            *(int(board[name]) for name in ("button_owner", "phase", "blocks")),
            second_start(board).tobytes(),
            tuple(board["captured"].tolist()),
            self._resigned,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.size, self.stones_hash, self.to_play))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the start and the moves: pickling each parent would recurse too deeply."""
        if self._start is self:
            names = {*BoardView.__slots__, *Position.__slots__} - {"_room", "_start"}
            return _restored, ({name: getattr(self, name) for name in sorted(names)},)
        state = self.handicap, self._state(), self._resigned
        return _replayed, (self._start, self._history, *state)

    def __copy__(self) -> Position:
        return self

    def __deepcopy__(self, memo: object) -> Position:
        return self

    def _copy(self) -> Position:
        """A child with the same state."""
        after: Position = object.__new__(Position)
        after.size, after.rules, after.komi = self.size, self.rules, self.komi
        after.handicap, after.move_limit = self.handicap, self.move_limit
        after._boards = self._boards.copy()
        after._history, after._room = self._history, self._room
        after._parent = self
        after._start = self._start
        after._resigned = self._resigned
        return after

    def _next(self) -> Position:
        """A child with the same board, and an unset entry at the end of its history."""
        after = self._copy()
        after._room, after._history = self._room.longer(self._history)
        return after

    def _state(self) -> dict[str, float]:
        """What moves alone do not tell: whether they were played by the rules, and komi."""
        return {name: self._boards[0][name].item() for name in _STATE}

    def _take_state(self, handicap: int, state: dict[str, float], resigned: Color | None) -> None:
        self.handicap, self._resigned = handicap, resigned
        for name, value in state.items():
            self._boards[0][name] = value

    def arrays(self, room: int) -> tuple[Boards, NDArray[np.uint64]]:
        """For kernels: copies of the board record [1] and of the history, with room for moves."""
        history = np.empty(len(self._history) + room, np.uint64)
        history[: len(self._history)] = self._history
        return self._boards.copy(), history

    def _move_index(self, move: MoveLike, mover: Color) -> int:
        """The board index of a move, or PASS; raises an IllegalMoveError."""
        if move is None or (isinstance(move, str) and move.strip().lower() == "pass"):
            return kernels.PASS
        number = self.move_number + 1
        try:
            x, y = parse_point(move, self.height) if isinstance(move, str) else move
        except (TypeError, ValueError):
            raise NotAMoveError(str(move), mover, number) from None
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise OffBoardError(str(move), mover, number)
        return point_index((x, y), self.width)

    def _move_at(self, entry: int) -> Move:
        """The move of an entry of the history."""
        index = int(kernels.move_at(self._history, entry))
        color = Color(int(kernels.mover_at(self._history, entry)))
        return Move(color, None if index == kernels.PASS else index_point(index, self.width))

    def _text(self, index: int) -> str:
        point = None if index == kernels.PASS else index_point(index, self.width)
        return point_text(point, self.height)


def _restored(state: dict[str, object]) -> Position:
    """Unpickle the start of a history."""
    position: Position = object.__new__(Position)
    for name, value in state.items():
        setattr(position, name, value)
    position._start = position
    position._room = SharedHistory(position._history)
    return position


def _replayed(
    start: Position,
    history: NDArray[np.uint64],
    handicap: int,
    state: dict[str, float],
    resigned: Color | None,
) -> Position:
    """Unpickle a position by replaying its moves."""
    position = start
    for entry in range(1, len(history)):
        after = position._next()
        mover, move = kernels.mover_at(history, entry), kernels.move_at(history, entry)
        kernels.try_play(after._boards[0], after._history, move, mover, False)
        position = after
    if position is start or resigned is not None:
        position = position._copy()
    position._take_state(handicap, state, resigned)
    return position
