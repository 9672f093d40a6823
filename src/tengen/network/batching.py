"""One network for many searches: what they ask at the same time is answered in one batch."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from tengen.closeable import Closeable
from tengen.network.evaluator import Batch, Evaluation, Evaluator, Pending

LARGE = 2  # best batches of a network: so large a batch gains nothing by further positions


@dataclass(frozen=True, eq=False)
class _Question:
    batch: Batch
    answer: Future[Evaluation]


class SharedEvaluator(Closeable):
    """Gathers the batches of several threads while the network is busy, and submits them as one.

    Boards of one size at a time go together. A batch that is large already goes straight to the
    network, without a change of threads. Close it, or use it in a `with` statement.
    """

    def __init__(self, inner: Evaluator, largest: int = 256, at_a_time: int = 1) -> None:
        """A gathered batch has at most `largest` positions, unless one thread asks for more.

        The network has `at_a_time` batches under way, whose results are waited for in threads.
        """
        self._inner, self._largest = inner, largest
        self.name, self.device = inner.name, inner.device
        self.features, self.best_batch = inner.features, inner.best_batch
        self._questions: deque[_Question] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._submitting = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name="network", daemon=True)
            for _ in range(at_a_time)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, batch: Batch) -> Pending:
        """Ask; raises ValueError when closed."""
        if len(batch.planes) >= LARGE * self.best_batch and not self._closed:
            with self._submitting:
                return self._inner.submit(batch)
        question = _Question(batch, Future())
        question.answer.set_running_or_notify_cancel()  # from here on it is answered
        with self._changed:
            if self._closed:
                raise ValueError("the network has been closed")
            self._questions.append(question)
            self._changed.notify()
        return question.answer

    def close(self) -> None:
        """Answer what was asked, and end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while questions := self._gather():
            try:
                batch = _joined([question.batch for question in questions])
                with self._submitting:
                    pending = self._inner.submit(batch)
                evaluation = pending.result()
            except BaseException as error:  # whoever asked must hear of it, and the thread go on
                for question in questions:
                    question.answer.set_exception(error)
            else:
                _hand_out(evaluation, questions)

    def _gather(self) -> list[_Question]:
        """The questions to answer next; none when closed."""
        with self._changed:
            while not self._questions and not self._closed:
                self._changed.wait()
            if not self._questions:
                return []
            first = self._questions.popleft()
            taken, size = [first], len(first.batch.planes)
            left: deque[_Question] = deque()
            while self._questions:
                question = self._questions.popleft()
                more = len(question.batch.planes)
                same = question.batch.planes.shape[1:] == first.batch.planes.shape[1:]
                if same and size + more <= self._largest:
                    taken.append(question)
                    size += more
                else:
                    left.append(question)
            self._questions = left
            return taken


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return Batch(*(np.concatenate(arrays) for arrays in zip(*batches, strict=True)))


def _hand_out(evaluation: Evaluation, questions: list[_Question]) -> None:
    begin = 0
    for question in questions:
        end = begin + len(question.batch.planes)
        question.answer.set_result(Evaluation(*(field[begin:end] for field in evaluation)))
        begin = end
