"""Games in fewer bytes than shards take, for packs: about 0.5 kB a game of 9x9, 1.1 in shards.

Moves, policies, rules and results are exact. Search values are rounded to steps far below their
noise, and kept as differences from turn to turn, which compress well.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.selfplay.record import GAME, TARGET, TURN, Games, Records, check_games

# Numbers are rounded to so many steps in a unit: value is win minus loss, no_result a probability,
# score and lead are points, weight is in rows.
_STEPS = {"value": 256, "no_result": 256, "score": 16, "lead": 16, "weight": 64}
_ALONG_THE_GAME = ("value", "no_result", "score")  # kept as the difference from the turn before
_LEVEL = 6  # lzma is 4% smaller and ten times slower
_TABLES: dict[str, np.dtype[Any]] = {"games": GAME, "turns": TURN, "targets": TARGET}


def packed_games(games: Games) -> bytes:
    """Pack games, without the values that were found after each move (`move_values`)."""
    columns = [_columns(games.games), *_turn_columns(games.turns)]
    columns += [_columns(games.targets), _columns(games.ownership)]
    content = zlib.compress(b"".join(columns), _LEVEL)
    counts = [len(table) for table in games[:4]]
    header = json.dumps({"counts": counts, "layout": _layout()}).encode()
    return len(header).to_bytes(4, "little") + header + content


def unpacked_games(content: bytes) -> Games:
    """The games that `packed_games` was given, rounded; raises ValueError."""
    length = int.from_bytes(content[:4], "little")
    try:
        header = json.loads(content[4 : 4 + length])
        raw = zlib.decompress(content[4 + length :])
    except (ValueError, zlib.error):
        raise ValueError("packed games cannot be read") from None
    if header["layout"] != _layout():
        raise ValueError("its games have other fields than this version's")
    reader = _Reader(raw)
    n_games, n_turns, n_targets, n_points = header["counts"]
    games = Games(
        reader.take(n_games, GAME),
        _turns(reader, n_turns),
        reader.take(n_targets, TARGET),
        reader.take(n_points, np.dtype(np.int8)),
    )
    check_games(games)
    return games


def _layout() -> dict[str, str]:
    """The fields of each table and the steps, to recognize others."""
    return {name: str(dtype.descr) for name, dtype in _TABLES.items()} | {"steps": str(_STEPS)}


def _columns(array: NDArray[Any]) -> bytes:
    """Columns of single bytes, which compress better than records."""
    array = np.ascontiguousarray(array)
    return array.view(np.uint8).reshape(len(array), array.dtype.itemsize).T.tobytes()


def _turn_columns(turns: Records) -> list[bytes]:
    """The fields of turns, one after the other."""
    steps = {
        name: np.rint(turns[name].astype(np.float64) * scale).astype(np.int64)
        for name, scale in _STEPS.items()
    }
    stored = steps | {name: np.diff(steps[name], prepend=0) for name in _ALONG_THE_GAME}
    stored["lead"] = steps["lead"] - steps["score"]
    assert TURN.names is not None
    return [
        _columns(_unsigned(stored[name]) if name in stored else turns[name]) for name in TURN.names
    ]


def _turns(reader: _Reader, count: int) -> Records:
    turns = np.zeros(count, TURN)
    assert TURN.names is not None
    steps = {}
    for name in TURN.names:
        if name in _STEPS:
            steps[name] = _signed(reader.take(count, np.dtype(np.uint32)))
        else:
            turns[name] = reader.take(count, TURN[name])
    for name in _ALONG_THE_GAME:
        steps[name] = np.cumsum(steps[name])
    steps["lead"] = steps["lead"] + steps["score"]
    for name, values in steps.items():
        turns[name] = values / _STEPS[name]
    return turns


class _Reader:
    """Reads tables, one after another, from bytes that have them column by column."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The next table of so many records; raises ValueError where there are fewer."""
        size = count * dtype.itemsize
        found = np.frombuffer(self._content, np.uint8, size, self._at)
        self._at += size
        columns = found.reshape(dtype.itemsize, count)
        return np.ascontiguousarray(columns.T).reshape(-1).view(dtype)


def _unsigned(values: NDArray[np.int64]) -> NDArray[np.uint32]:
    """0, -1, 1, -2 ... as 0, 1, 2, 3 ..., so that the upper bytes of small numbers are 0."""
    return ((values << 1) ^ (values >> 63)).astype(np.uint32)


def _signed(values: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = values.astype(np.int64)
    return (wide >> 1) ^ -(wide & 1)
