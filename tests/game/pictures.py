"""Split tables of board diagrams."""

from __future__ import annotations


def pictures(text: str) -> list[str]:
    """The diagrams in a text that has them side by side, three spaces apart."""
    rows = [line.strip().split("   ") for line in text.strip().splitlines()]
    return ["\n".join(column) for column in zip(*rows, strict=True)]
