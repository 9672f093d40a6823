"""Batching across threads: what several searches submit at the same time becomes one batch."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from tengen.closeable import Closeable
from tengen.network.evaluator import Batch, Evaluation, Evaluator, EvaluatorWrapper, Pending

LARGE = 2  # times the best batch: a batch of this size gains nothing by further positions


@dataclass(frozen=True, eq=False)
class _Request:
    batch: Batch
    answer: Future[Evaluation]


class BatchingEvaluator(EvaluatorWrapper, Closeable):
    """Joins the batches that threads submit while the network is busy.

    Only boards of the same size are joined. A batch that is large already goes straight to the
    network, without a change of threads. Close it, or use it in a `with` statement.
    """

    def __init__(self, inner: Evaluator, largest: int = 256, in_flight: int = 1) -> None:
        """A joined batch has at most `largest` positions, unless one request has more.

        The network is given `in_flight` batches at a time, each awaited by a thread of its own.
        """
        super().__init__(inner)
        self._largest = largest
        self._requests: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._submitting = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name="network", daemon=True)
            for _ in range(in_flight)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, batch: Batch) -> Pending:
        """Queue a batch; raises ValueError when closed."""
        if len(batch.planes) >= LARGE * self.best_batch and not self._closed:
            with self._submitting:
                return self._inner.submit(batch)
        request = _Request(batch, Future())
        request.answer.set_running_or_notify_cancel()  # it can no longer be cancelled
        with self._changed:
            if self._closed:
                raise ValueError("the network has been closed")
            self._requests.append(request)
            self._changed.notify()
        return request.answer

    def close(self) -> None:
        """Answer all queued requests and end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while requests := self._next_requests():
            try:
                batch = _joined([request.batch for request in requests])
                with self._submitting:
                    pending = self._inner.submit(batch)
                evaluation = pending.result()
            except BaseException as error:  # re-raised by `result`; the thread goes on
                for request in requests:
                    request.answer.set_exception(error)
            else:
                _distribute(evaluation, requests)

    def _next_requests(self) -> list[_Request]:
        """Wait for requests and take those that fit one batch; none when closed."""
        with self._changed:
            while not self._requests and not self._closed:
                self._changed.wait()
            if not self._requests:
                return []
            first = self._requests.popleft()
            taken, size = [first], len(first.batch.planes)
            left: deque[_Request] = deque()
            while self._requests:
                request = self._requests.popleft()
                more = len(request.batch.planes)
                same = request.batch.planes.shape[1:] == first.batch.planes.shape[1:]
                if same and size + more <= self._largest:
                    taken.append(request)
                    size += more
                else:
                    left.append(request)
            self._requests = left
            return taken


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return Batch(*(np.concatenate(arrays) for arrays in zip(*batches, strict=True)))


def _distribute(evaluation: Evaluation, requests: list[_Request]) -> None:
    begin = 0
    for request in requests:
        end = begin + len(request.batch.planes)
        request.answer.set_result(Evaluation(*(field[begin:end] for field in evaluation)))
        begin = end
