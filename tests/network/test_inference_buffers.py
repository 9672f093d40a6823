"""The buffers between a fleet and its network."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import BASIC
from tengen.game.geometry import Size
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.network.inference_buffers import BufferShape, EvaluatorBuffers


def test_buffers_ask_about_some_rows_and_keep_the_answers_of_the_others() -> None:
    asked: list[NDArray[np.float32]] = []

    def script(batch: Batch) -> Evaluation:
        asked.append(batch.planes[:, 0, 0, 0].copy())
        return uniform(batch)._replace(score=10 * batch.planes[:, 0, 0, 0])

    buffers = EvaluatorBuffers(FakeEvaluator(script, BASIC), BufferShape(Size(5, 5), 3))
    buffers.planes[:, 0, 0, 0] = [1, 2, 3]
    buffers.launch()
    buffers.ask_only(np.array([0, 2]))  # which must not disturb what is under way
    buffers.wait()
    assert buffers.evaluation.score.tolist() == [10, 20, 30]
    buffers.planes[:, 0, 0, 0] = [4, 5, 6]
    buffers.launch()
    buffers.wait()
    assert buffers.evaluation.score.tolist() == [40, 20, 60]
    buffers.ask_only(np.array([], np.intp))
    buffers.launch()
    buffers.wait()
    assert [list(rows) for rows in asked] == [[1, 2, 3], [4, 6]]
