"""Compile what self-play and its rows need, by playing a little.

As a program, `python -m tengen.selfplay.warmup FEATURES bits|planes`, it fills the cache on disk
for another process.
"""

from __future__ import annotations

import sys

import numpy as np

from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.game.geometry import Size
from tengen.network.fake import FakeEvaluator
from tengen.network.inference_buffers import EvaluatorBuffers
from tengen.selfplay.fleet import Fleet
from tengen.selfplay.params import SelfPlayParams, SelfPlaySearch


class _Silent(EvaluatorBuffers):
    """Answers nothing, and takes bits."""

    def __init__(self, features: FeatureSet, rows: int, size: Size) -> None:
        super().__init__(FakeEvaluator(features=features), rows, size)
        self.evaluation.value[:] = (0.5, 0.5, 0.0)

    def launch(self) -> None:
        pass

    def wait(self) -> None:
        pass


class _SilentBits(_Silent):
    planes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]  # type: ignore[assignment]

    def __init__(self, features: FeatureSet, rows: int, size: Size) -> None:
        super().__init__(features, rows, size)
        self.planes = np.zeros((rows, size.height, size.width), np.uint32)
        self.globals = np.zeros((rows, features.packed_globals), np.float32)


def compile_self_play(features: FeatureSet, bits: bool) -> None:
    """Compile the kernels of the fleet for one set of inputs, as bits or as planes."""
    kind = _SilentBits if bits else _Silent
    buffers = kind(features, 2, Size(3, 3))
    Fleet([buffers], SelfPlayParams(board_sizes=(3,)), SelfPlaySearch(), 1).tick()


if __name__ == "__main__":
    compile_self_play(FEATURE_SETS[sys.argv[1]], sys.argv[2] == "bits")
