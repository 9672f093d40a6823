"""Who feeds a network, and by how many threads."""

from __future__ import annotations

import numba
import pytest

from tengen.network.evaluator import feeding_threads
from tengen.network.fake import FakeEvaluator


@pytest.mark.parametrize(
    ("device", "processors", "threads"),
    [
        ("NVIDIA H200, torch bf16", 16, 16),
        ("CPU, OpenVINO bf16", 16, 2),
        ("CPU, OpenVINO int8", 2, 1),
    ],
)
def test_a_network_on_the_processor_gets_most_of_it(
    device: str, processors: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba, "get_num_threads", lambda: processors)
    assert feeding_threads(FakeEvaluator(device=device)) == threads
