"""Messages of clients as data: checked here, done by the groups of `requests`.

A new message is a new method there, marked by `message`: its name is the message's type, its
parameters are the message's fields.
"""

from __future__ import annotations

import functools
import inspect
import json
import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from tengen.frontends.web import limits
from tengen.frontends.web.limits import RefusedError

PointText: TypeAlias = Annotated[str, Field(max_length=8)]
NodeId: TypeAlias = Annotated[int, Field(ge=0, le=2**53)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=limits.LONGEST_CLOCK, allow_inf_nan=False)]
CommentText: TypeAlias = Annotated[str, Field(max_length=limits.COMMENT_LENGTH)]
LabelText: TypeAlias = Annotated[str, Field(min_length=1, max_length=limits.LABEL_LENGTH)]
MarkKind: TypeAlias = Literal["triangle", "square", "circle", "cross", "label"]
FileContent: TypeAlias = Annotated[str, Field(max_length=limits.UPLOAD_BYTES * 4 // 3 + 4)]
GameNumber: TypeAlias = Annotated[int, Field(ge=0, le=2**31)]
GameId: TypeAlias = Annotated[str, Field(max_length=64)]
GameName: TypeAlias = Annotated[str, Field(max_length=limits.NAME_LENGTH)]
CapturedCount: TypeAlias = Annotated[int, Field(ge=0, le=limits.CAPTURED)]
MomentId: TypeAlias = Annotated[str, Field(max_length=64)]
LevelId: TypeAlias = Annotated[str, Field(max_length=40)]
NetworkName: TypeAlias = Annotated[str, Field(max_length=255)]
BoardSide: TypeAlias = Annotated[int, Field(ge=limits.SMALLEST_BOARD, le=limits.LARGEST_BOARD)]
ReviewVisits: TypeAlias = Annotated[int, Field(ge=1, le=limits.REVIEW_VISITS)]
Method = TypeVar("Method", bound=Callable[..., Awaitable[None]])


class StrictModel(BaseModel):
    """Data that must be exactly as declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ClientMessage(StrictModel):
    """A message. Clients may number messages; errors carry the number."""

    type: str
    request: Annotated[int, Field(ge=0, le=2**53)] | None = None


class Hello(ClientMessage):
    """The first message of a connection."""

    type: Literal["hello"]
    session: Annotated[str, Field(max_length=64)] | None = None
    player: Annotated[str, Field(max_length=64)] | None = None  # whose games are listed


class ClockTerms(StrictModel):
    """Main time, then byo-yomi; in seconds."""

    main: Seconds
    period: Seconds = 0
    periods: Annotated[int, Field(ge=0, le=100)] = 0


class NewGame(ClientMessage):
    """The terms of a new game."""

    type: Literal["new_game"] = "new_game"
    size: BoardSide
    colour: Literal["black", "white", "both", "neither", "either"]  # that the person plays
    level: LevelId | None = None
    rules: Annotated[str, Field(max_length=40)] = "chinese"
    komi: Annotated[float, Field(allow_inf_nan=False)] | None = None
    handicap: Annotated[int, Field(ge=0, le=limits.MOST_HANDICAP)] = 0
    clock: ClockTerms | None = None
    network: NetworkName | None = None  # a file in the server's folder; None: the server's own
    teach: Annotated[float, Field(ge=0.5, le=100)] | None = None  # points lost that are told
    even: bool = False  # choose level, handicap, komi and, if it is either, colour for even chances


_MODELS: dict[str, type[ClientMessage]] = {"hello": Hello, "new_game": NewGame}  # by type


def message(method: Method) -> Method:
    """Let clients send messages with the name and the parameters of a method."""
    name, types = method.__name__, get_type_hints(method, include_extras=True)
    _, *parameters = inspect.signature(method).parameters.values()
    fields: dict[str, Any] = {"type": (Literal[name], ...)}
    for each in parameters:
        fields[each.name] = types[each.name], ... if each.default is each.empty else each.default
    _MODELS[name] = create_model(name, __base__=ClientMessage, **fields)
    return method


def messages_of(group: object) -> dict[str, Callable[..., Awaitable[None]]]:
    """The methods of an object that do messages, by type."""
    return {name: getattr(group, name) for name in vars(type(group)) if name in _MODELS}


@functools.cache
def _any_message() -> TypeAdapter[ClientMessage]:
    models: Any = functools.reduce(operator.or_, _MODELS.values())
    return TypeAdapter(Annotated[models, Field(discriminator="type")])


def parse_message(text: str | bytes) -> ClientMessage:
    """The message in a text; raises RefusedError, with the request's number if that is readable."""
    try:
        return _any_message().validate_json(text)
    except ValidationError as error:
        raise _explained(text, error) from None


def _explained(text: str | bytes, error: ValidationError) -> RefusedError:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return RefusedError("bad_json", f"not JSON: {first['msg']}")
    request = _request_of(text)
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return RefusedError("unknown_type", "no such type of message", request=request)
    where = ".".join(str(part) for part in first["loc"][1:]) or "the message"
    return RefusedError("bad_message", f"{where}: {first['msg']}", request=request, field=where)


def _request_of(text: str | bytes) -> int | None:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    request = content.get("request") if isinstance(content, dict) else None
    return request if type(request) is int else None
