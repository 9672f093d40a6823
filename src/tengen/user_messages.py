"""What people read in a terminal: messages on stderr, since stdout belongs to protocols, and text.

Whatever is printed goes through here or through `terminal_console`: names and texts from files may
hold control characters, by which a terminal can be made to hide or fake what it shows.
"""

from __future__ import annotations

import sys


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
