"""The flag never falls at one second a move, with every core busy with something else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.clock import (
    DEFAULT_LAG,
    TimeControl,
    after_move,
    budget,
    expected_moves_left,
    started,
)
from tengen.search.request import Limits
from tengen.search.warmup import compile_kernels
from tests.search.plain_search import Search

SPIN = "while True: pass"


@pytest.fixture
def busy_cores() -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def slow_network(batch: Batch) -> Evaluation:
    """About 5 ms of work for each position, as a small network on an old laptop."""
    end = time.thread_time() + 0.005 * len(batch.planes)
    while time.thread_time() < end:
        np.dot(np.ones((50, 50)), np.ones((50, 50)))
    return uniform(batch)


@pytest.mark.long
@pytest.mark.usefixtures("busy_cores")
@pytest.mark.parametrize(
    "control",
    [
        TimeControl.byo_yomi(0, 1, 1),
        TimeControl.canadian(0, 10, 10),
        TimeControl.fischer(1, 1),
        TimeControl.absolute(60),
    ],
    ids=["byo-yomi", "Canadian", "Fischer", "absolute"],
)
def test_no_move_is_late_on_busy_cores(control: TimeControl) -> None:
    compile_kernels()
    search = Search(FakeEvaluator(slow_network))
    position, clock = Position(9, "tromp-taylor", 7), started(control)
    for _ in range(50):
        began = time.monotonic()
        plan = budget(clock, DEFAULT_LAG, expected_moves_left(81, position.move_number))
        assert plan is not None
        search.set_position(position)
        result = search.run(Limits(seconds=plan.target))
        clock = after_move(clock, time.monotonic() - began)
        assert not clock.fallen
        position = position.play(result.move)
        if position.is_over:
            break
        position = position.play(position.legal_moves()[0])
    assert position.move_number > 20
