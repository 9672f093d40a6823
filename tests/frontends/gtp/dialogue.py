"""Dialogues with clients as text: what they send, byte for byte, and what must come back."""

from __future__ import annotations

import re
import textwrap

from tests.frontends.gtp.client import Client

POINT = r"[A-HJ-T][0-9]{1,2}"
WORDS = {"POINT": POINT, "MOVE": rf"(?:{POINT}|pass)", "N": "[0-9]+"}


def replay(client: Client, script: str, newline: bytes = b"\n") -> None:
    """Hold a dialogue.

    ``> `` is sent as it stands; ``< `` must come exactly; ``<~ `` must match; ``<+ `` must match
    one line or more, and such lines may go on coming until something else is sent and answered.
    In patterns MOVE, POINT and N stand for moves, points and whole numbers.
    """
    streaming: str | None = None
    for line in textwrap.dedent(script).strip("\n").split("\n"):
        mark, _, text = line.partition(" ")
        if mark == ">":
            client.send(text.encode() + newline)
            continue
        heard = client.lines.next_line()
        while mark != "<+" and streaming is not None and re.fullmatch(streaming, heard):
            heard = client.lines.next_line()
        streaming = None
        if mark == "<":
            assert heard == text, f"{heard!r} is not {text!r}"
        else:
            pattern = re.sub(r"\b(?:MOVE|POINT|N)\b", lambda match: WORDS[match[0]], text)
            assert re.fullmatch(pattern, heard), f"{heard!r} is not {pattern!r}"
            streaming = pattern if mark == "<+" else None
    assert client.lines.unread == b""
