"""Commands about the game: board, moves, handicap, its end, files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tengen.frontends.gtp.inspection import evaluate_position, summary
from tengen.frontends.gtp.positions import result_text, stones_in_seki, stones_of, vertices
from tengen.frontends.gtp.protocol import GtpError, Vertex, command, parse_int, parse_vertex
from tengen.frontends.gtp.session import Commands, anew
from tengen.game.color import Color, parse_color
from tengen.game.rules import RulesError, check_komi

if TYPE_CHECKING:
    from tengen.game.geometry import Point
    from tengen.game.position import Position
    from tengen.game.rules import Rules
    from tengen.game.sgf.records import SgfGame

MOST_FREE_HANDICAP = 30
_STATUSES = ("alive", "seki", "dead")


class GameCommands(Commands):
    @command("boardsize", "rectangular_boardsize")
    def board_size(self, width: str, height: int | None = None) -> None:
        try:
            first, *second = (parse_int(side) for side in width.split(":"))
        except ValueError as error:
            raise GtpError(f"syntax error: {error}; write boardsize WIDTH [HEIGHT]") from None
        size = first, [*second, height or first][0]
        if size != tuple(self.session.position.size):  # else the game goes on, as in KataGo
            self.session.clear(size)

    @command()
    def clear_board(self) -> None:
        self.session.clear()

    @command()
    def komi(self, komi: float) -> None:
        try:
            self.session.set_terms(komi=check_komi(komi))
        except RulesError as error:
            raise GtpError(f"unacceptable komi: {error}") from None

    @command()
    def get_komi(self) -> str:
        return f"{self.session.position.komi:g}"

    @command()
    def play(self, color: Color, vertex: Vertex) -> None:
        self.session.play((color, vertex))

    @command("play_sequence", "gogui-play_sequence")
    def play_sequence(self, *moves: str) -> None:
        self.session.play(*_moves(moves))

    @command()
    def undo(self) -> None:
        self.session.undo(1)

    @command("gg-undo")
    def gg_undo(self, moves: int = 1) -> None:
        if moves < 0:
            raise GtpError(f"cannot undo {moves} moves")
        self.session.undo(moves)

    # Handicap and set-up

    @command()
    def fixed_handicap(self, stones: int) -> str:
        self._check_empty()
        try:
            position = self.session.position.with_handicap(stones)
        except ValueError as error:
            raise GtpError(f"{error}; place_free_handicap may take them") from None
        self.session.new_game(position)
        return vertices(position, stones_of(position)[0])

    @command()
    def place_free_handicap(self, stones: int) -> str:
        self._check_empty()
        if stones < 2:
            raise GtpError(f"a handicap is 2 stones or more, not {stones}")
        position = self.session.position
        stones = min(stones, MOST_FREE_HANDICAP, max(2, position.size.area // 4))
        try:
            position = position.with_handicap(stones)
        except ValueError:  # more stones than there are star points
            position = position.with_handicap(self._chosen_points(stones))
        self.session.new_game(position)
        return vertices(position, stones_of(position)[0])

    @command()
    def set_free_handicap(self, *stones: Vertex) -> None:
        self._check_empty()
        if not stones:
            raise GtpError("syntax error: write set_free_handicap VERTEX ...")
        self.session.new_game(self.session.position.with_handicap(list(stones)))

    @command()
    def set_position(self, *stones: str) -> None:
        from tengen.game.position import Position

        old = self.session.position
        laid: dict[str, Color] = {}
        for color, vertex in _moves(stones):
            if vertex in laid:
                raise GtpError(f"two stones on {vertex}")
            laid[vertex] = color
        black, white = ([v for v, color in laid.items() if color is side] for side in Color)
        empty = Position(old.size, old.rules, old.komi)
        self.session.new_game(empty.set_up(black, white, to_play=Color.BLACK) if laid else empty)

    def _check_empty(self) -> None:
        if self.session.position.stones.any():
            raise GtpError("board not empty")

    def _chosen_points(self, stones: int) -> list[Point]:
        """The points that the network likes best for Black, one after another."""
        position = self.session.position
        evaluator = self.session.engine().network_for(position).evaluator
        optimism = self.session.params().root_optimism
        profile = self.session.settings.human.profile
        self.session.rest()
        chosen: list[Point] = []
        for _ in range(stones):
            laid = position.set_up(black=chosen, to_play=Color.BLACK)
            policy = evaluate_position(evaluator, laid, optimism, profile).policy[:-1]
            places = [y * position.width + x for x, y in laid.legal_moves()]
            if not places:
                break
            chosen.append(laid.legal_moves()[int(policy[places].argmax())])
        return chosen

    # The end of the game

    @command()
    def final_score(self) -> str:
        """The score by the rules, and the result that `printsgf` writes."""
        return result_text(self.session.outcome())

    @command()
    def estimate_score(self) -> str:
        """What the search expects, which is not the score by the rules."""
        from tengen.game.scoring import SEARCH_VISITS
        from tengen.search.request import Limits

        position, limits = anew(self.session.position), Limits(visits=SEARCH_VISITS)
        found = self.session.search(self.session.request(position, limits))
        color = found.position.to_play if found.lead > 0 else found.position.to_play.opponent
        return f"{color.letter}+{abs(found.lead):.1f}"

    @command()
    def final_status_list(self, status: str) -> str:
        status = status.lower()
        if status not in _STATUSES:
            raise GtpError(f"syntax error: a status is one of {', '.join(_STATUSES)}")
        position = self.session.position
        dead: frozenset[Point] = frozenset()
        seki = dead
        if not self.session.all_stones_count:
            dead = self.session.dead_stones()
            seki = stones_in_seki(position, dead)
        if status == "dead":
            return vertices(position, list(dead))
        if status == "seki":
            return vertices(position, list(seki))
        black, white, _ = stones_of(position)
        return vertices(position, [p for p in (*black, *white) if p not in dead | seki])

    @command("kgs-chat")
    def kgs_chat(self, *_: str) -> str:
        """Answer a spectator with the last evaluation of the game."""
        found = self.session.last_result
        if found is None:
            return f"I am {self.session.settings.name}, a program that plays Go."
        return f"I think that {summary(found)}."

    # Files

    @command()
    def loadsgf(self, *file: str) -> None:
        number = parse_int(file[-1]) if len(file) > 1 and file[-1].isdecimal() else None
        name = " ".join(file if number is None else file[:-1])
        if not name or number == 0:
            raise GtpError("syntax error: write loadsgf FILE [MOVE_NUMBER], numbers from 1")
        from tengen.game.sgf.records import SgfError, load_sgf

        try:
            rules = self.session.position.rules
            self.session.new_game(_position_before(load_sgf(name)[0], number, rules))
        except SgfError as error:
            raise GtpError(f"cannot load file: {error}") from None

    @command()
    def printsgf(self, *file: str) -> str | None:
        from tengen.game.sgf.records import record, save_sgf

        session = self.session
        position = session.position
        opponent = session.opponent if session.own_colors else ""
        black, white = (
            session.settings.name if color in session.own_colors else opponent for color in Color
        )
        game = record(position, black, white)
        if session.resigned is not None or position.is_over:
            outcome = position.outcome()
            with suppress(GtpError):  # without a network, as the board stands
                outcome = session.outcome()
            game.root.set_text("RE", result_text(outcome))
        data = save_sgf(game)
        if not file or file == ("-",):
            return data.decode()
        try:
            Path(" ".join(file)).write_bytes(data)
        except OSError as error:
            raise GtpError(f"cannot write {' '.join(file)}: {error.strerror}") from None
        return None


def _moves(words: tuple[str, ...]) -> list[tuple[Color, Vertex]]:
    """Pairs of colour and vertex; raises GtpError."""
    if len(words) % 2:
        raise GtpError("syntax error: write COLOR VERTEX [COLOR VERTEX ...]")
    try:
        pairs = zip(words[::2], words[1::2], strict=True)
        return [(parse_color(color), parse_vertex(vertex)) for color, vertex in pairs]
    except ValueError as error:
        raise GtpError(f"syntax error: {error}") from None


def _position_before(game: SgfGame, number: int | None, rules: Rules) -> Position:
    """The position at the end of a game's main line, or before a move; raises SgfError."""
    nodes = []
    moves = 0
    for node in game.root.main_line():
        moves += len(node.properties.get("B", ())) + len(node.properties.get("W", ()))
        if number is not None and moves >= number:
            break
        nodes.append(node)
    return [game.start(rules), *game.positions(nodes, rules)][-1]
