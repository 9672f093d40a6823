"""A review: what each move of a game lost against the best that the search found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import NamedTuple

from tengen.engine.engine import Engine
from tengen.engine.task import SearchTask
from tengen.game.color import Color
from tengen.game.geometry import Point
from tengen.game.illegal_moves import GameOverError, IllegalMoveError, OccupiedError
from tengen.game.outcome import Reason
from tengen.game.position import Position
from tengen.game.rules import Scoring
from tengen.game.sgf.records import SgfError, SgfGame
from tengen.network.trained_on import Unfamiliar
from tengen.search.request import CANCELLED, Limits, SearchRequest, Wanted
from tengen.search.result import Judgement, SearchResult

DEFAULT_VISITS = 100
MISTAKE = 1.0  # points lost from which on a move is one
LINE = Wanted(pv_length=12)
CANDIDATE_VISITS, CANDIDATE_SHARE = 3, 0.02  # from which on a search looked at a move
POLL_SECONDS = 0.05  # between two looks at whether a review is to stop


class Turn(NamedTuple):
    """A move as it was played; `move` is None for a pass."""

    number: int  # of the move, from 1
    node: int  # place of its node in the main line; the root is 0
    color: Color
    move: Point | None
    before: Position  # with the mover to play
    after: Position


class MainLine(NamedTuple):
    """The moves that can be reviewed, and why they end before the record does."""

    turns: tuple[Turn, ...]
    broken_off: str  # what is wrong with the move after the last turn; "" if nothing is
    illegal: str = ""  # the same in a word, of a move that is not legal


class Standing(NamedTuple):
    """How a game stands for Black."""

    winrate: float  # from 0 to 1; a draw counts half
    lead: float  # points that Black is ahead

    def rounded(self) -> dict[str, float]:
        """Its values as pages show them."""
        return {"winrate": round(self.winrate, 4), "lead": round(self.lead, 2)}


# What a move seems to lose at first that has its better searched, too: either of them.
WORTH_A_SECOND_LOOK = Standing(winrate=0.05, lead=0.5)


class Candidate(NamedTuple):
    """A move that the search of a position looked at; None is a pass."""

    move: Point | None
    points_lost: float  # 0 or more, against the best one


class TurnReview(NamedTuple):
    """The judgement of one move; None stands for a pass."""

    number: int  # of the move, from 1
    node: int  # place of its node in the main line; the root is 0
    color: Color
    move: Point | None
    best: Point | None
    points_lost: float  # 0 or more
    winrate_lost: float  # 0 or more, of the side that moved
    before: Standing  # as the search of the position had it
    after: Standing  # after the move played
    better: Standing  # after the best move; points lost lie between this and `after`
    line: tuple[Point | None, ...]  # expected after the best move, which comes first
    visits: int  # of each search
    candidates: tuple[Candidate, ...]  # the moves that the search looked at, the best first

    @property
    def is_mistake(self) -> bool:
        """Did it lose so much that it cannot be chance?"""
        return self.points_lost >= MISTAKE


class SideReview(NamedTuple):
    """How one side played."""

    moves: int
    # Of 100 moves, how many were no mistakes; None without any move, or without grounds to say.
    accuracy: float | None
    mean_loss: float  # points a move
    mistakes: tuple[TurnReview, ...]  # the worst first


@dataclass(frozen=True)
class GameReview:
    """The judgement of the moves of a game."""

    turns: tuple[TurnReview, ...]  # in order; without those that were not searched
    black: SideReview
    white: SideReview
    network: str  # that judged the moves
    visits: int  # of each position
    missing: int  # moves that were not searched because the review was stopped
    unchecked: int  # moves whose loss is a first estimate, for the same reason
    broken_off: str  # what is wrong with the move after the last; "" if nothing is
    unfamiliar: Unfamiliar | None = None  # why nobody is rated by this network
    illegal: str = ""  # why the move after the last is not legal, in a word

    def __repr__(self) -> str:
        mistakes = len(self.black.mistakes) + len(self.white.mistakes)
        return f"<GameReview of {len(self.turns)} moves, {mistakes} mistakes, by {self.network}>"

    def side(self, color: Color) -> SideReview:
        """How a colour played."""
        return self.black if color is Color.BLACK else self.white


class Searched(NamedTuple):
    """A position of the review has been searched."""

    done: int  # positions so far
    total: int  # it grows once, when moves are known that deserve a second look
    node: int | None  # the position is the one after this node of the main line; None: off it
    standing: Standing


def main_line(game: SgfGame) -> MainLine:
    """The moves of the main line, up to the first that the rules do not allow.

    Passes after the end of the game are left out. Raises SgfError if there is nothing to review.
    """
    turns: list[Turn] = []
    broken_off = illegal = ""
    node, position = 0, None
    try:
        for node, reached in enumerate(game.positions()):
            turns += _turns_of_node(position, reached, node, len(turns) + 1)
            position = reached
    except IllegalMoveError as error:
        broken_off = f"move {len(turns) + 1}, {error.color} {error.move}: {error.why}"
        illegal = error.reason
    except SgfError as error:
        if not turns:
            raise
        broken_off = f"move {len(turns) + 1}: {error.reason}"
    if not turns:
        raise SgfError(game.source, 0, broken_off or "there are no moves to review")
    return MainLine(tuple(turns), broken_off, illegal)


def _turns_of_node(
    earlier: Position | None, reached: Position, node: int, number: int
) -> list[Turn]:
    """The moves of one node, one as a rule; raises IllegalMoveError.

    The SGF reader accepts illegal moves: for a stone on an occupied point it removes the old one
    first, which must be found out here.
    """
    steps = [reached]
    while steps[-1] is not earlier and steps[-1].previous is not None:
        steps.append(steps[-1].previous)
    turns: list[Turn] = []
    for before, after in zip(steps[:0:-1], steps[-2::-1], strict=True):
        if after.move_number <= before.move_number or after.last_move is None:
            continue  # stones were set up
        color, point = after.last_move
        cleared_from = before.previous if before is not steps[-1] else None
        if point is not None and cleared_from is not None and cleared_from.at(point) is not None:
            raise OccupiedError(before.text(point), color, number)
        try:
            before.play(point, color)
        except GameOverError:
            if point is not None:
                raise
            continue
        if before.to_play is not color:
            before = before.set_up(to_play=color, handicap=before.handicap)
        turns.append(Turn(number + len(turns), node, color, point, before, after))
    return turns


def review_game(
    engine: Engine,
    game: SgfGame,
    visits: int = DEFAULT_VISITS,
    on_turn: Callable[[Searched], object] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
    owner: object = None,
) -> GameReview:
    """Search every position of the main line and compare each move with the best one there.

    Both moves are judged by a search of the position after them. A move that the search would
    have played loses nothing, whatever other searches say. Stopped early, the review has the
    moves that are known by then. A network that was not trained for the game rates nobody. Raises
    SgfError if there is nothing to review.
    """
    line = main_line(game)
    start = line.turns[0].before
    unfamiliar = engine.unfamiliar(start)
    searches = _Searches(engine, visits, on_turn, stopped, owner)
    positions = {id(turn.after): (turn.node, turn.after) for turn in line.turns}
    for turn in reversed(line.turns):
        positions.setdefault(id(turn.before), (turn.node - 1, turn.before))
    in_order = sorted(positions.values(), key=lambda each: each[0])
    # A root may hold a move; the position before it has no node.
    searches.run([(node if node >= 0 else None, position) for node, position in in_order])
    judged = [
        turn for turn in line.turns if searches.knows(turn.before) and searches.knows(turn.after)
    ]
    alternatives = {
        turn.number: turn.before.play(searches.results[id(turn.before)].move)
        for turn in judged
        if _seems_to_lose(searches, turn)
    }
    searches.run([(None, position) for position in alternatives.values()])
    turns = tuple(_judged(searches, turn, alternatives.get(turn.number)) for turn in judged)
    return GameReview(
        turns=turns,
        black=_side(turns, Color.BLACK, rated=unfamiliar is None),
        white=_side(turns, Color.WHITE, rated=unfamiliar is None),
        network=engine.name_for(start),
        visits=visits,
        missing=len(line.turns) - len(turns),
        unchecked=sum(not searches.knows(position) for position in alternatives.values()),
        broken_off=line.broken_off,
        unfamiliar=unfamiliar,
        illegal=line.illegal,
    )


class _Searches:
    """The searches of a review, by the identity of their positions."""

    def __init__(
        self,
        engine: Engine,
        visits: int,
        on_turn: Callable[[Searched], object],
        stopped: Callable[[], bool],
        owner: object,
    ) -> None:
        self._engine, self._owner = engine, owner
        self._limits = Limits(visits=max(2, visits))
        self._on_turn, self._stopped = on_turn, stopped
        self._done = self._total = 0
        self.results: dict[int, SearchResult] = {}
        self.standings: dict[int, Standing] = {}

    def knows(self, position: Position) -> bool:
        """Is it known how this position stands?"""
        return id(position) in self.standings

    def run(self, positions: Sequence[tuple[int | None, Position]]) -> None:
        """Search positions by their nodes, together; the ends of games need no search."""
        self._total += len(positions)
        for node, position in positions:
            if position.is_over:
                self._note(node, position, _final(self._engine, position))
        going_on = [(node, position) for node, position in positions if not position.is_over]
        if not going_on or self._stopped():
            return
        requests = [SearchRequest(each, self._limits, wanted=LINE) for _, each in going_on]
        for k, result in self._finished(self._engine.submit_game(requests, owner=self._owner)):
            node, position = going_on[k]
            self.results[id(position)] = result
            self._note(node, position, standing_of(result, result.position.to_play))

    def _note(self, node: int | None, position: Position, standing: Standing) -> None:
        self.standings[id(position)] = standing
        self._done += 1
        self._on_turn(Searched(self._done, self._total, node, standing))

    def _finished(self, tasks: list[SearchTask]) -> Iterator[tuple[int, SearchResult]]:
        """The tasks as they finish, by their number; those that are stopped before are left out."""
        finished: SimpleQueue[int] = SimpleQueue()
        for k, task in enumerate(tasks):
            task.future.add_done_callback(lambda _, k=k: finished.put(k))  # type: ignore[misc]
        left = len(tasks)
        try:
            while left and not self._stopped():
                try:
                    k = finished.get(timeout=POLL_SECONDS)
                except Empty:
                    continue
                left -= 1
                result = tasks[k].result()
                if result.stopped_by != CANCELLED:
                    yield k, result
        finally:
            for task in tasks:
                task.cancel()


def for_black(winrate: float, lead: float, color: Color) -> Standing:
    """How a game stands that stands so for a colour."""
    return Standing(winrate, lead) if color is Color.BLACK else Standing(1 - winrate, -lead)


def standing_of(judgement: Judgement, to_play: Color) -> Standing:
    """How a game stands by a judgement for the side to play."""
    return for_black(judgement.winrate, judgement.lead, to_play)


def _final(engine: Engine, position: Position) -> Standing:
    """How the end of a game stands; where players agree on dead stones, the network judges."""
    outcome, rules = position.outcome(), position.rules
    if outcome is None or outcome.reason is Reason.NO_RESULT:
        return Standing(0.5, 0.0)
    if rules.scoring is Scoring.TERRITORY or rules.friendly_pass:
        evaluation = engine.evaluate([position]).result()
        win, loss, _ = evaluation.value[0].tolist()
        return for_black((1 + win - loss) / 2, float(evaluation.lead[0]), position.to_play)
    if outcome.winner is None:
        return Standing(0.5, 0.0)
    return for_black(1.0, outcome.margin or 0.0, outcome.winner)


def _loss(color: Color, best: Standing, played: Standing) -> Standing:
    """What the mover lost: win rate and points, negative where the move was better."""
    sign = 1 if color is Color.BLACK else -1
    return Standing(sign * (best.winrate - played.winrate), sign * (best.lead - played.lead))


def _seems_to_lose(searches: _Searches, turn: Turn) -> bool:
    """Does the search of the position before it think so little of a move?"""
    search = searches.results[id(turn.before)]
    if search.move == turn.move or not search.moves:
        return False
    best = standing_of(search.moves[0], turn.color)
    loss = _loss(turn.color, best, searches.standings[id(turn.after)])
    return any(lost >= worth for lost, worth in zip(loss, WORTH_A_SECOND_LOOK, strict=True))


def _judged(searches: _Searches, turn: Turn, alternative: Position | None) -> TurnReview:
    search = searches.results[id(turn.before)]
    after = searches.standings[id(turn.after)]
    line = search.pv or (search.move,)
    if search.move == turn.move:
        better = after
    elif alternative is not None and searches.knows(alternative):
        better = searches.standings[id(alternative)]
        answers = searches.results.get(id(alternative))
        line = (search.move, *(answers.pv if answers else ()))[: LINE.pv_length]
    else:
        better = standing_of(search.moves[0] if search.moves else search, turn.color)
    loss = _loss(turn.color, better, after)
    return TurnReview(
        number=turn.number,
        node=turn.node,
        color=turn.color,
        move=turn.move,
        best=search.move,
        points_lost=max(0.0, loss.lead),
        winrate_lost=max(0.0, loss.winrate),
        before=standing_of(search, turn.color),
        after=after,
        better=better,
        line=line,
        visits=search.visits,
        candidates=_candidates(search, turn.move, max(0.0, loss.lead)),
    )


def _candidates(
    search: SearchResult, played: Point | None, points_lost: float
) -> tuple[Candidate, ...]:
    """The moves that were looked at enough to say what they lose."""
    if not search.moves:
        return ()
    least, best = max(CANDIDATE_VISITS, CANDIDATE_SHARE * search.visits), search.moves[0]
    looked_at = [each for each in search.moves if each.visits >= least or each is best]
    losses = {each.move: max(0.0, best.lead - each.lead) for each in looked_at}
    losses[played] = points_lost  # by a search of its own
    by_loss = sorted(losses.items(), key=lambda each: (each[0] != best.move, each[1]))
    return tuple(Candidate(move, lost) for move, lost in by_loss)


def _side(turns: Iterable[TurnReview], color: Color, *, rated: bool) -> SideReview:
    own = [turn for turn in turns if turn.color is color]
    mistakes = [turn for turn in own if turn.is_mistake]
    return SideReview(
        moves=len(own),
        accuracy=100 * (1 - len(mistakes) / len(own)) if own and rated else None,
        mean_loss=sum(turn.points_lost for turn in own) / len(own) if own else 0.0,
        mistakes=tuple(sorted(mistakes, key=lambda turn: (-turn.points_lost, turn.number))),
    )
