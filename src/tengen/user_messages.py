"""What people read in a terminal: messages on stderr, since stdout belongs to protocols, and text.

Whatever is printed goes through here or through `terminal_console`: names and texts from files may
hold control characters, by which a terminal can be made to hide or fake what it shows.
"""

from __future__ import annotations

import sys

_REMEDIES: dict[type[OSError], str] = {
    FileNotFoundError: "check the path",
    FileExistsError: "name another, or remove it",
    NotADirectoryError: "a folder is needed there",
    IsADirectoryError: "name a file",
    PermissionError: "name another place, or change its permissions",
}


def printable(text: str, keep: str = "") -> str:
    """The text with everything but visible characters and spaces replaced by question marks.

    That is control characters, those that change the direction of writing, and other invisible
    ones; `keep` names some that may stay, such as line breaks.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in keep else "?" for sign in text)


def say(line: str) -> None:
    """Print one line to stderr; the prefix lets clients that merge the streams recognise it."""
    print(f"tengen: {printable(line)}", file=sys.stderr, flush=True)


def tell(text: str) -> None:
    """Print lines of text to stdout."""
    print(printable(text, keep="\n"))


def failure_text(error: OSError) -> str:
    """What the system says of a file that could not be used, and what to do about it."""
    remedies = [remedy for kind, remedy in _REMEDIES.items() if isinstance(error, kind)]
    return "; ".join([error.strerror or type(error).__name__, *remedies])
