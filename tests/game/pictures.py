"""Board pictures in tables."""

from __future__ import annotations


def pictures(text: str) -> list[str]:
    """The pictures that stand side by side, three spaces apart."""
    rows = [line.strip().split("   ") for line in text.strip().splitlines()]
    return ["\n".join(column) for column in zip(*rows, strict=True)]
