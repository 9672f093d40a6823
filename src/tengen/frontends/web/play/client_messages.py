"""Messages of clients: the shape of each, and what it does to a session.

A new message is a new class here, nothing else: `parse_message` knows all subclasses of
`ClientMessage`.
"""

from __future__ import annotations

import functools
import json
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tengen.frontends.web import limits
from tengen.frontends.web.play.refusal import RefusedError, not_now

if TYPE_CHECKING:
    from tengen.frontends.web.play.session import PlaySession

PointText: TypeAlias = Annotated[str, Field(max_length=8)]
NodeId: TypeAlias = Annotated[int, Field(ge=0, le=2**53)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=limits.LONGEST_CLOCK, allow_inf_nan=False)]


class ClientMessage(BaseModel):
    """A message. Clients may number messages; errors carry the number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    request: Annotated[int, Field(ge=0, le=2**53)] | None = None

    async def apply(self, session: PlaySession) -> None:
        """Do what the message asks for; raises RefusedError."""
        raise NotImplementedError


class Hello(ClientMessage):
    type: Literal["hello"]
    session: Annotated[str, Field(max_length=64)] | None = None

    async def apply(self, session: PlaySession) -> None:  # noqa: ARG002
        raise not_now("hello is only the first message of a connection")


class ClockTerms(BaseModel):
    """Main time, then byo-yomi; in seconds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    main: Seconds
    period: Seconds = 0
    periods: Annotated[int, Field(ge=0, le=100)] = 0


class NewGame(ClientMessage):
    type: Literal["new_game"]
    size: Annotated[int, Field(ge=limits.SMALLEST_BOARD, le=limits.LARGEST_BOARD)]
    colour: Literal["black", "white", "both"]
    level: Annotated[str, Field(max_length=40)] | None = None
    rules: Annotated[str, Field(max_length=40)] = "chinese"
    komi: Annotated[float, Field(allow_inf_nan=False)] | None = None
    handicap: Annotated[int, Field(ge=0, le=limits.MOST_HANDICAP)] = 0
    clock: ClockTerms | None = None

    async def apply(self, session: PlaySession) -> None:
        session.begin(self)


class Open(ClientMessage):
    type: Literal["open"]
    sgf: str

    async def apply(self, session: PlaySession) -> None:
        await session.open(self.sgf)


class Play(ClientMessage):
    type: Literal["play"]
    move: PointText

    async def apply(self, session: PlaySession) -> None:
        if session.game.bot_to_move:
            raise RefusedError("not_your_turn", "it is the opponent's move")
        session.show_if_new(*session.game.play(self.move))
        session.changed()


class Undo(ClientMessage):
    type: Literal["undo"]

    async def apply(self, session: PlaySession) -> None:
        session.taken_back(session.game.undo())


class Resign(ClientMessage):
    type: Literal["resign"]

    async def apply(self, session: PlaySession) -> None:
        session.game.resign()
        session.changed()


class Hint(ClientMessage):
    type: Literal["hint"]

    async def apply(self, session: PlaySession) -> None:
        session.need_network()
        if not session.game.yours_to_move:
            raise RefusedError("not_your_turn", "hints are for your own moves")
        session.look_for_hints()


class MarkDead(ClientMessage):
    type: Literal["mark_dead"]
    point: PointText

    async def apply(self, session: PlaySession) -> None:
        session.game.mark_dead(self.point)
        session.dead_stones_decided()


class AcceptCount(ClientMessage):
    type: Literal["accept_count"]

    async def apply(self, session: PlaySession) -> None:
        session.game.accept_count()
        session.dead_stones_decided()


class Resume(ClientMessage):
    type: Literal["resume"]

    async def apply(self, session: PlaySession) -> None:
        session.taken_back(session.game.resume())


class Go(ClientMessage):
    type: Literal["go"]
    node: NodeId

    async def apply(self, session: PlaySession) -> None:
        session.game.go(self.node)
        session.changed()


class Add(ClientMessage):
    type: Literal["add"]
    node: NodeId
    move: PointText

    async def apply(self, session: PlaySession) -> None:
        session.show_if_new(*session.game.add(self.node, self.move))
        session.changed()


class Remove(ClientMessage):
    type: Literal["remove"]
    node: NodeId

    async def apply(self, session: PlaySession) -> None:
        node = session.game.remove(self.node)
        session.send({"type": "removed", "node": node.id})
        session.changed()


class Comment(ClientMessage):
    type: Literal["comment"]
    node: NodeId
    text: Annotated[str, Field(max_length=limits.COMMENT_LENGTH)]

    async def apply(self, session: PlaySession) -> None:
        node = session.game.tree.node(self.node)
        session.game.tree.set_comment(node, self.text)
        session.annotated(node)


class Mark(ClientMessage):
    type: Literal["mark"]
    node: NodeId
    point: PointText
    kind: Literal["triangle", "square", "circle", "cross", "label"] | None
    label: Annotated[str, Field(min_length=1, max_length=limits.LABEL_LENGTH)] | None = None

    async def apply(self, session: PlaySession) -> None:
        node = session.game.tree.node(self.node)
        session.game.tree.set_mark(node, self.point, self.kind, self.label)
        session.annotated(node)


class SetMode(ClientMessage):
    type: Literal["set_mode"]
    mode: Literal["play", "analyse"]

    async def apply(self, session: PlaySession) -> None:
        session.game.set_mode(self.mode)
        if self.mode == "play":
            session.analyse(False)
        session.changed()


class Analyse(ClientMessage):
    type: Literal["analyse"]
    on: bool

    async def apply(self, session: PlaySession) -> None:
        if self.on and session.game.phase == "playing" and session.game.bot is not None:
            raise not_now("there is no analysis during a game against the program, only hints")
        session.analyse(self.on)


class Review(ClientMessage):
    type: Literal["review"]
    visits: Annotated[int, Field(ge=1, le=limits.REVIEW_VISITS)] = 50

    async def apply(self, session: PlaySession) -> None:
        session.need_network()
        session.reviews.begin(session.game, self.visits)


class StopReview(ClientMessage):
    type: Literal["stop_review"]

    async def apply(self, session: PlaySession) -> None:
        session.reviews.stop()


class Better(ClientMessage):
    type: Literal["better"]

    async def apply(self, session: PlaySession) -> None:
        session.need_network()
        if session.game.result is None:
            raise not_now("better moves are shown after the game")
        session.reviews.begin_better(session.game)


class Ping(ClientMessage):
    type: Literal["ping"]

    async def apply(self, session: PlaySession) -> None:
        session.send({"type": "pong"})


_ANY_TYPE: Any = functools.reduce(operator.or_, ClientMessage.__subclasses__())
_ANY: TypeAdapter[ClientMessage] = TypeAdapter(Annotated[_ANY_TYPE, Field(discriminator="type")])


class BadMessageError(RefusedError):
    """Text that is no valid message; carries the request number where it can be read."""

    def __init__(self, code: str, message: str, request: int | None, **data: object) -> None:
        super().__init__(code, message, **data)
        self.request = request


def parse_message(text: str | bytes) -> ClientMessage:
    """The message in a text; raises BadMessageError."""
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
