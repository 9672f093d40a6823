"""Random changes of bytes and of JSON values."""

from __future__ import annotations

from random import Random
from typing import Any

# Numbers and texts that programs stumble over.
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 5, 19, 20, 1e9, -1e9, 1e308, 2**31, 2**63, 10**30, 0.5),
    *(
        "",
        "x",
        "B",
        "W",
        "C3",
        "pass",
        "Z99",
        "japanese",
        "\0",
        "é",
        "\ud800",
        "9" * 300,
        "\x1b[2J",
    ),
    *([], {}, [[]], [{}], [None], ["B", "C3"], [["B", "C3"]], {"player": "B"}, {"a": {"b": []}}),
]
ODD_BYTES = [
    *(b"", b"\0", b"\n", b"\r", b"\x1b[2J", b"\xff", b"\xc3", b"]", b"[", b"(", b")", b";", b"\\"),
    *(b'"', b"{", b"}", b"-1", b"1e999", b"9" * 40, b"nan", b"\xef\xbb\xbf", b"#", b"=", b"'''"),
]


def changed_bytes(rng: Random, data: bytes, most: int = 4) -> bytes:
    """Bytes with a few places replaced, removed, doubled, cut off or exchanged."""
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice((0, 1, 1, 2, 5, 20)), len(data) - at)
        what = rng.random()
        if what < 0.35:
            piece = rng.choice(ODD_BYTES)
        elif what < 0.6:
            piece = rng.randbytes(rng.choice((1, 1, 2, 4)))
        elif what < 0.75:
            other = rng.randrange(len(data) + 1)
            piece = data[other : other + rng.choice((1, 5, 30))]
        elif what < 0.9:
            piece = data[at : at + length] * rng.choice((2, 3, 20))
        else:
            return data[:at]
        data = data[:at] + piece + data[at + length :]
    return data


def changed_value(rng: Random, value: Any) -> Any:
    """A JSON value with something in it replaced, removed, added or exchanged."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        value = dict(value)
        key = rng.choice(list(value))
        what = rng.random()
        if what < 0.15:
            del value[key]
        elif what < 0.25:
            value[f"{key}s"] = value.pop(key)
        else:
            value[key] = changed_value(rng, value[key])
        return value
    if isinstance(value, list) and value and rng.random() < 0.8:
        value = list(value)
        at = rng.randrange(len(value))
        what = rng.random()
        if what < 0.2:
            del value[at]
        elif what < 0.4:
            value.insert(at, rng.choice(value))
        else:
            value[at] = changed_value(rng, value[at])
        return value
    return rng.choice(ODD)
