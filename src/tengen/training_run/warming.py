"""A cold start in less time: kernels are compiled by other processes while this one is busy."""

from __future__ import annotations

import os
import subprocess
import sys

from tengen.closing import Closing
from tengen.features.feature_set import FeatureSet


class Warming(Closing):
    """Processes that fill the cache of kernels; whoever needs the kernels waits for them."""

    def __init__(self, features: FeatureSet) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        commands = (
            ["-m", "tengen.selfplay.warm", features.name, "bits"],
            ["-m", "tengen.replay.warm", features.name],
        )
        self._processes = [
            subprocess.Popen(
                [sys.executable, *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for command in commands
        ]

    def wait(self) -> None:
        """Until the cache is full. What failed is compiled, and complained of, where it is used."""
        for process in self._processes:
            process.wait()

    def close(self) -> None:
        """Stop what is still at work."""
        for process in self._processes:
            process.kill()
            process.wait()
