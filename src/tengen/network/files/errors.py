"""The error of network files, and the recognition of files that are no networks."""

from __future__ import annotations

from tengen.user_messages import printable

AGAIN = "download or export it again"


class NetworkFileError(ValueError):
    """A network file that cannot be used; the message says which, why and what to do."""


def describe_foreign_file(start: bytes) -> str | None:
    """What is wrong with a file that starts like this; None if it may be a network."""
    if not start:
        return f"is empty; {AGAIN}"
    # Pickles, torch's old files among them, start with 0x80 and their protocol's number.
    if start[0] == 0x80 and start[1:2] in (b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"):
        return f"is a Python pickle, {_NEVER_RUN}"
    if start.startswith(b"PK"):
        return f"is a zip archive (a torch checkpoint?), {_NEVER_RUN}"
    if start.lstrip()[:1] == b"<":
        return "is a web page, not a network; download the file itself"
    return None


_NEVER_RUN = "which can run code and is never opened; convert it to safetensors"


def one_line(text: str) -> str:
    """Text from a file made safe for a terminal: one short line without control characters."""
    return printable(" ".join(text.split()))[:200]
