"""`tengen analysis`: one client on stdin and stdout, or many over a WebSocket."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from queue import Queue, SimpleQueue
from typing import TYPE_CHECKING

from tengen.closeable import Closeable
from tengen.engine.katago_params import PROFILE, with_root_optimism
from tengen.engine.loading import EngineLoader
from tengen.frontends.analysis.backlog import MOST_ANSWERS, MOST_POSITIONS, Backlog
from tengen.frontends.analysis.client_session import LONGEST_LINE, AnalysisClient, OutputLine
from tengen.frontends.command_options import AnalysisOptions
from tengen.frontends.protocol_stdio import Log, own_stdout
from tengen.network.loaded_network import LoadedNetwork
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.frontends.analysis.query import QuerySettings

CHUNK = 1 << 16
MOST_STREAMS = 4  # batches computed at a time; with more, each would be small
# Lines that may wait for a slow reader before superseded ones are dropped.
PATIENCE = 100
LINES_AHEAD = 8  # of input; the rest waits with the client
GRACE = 0.5  # seconds in which a client that has just come still hears why there is no network


class AnalysisService(Closeable):
    """An engine with the options of `tengen analysis`. Imports what searches in the background."""

    def __init__(self, options: AnalysisOptions, load: Callable[[], LoadedNetwork | str]) -> None:
        self.options = options
        self.positions = Backlog(MOST_POSITIONS)  # of all queries that wait or are searched
        self.loader = EngineLoader(lambda: _engine(options, load()))
        self.loader.future.add_done_callback(_say_started)

    def settings(self) -> QuerySettings:
        """The defaults of queries."""
        from tengen.frontends.analysis.query import ANALYSIS_PARAMS, QuerySettings

        options = self.options
        params = {"megabytes": options.megabytes, **with_root_optimism(options.search)}
        settings = QuerySettings(
            visits=options.visits,
            perspective=options.perspective,
            human=options.human,
            takes_people=self._takes_people,
            params=replace(ANALYSIS_PARAMS, **params),
        )
        return settings.overridden(options.of_queries)[0]

    def _takes_people(self, name: str) -> bool:
        """Is there a network that a parameter of KataGo's about people is for?

        Waits for the network where it has to be known what kind it is; one that cannot be loaded
        is told of in another place.
        """
        if self.options.human_model is not None and name != PROFILE:
            return True
        self.loader.wait()
        engine = self.loader.engine_if_ready
        if engine is None:
            return True
        return engine.imitates_people if name == PROFILE else engine.human_network is not None

    def close(self) -> None:
        """Wait for the engine, and close it; raises what loading it raised."""
        self.loader.close()
        self.loader.future.result()


def _engine(options: AnalysisOptions, network: LoadedNetwork | str) -> Engine:
    from tengen.engine.engine import Engine

    engine = Engine(
        network,
        **options.placement,
        # A batch on each core: cores that share a batch wait for each other after every layer.
        streams=min(MOST_STREAMS, os.cpu_count() or 1),
        cache_megabytes=options.cache_megabytes,
        tree_megabytes=options.megabytes,
        max_searches=options.searches,
        human_model=options.human_model,
    )
    engine.check_style(options.human)
    return engine


def _say_started(loading: Future[Engine]) -> None:
    if loading.exception() is None:
        engine = loading.result()
        ready = "Started, ready to begin handling requests"  # what KataGo's clients wait for
        say(f"{ready}: {engine.name} on {engine.device}")


def run_analysis(options: AnalysisOptions) -> None:
    """Answer queries until the end of input, or until the WebSocket server ends.

    Raises ValueError for bad options, and what loading the network raises.
    """
    if options.listen is not None:
        from tengen.frontends.analysis.websocket import check_listening

        check_listening(options.listen, options.token)
    serve(options, lambda: options.model)


def serve(options: AnalysisOptions, load: Callable[[], LoadedNetwork | str]) -> None:
    """Serve clients with a network that is loaded in the background."""
    with Log(options.log) as log, own_stdout() as stdout:
        service = AnalysisService(options, load)
        try:
            if options.listen is None:
                _serve_pipes(service, stdout, log)
            else:
                import asyncio

                from tengen.frontends.analysis.websocket import serve_websocket

                asyncio.run(serve_websocket(service, log))
        except BaseException:
            if service.loader.ready:
                service.loader.engine.close()
            raise
        service.close()


def _serve_pipes(service: AnalysisService, stdout: int, log: Log) -> None:
    loader = service.loader
    inbox: Queue[bytes | None] = Queue(LINES_AHEAD)
    deaf = threading.Event()  # nobody reads the answers any more

    def hang_up() -> None:
        deaf.set()
        inbox.put(None)

    def end_when_failed() -> None:
        loader.wait()
        if not loader.ready:
            time.sleep(GRACE)
            inbox.put(None)

    outbox = AnswerWriter(stdout, hang_up, log)
    session = AnalysisClient(service, outbox.put, outbox.unread)
    # Not sys.stdin: the interpreter cannot end while a thread waits for that one.
    for work in (lambda: _read(0, inbox), end_when_failed):
        threading.Thread(target=work, daemon=True).start()
    while (line := inbox.get()) is not None:
        if line.strip():
            log.add(">", line.decode(errors="replace"))
            session.take(line)
    if service.options.quit_without_waiting:
        session.close()
    loader.wait()
    if loader.ready:
        loader.engine.scheduler.drain(until=deaf)
    if deaf.is_set():
        session.close()
    outbox.close()


def _read(descriptor: int, inbox: Queue[bytes | None]) -> None:
    """Put the lines of a stream into the inbox, and None at its end."""
    with suppress(OSError):  # which is the same as its end
        for line in lines_of(lambda: os.read(descriptor, CHUNK)):
            inbox.put(line)
    inbox.put(None)


def lines_of(read: Callable[[], bytes]) -> Iterator[bytes]:
    """Lines from chunks; a line that is too long is cut as soon as that is known."""
    pieces: list[bytes] = []
    size = 0
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            yield b"".join([*pieces, end])
            pieces, size = [], 0
        if size <= LONGEST_LINE:
            pieces.append(rest)
            size += len(rest)
    if size:
        yield b"".join(pieces)


class AnswerWriter:
    """A queue of lines for a pipe, written by a thread: no search waits for a slow reader."""

    def __init__(self, descriptor: int, hang_up: Callable[[], None], log: Log) -> None:
        """Calls `hang_up` when the reader is gone."""
        self._descriptor, self._hang_up, self._log = descriptor, hang_up, log
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self.unread = Backlog(MOST_ANSWERS)
        self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
        self._thread.start()

    def put(self, line: OutputLine) -> None:
        """Queue a line; a superseded one is dropped while many are waiting."""
        if not (line.superseded and self._lines.qsize() > PATIENCE):
            self.unread.hold(len(line.text))
            self._lines.put(line.text)

    def close(self) -> None:
        """Send what is waiting, and end the thread."""
        self._lines.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (text := self._lines.get()) is not None:
            self._log.add("<", text)
            try:
                left = memoryview(text.encode() + b"\n")
                while left:
                    left = left[os.write(self._descriptor, left) :]
                self.unread.release(len(text))
            except OSError:
                self._hang_up()
                return
