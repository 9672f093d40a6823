"""Compile what rows need.

As a program, `python -m tengen.replay.warmup FEATURES`, it fills the cache on disk for another
process.
"""

from __future__ import annotations

import sys

from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.replay.rows import encode_games
from tengen.selfplay.record import no_games


def compile_rows(features: FeatureSet) -> None:
    """Compile the kernel that encodes games."""
    encode_games(no_games(), features, 3, 1)


if __name__ == "__main__":
    compile_rows(FEATURE_SETS[sys.argv[1]])
