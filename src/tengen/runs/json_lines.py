"""Files of JSON lines: one object on each, appended; a line that a crash tore is no harm."""

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
    """Add one object; NumPy's numbers are numbers, what is not finite becomes null.

    Raises RunError where it cannot be written.
    """
    line = json.dumps(_plain(values), ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with writing(path, len(line)), path.open("a+b") as file:
        _cut_torn_line(file)
        file.write(line)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All whole lines; none if there is no file. A damaged line is left out, with a message."""
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
            say(f"{path}: line {number} is damaged and left out")
    return found


def forget_after(path: Path, key: str, last: float) -> None:
    """Drop the lines whose `key` is beyond `last`: what came after the checkpoint in use."""
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
    """Let the file end with its last whole line."""
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
