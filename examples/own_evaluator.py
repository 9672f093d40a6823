"""One's own evaluator in Tengen's search: whoever has more stones is ahead.

    python examples/own_evaluator.py --visits 200

Whatever has these attributes plays, in `Engine`, in matches and behind `tengen.Engine.submit`: a
network of another library, a table, or a formula as here.
"""

from __future__ import annotations

import argparse

import numpy as np

from tengen import Engine, Position
from tengen.features.feature_set import KATAGO
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import Ready


class CountingEvaluator:
    name, device, features = "counting", "none", KATAGO
    best_batch, parallel_batches, on_processor = 32, 1, True
    has_optimism = imitates_people = False

    def submit(self, batch: Batch) -> Ready:
        """Evaluate positions [batch, planes, height, width], always for the side to play."""
        n, _, height, width = batch.planes.shape
        names = self.features.planes
        own = batch.planes[:, names.index("own stone")]
        other = batch.planes[:, names.index("opponent's stone")]
        lead = (own - other).sum((1, 2))
        win = 1 / (1 + np.exp(-lead / 4))
        nothing = np.zeros(n, np.float32)
        return Ready(
            Evaluation(
                policy=np.zeros((n, height * width + 1), np.float32),  # all moves alike
                value=np.stack([win, 1 - win, nothing], axis=1).astype(np.float32),
                score=lead.astype(np.float32),
                spread=nothing,
                lead=lead.astype(np.float32),
                variance_time=nothing,
                value_error=nothing,
                score_error=nothing,
                ownership=(own - other).astype(np.float32),
            )
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=200)
    arguments = parser.parse_args()
    # A white stone in atari: capturing it is what counting stones likes best.
    position = Position(9).play_all("D5 E5 E6 pass E4 pass")
    with Engine(CountingEvaluator()) as engine:
        result = engine.search(position, visits=arguments.visits)
    print(position.play(result.move))
    print(result)
