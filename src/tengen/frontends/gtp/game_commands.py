"""Commands that lay out the game: board, moves, handicap, files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tengen.frontends.gtp.dispatch import Vertex, command, parse_int, parse_vertex
from tengen.frontends.gtp.game_end import result_text
from tengen.frontends.gtp.position_edits import stones_of, vertices
from tengen.frontends.gtp.protocol import GtpError
from tengen.frontends.gtp.session import GtpSession
from tengen.frontends.gtp.showboard import board_text
from tengen.game.color import Color, parse_color

if TYPE_CHECKING:
    from tengen.game.board_view import PointLike
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.rules import Rules
    from tengen.game.sgf.records import SgfGame

MOST_FREE_HANDICAP = 30


class GameCommands:
    """The game."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session

    @command("boardsize", "rectangular_boardsize")
    def board_size(self, width: str, height: int | None = None) -> None:
        try:
            first, *second = (parse_int(side) for side in width.split(":"))
        except ValueError as error:
            raise GtpError(f"syntax error: {error}; write boardsize WIDTH [HEIGHT]") from None
        self._session.clear((first, [*second, height or first][0]))

    @command()
    def clear_board(self) -> None:
        self._session.clear()

    @command()
    def komi(self, komi: float) -> None:
        from tengen.game.rules import RulesError, check_komi

        try:
            self._session.set_terms(komi=check_komi(komi))
        except RulesError as error:
            raise GtpError(f"unacceptable komi: {error}") from None

    @command()
    def get_komi(self) -> str:
        return f"{self._session.position.komi}"

    @command()
    def play(self, color: Color, vertex: Vertex) -> None:
        self._session.play(color, vertex)

    @command("play_sequence", "gogui-play_sequence")
    def play_sequence(self, *moves: str) -> None:
        self._session.play_all(_moves(moves))

    @command()
    def undo(self) -> None:
        self._session.undo(1)

    @command("gg-undo")
    def gg_undo(self, moves: int = 1) -> None:
        if moves < 0:
            raise GtpError(f"cannot undo {moves} moves")
        self._session.undo(moves)

    @command()
    def showboard(self) -> str:
        return board_text(self._session.position)

    # Handicap and set-up

    @command()
    def fixed_handicap(self, stones: int) -> str:
        self._check_empty()
        try:
            position = self._session.position.with_handicap(stones)
        except ValueError as error:
            raise GtpError(f"{error}; place_free_handicap may take them") from None
        self._session.new_game(position)
        return vertices(position, stones_of(position).black)

    @command()
    def place_free_handicap(self, stones: int) -> str:
        self._check_empty()
        if stones < 2:
            raise GtpError(f"a handicap is 2 stones or more, not {stones}")
        position = self._session.position
        stones = min(stones, MOST_FREE_HANDICAP, max(2, position.size.area // 4))
        try:
            position = position.with_handicap(stones)
        except ValueError:  # more stones than there are star points
            position = position.with_handicap(self._chosen_points(stones))
        self._session.new_game(position)
        return vertices(position, stones_of(position).black)

    @command()
    def set_free_handicap(self, *stones: Vertex) -> None:
        self._check_empty()
        if not stones:
            raise GtpError("syntax error: write set_free_handicap VERTEX ...")
        self._session.new_game(self._session.position.with_handicap(list(stones)))

    @command()
    def set_position(self, *stones: str) -> None:
        from tengen.game.position import Position

        old = self._session.position
        black: list[PointLike] = []
        white: list[PointLike] = []
        placed: set[str] = set()
        for color, vertex in _moves(stones):
            if vertex in placed:
                raise GtpError(f"two stones on {vertex}")
            placed.add(vertex)
            (black if color is Color.BLACK else white).append(vertex)
        empty = Position(old.size, old.rules, old.komi)
        self._session.new_game(empty.set_up(black, white, to_play=Color.BLACK) if placed else empty)

    def _check_empty(self) -> None:
        if self._session.position.stones.any():
            raise GtpError("board not empty")

    def _chosen_points(self, stones: int) -> list[Point]:
        """The points that the network likes best for Black, one after another."""
        from tengen.frontends.gtp.raw_network import evaluate_position

        position = self._session.position
        engine = self._session.engine()
        self._session.rest()
        chosen: list[Point] = []
        for _ in range(stones):
            laid = position.set_up(black=chosen, to_play=Color.BLACK)
            policy = evaluate_position(engine, laid).policy[:-1]
            places = [y * position.width + x for x, y in laid.legal_moves()]
            if not places:
                break
            chosen.append(laid.legal_moves()[int(policy[places].argmax())])
        return chosen

    # Files

    @command()
    def loadsgf(self, *file: str) -> None:
        number = parse_int(file[-1]) if len(file) > 1 and file[-1].isdecimal() else None
        name = " ".join(file if number is None else file[:-1])
        if not name or number == 0:
            raise GtpError("syntax error: write loadsgf FILE [MOVE_NUMBER], numbers from 1")
        from tengen.game.sgf.records import SgfError, load_sgf

        try:
            rules = self._session.position.rules
            self._session.new_game(_position_before(load_sgf(name)[0], number, rules))
        except SgfError as error:
            raise GtpError(f"cannot load file: {error}") from None

    @command()
    def printsgf(self, *file: str) -> str | None:
        from tengen.game.sgf.records import record, save_sgf

        session = self._session
        position = session.position
        opponent = session.opponent if session.own_colors else ""
        black, white = (
            session.options.name if color in session.own_colors else opponent for color in Color
        )
        game = record(position, black, white)
        if session.resigned is not None:
            game.root.set_text("RE", result_text(session.outcome()))
        elif position.is_over:
            game.root.set_text("RE", self._result())
        data = save_sgf(game)
        if not file or file == ("-",):
            return data.decode()
        try:
            Path(" ".join(file)).write_bytes(data)
        except OSError as error:
            raise GtpError(f"cannot write {' '.join(file)}: {error.strerror}") from None
        return None

    def _result(self) -> str:
        """How the game ended; without a network, as the board stands."""
        try:
            outcome = self._session.outcome()
        except GtpError:
            ended = self._session.position.outcome()
            assert ended is not None  # it is asked about games that are over
            outcome = ended
        return result_text(outcome)


def _moves(words: tuple[str, ...]) -> list[tuple[Color, Vertex]]:
    """Pairs of colour and vertex; raises GtpError."""
    if len(words) % 2:
        raise GtpError("syntax error: write COLOR VERTEX [COLOR VERTEX ...]")
    try:
        return [
            (parse_color(words[i]), parse_vertex(words[i + 1])) for i in range(0, len(words), 2)
        ]
    except ValueError as error:
        raise GtpError(f"syntax error: {error}") from None


def _position_before(game: SgfGame, number: int | None, rules: Rules) -> Position:
    """The end of a game's main line, or where it stood before a move; raises SgfError."""
    nodes = []
    moves = 0
    for node in game.root.main_line():
        moves += len(node.properties.get("B", ())) + len(node.properties.get("W", ()))
        if number is not None and moves >= number:
            break
        nodes.append(node)
    position = game.start(rules)
    for position in game.positions(nodes, rules):  # noqa: B007
        pass
    return position
