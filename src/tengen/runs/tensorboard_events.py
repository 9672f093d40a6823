"""TensorBoard's event files, written without its package, which training machines may lack.

A file is records of length, its checksum, content, its checksum; each content is an `Event` of
TensorFlow's protocol buffers.
"""

from __future__ import annotations

import math
import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path

from tengen.closeable import Closeable
from tengen.runs.folder import writing

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed


class EventWriter(Closeable):
    """One new file of scalars in a folder."""

    def __init__(self, folder: Path, step: int = 0) -> None:
        """Start at a step: TensorBoard drops what earlier files hold from there on.

        Raises RunError, as `write` does.
        """
        # TensorBoard reads the files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self._path = folder / name
        with writing(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("xb", buffering=0)
        self._add(_message(3, b"brain.Event:2"), step)
        self._add(_message(7, _field(1, 0, _varint(1))), step)  # a session's start

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values at a step; a slash in a name makes a group."""
        summary = b"".join(
            _message(1, _message(1, name.encode()) + _field(2, 5, _float(value)))
            for name, value in values.items()
        )
        self._add(_message(5, summary), step)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _add(self, what: bytes, step: int) -> None:
        event = _field(1, 1, struct.pack("<d", time.time())) + _field(2, 0, _varint(step)) + what
        length = struct.pack("<Q", len(event))
        record = length + _masked(length) + event + _masked(event)
        with writing(self._path, len(record)):
            self._file.write(record)


def _field(number: int, kind: int, content: bytes) -> bytes:
    """A field of a protocol buffer; kinds are 0 varint, 1 double, 2 message or text, 5 float."""
    return _varint(number << 3 | kind) + content


def _message(number: int, content: bytes) -> bytes:
    return _field(number, 2, _varint(len(content)) + content)


def _float(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; for numbers of 0 or more."""
    content = bytearray()
    while value >= 0x80:
        content.append(value & 0x7F | 0x80)
        value >>= 7
    content.append(value)
    return bytes(content)


def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _table()


def crc32c(content: bytes) -> int:
    """Castagnoli's checksum."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(content: bytes) -> bytes:
    """The checksum, rotated as the format demands."""
    crc = crc32c(content)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
