"""Observers hear what is written, and end no run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tengen.runs.folder import create_run, read_lines
from tengen.runs.progress import Progress


def test_observers_hear_what_is_written_and_failing_ones_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[tuple[int, Mapping[str, float]]] = []

    def fail(step: int, metrics: Mapping[str, float]) -> None:
        raise ConnectionError("no route to host")

    folder = create_run(tmp_path / "run", "")
    observers = (fail, lambda *told: heard.append(told))
    with Progress(folder, observers=observers) as progress:
        progress.write(1, {"loss/policy": 2.0})
        progress.write(2, {"loss/policy": 1.0})
    assert heard == [(1, {"loss/policy": 2.0}), (2, {"loss/policy": 1.0})]
    assert [line["loss/policy"] for line in read_lines(folder.metrics)] == [2.0, 1.0]
    said = capsys.readouterr().err
    assert said.count("fail failed and gets no more metrics") == 1
