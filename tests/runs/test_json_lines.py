"""JSON lines: appended and read again, whatever a crash left at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.runs.folder import RunError, append_line, forget_after, read_lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


def test_lines_are_read_in_order(path: Path) -> None:
    assert read_lines(path) == []
    for number in range(3):
        append_line(path, {"number": number, "text": "碁\n"})
    assert read_lines(path) == [{"number": number, "text": "碁\n"} for number in range(3)]
    assert path.read_bytes().count(b"\n") == 3


def test_numbers_of_numpy_are_numbers_and_what_is_not_finite_is_null(path: Path) -> None:
    values: dict[str, Any] = {
        "a": np.float32(0.5),
        "b": np.int64(3),
        "c": [float("nan"), 1.0],
        "d": {"e": np.array([1, 2])},
        "f": -np.inf,
    }
    append_line(path, values)
    # Strict JSON, so that every program reads it.
    found = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(name))
    assert found == {"a": 0.5, "b": 3, "c": [None, 1.0], "d": {"e": [1, 2]}, "f": None}


@pytest.mark.parametrize("torn", [b"{", b'{"number": 2', b'{"number": 2}', b"x" * 200_000])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_torn_last_line_is_not_read_and_is_cut_by_the_next(
    path: Path, torn: bytes, before: int
) -> None:
    for number in range(before):
        append_line(path, {"number": number})
    whole = [{"number": number} for number in range(before)]
    path.write_bytes((path.read_bytes() if before else b"") + torn)
    assert read_lines(path) == whole
    append_line(path, {"number": "next"})
    assert read_lines(path) == [*whole, {"number": "next"}]
    assert path.read_bytes().count(b"\n") == before + 1


def test_a_damaged_line_within_is_left_out_with_a_message(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_bytes(b'{"a": 1}\n\x00\x00\xff\n[3]\n{"a": 2}\n')
    assert read_lines(path) == [{"a": 1}, {"a": 2}]
    said = capsys.readouterr().err
    assert f"{path}: line 2 is damaged" in said
    assert "line 3 is damaged" in said


def test_what_came_after_the_checkpoint_is_forgotten(path: Path) -> None:
    for step in range(5):
        append_line(path, {"step": step})
    append_line(path, {"remark": "always"})
    forget_after(path, "step", 2)
    assert read_lines(path) == [*({"step": step} for step in range(3)), {"remark": "always"}]
    forget_after(path.with_name("none"), "step", 2)
    assert not path.with_name("none").exists()


def test_a_line_that_cannot_be_written_is_explained(read_only: Path) -> None:
    with pytest.raises(RunError, match=r"lines\.jsonl: may not be written"):
        append_line(read_only / "lines.jsonl", {})


def test_a_full_disk_is_explained() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs a device that is always full")
    with pytest.raises(RunError, match="the disk is full"):
        append_line(full, {"a": 1})
