"""What all clients share: the engine, loaded in the background, and the defaults of queries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from tengen.closeable import Closeable
from tengen.engine.loading import EngineLoader
from tengen.frontends.options import AnalysisOptions
from tengen.network.loaded_network import LoadedNetwork
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.engine.engine import Engine
    from tengen.frontends.analysis.query_settings import QuerySettings


class AnalysisService(Closeable):
    """An engine with the options of `tengen analysis`. Imports what searches in the background."""

    def __init__(self, options: AnalysisOptions, load: Callable[[], LoadedNetwork]) -> None:
        self.options = options
        self.loader = EngineLoader(lambda: _engine(options, load()))
        self.loader.future.add_done_callback(_say_started)

    def settings(self) -> QuerySettings:
        """The defaults of queries."""
        from tengen.frontends.analysis.query_settings import ANALYSIS_PARAMS, QuerySettings

        options = self.options
        params = {"megabytes": options.megabytes, **options.search}
        return QuerySettings(
            visits=options.visits,
            perspective=options.perspective,
            params=replace(ANALYSIS_PARAMS, **params),
        )

    def close(self) -> None:
        """Wait for the engine, and close it; raises what loading it raised."""
        self.loader.close()
        self.loader.future.result()


def _engine(options: AnalysisOptions, network: LoadedNetwork) -> Engine:
    from tengen.engine.engine import Engine

    return Engine(
        network,
        cache_megabytes=options.cache_megabytes,
        tree_megabytes=options.megabytes,
        max_searches=options.searches,
    )


def _say_started(loading: Future[Engine]) -> None:
    if loading.exception() is None:
        engine = loading.result()
        ready = "Started, ready to begin handling requests"  # what KataGo's clients wait for
        say(f"{ready}: {engine.name} on {engine.device}")
