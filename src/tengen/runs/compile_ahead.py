"""A cold start in less time: kernels are compiled by other processes while this one is busy."""

from __future__ import annotations

import os
import subprocess
import sys

from tengen.closeable import Closeable
from tengen.features.feature_set import FeatureSet


class Warming(Closeable):
    """Processes that fill the cache of kernels; whoever needs the kernels waits for them."""

    def __init__(self, features: FeatureSet) -> None:
        self._for_play = [
            _program("tengen.selfplay.warmup", features.name, "bits"),
            _program("tengen.replay.warmup", features.name),
        ]
        self._for_later = [_program("tengen.evaluation.warmup", features.name)]

    def wait(self) -> None:
        """Until games can be played. What failed is compiled, and complained of, where it is used.

        Matches come minutes later; their kernels are ready by then.
        """
        for process in self._for_play:
            process.wait()

    def close(self) -> None:
        """Stop what is still at work."""
        for process in (*self._for_play, *self._for_later):
            process.kill()
            process.wait()


def _program(*arguments: str) -> subprocess.Popen[bytes]:
    """A module of ours as a program that nobody hears."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
