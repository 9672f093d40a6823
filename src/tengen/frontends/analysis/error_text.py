"""Error texts on one line, without phrases that clients take for a crash of the engine."""

from __future__ import annotations

_HARMLESS = {"Uncaught exception": "uncaught exception", "what()": "what ()"}


def one_safe_line(text: str) -> str:
    """The text on one line, with such phrases changed."""
    text = " ".join(text.split())
    for alarm, harmless in _HARMLESS.items():
        text = text.replace(alarm, harmless)
    return text
