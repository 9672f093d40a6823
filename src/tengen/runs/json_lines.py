"""Files of JSON objects, one a line, appended; an incomplete last line is ignored."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tengen.runs.errors import write_whole, writing
from tengen.user_messages import say

_BLOCK = 1 << 16


def append_line(path: Path, values: Mapping[str, Any]) -> None:
    """Append an object; NumPy's numbers become plain, NaN and infinity null. Raises RunError."""
    line = json.dumps(_plain(values), ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with writing(path, len(line)), path.open("a+b") as file:
        _cut_torn_line(file)
        file.write(line)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All complete lines; none if there is no file. Damaged lines are skipped, with a message."""
    if not path.exists():
        return []
    found = []
    *lines, _torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            values = json.loads(line)
            if not isinstance(values, dict):
                raise ValueError("no object")
            found.append(values)
        except ValueError:
            say(f"{path}: line {number} is damaged and was skipped")
    return found


def forget_after(path: Path, key: str, last: float) -> None:
    """Drop the lines whose `key` is above `last`, such as those after the checkpoint in use."""
    lines = read_lines(path)
    kept = [values for values in lines if values.get(key) is None or values[key] <= last]
    if len(kept) < len(lines):
        text = "".join(json.dumps(values, ensure_ascii=False) + "\n" for values in kept).encode()
        write_whole(path, text)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cut_torn_line(file: BinaryIO) -> None:
    """Cut the file after its last complete line."""
    end = file.seek(0, os.SEEK_END)
    start = end
    while start > 0:
        start = max(0, start - _BLOCK)
        file.seek(start)
        block = file.read(min(_BLOCK, end - start))
        if (newline := block.rfind(b"\n")) >= 0:
            start += newline + 1
            break
    if start < end:
        file.truncate(start)
    file.seek(0, os.SEEK_END)
