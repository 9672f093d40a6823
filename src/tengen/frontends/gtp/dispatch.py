"""Handlers as typed methods: names and annotations drive dispatch, parsing and the error text."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tengen.frontends.gtp.protocol import GtpError, GtpRequest, Reply
from tengen.game.color import Color, parse_color

Function = TypeVar("Function", bound=Callable[..., "str | None"])

_VERTEX = re.compile(r"[A-HJ-Z][0-9]{1,3}|PASS|RESIGN")


class Vertex(str):
    """A move as GTP writes it: D4, pass or resign, in upper case. It may be off the board."""

    __slots__ = ()


def command(*names: str) -> Callable[[Function], Function]:
    """Register a method as the handler of a command, by its own name or by others.

    Its arguments are parsed as their annotations say. One annotated `Reply` is not an argument
    of the command: it is where lines can be added to an answer.
    """

    def mark(function: Function) -> Function:
        function.__dict__["gtp_names"] = names or (function.__name__,)
        return function

    return mark


class CommandTable:
    """The commands of several objects."""

    def __init__(self, *groups: object) -> None:
        self._handlers = dict(_handlers(groups))

    @property
    def names(self) -> list[str]:
        """All commands, in the order of their definition."""
        return list(self._handlers)

    def call(self, request: GtpRequest, reply: Reply) -> str | None:
        """Run the handler of a command; raises ValueError."""
        name = request.name
        handler = self._handlers.get(name) or self._handlers.get(name.lower())
        if handler is None:
            raise GtpError("unknown command" if name else "empty command")
        arguments = _parsed(handler, name, request.arguments, reply)
        result: str | None = handler(*arguments)
        return result


def _handlers(groups: tuple[object, ...]) -> Iterator[tuple[str, Callable[..., str | None]]]:
    for group in groups:
        for attribute in vars(type(group)).values():
            for name in getattr(attribute, "gtp_names", ()):
                yield name, getattr(group, attribute.__name__)


def _parsed(
    handler: Callable[..., str | None], name: str, given: tuple[str, ...], reply: Reply
) -> list[Any]:
    """The arguments of a handler; raises GtpError."""
    hints = typing.get_type_hints(handler)
    values: list[Any] = []
    left = list(given)
    for parameter in inspect.signature(handler).parameters.values():
        kind = hints[parameter.name]
        if kind is Reply:
            values.append(reply)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            values += [_value(kind, text, handler, name) for text in left]
            left = []
        elif left:
            values.append(_value(kind, left.pop(0), handler, name))
        elif parameter.default is parameter.empty:
            raise GtpError(f"syntax error: {_usage(handler, name)}")
        else:
            values.append(parameter.default)
    if left:
        raise GtpError(f"syntax error: {_usage(handler, name)}")
    return values


def _usage(handler: Callable[..., str | None], name: str) -> str:
    """How a command is written, such as: play COLOR VERTEX."""
    hints = typing.get_type_hints(handler)
    words = [name]
    for parameter in inspect.signature(handler).parameters.values():
        word = parameter.name.upper()
        if hints[parameter.name] is Reply:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            word = f"[{word} ...]"
        elif parameter.default is not parameter.empty:
            word = f"[{word}]"
        words.append(word)
    return "write " + " ".join(words)


def _value(kind: Any, text: str, handler: Callable[..., str | None], name: str) -> Any:
    if isinstance(kind, types.UnionType):  # X | None for an argument that may be left out
        kind = next(option for option in typing.get_args(kind) if option is not type(None))
    try:
        return _PARSERS[kind](text)
    except ValueError as error:
        raise GtpError(f"syntax error: {error}; {_usage(handler, name)}") from None


def parse_int(text: str) -> int:
    """A whole number; raises ValueError."""
    if not re.fullmatch(r"[-+]?[0-9]{1,12}", text):
        raise ValueError(f"not a whole number: {text[:40]!r}")
    return int(text)


def parse_float(text: str) -> float:
    """A finite number; raises ValueError."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"not a number: {text[:40]!r}") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"not a finite number: {text[:40]!r}")
    return value


def parse_bool(text: str) -> bool:
    """True or false, as programs write them; raises ValueError."""
    word = text.lower()
    if word in ("true", "1", "on", "yes"):
        return True
    if word in ("false", "0", "off", "no"):
        return False
    raise ValueError(f"neither true nor false: {text[:40]!r}")


def parse_vertex(text: str) -> Vertex:
    """A move; raises ValueError."""
    if not _VERTEX.fullmatch(text.upper()):
        raise ValueError(f"not a vertex: {text[:40]!r} (D4 or pass)")
    return Vertex(text.upper())


_PARSERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    int: parse_int,
    float: parse_float,
    bool: parse_bool,
    Color: parse_color,
    Vertex: parse_vertex,
}
