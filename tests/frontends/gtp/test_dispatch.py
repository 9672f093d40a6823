"""Typed methods as commands: annotations parse arguments and write the error text."""

from __future__ import annotations

import io

import pytest

from tengen.frontends.gtp.protocol import (
    CommandTable,
    GtpError,
    GtpRequest,
    Outlet,
    Reply,
    Vertex,
    command,
)
from tengen.game.color import Color


class _Group:
    @command()
    def add(self, first: int, second: float = 0.5) -> str:
        return f"{first + second}"

    @command("put-stone", "put_stone")
    def put(self, color: Color, vertex: Vertex) -> str:
        return f"{color} {vertex}"

    @command()
    def all_of(self, reply: Reply, *words: str) -> str:
        reply.begin()
        return ",".join(words)

    @command()
    def switch(self, on: bool, count: int | None = None) -> str:
        return f"{on} {count}"

    def no_command(self) -> str:
        return ""


def _call(text: str) -> str | None:
    name, *arguments = text.split()
    reply = Reply("", Outlet(io.BytesIO()))
    return CommandTable(_Group()).call(GtpRequest("", name, tuple(arguments)), reply)


def test_arguments_are_parsed_as_annotated() -> None:
    assert _call("add 3") == "3.5"
    assert _call("add 3 1.25") == "4.25"
    assert _call("put-stone W d4") == "white D4"
    assert _call("put_stone Black PaSs") == "black PASS"
    assert _call("all_of a b") == "a,b"
    assert _call("switch true") == "True None"
    assert _call("switch 0 7") == "False 7"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add", "syntax error: write add FIRST [SECOND]"),
        ("add 1 2 3", "syntax error: write add FIRST [SECOND]"),
        ("add one", "syntax error: not a whole number: 'one'; write add FIRST [SECOND]"),
        ("add 1 nan", "not a finite number"),
        ("put-stone red D4", "not a colour"),
        ("put-stone b I5", "not a vertex: 'I5'"),
        ("switch maybe", "neither true nor false"),
        ("no_command", "unknown command"),
        ("nothing", "unknown command"),
    ],
)
def test_what_is_wrong_is_said_with_how_to_write_it(text: str, message: str) -> None:
    with pytest.raises(GtpError, match=None) as caught:
        _call(text)
    assert message in str(caught.value)


def test_names_come_in_the_order_of_their_definition() -> None:
    assert CommandTable(_Group()).names == ["add", "put-stone", "put_stone", "all_of", "switch"]
