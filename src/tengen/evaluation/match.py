"""Matches between any two engines: pairs of games, a referee, records that a stopped match goes on
from.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from tengen.engine.engine import Engine
from tengen.engine.levels import CARE_VISITS, decide
from tengen.evaluation.elo import WinDrawLoss
from tengen.evaluation.engine_spec import EngineSpec
from tengen.evaluation.gtp_process import RESIGN, EngineError, GtpOpponent
from tengen.evaluation.lockstep import Game
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import record, save_sgf
from tengen.search.request import SearchRequest, Wanted
from tengen.search.result import SearchResult

RESULTS = "results.jsonl"


class Contestant(Protocol):
    """One side of one game at a time."""

    def begin(self, position: Position) -> None:
        """Start a game at a position."""

    def move(self, position: Position) -> Point | str | None:
        """A move, None for a pass, or RESIGN."""

    def told(self, position: Position) -> None:
        """The position after the opponent's move."""

    def close(self) -> None:
        """End."""


class OwnContestant:
    """A network with our search, or one of its levels of strength."""

    def __init__(self, engine: Engine, spec: EngineSpec, seed: int) -> None:
        self._engine, self._spec, self._seed = engine, spec, seed
        visits = spec.limits.visits
        if spec.level is not None:
            visits = max(spec.level.visits, CARE_VISITS)
        self._tree = engine.new_tree(ownership=False, max_visits=visits)

    def begin(self, position: Position) -> None:
        """Needs no preparation: the tree finds its way to any position."""

    def move(self, position: Position) -> Point | str | None:
        if self._spec.level is None:
            return self._search(SearchRequest(position, self._spec.limits)).move
        decision = decide(position, self._spec.level, self._seed, self._search, wanted=Wanted())
        return RESIGN if decision.resign else decision.move

    def _search(self, request: SearchRequest) -> SearchResult:
        return self._engine.submit(request, owner=self, tree=self._tree).result()

    def told(self, position: Position) -> None:
        """Needs no word: a position knows its moves."""

    def close(self) -> None:
        self._tree.close()


class GtpContestant:
    """A GTP engine."""

    def __init__(self, command: str) -> None:
        self._engine = GtpOpponent(command)

    def begin(self, position: Position) -> None:
        self._engine.start(position)

    def move(self, position: Position) -> Point | str | None:
        text = self._engine.genmove(position.to_play)
        if text in (RESIGN, "pass"):
            return RESIGN if text == RESIGN else None
        return text

    def told(self, position: Position) -> None:
        last = position.last_move
        if last is not None:
            self._engine.play(last.color, last.point, position)

    def close(self) -> None:
        self._engine.close()


def contestant(spec: EngineSpec, engine: Engine | None, seed: int) -> Contestant:
    """One side of games; the engine is that of its network, if it has one."""
    return GtpContestant(spec.command) if engine is None else OwnContestant(engine, spec, seed)


class Played(NamedTuple):
    """A finished game."""

    number: int  # even: the first engine had Black
    end: Position
    outcome: Outcome
    remark: str = ""  # what went wrong, if something did


@dataclass(frozen=True)
class Store:
    """A folder with the results, one line a game, and the games as SGF."""

    folder: Path
    names: tuple[str, str]
    terms: str = ""  # board, rules, openings: games on other terms are another match

    def finished(self) -> dict[int, float]:
        """The first engine's points by the number of the game.

        A line that a crash cut is left out, and its game is played again. Raises ValueError if the
        games are of other engines or on other terms.
        """
        found: dict[int, float] = {}
        path = self.folder / RESULTS
        if not path.exists():
            return found
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                entry = json.loads(line)
                names, game, points = entry["engines"], int(entry["game"]), float(entry["points"])
                terms = entry["terms"]
            except (ValueError, KeyError, TypeError):
                continue
            if tuple(names) != self.names:
                raise ValueError(
                    f"{path}, line {number}: these are games of {names[0]} and {names[1]}, not of "
                    f"{self.names[0]} and {self.names[1]}; name another folder"
                )
            if terms != self.terms:
                raise ValueError(
                    f"{path}, line {number}: these are games on {terms}, not on {self.terms}; "
                    "name another folder"
                )
            found[game] = points
        return found

    def add(self, played: Played) -> None:
        """Keep a game; its line is written last."""
        games = self.folder / "games"
        games.mkdir(parents=True, exist_ok=True)
        black, white = self.names if played.number % 2 == 0 else self.names[::-1]
        game = record(played.end, black=black, white=white)
        game.root.set_text("RE", str(played.outcome))
        (games / f"{played.number:05}.sgf").write_bytes(save_sgf(game))
        line = {
            "game": played.number,
            "engines": self.names,
            "terms": self.terms,
            "points": points(played),
            "result": str(played.outcome),
            "moves": played.end.move_number,
            "remark": played.remark,
        }
        path = self.folder / RESULTS
        cut = path.exists() and not path.read_bytes().endswith(b"\n")  # by a crash
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * cut + json.dumps(line) + "\n")


def points(played: Played) -> float:
    """The first engine's points: 1, 0.5 or 0."""
    if played.outcome.winner is None:
        return 0.5
    first_is_black = played.number % 2 == 0
    return float((played.outcome.winner is Color.BLACK) == first_is_black)


def with_points(tally: WinDrawLoss, gained: float) -> WinDrawLoss:
    """A tally with one game more."""
    if gained == 0.5:
        return tally._replace(draws=tally.draws + 1)
    if gained == 1:
        return tally._replace(wins=tally.wins + 1)
    return tally._replace(losses=tally.losses + 1)


def tally_of(games: Iterable[Game]) -> WinDrawLoss:
    """How games that were played in lockstep ended, the first player's view."""
    tally = WinDrawLoss()
    for game in games:
        outcome = game.end.outcome()
        assert outcome is not None
        tally = with_points(tally, points(Played(game.number, game.end, outcome)))
    return tally


def play_game(number: int, sides: tuple[Contestant, Contestant], start: Position) -> Played:
    """Play one game to its end; what is no legal move loses it."""
    black = number % 2
    position = start
    for index, side in enumerate(sides):
        try:
            side.begin(position)
        except EngineError as error:
            color = Color.BLACK if index == black else Color.WHITE
            return Played(number, position, _forfeit(color), str(error))
    while not position.is_over:
        index = black if position.to_play is Color.BLACK else 1 - black
        mover, other = sides[index], sides[1 - index]
        color = position.to_play
        move: Point | str | None = None
        try:
            move = mover.move(position)
            if move == RESIGN:
                position = position.resign()
                break
            position = position.play(move)
        except (EngineError, IllegalMoveError) as error:
            return Played(number, position, _forfeit(color), str(error))
        if not position.is_over:
            try:
                other.told(position)
            except EngineError as error:
                return Played(number, position, _forfeit(color.opponent), str(error))
    outcome = position.outcome()
    assert outcome is not None
    return Played(number, position, outcome)


def _forfeit(color: Color) -> Outcome:
    """The end of a game in which the engine of a colour failed."""
    return Outcome(color.opponent, None, Reason.FORFEIT)


def play_match(
    make_sides: Sequence[Callable[[], Contestant]],
    starts: Sequence[Position],
    numbers: Sequence[int],
    parallel: int,
    on_end: Callable[[Played], bool],
) -> None:
    """Play the games with these numbers, several at a time; `on_end` says whether to go on.

    Games 2k and 2k + 1 begin at starts[k], with colours exchanged.
    """
    todo = list(reversed(numbers))
    lock = threading.Lock()

    def next_game() -> int | None:
        with lock:
            return todo.pop() if todo else None

    def report(played: Played) -> None:
        with lock:
            if not on_end(played):
                todo.clear()

    def work() -> None:
        number = next_game()
        while number is not None:
            with ExitStack() as closing:  # engines that failed are started again for the next game
                sides = [closing.enter_context(contextlib.closing(make())) for make in make_sides]
                remark = ""
                while number is not None and not remark:
                    played = play_game(number, (sides[0], sides[1]), starts[number // 2])
                    report(played)
                    remark = played.remark
                    number = next_game()

    workers = max(1, min(parallel, len(numbers)))
    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work) for _ in range(workers)]:
            future.result()
