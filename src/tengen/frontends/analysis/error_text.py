"""Texts that clients take for the last words of a crashed engine, and must not meet elsewhere."""

from __future__ import annotations

_HARMLESS = {"Uncaught exception": "uncaught exception", "what()": "what ()"}


def one_safe_line(text: str) -> str:
    """The text on one line, without what would alarm a client."""
    text = " ".join(text.split())
    for alarm, harmless in _HARMLESS.items():
        text = text.replace(alarm, harmless)
    return text
