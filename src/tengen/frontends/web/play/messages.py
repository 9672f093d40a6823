"""What clients may say: the shape of each message, checked before anything else sees it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tengen.frontends.web.http import limits
from tengen.frontends.web.play.refusal import RefusedError

Colour: TypeAlias = Literal["black", "white"]
Point: TypeAlias = Annotated[str, Field(max_length=8)]
NodeId: TypeAlias = Annotated[int, Field(ge=0, le=2**53)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=limits.LONGEST_CLOCK, allow_inf_nan=False)]


class Message(BaseModel):
    """A message; whoever sends it may number it, and errors carry the number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    request: Annotated[int, Field(ge=0, le=2**53)] | None = None


class Hello(Message):
    type: Literal["hello"]
    session: Annotated[str, Field(max_length=64)] | None = None


class ClockTerms(BaseModel):
    """Main time, then byo-yomi; times are seconds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    main: Seconds
    period: Seconds = 0
    periods: Annotated[int, Field(ge=0, le=100)] = 0


class NewGame(Message):
    type: Literal["new_game"]
    size: Annotated[int, Field(ge=limits.SMALLEST_BOARD, le=limits.LARGEST_BOARD)]
    colour: Literal["black", "white", "both"]
    level: Annotated[str, Field(max_length=40)] | None = None
    rules: Annotated[str, Field(max_length=40)] = "chinese"
    komi: Annotated[float, Field(allow_inf_nan=False)] | None = None
    handicap: Annotated[int, Field(ge=0, le=limits.MOST_HANDICAP)] = 0
    clock: ClockTerms | None = None


class Play(Message):
    type: Literal["play"]
    move: Point


class Undo(Message):
    type: Literal["undo"]


class Resign(Message):
    type: Literal["resign"]


class Hint(Message):
    type: Literal["hint"]


class MarkDead(Message):
    type: Literal["mark_dead"]
    point: Point


class AcceptCount(Message):
    type: Literal["accept_count"]


class Resume(Message):
    type: Literal["resume"]


class Open(Message):
    type: Literal["open"]
    sgf: str


class Go(Message):
    type: Literal["go"]
    node: NodeId


class Add(Message):
    type: Literal["add"]
    node: NodeId
    move: Point


class Remove(Message):
    type: Literal["remove"]
    node: NodeId


class Comment(Message):
    type: Literal["comment"]
    node: NodeId
    text: Annotated[str, Field(max_length=limits.COMMENT_LENGTH)]


class Mark(Message):
    type: Literal["mark"]
    node: NodeId
    point: Point
    kind: Literal["triangle", "square", "circle", "cross", "label"] | None
    label: Annotated[str, Field(min_length=1, max_length=limits.LABEL_LENGTH)] | None = None


class SetMode(Message):
    type: Literal["set_mode"]
    mode: Literal["play", "analyse"]


class Analyse(Message):
    type: Literal["analyse"]
    on: bool


class Review(Message):
    type: Literal["review"]
    visits: Annotated[int, Field(ge=1, le=limits.REVIEW_VISITS)] = 50


class StopReview(Message):
    type: Literal["stop_review"]


class Better(Message):
    type: Literal["better"]


class Ping(Message):
    type: Literal["ping"]


ClientMessage: TypeAlias = (
    Hello
    | NewGame
    | Play
    | Undo
    | Resign
    | Hint
    | MarkDead
    | AcceptCount
    | Resume
    | Open
    | Go
    | Add
    | Remove
    | Comment
    | Mark
    | SetMode
    | Analyse
    | Review
    | StopReview
    | Better
    | Ping
)
_ANY: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


class BadMessageError(RefusedError):
    """What is no message; says what is wrong, and which request it was if that can be told."""

    def __init__(self, code: str, message: str, request: int | None, **data: object) -> None:
        super().__init__(code, message, **data)
        self.request = request


def parse_message(text: str | bytes) -> ClientMessage:
    """The message that a text is; raises BadMessageError."""
    try:
        return _ANY.validate_json(text)
    except ValidationError as error:
        raise _explained(text, error) from None


def _explained(text: str | bytes, error: ValidationError) -> BadMessageError:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return BadMessageError("bad_json", f"not JSON: {first['msg']}", None)
    request = _request_of(text)
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return BadMessageError("unknown_type", "no such type of message", request)
    where = ".".join(str(part) for part in first["loc"][1:]) or "the message"
    return BadMessageError("bad_message", f"{where}: {first['msg']}", request, field=where)


def _request_of(text: str | bytes) -> int | None:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    request = content.get("request") if isinstance(content, dict) else None
    return request if type(request) is int else None
