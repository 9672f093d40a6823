"""One deep search: a tree, a network, and when to stop."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tengen.game.color import Color
from tengen.game.geometry import Point, Symmetry, point_index, symmetry_points
from tengen.game.kernels.moves import PASS
from tengen.game.kernels.point_sets import words_for
from tengen.game.position import Position
from tengen.network.evaluator import Evaluator
from tengen.search.driver import ENDLESS, Driver, InFlight
from tengen.search.kernels.forest import (
    EDGE,
    EXPANDED,
    MAX_DEPTH,
    NODE,
    Forest,
    new_forest,
    tree_bytes,
)
from tengen.search.kernels.reuse import advance, children_by_visits, compact, recenter_utility
from tengen.search.kernels.root import play_weights, prepare_root
from tengen.search.params import Limits, SearchParams
from tengen.search.result import (
    MoveResult,
    SearchResult,
    Start,
    Wanted,
    child_by,
    edges_of,
    read_moves_below,
    read_result,
    start_of,
)
from tengen.search.uncertainty import UncertaintyTable
from tengen.user_messages import say

# Reported reasons to stop.
VISITS, PLAYOUTS, TIME = "visits", "playouts", "time"
CANCELLED, DECIDED, OVER = "cancelled", "decided", "game over"
RUNNING = "running"

_MOVES_AHEAD = 2048  # room in a history before the forest has to be made anew
_SHARE_OF_LEGAL_MOVES = 0.85  # on average over a tree, of the board's area
_PIPELINE_FROM = 32  # networks that want batches this large get a second one under way
_MARGIN = 1.5  # by which a batch may be slower than those before it
_FORGETTING = 0.9  # how much of the slowest batch is remembered from batch to batch
_CLEAR = 0.5  # of the best move's visits, which another cannot reach any more
# Parameters that a tree can go on with: they choose among its moves, or make its values anew. The
# others are in its priors, its weights or its memory.
_TREE_GOES_ON = {
    *("exploration", "exploration_log", "exploration_base"),
    *("stdev_scale", "stdev_prior", "stdev_prior_weight"),
    *("fpu_reduction", "root_fpu_reduction", "fpu_trusts_tried", "virtual_loss"),
    *("static_score", "dynamic_score", "score_scale", "centre_to_zero", "value_weight"),
    *("temperature", "temperature_early", "temperature_halflife", "lcb_stdevs", "lcb_least"),
}


class Avoid(NamedTuple):
    """A move that a colour is not to think of, in the first `depth` moves of a line."""

    color: Color
    move: Point | None
    depth: int = 1


@dataclass(frozen=True)
class RootOptions:
    """What is asked of the root."""

    noisy: bool = False  # Dirichlet noise, root temperature and forced playouts
    gumbel: int = 0  # moves that a Gumbel root considers; 0: no Gumbel root
    avoid: tuple[Avoid, ...] = ()
    symmetry_pruning: bool = False  # search only one of moves that are mirror images
    fresh: bool = False  # begin without a tree, whatever is known already


ROOT_DEFAULTS = RootOptions()


def allow_only(position: Position, moves: Iterable[Point | None], depth: int = 1) -> RootOptions:
    """Root options that leave the side to play these moves alone."""
    allowed = set(moves)
    everywhere = [Point(x, y) for y in range(position.height) for x in range(position.width)]
    return RootOptions(
        avoid=tuple(
            Avoid(position.to_play, move, depth)
            for move in (*everywhere, None)
            if move not in allowed
        )
    )


class Search:
    """A search that keeps its tree from move to move.

    `run` belongs to one thread at a time. `result` and `set_position` may be called from any: a
    search under way ends within one batch when the position is changed.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        params: SearchParams | None = None,
        *,
        seed: int = 0,
        ownership: bool = True,
        leaves: int | None = None,
    ) -> None:
        """Leaves in flight follow the evaluator's best batch unless given."""
        self.evaluator = evaluator
        self.params = params or SearchParams()
        self._seed, self._ownership = seed, ownership
        self._most_leaves = leaves or evaluator.best_batch
        self._lock = threading.RLock()  # held while the tree is looked at or changed
        self._running = threading.Lock()  # held by the thread that searches
        self._interrupts = 0  # threads that want the tree for themselves
        self._position: Position | None = None
        self._options = ROOT_DEFAULTS
        self._driver: Driver | None = None
        self._uncertainty = UncertaintyTable()
        self._start = Start(time.monotonic(), 0, 0, 0)
        self._said_full = False
        self._slowest = 0.0  # seconds that a batch took lately

    # The position

    @property
    def position(self) -> Position | None:
        """Where it stands."""
        return self._position

    def set_position(self, position: Position, options: RootOptions = ROOT_DEFAULTS) -> None:
        """Stand at a position; what the tree knows of it is kept. Ends a search under way."""
        with self._interrupted():
            if not self._follow(position, options):
                self._plant(position, options)
            self._position, self._options = position, options
            assert self._driver is not None
            self._start = start_of(self._driver.forest, 0)

    def forget(self) -> None:
        """Drop the tree; ends a search under way."""
        with self._interrupted():
            self._driver = self._position = None

    def set_params(self, params: SearchParams) -> None:
        """Search with other parameters; the tree goes on if it can. Ends a search under way."""
        with self._interrupted():
            old, self.params = self.params, params
            changed = {name for name, value in vars(params).items() if value != vars(old)[name]}
            driver = self._driver
            if driver is None or not changed:
                return
            if not changed <= _TREE_GOES_ON:
                self._driver = self._position = None
                return
            driver.set_params(params)
            if self._visits(driver):
                recenter_utility(driver.forest, 0, driver.settings)

    @contextmanager
    def _interrupted(self) -> Iterator[None]:
        """Hold the tree, after ending a search under way."""
        with self._lock:
            self._interrupts += 1
        try:
            with self._running, self._lock:
                yield
        finally:
            with self._lock:
                self._interrupts -= 1

    def _follow(self, position: Position, options: RootOptions) -> bool:
        """Go to a position along the tree, if it continues the game that the tree is about."""
        before, driver = self._position, self._driver
        anew = options.gumbel or options.fresh or options != self._options
        if before is None or driver is None or anew:
            return False
        if options.avoid or options.symmetry_pruning:
            return moves_between(before, position) == []
        moves = moves_between(before, position)
        if moves is None or position.move_number + MAX_DEPTH >= driver.forest.histories.shape[1]:
            return False
        forest = driver.forest
        for move in moves:
            point = PASS if move is None else point_index(move, position.width)
            room = np.zeros((2, forest.node_room), np.int32)
            advance(forest, 0, point, room[0], room[1])
        driver.look_back(0, position)
        if moves and forest.nodes[forest.trees[0]["root"]]["visits"]:
            recenter_utility(forest, 0, driver.settings)
        return True

    def _plant(self, position: Position, options: RootOptions) -> None:
        """Start a new tree."""
        driver = self._driver
        before = self._position
        if (
            driver is None
            or before is None
            or before.size != position.size
            or position.move_number + MAX_DEPTH >= driver.forest.histories.shape[1]
        ):
            forest = self._new_forest(position)
            driver = Driver(self.evaluator, self.params, forest, self._most_leaves)
            self._driver = driver
        driver.place(0, position, self._seed)
        self._uncertainty.clear()
        self._apply(driver.forest, position, options)

    def _new_forest(self, position: Position) -> Forest:
        area = position.size.area
        ladders = self.evaluator.features.sees_ladders
        candidates = int(_SHARE_OF_LEGAL_MOVES * area) + 2
        node = NODE.itemsize + EDGE.itemsize + 10  # and its place in the table
        node += 8 * words_for(area) * ladders + area * self._ownership + 4 * candidates
        room = max(2 * (area + 2), int(self.params.megabytes * 1e6 / node))  # the root's moves fit
        return new_forest(
            1,
            area,
            node_room=room,
            candidate_room=room * candidates + area + 2,
            moves=position.move_number + _MOVES_AHEAD + MAX_DEPTH,
            ladders=ladders,
            ownership=self._ownership,
        )

    def _apply(self, forest: Forest, position: Position, options: RootOptions) -> None:
        tree = forest.trees[0]
        tree["noisy"] = options.noisy
        tree["forced"] = self.params.forced_playouts if options.noisy else 0
        tree["gumbel"] = options.gumbel
        tree["leaves"] = self._most_leaves
        avoid = [*options.avoid, *_mirrored(position, options)]
        tree["avoids"] = bool(avoid)
        forest.avoid[0] = 0
        for color, move, depth in avoid:
            point = PASS if move is None else point_index(move, position.width)
            forest.avoid[0, color, point] = max(forest.avoid[0, color, point], min(depth, 255))

    # Searching

    def run(
        self,
        limits: Limits | None = None,
        *,
        wanted: Wanted | None = None,
        stop: threading.Event | None = None,
        on_progress: Callable[[SearchResult], None] | None = None,
        every: float = 0.1,
    ) -> SearchResult:
        """Search the position until a limit is reached; raises ValueError without a position.

        Another thread ends it within one batch by setting `stop`. `on_progress` gets a result each
        `every` seconds, in the thread that searches.
        """
        stop = stop or threading.Event()
        with self._running:
            try:
                return self._run(limits or Limits(), wanted or Wanted(), stop, on_progress, every)
            except BaseException:
                self._start_afresh()
                raise

    def _start_afresh(self) -> None:
        """After a failure leaves may wait for ever: only a new tree is sound."""
        with self._lock:
            self._driver = None
            if self._position is not None:
                self._plant(self._position, self._options)

    def _run(
        self,
        limits: Limits,
        wanted: Wanted,
        stop: threading.Event,
        on_progress: Callable[[SearchResult], None] | None,
        every: float,
    ) -> SearchResult:
        driver, position = self._driver, self._position
        if driver is None or position is None:
            raise ValueError("there is no position to search: set one first")
        if position.is_over:
            return self.result(wanted, OVER)
        self._begin(driver, limits)
        under_way: deque[InFlight] = deque()
        most = 2 if self._most_leaves >= _PIPELINE_FROM else 1
        next_report = self._start.time + every
        while (reason := self._why_stop(driver, limits, stop)) is None:
            began = time.monotonic()
            with self._lock:
                self._make_room(driver, under_way)
                under_way.append(driver.start_range(0, 1))
            while len(under_way) >= most or (under_way and under_way[0].pending is None):
                self._land(driver, under_way)
            self._slowest = max(time.monotonic() - began, _FORGETTING * self._slowest)
            if on_progress and time.monotonic() >= next_report:
                on_progress(self.result(wanted))
                next_report = time.monotonic() + every
        while under_way:
            self._land(driver, under_way)
        return self.result(wanted, reason)

    def _begin(self, driver: Driver, limits: Limits) -> None:
        with self._lock:
            tree = driver.forest.trees[0]
            visits = self._visits(driver)
            self._start = start_of(driver.forest, 0)
            self._slowest = 0.0
            most = limits.most_visits
            if limits.playouts is not None:
                most = min(most, visits + limits.playouts)
            tree["target"] = int(min(most, ENDLESS))
            self._prepare(driver)

    def _prepare(self, driver: Driver) -> None:
        tree = driver.forest.trees[0]
        if driver.forest.nodes[tree["root"]]["status"] == EXPANDED and not tree["prepared"]:
            prepare_root(driver.forest, 0, driver.settings)

    def _why_stop(self, driver: Driver, limits: Limits, stop: threading.Event) -> str | None:
        """The limit that is reached, or None."""
        tree = driver.forest.trees[0]
        if stop.is_set() or self._interrupts:
            return CANCELLED
        visits = self._visits(driver)
        if visits >= tree["target"]:
            return VISITS if visits >= limits.most_visits else PLAYOUTS
        spent = time.monotonic() - self._start.time
        if limits.seconds is not None and spent + _MARGIN * self._slowest >= limits.seconds:
            return TIME  # one more batch might end too late
        if limits.stop_when_decided or limits.stop_when_clear:
            return DECIDED if self._decided(driver, limits, visits, spent) else None
        return None

    def _decided(self, driver: Driver, limits: Limits, visits: int, spent: float) -> bool:
        """Could the visits that are left not let another move be chosen?

        Where lower bounds choose, that is any move with `lcb_least` of the most visits. It is clear
        enough that they will not if the best move by now is far ahead in visits, too.
        """
        left = float(driver.forest.trees[0]["target"]) - visits
        if limits.seconds is not None and spent > 0:
            rate = (visits - self._start.visits) / spent
            left = min(left, rate * (limits.seconds - spent))
        counts = [int(edge["visits"]) for edge in edges_of(driver.forest, self._root(driver))]
        if not counts:
            return False
        second, most = sorted([0, *counts])[-2:]
        least = self.params.lcb_least if self.params.lcb_stdevs else 1.0
        if second + left < least * most:
            return True
        if not limits.stop_when_clear or second + left >= _CLEAR * most:
            return False
        weights = np.zeros(len(counts), np.float32)
        return counts[play_weights(driver.forest, 0, driver.settings, weights)] == most

    def _land(self, driver: Driver, under_way: deque[InFlight]) -> None:
        """Wait for the oldest leaves and take them in."""
        flight = under_way.popleft()
        evaluation = flight.wait()  # the lock is free while the network works
        with self._lock:
            if evaluation is not None:
                self._uncertainty.note(flight.rows.paths[: flight.ends[-1]], evaluation)
            driver.finish(flight)
            self._prepare(driver)

    def _make_room(self, driver: Driver, under_way: deque[InFlight]) -> None:
        """Give up the thinnest branches when the pools are full."""
        forest = driver.forest
        if not forest.trees[0]["full"]:
            return
        while under_way:
            self._land(driver, under_way)
        if not self._said_full:
            self._said_full = True
            used = tree_bytes(forest, forest.trees[0]) / 1e6
            say(
                f"the search tree fills its {used:.0f} MB at {self._visits(driver):,} visits; "
                "from now on its least visited branches are given up (more: megabytes)"
            )
        room = np.zeros((2, forest.node_room), np.int32)
        compact(forest, 0, _visits_to_keep(forest), room[0], room[1])

    def _visits(self, driver: Driver) -> int:
        return int(driver.forest.nodes[self._root(driver)]["visits"])

    def _root(self, driver: Driver) -> int:
        return int(driver.forest.trees[0]["root"])

    # Results

    def result(self, wanted: Wanted | None = None, reason: str = RUNNING) -> SearchResult:
        """What is known now; raises ValueError without a position."""
        wanted = wanted or Wanted()
        with self._lock:
            driver, position = self._driver, self._position
            if driver is None or position is None:
                raise ValueError("there is no position to search: set one first")
            wanted = wanted.within(ownership=self._ownership)
            result = read_result(
                driver.forest, 0, driver.settings, position, wanted, self._start, reason
            )
            uncertainty = self._uncertainty.of(int(driver.forest.nodes[self._root(driver)]["key"]))
            moves = result.moves
            if self._options.symmetry_pruning:
                moves = _with_mirror_images(moves, position, _unwanted(position, self._options))
            return replace(result, moves=moves, raw=replace(result.raw, uncertainty=uncertainty))

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from where it stands, and the moves tried there; none off the tree.

        Raises ValueError for a line that is not legal, or without a position.
        """
        with self._lock:
            driver, position = self._driver, self._position
            if driver is None or position is None:
                raise ValueError("there is no position to search: set one first")
            forest = driver.forest
            index: int | None = int(forest.trees[0]["root"])
            for move in branch:
                position = position.play(move)
                if index is not None:
                    index = child_by(forest, index, move, position.width)
            if index is None:
                return position, ()
            wanted = wanted or Wanted()
            return position, read_moves_below(forest, index, driver.settings, position, wanted)


def moves_between(before: Position, after: Position) -> list[Point | None] | None:
    """The moves that lead from one position to a later one of the same game, or None."""
    moves: list[Point | None] = []
    position = after
    while position.move_number > before.move_number and position.last_move is not None:
        if position.previous is None or position.previous.to_play is not position.last_move.color:
            return None
        moves.append(position.last_move.point)
        position = position.previous
    same = (
        position.move_number == before.move_number
        and position == before
        and position.moves == before.moves
        and position.move_limit == before.move_limit
    )
    return moves[::-1] if same else None


def _visits_to_keep(forest: Forest) -> int:
    """The visits below which subtrees are given up so that about half of the nodes stay."""
    children = np.zeros(32, np.int64)
    children_by_visits(forest, 0, children)
    kept = children[::-1].cumsum()[::-1]
    enough = np.flatnonzero(kept <= forest.node_room // 2)
    return 1 << max(1, int(enough[0]))


def _symmetries_of(position: Position) -> list[Symmetry]:
    """The symmetries that leave the position as it is, the trivial one left out."""
    return [
        symmetry
        for symmetry in Symmetry
        if symmetry is not Symmetry.IDENTITY
        and symmetry.size(position.size) == position.size
        and position.transformed(symmetry) == position
    ]


def _images(point: Point, symmetries: list[Symmetry], position: Position) -> set[Point]:
    return {symmetry.point(point, position.size) for symmetry in symmetries} - {point}


def _unwanted(position: Position, options: RootOptions) -> set[Point | None]:
    """The moves that the side to play was told to avoid now."""
    return {each.move for each in options.avoid if each.color is position.to_play}


def _mirrored(position: Position, options: RootOptions) -> list[Avoid]:
    """The moves that are mirror images of others, all but one of each kind."""
    if not options.symmetry_pruning:
        return []
    symmetries = _symmetries_of(position)
    unwanted = _unwanted(position, options)
    kept: set[Point] = set()
    avoid = []
    for point in position.legal_moves():
        if point in unwanted:
            continue
        if _images(point, symmetries, position) & kept:
            avoid.append(Avoid(position.to_play, point))
        else:
            kept.add(point)
    return avoid


def _with_mirror_images(
    moves: tuple[MoveResult, ...], position: Position, unwanted: set[Point | None]
) -> tuple[MoveResult, ...]:
    """The moves with those added that were not searched because they are mirror images."""
    symmetries = _symmetries_of(position)
    shown = []
    for each in moves:
        shown.append(each)
        if each.move is not None:
            images = {symmetry.point(each.move, position.size): symmetry for symmetry in symmetries}
            shown.extend(
                _image(each, symmetry, position)
                for point, symmetry in sorted(images.items())
                if point != each.move and point not in unwanted
            )
    return tuple(replace(move, order=i) for i, move in enumerate(shown))


def _image(move: MoveResult, symmetry: Symmetry, position: Position) -> MoveResult:
    """What was found of a move, as it looks from its mirror image."""
    line = tuple(None if p is None else symmetry.point(p, position.size) for p in move.pv)
    places = symmetry_points(symmetry, position.size)
    ownership, stdev = (
        None if each is None else each.ravel()[places].reshape(each.shape)
        for each in (move.ownership, move.ownership_stdev)
    )
    return replace(
        move,
        move=line[0],
        symmetry_of=move.move,
        pv=line,
        ownership=ownership,
        ownership_stdev=stdev,
    )
