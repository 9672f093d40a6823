"""What a move lost, by a network that sees the difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator
from tests.frontends.web.made_up import halves
from tests.frontends.web.server import Client, serving


def centre_is_worth_twenty(batch: Batch) -> Evaluation:
    """Whoever has a stone in the centre leads by 20 points, and nobody else does."""
    found = halves(batch)
    middle = batch.planes.shape[-1] // 2
    own, theirs = (batch.planes[:, plane, middle, middle] for plane in (1, 2))
    lead = (20 * (own - theirs)).astype(np.float32)
    win = 0.5 + lead / 50
    value = np.stack([win, 1 - win, np.zeros_like(win)], axis=1).astype(np.float32)
    policy = np.zeros_like(found.policy)
    policy[:, middle * batch.planes.shape[-1] + middle] = 3
    return found._replace(policy=policy, value=value, lead=lead, score=lead)


def test_a_move_that_gives_the_centre_away_is_told(tmp_path: Path) -> None:
    teacher = FakeEvaluator(centre_is_worth_twenty)
    with serving(tmp_path, teacher) as port, Client(port) as client:
        client.new_game(level="beginner", teach=5.0, size=5)
        client.say("play", move="C3")
        best = client.hear("taught")
        assert (best["loss"], best["told"]) == (0.0, False)
        client.new_game(level="beginner", teach=5.0, size=5)
        client.say("play", move="A1")
        worse = client.hear("taught")
        assert worse["told"]
        assert worse["loss"] >= 10
        assert worse["best"] == "C3"
