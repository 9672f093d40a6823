"""The network, loaded in the background, and what all clients share around it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from tengen.frontends.analysis.options import AnalysisOptions
from tengen.frontends.analysis.pool import Pool
from tengen.frontends.analysis.session import Model, Service
from tengen.frontends.loading import InBackground, load_evaluator
from tengen.user_messages import say

if TYPE_CHECKING:
    from tengen.network.batching import BatchingEvaluator
    from tengen.network.cache import CachingEvaluator
    from tengen.network.evaluator import Evaluator

LARGEST_BATCH = 256
MOST_STREAMS = 4  # of so many searches at a time, or batches get small


class Loaded(NamedTuple):
    """A network that runs, and what is known of it."""

    evaluator: Evaluator
    model: Model
    at_a_time: int = 1  # batches that it is given


class Loading:
    """A service whose network is made in a thread; queries wait for it, all else does not.

    Close it in the end.
    """

    def __init__(self, options: AnalysisOptions, make: Callable[[], Loaded]) -> None:
        self._network: Future[Evaluator] = Future()
        self._model: Future[Model] = Future()
        self._shared: BatchingEvaluator | None = None
        self._cache: CachingEvaluator | None = None
        self._cache_megabytes = options.cache_megabytes
        self.failed = threading.Event()
        self.pool = Pool(self._network, options.searches, options.megabytes)
        self.service = Service(
            pool=self.pool,
            model=self._model,
            visits=options.visits,
            perspective=options.perspective,
            clear_cache=self._clear_cache,
        )
        self._loading = InBackground(lambda: self._shared_by_all(make()))
        self._loading.future.add_done_callback(self._tell)

    def _shared_by_all(self, loaded: Loaded) -> Loaded:
        """The network with a memory, for all clients at a time."""
        from tengen.network.batching import BatchingEvaluator
        from tengen.network.cache import CachingEvaluator

        self._shared = BatchingEvaluator(loaded.evaluator, LARGEST_BATCH, loaded.at_a_time)
        evaluator: Evaluator = self._shared
        if self._cache_megabytes:  # neighbouring turns of a game look at the same positions
            self._cache = evaluator = CachingEvaluator(evaluator, self._cache_megabytes)
        return loaded._replace(evaluator=evaluator)

    def _tell(self, loading: Future[Loaded]) -> None:
        """Let those who wait for the network know."""
        error = loading.exception()
        if error is not None:
            self._network.set_exception(error)
            self._model.set_exception(error)
            self.failed.set()
            return
        evaluator, model, _ = loading.result()
        self._network.set_result(evaluator)
        self._model.set_result(model)
        ready = "Started, ready to begin handling requests"  # what KataGo's clients wait for
        say(f"{ready}: {model.internal_name} on {model.device}")

    def _clear_cache(self) -> None:
        if self._cache is not None:
            self._cache.clear()

    def wait(self) -> None:
        """Wait until the network is there, or known not to be, and who asked for it was told."""
        self._loading.wait()

    def close(self) -> None:
        """End all searches and the network; raises what went wrong when it was loaded."""
        self.wait()  # a thread in the middle of native code does not survive the end
        self.pool.close()
        if self._shared is not None:
            self._shared.close()
        if (error := self._network.exception()) is not None:
            raise error


def load(options: AnalysisOptions) -> Loaded:
    """The network that the options name, on its device; raises what loading it raises."""
    from tengen.search.warmup import compile_kernels

    # A batch on each core: cores that share one wait for each other after every layer.
    streams = min(MOST_STREAMS, os.cpu_count() or 1)
    network = load_evaluator(options.model, options.device, streams)
    evaluator = network.evaluator
    compile_kernels(evaluator.features)
    return Loaded(
        evaluator,
        Model(
            name=network.file,
            internal_name=evaluator.name,
            device=evaluator.device,
            largest_batch=LARGEST_BATCH,
            version=network.katago_version,
        ),
        # On the processor one more than are computed, or cores would wait for the next batch.
        at_a_time=evaluator.parallel_batches + 1 if evaluator.on_processor else 1,
    )
