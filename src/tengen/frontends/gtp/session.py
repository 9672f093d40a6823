"""The state of one GTP session: game, clocks, engine and search under way."""

from __future__ import annotations

import math
from collections import deque
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tengen.engine.katago_params import with_root_optimism
from tengen.engine.loading import EngineLoader
from tengen.frontends.command_options import GTP_SEARCH, GtpOptions
from tengen.frontends.gtp.positions import before_last_move, on_terms
from tengen.frontends.gtp.protocol import GtpError, Inbox, note
from tengen.frontends.katago_reports import SIDES, HandicapCount, after_move, handicap_counts
from tengen.game.color import Color
from tengen.game.illegal_moves import IllegalMoveError
from tengen.game.outcome import Outcome
from tengen.game.rules import SPIGHT, check_komi, nearest_known, parse_rules
from tengen.search.clock import (
    Clock,
    TimeControl,
    budget,
    expected_moves_left,
    midgame_share,
    started,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from tengen.engine.engine import Engine
    from tengen.engine.levels import Level
    from tengen.engine.task import SearchTask
    from tengen.game.geometry import Point
    from tengen.game.outcome import Outcome
    from tengen.game.position import Position
    from tengen.network.trained_on import Unfamiliar
    from tengen.search.params import SearchParams
    from tengen.search.request import Limits, RootOptions, SearchRequest, Wanted
    from tengen.search.result import SearchResult

PONDER_VISITS, PONDER_SECONDS = 100_000, 600.0
LEAST_SIDE, MOST_SIDE = 2, 19
MOST_MOVES = 20_000  # of a game: each position takes 6 kB
SHORTEST = 0.001  # seconds of a search


class GtpSession:
    """What commands share. Its heavy parts are imported when they are first needed."""

    def __init__(self, options: GtpOptions, loader: EngineLoader, inbox: Inbox) -> None:
        """Raises ValueError for options out of range."""
        parse_rules(options.rules)
        check_komi(0 if options.komi is None else options.komi)
        if not LEAST_SIDE <= options.board_size <= MOST_SIDE:
            raise GtpError(f"boards run from {LEAST_SIDE} to {MOST_SIDE}, not {options.board_size}")
        self.settings = options  # parameters change them
        self.level = _level(options)
        self.loader = loader
        loader.future.add_done_callback(_report_failure)
        self.inbox = inbox
        self.command_names: list[str] = []
        self.seconds_thought = 0.0
        self.hopeless = dict.fromkeys(Color, 0)  # moves in a row that looked lost
        self.resigned: Color | None = None
        self.last_result: SearchResult | None = None
        self.own_colors: set[Color] = set()  # that moves were asked for in this game
        self.opponent = ""
        self.draws = False  # the client is GoGui: it can be shown what is thought of
        self._position: Position | None = None
        self._last_count: tuple[Position, HandicapCount] | None = None  # after the last move
        self.set_time_control(TimeControl.none())
        self._task: SearchTask | None = None
        self._dead: tuple[Position, frozenset[Point]] | None = None
        self._warned: set[Unfamiliar] = set()  # of what the network was not trained on

    # The game

    @property
    def position(self) -> Position:
        """The current position."""
        if self._position is None:
            from tengen.game.position import Position

            options = self.settings
            self._position = Position(options.board_size, options.rules, options.komi)
        return self._position

    def go_to(self, position: Position) -> None:
        """Set the current position; ends the search under way."""
        self.rest()
        self._position = position
        self.resigned = None

    def new_game(self, position: Position) -> None:
        """Start a game at a position."""
        self.go_to(position)
        self.hopeless = dict.fromkeys(Color, 0)
        self.own_colors = set()
        self.last_result = None
        self.set_time_control(self.clocks[Color.BLACK].control)

    def clear(self, size: tuple[int, int] | None = None) -> None:
        """Start a game on an empty board, of another size if one is given."""
        from tengen.game.position import Position

        old = self.position
        if size is not None and not all(LEAST_SIDE <= side <= MOST_SIDE for side in size):
            raise GtpError("unacceptable size")
        self.new_game(Position(size or old.size, old.rules, old.komi))

    def set_terms(
        self, rules: str | Mapping[str, Any] | None = None, komi: float | None = None
    ) -> None:
        """Go on with the same game under other rules or another komi; raises ValueError."""
        old = self.position
        terms = parse_rules(rules or old.rules), old.komi if komi is None else komi
        if nearest_known(terms[0]) != terms[0] or SPIGHT in str(rules).upper():
            raise GtpError("no network knows these rules: Spight's ko, or a button with territory")
        if terms != (old.rules, old.komi):
            self.go_to(on_terms(old, *terms))

    def play(self, *moves: tuple[Color, str]) -> None:
        """Play moves of either colour, all or none of them; raises GtpError."""
        position, resigned = self.position, None
        for color, vertex in moves:
            if vertex == "RESIGN":
                resigned = color
            else:
                position = self._played(position, color, vertex)
        self.go_to(position)
        self.resigned = resigned

    def _played(self, position: Position, color: Color, vertex: str) -> Position:
        """The position after a move of either colour, with White's bonus; raises GtpError."""
        if position.move_number >= MOST_MOVES:
            raise GtpError(f"a game may have {MOST_MOVES:,} moves, not more")
        try:
            after = after_move(position, vertex, color)
        except IllegalMoveError as error:
            raise GtpError(f"illegal move: {error}") from None
        count = self._handicap_at(position).after(position, after)
        after = after.compensated(count.handicap)
        self._last_count = after, count
        return after

    def _handicap_at(self, position: Position) -> HandicapCount:
        """The handicap count at a position; recounted unless that is the last one played to."""
        if self._last_count is not None and self._last_count[0] is position:
            return self._last_count[1]
        line = list(position.line())[-1 - position.move_number :]
        return deque(handicap_counts(line), 1)[0]

    def undo(self, moves: int) -> None:
        """Take moves back, or none of them; raises GtpError."""
        position = self.position
        for _ in range(moves):
            position = before_last_move(position)
        self.go_to(position)
        self.hopeless = dict.fromkeys(Color, 0)

    def set_time_control(self, control: TimeControl) -> None:
        """Start both clocks on these terms."""
        self.clocks: dict[Color, Clock] = dict.fromkeys(Color, started(control))

    # The engine

    def engine(self) -> Engine:
        """Wait until the engine is loaded; raises GtpError if it cannot be."""
        error = self.loader.future.exception()  # waits; a signal meanwhile ends the session
        if error is not None:
            raise GtpError(_loading_error(error))
        return self.loader.engine

    def warn(self, position: Position) -> None:
        """Say once on stderr what the network was not trained on of a game; raises GtpError."""
        found = self.engine().unfamiliar(position)
        if found is not None and found not in self._warned:
            self._warned.add(found)
            note(f"warning: {found}")

    @property
    def loading_is_over(self) -> bool:
        """Has loading the engine ended, with success or not?"""
        return self.loader.future.done()

    def check_engine(self) -> None:
        """Raise GtpError if it is known that there is no engine; waits for nothing."""
        if self.loading_is_over:
            self.engine()

    def params(self, *, analysis: bool = False) -> SearchParams:
        """The parameters in force, for playing or for analysis; raises GtpError."""
        settings = self.settings
        changes: dict[str, Any] = {**GTP_SEARCH, **with_root_optimism(settings.search)}
        if not analysis:
            changes["anti_mirror"] = settings.plays_anti_mirror
        else:
            changes |= {"temperature": 0.0, "temperature_early": 0.0}
            changes["wide_root_noise"] = settings.analysis_noise
        if settings.noisy_root:
            changes["root_temperature_early"] = settings.root_temperature_early
            changes["root_temperature"] = settings.root_temperature
            changes["forced_playouts"] = 0.0
            if not settings.root_noise:
                changes["noise_share"] = 0.0
        return replace(self.engine().params, **changes)

    def advantage_for(self, color: Color) -> float:
        """The advantage in playouts that the network is told a colour has."""
        settings = self.settings
        other = SIDES[settings.advantage_of] is color.opponent
        return -settings.playout_advantage if other else settings.playout_advantage

    def request(
        self,
        position: Position,
        limits: Limits,
        *,
        root: RootOptions | None = None,
        wanted: Wanted | None = None,
        progress_interval: float = 1.0,
        analysis: bool = False,
    ) -> SearchRequest:
        """A search with the settings in force, for playing or for analysis; raises GtpError."""
        from tengen.search.request import RootOptions, SearchRequest, Wanted

        settings = self.settings
        return SearchRequest(
            position,
            limits,
            replace(
                root or RootOptions(symmetry_pruning=settings.symmetry_pruning),
                noisy=settings.noisy_root,
                ignore_history=(
                    settings.analysis_ignore_history if analysis else settings.ignore_history
                ),
                ignore_all_history=settings.ignore_all_history,
                symmetries=settings.symmetries,
                playout_advantage=settings.playout_advantage,
                advantage_of=SIDES[settings.advantage_of],
                human=settings.human,
            ),
            wanted or Wanted(pv_length=settings.pv_length),
            self.params(analysis=analysis),
            progress_interval,
        )

    def search(
        self,
        request: SearchRequest,
        *,
        on_progress: Callable[[SearchResult], None] | None = None,
        until_input: bool = False,
        stoppable: bool = True,
    ) -> SearchResult:
        """Search and wait, until a limit, an interrupt or, if told so, any input; or GtpError.

        A search that is not `stoppable` ends at its limits alone.
        """
        self.warn(request.position)
        task = self._task = self.engine().start(request, on_progress)
        stopping = self.inbox.calling(task.stop, at_any_input=until_input)
        with stopping if stoppable else nullcontext():
            self.last_result = task.result()
        return self.last_result

    def limits_for(self, color: Color, spent: float = 0.0) -> tuple[Limits, float]:
        """The limits for a move, and the seconds that an unsettled search may take beyond them."""
        from tengen.search.request import Limits

        settings, position = self.settings, self.position
        share = self._share_after_passes()
        visits, playouts = (
            None if most is None else math.ceil(most * share)
            for most in (settings.visits, settings.playouts)
        )
        seconds = settings.seconds and max(settings.seconds * share, SHORTEST)
        limits = Limits(visits, playouts, seconds, stop_when_clear=settings.adaptive)
        area, played = position.size.area, position.move_number
        allowed = budget(self.clocks[color], settings.lag, expected_moves_left(area, played))
        if allowed is None:
            return limits, 0.0
        midgame = midgame_share(area, played, settings.midgame_peak, settings.endgame_decay)
        pace = settings.more_time * (1 + midgame * (settings.midgame_time - 1)) * share
        cap = min(seconds or math.inf, allowed.most)
        target, most = min(allowed.target * pace, cap), cap
        seconds = max(target - spent, 0.05 * target, SHORTEST)
        limits = replace(limits, seconds=seconds, stop_when_decided=True)
        return limits, most - max(target, spent)

    def _share_after_passes(self) -> float:
        """The share of the usual visits and time for a move after passes of the opponent."""
        passed = [move.point is None for move in self.position.moves[-3:]]
        if not passed or not passed[-1]:
            return 1.0
        twice = len(passed) == 3 and passed[0]
        return self.settings.after_two_passes if twice else self.settings.after_pass

    def ponder(self) -> None:
        """Search in the opponent's time, if that is wanted, until something changes."""
        if self.level or not self.settings.ponder or self.position.is_over or self.resigned:
            return
        from tengen.search.request import Limits

        settings = self.settings
        limits = Limits(
            settings.ponder_visits or PONDER_VISITS,
            settings.ponder_playouts,
            settings.ponder_seconds or PONDER_SECONDS,
        )
        self._task = self.engine().start(self.request(self.position, limits))

    def rest(self) -> None:
        """End the search under way, and wait for its end."""
        if self._task is not None:
            self._task.stop()
            self._task.future.exception()  # waits; its error was raised to the caller already
            self._task = None

    # The end of a game

    def dead_stones(self) -> frozenset[Point]:
        """The stones that would not survive, as a search sees it; raises GtpError."""
        from tengen.game.scoring import SEARCH_VISITS, dead_stones
        from tengen.search.request import Limits, Wanted

        position = self.position
        if self._dead is None or self._dead[0] is not position:
            last = self.last_result
            limits, wanted = Limits(visits=SEARCH_VISITS), Wanted(ownership=True)
            found = self.search(self.request(anew(position), limits, wanted=wanted))
            self.last_result = last
            self._dead = position, dead_stones(found.position, found.ownership)
        return self._dead[1]

    @property
    def all_stones_count(self) -> bool:
        """Has the game ended under rules that count every stone on the board, dead or not?"""
        from tengen.game.scoring import counts_dead_stones

        return self.position.is_over and counts_dead_stones(self.position.rules)

    def outcome(self) -> Outcome:
        """How the game ended, or would end if it ended here, by the rules; raises GtpError."""
        from tengen.game.outcome import Outcome, Reason

        if self.resigned is not None:
            return Outcome(self.resigned.opponent, None, Reason.RESIGNATION)
        outcome = self.position.outcome()
        if outcome is not None and outcome.reason is Reason.NO_RESULT:
            return outcome
        dead = () if self.all_stones_count else self.dead_stones()
        return self.position.score(dead).outcome(Reason.SCORE)


class Commands:
    """A group of commands of one session."""

    def __init__(self, session: GtpSession) -> None:
        self.session = session


def anew(position: Position, to_play: Color | None = None) -> Position:
    """The board as it stands with no history: no ko, no passes, the game not over."""
    mover = position.to_play if to_play is None else to_play
    return position.set_up(to_play=mover, handicap=position.handicap)


def for_search(position: Position, color: Color) -> Position:
    """The position with this colour to move, in a game that goes on."""
    if position.to_play is color and not position.is_over:
        return position
    return anew(position, color)


def _level(options: GtpOptions) -> Level | None:
    """The level to play as, if one is named; raises ValueError."""
    if options.level is None:
        return None
    from tengen.engine.levels import level_named

    if options.visits is not None or options.seconds is not None:
        raise GtpError("a level has visits of its own; leave out --visits and --seconds, or it")
    return level_named(options.level)


def _report_failure(loading: Future[Engine]) -> None:
    if (error := loading.exception()) is not None:
        note(_loading_error(error))


def _loading_error(error: BaseException) -> str:
    """Why there is no engine, in one line."""
    return " ".join(f"the network cannot be used: {error}".split())
