"""Engine: a network for every game, and all searches with it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypedDict, Unpack

from tengen.closeable import Closeable
from tengen.engine.katago_params import PLAYING
from tengen.engine.levels import (
    FULL,
    WITH_OWNERSHIP,
    Decision,
    Level,
    decide,
    deciding,
    level_named,
)
from tengen.engine.networks import EngineNetworks, Model, opened
from tengen.engine.scheduler import Scheduler
from tengen.engine.search_many import OnDone, requests_for, search_in_order
from tengen.engine.task import KeptTree, Progress, SearchTask
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.backends.registry import AUTO
from tengen.network.cache import EvaluationCache
from tengen.network.evaluator import Evaluation
from tengen.network.files.bundled import BUNDLED
from tengen.network.loaded_network import LoadedNetwork, open_network
from tengen.network.network_data import NetworkData
from tengen.network.trained_on import Unfamiliar
from tengen.search.human_network import check_style
from tengen.search.human_style import HumanStyle
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, Limits, RootOptions, SearchRequest, Wanted
from tengen.search.result import MoveResult, SearchResult
from tengen.user_messages import say


class SearchOptions(TypedDict, total=False):
    """How to search a position; those not given are the defaults of a SearchRequest."""

    visits: int | None
    seconds: float | None
    options: RootOptions
    wanted: Wanted  # ownership, unless given


class Engine(Closeable):
    """Searches positions for any number of owners at a time.

    `submit` takes a `SearchRequest` whole and returns a task; `search`, `search_async`, `stream`
    and `stream_async` wait for it. Searches that pass no tree of their own by `submit` go on with
    the engine's: it remembers its tree from move to move, and a new search in it ends the one
    under way. All methods may be called from any thread. Close it, or use it in a `with` statement.
    """

    def __init__(
        self,
        model: Model = BUNDLED,
        *,
        device: str = AUTO,
        precision: str = AUTO,
        params: SearchParams | None = None,
        leaves: int | None = None,
        seed: int = 0,
        streams: int = 1,
        cache_megabytes: float = 0.0,
        tree_megabytes: float = math.inf,
        max_searches: int | None = None,
        human_model: Model | None = None,
        first_game: Position | None = None,
    ) -> None:
        """A network by its file, its data, or running already; raises what loading it raises.

        Of the bundled networks each game is played by the one that was trained for it; the one for
        the first game is loaded now, by default for 19x19, another when a game needs it.
        The precision is float32, bf16, int8, or what suits the device. Leaves in flight follow the
        device unless given. On a CPU, `streams` batches are computed at
        a time. Evaluations are remembered up to `cache_megabytes`; all trees together take at most
        `tree_megabytes`. An owner has at most `max_searches` searches under way. `human_model` is
        a second network that imitates people; `RootOptions.human` says whom, and how it is used.
        """

        def open_model(model: str | Path | NetworkData) -> LoadedNetwork:
            return open_network(model, device, precision, streams)

        self.human_network = None if human_model is None else opened(human_model, open_model)
        human = None if self.human_network is None else self.human_network.evaluator
        if human is not None and not human.imitates_people:
            say(f"{human.name} does not imitate people; --human-model is for a network that does")
        self.cache = EvaluationCache(cache_megabytes) if cache_megabytes else None
        self._networks = EngineNetworks(
            model, first_game or Position(), open_model, self.cache, human
        )
        self.params = params or SearchParams(**PLAYING)
        self.scheduler = Scheduler(
            self.network.evaluator,
            self.params,
            leaves=leaves,
            seed=seed,
            megabytes=tree_megabytes,
            max_searches=max_searches,
            human=human,
            network_for=lambda position: self.network_for(position).evaluator,
        )
        self.tree = self.new_tree()

    @property
    def network(self) -> LoadedNetwork:
        """The network that was opened first."""
        return self._networks.first

    def network_for(self, position: Position) -> LoadedNetwork:
        """The network that plays a game; loads it if need be, and raises what that raises."""
        return self._networks.for_game(position)

    def name_for(self, position: Position) -> str:
        """The name of the network that plays a game; loads nothing."""
        return self._networks.name_for(position)

    def unfamiliar(self, position: Position) -> Unfamiliar | None:
        """The board or rules of a game that its network was not trained on; None if there is none.

        Its moves and estimates are guesses there: tell people so, and rate nobody by them.
        """
        return self._networks.unfamiliar(position)

    @property
    def name(self) -> str:
        """The name of the network that was opened first."""
        return self.network.evaluator.name

    @property
    def device(self) -> str:
        """Where networks run."""
        return self.network.evaluator.device

    # Any number of searches

    def submit(
        self,
        request: SearchRequest,
        *,
        owner: object = None,
        tree: KeptTree | None = None,
        on_progress: Progress | None = None,
    ) -> SearchTask:
        """Start a search; raises ValueError when closed.

        With a tree it goes on with that one, and ends the search under way in it. `on_progress` is
        called in the engine's thread and must not block.
        """
        task = SearchTask(request, owner or self, on_progress, tree)
        self.scheduler.submit([task])
        return task

    def submit_game(
        self, requests: Sequence[SearchRequest], *, owner: object = None
    ) -> list[SearchTask]:
        """Start a search of each turn of a game; `requests` are in the order of play.

        Each tree walks through a stretch of the game and keeps what it knows from turn to turn.
        """
        tasks = [SearchTask(request, owner or self) for request in requests]
        self.submit_turns(tasks)
        return tasks

    def submit_turns(self, tasks: Sequence[SearchTask]) -> None:
        """As `submit_game`, with tasks made by the caller; raises ValueError when closed."""
        for task, following in pairwise(tasks):
            task.next_turn = following
        if tasks:
            trees = self.scheduler.searches_at_a_time(tasks[0].request.limits.max_visits)
            length = max(1, -(-len(tasks) // trees))
            # The first turns of all stretches, then the last ones, and so on backwards: a tree that
            # has finished its own stretch takes over another one from its end.
            order = (0, *range(length - 1, 0, -1))
            self.scheduler.submit([task for k in order for task in tasks[k::length]])

    @property
    def networks(self) -> tuple[LoadedNetwork, ...]:
        """The networks that are open, and the one beside them that imitates people, if any."""
        human = (self.human_network,) if self.human_network else ()
        return (*self._networks.opened, *human)

    @property
    def imitates_people(self) -> bool:
        """Does one of its networks imitate the people of a profile?"""
        return any(each.evaluator.imitates_people for each in self.networks)

    def check_style(self, style: HumanStyle) -> None:
        """Raise ValueError if a style needs a network that imitates people and none is open."""
        human = None if self.human_network is None else self.human_network.evaluator
        check_style(style, self.network.evaluator, human)

    def evaluate(self, positions: Sequence[Position], profile: str = "") -> Future[Evaluation]:
        """The network's evaluation of positions, without search.

        A network that imitates people imitates those of the profile, such as rank_5k.
        """
        return self.scheduler.evaluate(positions, profile)

    def new_tree(
        self,
        *,
        ownership: bool = True,
        max_visits: int | None = None,
        megabytes: float | None = None,
    ) -> KeptTree:
        """A tree for the searches of one game.

        Where searches are limited to `max_visits`, say so: such trees share kernel calls.
        """
        room = self.params.megabytes if megabytes is None else megabytes
        return KeptTree(self.scheduler, ownership=ownership, max_visits=max_visits, megabytes=room)

    # One search after another, in the engine's own tree

    def start(self, request: SearchRequest, on_progress: Progress | None = None) -> SearchTask:
        """Start a search in the engine's tree, ending the one under way there."""
        return self.submit(request, tree=self.tree, on_progress=on_progress)

    def search(
        self, position: Position | SearchRequest, **options: Unpack[SearchOptions]
    ) -> SearchResult:
        """Search a position and wait for it; without limits a few hundred visits."""
        return self.start(_request(position, **options)).result()

    def search_many(
        self,
        positions: Iterable[Position | SearchRequest],
        *,
        progress: bool | OnDone = False,
        **options: Unpack[SearchOptions],
    ) -> Iterator[SearchResult]:
        """Search positions side by side; results come one by one, in the order of the positions.

        Their searches share the network's batches, and no tree is kept. Positions may be a
        generator: it is read as results are. `progress` shows a bar on stderr, or is called with
        the number of results so far and in all. Leaving the loop ends the searches under way.
        """

        def request(position: Position | SearchRequest) -> SearchRequest:
            return _request(position, **options)

        def at_a_time(request: SearchRequest) -> int:
            return self.scheduler.searches_at_a_time(request.limits.max_visits)

        owner = object()
        return search_in_order(
            lambda request: self.submit(request, owner=owner),
            requests_for(positions, request),
            at_a_time,
            progress,
        )

    async def search_async(
        self, position: Position | SearchRequest, **options: Unpack[SearchOptions]
    ) -> SearchResult:
        """As `search`, for `await`; cancelling it ends the search."""
        return await wait_for(self.start(_request(position, **options)))

    def stream(
        self,
        position: Position | SearchRequest,
        every: float = 0.1,
        **options: Unpack[SearchOptions],
    ) -> Iterator[SearchResult]:
        """Results every so many seconds and at the end; leaving the loop ends the search."""
        reports: SimpleQueue[SearchResult] = SimpleQueue()
        request = _request(position, **options)
        task = self.start(replace(request, progress_interval=every), reports.put)
        try:
            while not task.done:
                try:
                    yield reports.get(timeout=min(every, 0.05))
                except Empty:
                    continue
            yield task.result()
        finally:
            task.stop()

    async def stream_async(
        self,
        position: Position | SearchRequest,
        every: float = 0.1,
        **options: Unpack[SearchOptions],
    ) -> AsyncIterator[SearchResult]:
        """As `stream`, for `async for`."""
        loop = asyncio.get_running_loop()
        reports: asyncio.Queue[SearchResult] = asyncio.Queue()

        def report(result: SearchResult) -> None:
            loop.call_soon_threadsafe(reports.put_nowait, result)

        request = _request(position, **options)
        task = self.start(replace(request, progress_interval=every), report)
        end = asyncio.ensure_future(asyncio.wrap_future(task.future))
        try:
            while not end.done():
                next_report = asyncio.ensure_future(reports.get())
                await asyncio.wait({next_report, end}, return_when=asyncio.FIRST_COMPLETED)
                if next_report.done():
                    yield next_report.result()
                else:
                    next_report.cancel()
            yield await end
        finally:
            task.stop()

    def genmove(self, position: Position, level: str | Level = FULL, seed: int = 0) -> Decision:
        """What a level of strength does in a position: a move, a pass or resignation.

        The same seed makes the same choice. Raises ValueError for an unknown level, and when the
        game is over.
        """
        named = level_named(level) if isinstance(level, str) else level
        return decide(position, named, seed, self.search)

    async def decide_async(
        self,
        position: Position,
        level: Level,
        seed: int,
        *,
        seconds: float | None = None,
        owner: object = None,
    ) -> Decision:
        """As `genmove`, for `await`, in trees of its own that share batches with other owners'.

        Each search takes at most so many seconds. Cancelling it ends the search under way.
        """
        steps = deciding(position, level, seed, seconds=seconds, wanted=Wanted())
        try:
            request = next(steps)
            while True:
                request = steps.send(await wait_for(self.submit(request, owner=owner)))
        except StopIteration as end:
            decision: Decision = end.value
            return decision

    def stop(self) -> None:
        """End the search under way in the engine's tree."""
        self.tree.stop()

    def set_params(self, **changes: float | bool) -> None:
        """Search with other parameters from now on; raises ValueError for what cannot be.

        Ends the search under way. The tree is kept where it can go on with them.
        """
        try:
            params = replace(self.params, **changes)  # type: ignore[arg-type]
        except TypeError as error:
            raise ValueError(str(error)) from None
        self.stop()
        self.params = self.scheduler.params = params

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from the position searched last, and the moves tried there.

        Raises ValueError for a line that is not legal, or before any search.
        """
        return self.tree.moves_after(branch, wanted)

    def clear(self) -> None:
        """Forget the tree and all remembered evaluations; ends the search under way."""
        self.tree.clear()
        if self.cache is not None:
            self.cache.clear()

    def free_memory(self) -> None:
        """As `clear`; also free idle trees and compiled graphs, which can be made again."""
        self.clear()
        self.scheduler.free_memory([network.evaluator for network in self.networks])

    def close(self) -> None:
        """End all searches and the thread."""
        self.scheduler.close()


async def wait_for(task: SearchTask) -> SearchResult:
    """Await a task; cancelling that ends its search."""
    try:
        return await asyncio.wrap_future(task.future)
    except asyncio.CancelledError:
        task.stop()
        raise


def _request(
    position: Position | SearchRequest,
    visits: int | None = None,
    seconds: float | None = None,
    options: RootOptions = ROOT_DEFAULTS,
    wanted: Wanted = WITH_OWNERSHIP,
) -> SearchRequest:
    if isinstance(position, SearchRequest):
        return position
    return SearchRequest(position, Limits(visits=visits, seconds=seconds), options, wanted)
