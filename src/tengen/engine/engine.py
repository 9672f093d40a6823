"""Engine: a network, a search and a thread for it. What every front end talks to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue

from tengen.closeable import Closeable
from tengen.engine.levels import FULL, Decision, Level, choose, level_named
from tengen.game.geometry import Point
from tengen.game.position import Position
from tengen.network.backends.registry import AUTO, open_evaluator
from tengen.network.data import NetworkData
from tengen.network.evaluator import Evaluator
from tengen.network.files.bundled import BUNDLED
from tengen.network.files.loading import load_network
from tengen.search.background import BackgroundSearch, Progress, Task
from tengen.search.params import Limits, SearchParams
from tengen.search.result import MoveResult, SearchResult, Wanted
from tengen.search.search import ROOT_DEFAULTS, RootOptions, Search
from tengen.search.warmup import compile_kernels

WITH_OWNERSHIP = Wanted(ownership=True)


class Engine(Closeable):
    """Searches positions, one at a time, and remembers its tree from move to move.

    All methods may be called from any thread; a new search ends the one under way. Close it, or
    use it in a `with` statement.
    """

    def __init__(
        self,
        model: str | Path | NetworkData | Evaluator = BUNDLED,
        *,
        device: str = AUTO,
        params: SearchParams | None = None,
        leaves: int | None = None,
        seed: int = 0,
    ) -> None:
        """A network by its file, its data, or running already; raises what loading it raises.

        Without one it is the network that comes with the package. Leaves in flight follow the
        device unless given.
        """
        if isinstance(model, str | Path):
            model = load_network(model)
        if isinstance(model, NetworkData):
            model = open_evaluator(model, device)
        self.evaluator: Evaluator = model
        compile_kernels(model.features)
        self.params = params or SearchParams()
        search = Search(self.evaluator, self.params, seed=seed, leaves=leaves)
        self._background = BackgroundSearch(search)

    @property
    def name(self) -> str:
        """Whose opinion it gives."""
        return self.evaluator.name

    @property
    def device(self) -> str:
        """Where the network runs."""
        return self.evaluator.device

    def search(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted = WITH_OWNERSHIP,
    ) -> SearchResult:
        """Search a position and wait for it; without limits a few hundred visits."""
        limits = Limits(visits=visits, seconds=seconds)
        return self.start(position, limits, options=options, wanted=wanted).result()

    async def search_async(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted = WITH_OWNERSHIP,
    ) -> SearchResult:
        """As `search`, for `await`; cancelling it ends the search."""
        limits = Limits(visits=visits, seconds=seconds)
        task = self.start(position, limits, options=options, wanted=wanted)
        try:
            return await asyncio.wrap_future(task.future)
        except asyncio.CancelledError:
            task.cancel()
            raise

    def stream(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        every: float = 0.1,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted = WITH_OWNERSHIP,
    ) -> Iterator[SearchResult]:
        """What a search finds, each `every` seconds and at its end; leaving it ends the search."""
        reports: SimpleQueue[SearchResult] = SimpleQueue()
        limits = Limits(visits=visits, seconds=seconds)
        task = self.start(
            position, limits, options=options, wanted=wanted, on_progress=reports.put, every=every
        )
        try:
            while not task.done:
                try:
                    yield reports.get(timeout=min(every, 0.05))
                except Empty:
                    continue
            yield task.result()
        finally:
            task.cancel()

    async def stream_async(
        self,
        position: Position,
        *,
        visits: int | None = None,
        seconds: float | None = None,
        every: float = 0.1,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted = WITH_OWNERSHIP,
    ) -> AsyncIterator[SearchResult]:
        """As `stream`, for `async for`."""
        loop = asyncio.get_running_loop()
        reports: asyncio.Queue[SearchResult] = asyncio.Queue()

        def report_from_thread(result: SearchResult) -> None:
            loop.call_soon_threadsafe(reports.put_nowait, result)

        task = self.start(
            position,
            Limits(visits=visits, seconds=seconds),
            options=options,
            wanted=wanted,
            on_progress=report_from_thread,
            every=every,
        )
        end = asyncio.wrap_future(task.future)
        try:
            while not end.done():
                report = asyncio.ensure_future(reports.get())
                await asyncio.wait({report, end}, return_when=asyncio.FIRST_COMPLETED)
                if report.done():
                    yield report.result()
                else:
                    report.cancel()
            yield await end
        finally:
            task.cancel()

    def genmove(self, position: Position, level: str | Level = FULL, seed: int = 0) -> Decision:
        """What a level of strength does in a position: a move, a pass or resignation.

        The same seed makes the same choice. Raises ValueError for what is no level, and when the
        game is over.
        """
        named = level_named(level) if isinstance(level, str) else level
        return choose(self, position, named, seed)

    def start(
        self,
        position: Position,
        limits: Limits,
        *,
        options: RootOptions = ROOT_DEFAULTS,
        wanted: Wanted = WITH_OWNERSHIP,
        on_progress: Progress | None = None,
        every: float = 0.1,
    ) -> Task:
        """Begin a search in the background, in the place of the one under way."""
        return self._background.start(
            position,
            limits,
            options=options,
            wanted=wanted,
            on_progress=on_progress,
            every=every,
        )

    def snapshot(self, task: Task) -> SearchResult | None:
        """What a search has found so far; None before it begins and after its end."""
        return self._background.snapshot(task)

    def stop(self) -> None:
        """End the search under way."""
        self._background.stop()

    def set_params(self, **changes: float | bool) -> None:
        """Search with other parameters from now on; raises ValueError for what cannot be.

        Ends the search under way. The tree is kept unless it was grown by what changes.
        """
        try:
            params = replace(self.params, **changes)  # type: ignore[arg-type]
        except TypeError as error:
            raise ValueError(str(error)) from None
        self.params = params
        self._background.set_params(params)

    def moves_after(
        self, branch: Iterable[Point | None], wanted: Wanted | None = None
    ) -> tuple[Position, tuple[MoveResult, ...]]:
        """The end of a line from the position searched last, and the moves tried there.

        Raises ValueError for a line that is not legal, or before any search.
        """
        return self._background.moves_after(branch, wanted)

    def clear(self) -> None:
        """Forget the tree; ends the search under way."""
        self._background.forget()

    def close(self) -> None:
        """End the search under way and the thread."""
        self._background.close()
