"""Metrics: read by TensorBoard's own reader, and continued where a run goes on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tengen.evaluation.elo import Rating
from tengen.runs.folder import RunFolder, read_lines
from tengen.runs.progress import Counters, Progress
from tengen.runs.tensorboard_events import EventWriter, crc32c


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Steps and values by name, as TensorBoard sees them."""
    reader: Any = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    ).EventAccumulator(str(folder))
    reader.Reload()
    return {
        name: [(event.step, event.value) for event in reader.Scalars(name)]
        for name in reader.Tags()["scalars"]
    }


# RFC 3720, B.4.
@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"123456789", 0xE3069283),
    ],
)
def test_the_checksum_is_castagnolis(content: bytes, wanted: int) -> None:
    assert crc32c(content) == wanted


def test_tensorboard_reads_what_is_written(tmp_path: Path) -> None:
    steps = [0, 1, 127, 128, 300, 10**9]
    with EventWriter(tmp_path / "board") as events:
        for step in steps:
            events.write(step, {"loss/policy": step / 2, "größe" + "e" * 200: -1.5})
        events.write(10**10, {"nan": math.nan, "huge": 1e300, "none": 0})
    found = read_scalars(tmp_path / "board")
    assert found["loss/policy"] == [(step, step / 2) for step in steps]
    assert found["größe" + "e" * 200] == [(step, -1.5) for step in steps]
    assert math.isnan(found["nan"][0][1])
    assert found["huge"] == [(10**10, math.inf)]
    assert found["none"] == [(10**10, 0)]


def test_what_is_written_can_be_read_at_once(tmp_path: Path) -> None:
    with EventWriter(tmp_path) as events:
        events.write(1, {"loss": 2.0})
        assert read_scalars(tmp_path) == {"loss": [(1, 2.0)]}


def test_a_killed_writer_does_not_hide_its_successor(tmp_path: Path) -> None:
    with EventWriter(tmp_path) as events:
        events.write(1, {"loss": 2.0})
        events.write(2, {"loss": 1.0})
    torn = next(tmp_path.iterdir())
    torn.write_bytes(torn.read_bytes()[:-7])
    with EventWriter(tmp_path, 2) as events:
        events.write(2, {"loss": 1.0})
    assert read_scalars(tmp_path) == {"loss": [(1, 2.0), (2, 1.0)]}


def test_both_forms_hold_the_same_numbers(folder: RunFolder) -> None:
    with Progress(folder) as progress:
        progress.write(1, {"loss/value": 0.5, "games": 3})
        progress.write(2, {"loss/value": 0.25, "games": 6})
    assert read_lines(folder.metrics) == [
        {"step": 1, "loss/value": 0.5, "games": 3},
        {"step": 2, "loss/value": 0.25, "games": 6},
    ]
    found = read_scalars(folder.tensorboard)
    assert found == {"loss/value": [(1, 0.5), (2, 0.25)], "games": [(1, 3), (2, 6)]}


def test_a_run_that_goes_on_from_a_checkpoint_repeats_nothing(folder: RunFolder) -> None:
    with Progress(folder) as progress:
        for step in range(1, 6):
            progress.write(step, {"loss": -step})
    with Progress(folder, 3) as progress:  # the checkpoint was made at step 3
        for step in range(4, 7):
            progress.write(step, {"loss": step})
    wanted = [(1, -1), (2, -2), (3, -3), (4, 4), (5, 5), (6, 6)]
    assert [(line["step"], line["loss"]) for line in read_lines(folder.metrics)] == wanted
    assert read_scalars(folder.tensorboard) == {"loss": wanted}


def test_a_run_killed_before_its_first_checkpoint_begins_with_empty_metrics(
    folder: RunFolder,
) -> None:
    for sign in (-1, 1):
        with Progress(folder) as progress:
            for step in range(3):
                progress.write(step, {"loss": sign * (step + 1)})
    assert [line["loss"] for line in read_lines(folder.metrics)] == [1, 2, 3]
    assert read_scalars(folder.tensorboard) == {"loss": [(0, 1), (1, 2), (2, 3)]}


def test_a_network_that_is_rated_again_has_one_rating(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    now = Counters(3, 60.0, 0.5, 10, 100, 100)
    for elo in (40.0, 50.0):  # killed after the first rating, before the next checkpoint
        with Progress(folder, 3) as progress:
            if elo == 40:
                progress.write(3, {"loss/policy": 1.0})
            progress.record_rating(now, Rating(elo, 0.0, 90.0, 4))
    lines = read_lines(folder.metrics)
    assert [line.get("elo") for line in lines] == [None, 50.0]
