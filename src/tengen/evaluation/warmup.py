"""Compile what games between networks need. As a program, `python -m tengen.evaluation.warmup
FEATURES`, it fills the cache on disk for another process.
"""

from __future__ import annotations

import sys

from tengen.evaluation.lockstep import Player, openings, play_in_lockstep
from tengen.features.feature_set import FEATURE_SETS, FeatureSet
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator


def compile_matches(features: FeatureSet) -> None:
    """Play two tiny games."""
    evaluator = FakeEvaluator(features=features)
    player = Player("nobody", evaluator, 4)
    starts = openings(evaluator, Position(3, "tromp-taylor", 0, move_limit=6), 1, 2, seed=1)
    play_in_lockstep((player, player), starts, 1)


if __name__ == "__main__":
    compile_matches(FEATURE_SETS[sys.argv[1]])
