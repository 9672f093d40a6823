"""The tokens of KataGo's network files, read and written under the same names.

Text and numbers are separated by white space; an array of floats is ``@BIN@`` and little-endian
float32, or in ``.txt`` files plain numbers.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tengen.network.architecture import MAX_SIZE
from tengen.network.files.errors import AGAIN, NetworkFileError, one_line

TEXT_WINDOW = 1 << 20  # bytes of plain numbers that are read at once
LONGEST_NUMBER = 64  # characters; numpy gives every number the room of the longest

Floats: TypeAlias = NDArray[np.float32]
_TOKEN = re.compile(rb"\s*([^\s@]\S{0,199}|@\S{0,4})(?=\s|@|\Z)")
_BINARY = re.compile(rb"\s*@BIN@")


class Tokens(ABC):
    """The tokens of a file: a reader returns what the file has, a writer what it is given.

    A reader passes no value where the file decides. `what` names the token in errors.
    """

    @abstractmethod
    def text(self, what: str, value: str | None = None) -> str:
        """A word."""

    @abstractmethod
    def size(self, what: str, value: int | None = None) -> int:
        """A whole number that is not negative."""

    @abstractmethod
    def number(self, what: str, value: float | None = None) -> float:
        """A finite number."""

    @abstractmethod
    def floats(self, what: str, shape: tuple[int, ...], value: Floats | None = None) -> Floats:
        """An array of finite numbers."""

    def known(self, what: str, value: int) -> int:
        """A number that must have this value; a reader refuses any other with an error."""
        found = self.size(what, value)
        if found != value:
            raise self.error(f"{what} is {found}, but only {value} is known here")
        return found

    def positive(self, what: str, value: float | None = None, most: float = math.inf) -> float:
        """A number above 0, and not above `most`."""
        found = self.number(what, value)
        if not 0 < found <= most:
            limit = f", and at most {most:g}" if most < math.inf else ""
            raise self.error(f"{what} is {found:g}, but must be positive{limit}")
        return found

    def flag(self, what: str, value: bool | None = None) -> bool:
        """A number that is 0 or 1."""
        found = self.size(what, value if value is None else int(value))
        if found > 1:
            raise self.error(f"{what} is {found}, neither 0 nor 1")
        return found == 1

    def error(self, reason: str, remedy: str = AGAIN) -> NetworkFileError:
        """The error for what was found last."""
        return NetworkFileError(f"{reason}; {remedy}")


class TokenReader(Tokens):
    """Reads tokens from the bytes of a file; raises NetworkFileError where they are invalid."""

    def __init__(self, data: bytes, source: str) -> None:
        self._data, self._source, self._at = data, source, 0

    def error(self, reason: str, remedy: str = AGAIN) -> NetworkFileError:
        """The error with the file's name and the place in it."""
        return NetworkFileError(f"{self._source}: {reason} (byte {self._at:,}); {remedy}")

    def end(self) -> None:
        """Raise NetworkFileError unless the file ends here."""
        if self._data[self._at :].strip():
            raise self.error("the file goes on after the network's end")

    def text(self, what: str, value: str | None = None) -> str:  # noqa: ARG002
        """The next token."""
        match = _TOKEN.match(self._data, self._at)
        if match is None:
            raise self.error("the file ends too soon or is no KataGo network")
        self._at = match.end()
        return match[1].decode("latin-1")

    def size(self, what: str, value: int | None = None) -> int:  # noqa: ARG002
        """The next token as a size."""
        token = self.text(what)
        if not re.fullmatch(r"-?[0-9]{1,6}", token) or not 0 <= int(token) <= MAX_SIZE:
            raise self.error(f"{what}: {one_line(token[:20])!r} is no size")
        return int(token)

    def number(self, what: str, value: float | None = None) -> float:  # noqa: ARG002
        """The next token as a number."""
        token = self.text(what)
        try:
            found = float(token)
        except ValueError:
            raise self.error(f"{what}: {one_line(token[:20])!r} is no number") from None
        if not math.isfinite(found):
            raise self.error(f"{what} is {found}")
        return found

    def floats(self, what: str, shape: tuple[int, ...], value: Floats | None = None) -> Floats:  # noqa: ARG002
        """The next array, binary or as text."""
        size = math.prod(shape)
        if size > len(self._data):
            few = f"in a file of {len(self._data):,} bytes"
            raise self.error(f"{what}: an array of {size:,} numbers {few}")
        binary = _BINARY.match(self._data, self._at)
        if binary:
            end = binary.end() + 4 * size
            if end > len(self._data):
                raise self.error(f"{what}: the file ends in the middle of an array")
            values = np.frombuffer(self._data, "<f4", size, binary.end()).astype(np.float32)
            self._at = end
        else:
            values = self._plain_numbers(what, size)
        if not np.isfinite(values).all():
            raise self.error(f"{what}: an array with numbers that are not finite")
        return values.reshape(shape)

    def _plain_numbers(self, what: str, size: int) -> Floats:
        """Read numbers written as text, in windows: one token at a time would take minutes."""
        values = np.empty(size, np.float32)
        done = 0
        while done < size:
            window = self._data[self._at : self._at + TEXT_WINDOW]
            if self._at + TEXT_WINDOW < len(self._data):  # the window may cut its last token
                window = window[: max(window.rfind(b" "), window.rfind(b"\n")) + 1]
            tokens = window.split(None, size - done)
            rest = tokens.pop() if len(tokens) > size - done else b""
            if not tokens:
                raise self.error(f"{what}: the file ends in the middle of an array")
            if max(map(len, tokens)) > LONGEST_NUMBER:
                long = f"a number of more than {LONGEST_NUMBER} characters"
                raise self.error(f"{what}: an array with {long}")
            try:
                with np.errstate(over="ignore"):
                    values[done : done + len(tokens)] = np.array(tokens).astype(np.float32)
            except ValueError:
                raise self.error(f"{what}: an array with something that is no number") from None
            done += len(tokens)
            self._at += len(window) - len(rest)
        return values


class Token(NamedTuple):
    """What was written under a name."""

    what: str
    value: str | float | Floats


class TokenWriter(Tokens):
    """Collects tokens for a file."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []

    def text(self, what: str, value: str | None = None) -> str:
        """Write a word."""
        assert value is not None, what
        self.tokens.append(Token(what, value))
        return value

    def size(self, what: str, value: int | None = None) -> int:
        """Write a whole number."""
        assert value is not None, what
        self.tokens.append(Token(what, value))
        return value

    def number(self, what: str, value: float | None = None) -> float:
        """Write a number."""
        assert value is not None, what
        self.tokens.append(Token(what, value))
        return value

    def floats(self, what: str, shape: tuple[int, ...], value: Floats | None = None) -> Floats:
        """Write an array."""
        assert value is not None, what
        assert value.shape == shape, what
        self.tokens.append(Token(what, value))
        return value


def as_bytes(tokens: list[Token]) -> bytes:
    """The tokens as the bytes of a binary file."""
    return b"".join(
        b"@BIN@" + value.astype("<f4").tobytes() + b"\n"
        if isinstance(value, np.ndarray)
        else str(value).encode("latin-1") + b"\n"
        for _, value in tokens
    )
