"""Matches between any two engines: their names, pairs of games, records to continue from."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from tengen.atomic_files import replace_file
from tengen.engine.engine import Engine
from tengen.engine.levels import CARE_VISITS, Level, decide, level_named
from tengen.evaluation.gtp_process import RESIGN, EngineError, GtpOpponent
from tengen.evaluation.lockstep import Played, Player, play_in_lockstep
from tengen.evaluation.scripted_beginner import ScriptedBeginner
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.outcome import Outcome, Reason
from tengen.game.position import Position
from tengen.game.sgf.records import record, save_sgf
from tengen.network.evaluator import Evaluator
from tengen.network.files.bundled import BUNDLED
from tengen.search.request import Limits, SearchRequest, Wanted
from tengen.search.result import SearchResult

RESULTS = "results.jsonl"
GTP = "gtp:"
LEVEL = "level:"
FIRST_DAY = "firstday"


@dataclass(frozen=True)
class EngineSpec:
    """A network with limits, a level of the bundled networks, the scripted beginner, or the
    command of a GTP engine.
    """

    text: str
    model: str = ""
    limits: Limits = field(default_factory=Limits)
    command: str = ""
    level: Level | None = None

    @property
    def name(self) -> str:
        """The name in tables and game records."""
        if self.command or self.text == FIRST_DAY:
            return self.command or self.text
        if self.level:
            return f"{LEVEL}{self.level.id}"
        return f"{Path(self.model).name}@{self.text.rpartition('@')[2]}"


def parse_engine(text: str) -> EngineSpec:
    """Parse MODEL@VISITS, MODEL@SECONDSs, level:NAME, firstday or gtp:COMMAND.

    Raises ValueError.
    """
    if text == FIRST_DAY:
        return EngineSpec(text)
    if text.startswith(LEVEL):
        return EngineSpec(text, BUNDLED, level=level_named(text[len(LEVEL) :]))
    if text.startswith(GTP) and text[len(GTP) :].strip():
        return EngineSpec(text, command=text[len(GTP) :].strip())
    match = re.fullmatch(r"(?P<model>.+)@(?:(?P<visits>\d+)|(?P<seconds>\d*\.?\d+)s)", text)
    if not match:
        raise ValueError(
            f"{text!r} is no engine: write MODEL@VISITS such as bundled@64, MODEL@SECONDSs such "
            "as net.bin.gz@0.5s, level:NAME such as level:beginner, firstday, or gtp:COMMAND"
        )
    if match["visits"]:
        return EngineSpec(text, match["model"], Limits(visits=int(match["visits"])))
    return EngineSpec(text, match["model"], Limits(seconds=float(match["seconds"])))


class Contestant(Protocol):
    """One side of one game at a time."""

    def move(self, position: Position) -> Point | str | None:
        """A move, None for a pass, or RESIGN."""

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

    def move(self, position: Position) -> Point | str | None:
        if self._spec.level is None:
            return self._search(SearchRequest(position, self._spec.limits)).move
        decision = decide(position, self._spec.level, self._seed, self._search, wanted=Wanted())
        return RESIGN if decision.resign else decision.move

    def _search(self, request: SearchRequest) -> SearchResult:
        return self._engine.submit(request, owner=self, tree=self._tree).result()

    def close(self) -> None:
        self._tree.close()


def contestant(spec: EngineSpec, engine: Engine | None, seed: int) -> Contestant:
    """One side of games; the engine is that of its network, if it has one."""
    if engine is not None:
        return OwnContestant(engine, spec, seed)
    return GtpOpponent(spec.command) if spec.command else ScriptedBeginner(seed)


@dataclass(frozen=True)
class MatchFolder:
    """A folder with the results, one line a game, and the games as SGF."""

    folder: Path
    names: tuple[str, str]
    terms: str = ""  # board, rules, openings: games on other terms are another match
    networks: tuple[str, str] = ("", "")  # the SHA-256 of each engine's network, "" if unknown

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
                networks = list(map(str, entry.get("networks", ())))
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
            for name, then, now in zip(self.names, networks, self.networks, strict=False):
                if then and now and then != now:
                    raise ValueError(
                        f"{path}, line {number}: {name} was another network then (SHA-256 "
                        f"{then[:12]}..., now {now[:12]}...); name another folder"
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
        replace_file(games / f"{played.number:05}.sgf", save_sgf(game), durable=False)
        line = {
            "game": played.number,
            "engines": self.names,
            "terms": self.terms,
            "networks": self.networks,
            "points": played.points,
            "result": str(played.outcome),
            "moves": played.end.move_number,
            "remark": played.remark,
        }
        path = self.folder / RESULTS
        with path.open("ab+") as file:
            size = file.tell()
            file.seek(max(0, size - 1))
            cut = size > 0 and file.read() != b"\n"  # by a crash
            file.write(b"\n" * cut + json.dumps(line).encode() + b"\n")


class _StoppedError(Exception):
    """Ends a game because the match was stopped."""


def play_game(
    number: int,
    sides: tuple[Contestant, Contestant],
    start: Position,
    should_stop: Callable[[], bool] = lambda: False,
) -> Played:
    """Play one game to its end; an illegal move loses it. Raises _StoppedError."""
    position = start
    while not position.is_over:
        if should_stop():
            raise _StoppedError
        black = position.to_play is Color.BLACK
        try:
            move = sides[number % 2 if black else 1 - number % 2].move(position)
            position = position.resign() if move == RESIGN else position.play(move)
        except (EngineError, IllegalMoveError) as error:
            forfeit = Outcome(position.to_play.opponent, None, Reason.FORFEIT)
            return Played(number, start, position, forfeit, str(error))
    outcome = position.outcome()
    assert outcome is not None
    return Played(number, start, position, outcome)


def play_engines(
    engines: Sequence[tuple[EngineSpec, Evaluator | None]],  # two, with their networks
    starts: Sequence[Position],
    numbers: Sequence[int],
    seed: int,
    *,
    on_end: Callable[[Played], bool] = lambda _: True,
    should_stop: Callable[[], bool] = lambda: False,
    parallel: int = 1,
    in_lockstep: int | None = None,
) -> list[Played]:
    """Play the games with these numbers, as `play_match` does; returns those that have ended.

    Two networks with visits play many games in lockstep, by default all of them: then `on_end` is
    heeded between such batches, `should_stop` at once. Others play `parallel` games at a time.
    """
    games: list[Played] = []
    going_on = True

    def report(game: Played) -> bool:
        nonlocal going_on
        games.append(game)
        going_on = on_end(game) and not should_stop()
        return going_on

    players = [
        Player(spec.name, network, spec.limits.visits)
        for spec, network in engines
        if network is not None and spec.limits.visits
    ]
    if len(players) == 2:
        size = in_lockstep or max(1, len(numbers))
        for at in range(0, len(numbers), size):
            if going_on:
                batch = numbers[at : at + size]
                both = players[0], players[1]
                play_in_lockstep(both, starts, seed + at, report, batch, should_stop)
        return games
    with ExitStack() as closing:
        networks = {network for _, network in engines if network is not None}
        own = {each: closing.enter_context(Engine(each, seed=seed)) for each in networks}
        make = [
            partial(contestant, spec, own[network] if network else None, seed)
            for spec, network in engines
        ]
        play_match(make, starts, numbers, parallel, report)
    return games


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
    stop = threading.Event()  # set when a match is interrupted

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
            with ExitStack() as stack:  # engines that failed are started again for the next game
                sides = [stack.enter_context(closing(make())) for make in make_sides]
                remark = ""
                while number is not None and not remark:
                    both = sides[0], sides[1]
                    played = play_game(number, both, starts[number // 2], stop.is_set)
                    report(played)
                    remark = played.remark
                    number = next_game()

    workers = max(1, min(parallel, len(numbers)))
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in [pool.submit(work) for _ in range(workers)]:
                future.result()
        except BaseException:
            stop.set()  # or the pool would wait for the ends of games
            raise
