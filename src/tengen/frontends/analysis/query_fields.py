"""Fields of a query by their kinds; null counts as missing. Every error names its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

from tengen.game.color import Color, parse_color

Fields: TypeAlias = Mapping[str, Any]


class QueryError(ValueError):
    """A query that cannot be answered, with the field at fault, if there is one."""

    def __init__(self, field: str | None, text: str) -> None:
        super().__init__(text)
        self.field = field


def read_whole(fields: Fields, name: str, low: int, high: int) -> int | None:
    """A whole number, None if it is missing; raises QueryError, as do all readers here."""
    value = fields.get(name)
    if value is None or (is_whole(value) and low <= value <= high):
        return value
    raise QueryError(name, f"a whole number from {low} to {high} is needed")


def read_wholes(fields: Fields, name: str) -> list[int] | None:
    """A list of whole numbers, which may be written as 1.0."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, list) and all(map(is_integral, value)):
        return [int(each) for each in value]
    raise QueryError(name, f"a list of whole numbers is needed, not {shown(value)}")


def read_number(fields: Fields, name: str, low: float, high: float) -> float | None:
    """A number that may have a fraction."""
    value = fields.get(name)
    if value is None or (is_number(value) and low <= value <= high):
        return value
    raise QueryError(name, f"a number from {low:g} to {high:g} is needed")


def read_switch(fields: Fields, name: str) -> bool:
    """True or false; false where the field is missing."""
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise QueryError(name, "true or false is needed")


def color_of(name: str, value: Any) -> Color:
    """A player within a field."""
    try:
        return parse_color(value if isinstance(value, str) else "")
    except ValueError:
        raise QueryError(name, f'a player is "B" or "W", not {shown(value)}') from None


def list_of(name: str, value: Any, wanted: str) -> Sequence[Any]:
    """A list within a field."""
    if not isinstance(value, list):
        raise QueryError(name, wanted)
    return value


def is_number(value: Any) -> TypeGuard[float]:
    """Is it a number, and not true or false?"""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integral(value: Any) -> TypeGuard[float]:
    """Is it a whole number, if only in value?"""
    return is_whole(value) or (isinstance(value, float) and value.is_integer())


def is_whole(value: Any) -> TypeGuard[int]:
    """Is it a whole number, and not true or false?"""
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value as an error shows it: short."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
