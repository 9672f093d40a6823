"""GTP as text: how lines are read, how replies are written, what interrupts what."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tengen.frontends.gtp.protocol import (
    BYTES_AHEAD,
    LINES_AHEAD,
    LONGEST_LINE,
    GtpError,
    GtpRequest,
    Inbox,
    Outlet,
    Reply,
    note,
    parse_line,
    reply_text,
    serve,
)
from tengen.frontends.protocol_stdio import Log


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("name", GtpRequest("", "name", ())),
        ("12 name", GtpRequest("12", "name", ())),
        ("007 name", GtpRequest("007", "name", ())),
        ("  3   play\tb   D4  \r", GtpRequest("3", "play", ("b", "D4"))),
        (
            "5  lz-genmove_analyze black 100",
            GtpRequest("5", "lz-genmove_analyze", ("black", "100")),
        ),
        ("play b D4 # the corner", GtpRequest("", "play", ("b", "D4"))),
        ("\x07name\x00", GtpRequest("", "name", ())),
        ("9", GtpRequest("9", "", ())),
        ("", None),
        (" \t\r", None),
        ("# interrupt", None),
    ],
)
def test_a_line_is_an_id_a_name_and_arguments(line: str, request_: GtpRequest | None) -> None:
    assert parse_line(line) == request_


def test_replies_end_with_one_blank_line_and_hold_none() -> None:
    assert reply_text("", "") == "=\n\n"
    assert reply_text("7", "") == "=7\n\n"
    assert reply_text("7", "D4") == "=7 D4\n\n"
    assert reply_text("", "a\n\n b\n \nc\n") == "= a\n b\nc\n\n"
    assert reply_text("7", "one\ntwo", ok=False) == "?7 one two\n\n"


def test_notes_cannot_be_taken_for_replies_by_clients_that_merge_the_streams(
    capsys: pytest.CaptureFixture[str],
) -> None:
    note("= yes\nplay D4 -> E5\ninfo move")
    shown = capsys.readouterr()
    assert shown.out == ""
    for line in shown.err.splitlines():
        assert not line.startswith(("=", "?", "info", "play"))
        assert " -> " not in line


class _Echo:
    """Commands for tests."""

    def call(self, request: GtpRequest, reply: Reply) -> str | None:
        match request.name:
            case "echo":
                return " ".join(request.arguments)
            case "lines":
                reply.begin()
                reply.line("one")
                return "two"
            case "breaks":
                reply.begin()
                reply.line("one")
                raise GtpError("it broke")
            case "bug":
                raise ZeroDivisionError("oh\nno")
            case "quit":
                return None
            case _:
                raise GtpError("unknown command")


def _said(data: bytes, log: Log | None = None) -> bytes:
    out = io.BytesIO()
    serve(Inbox(io.BytesIO(data), log), Outlet(out, log), _Echo().call, log)
    return out.getvalue()


def test_a_session_answers_in_order_and_survives_errors() -> None:
    heard = b"1 echo hello\r\n\r\n# remark\n2 nonsense\n3 bug\necho\n4 lines\n"
    assert _said(heard) == (
        b"=1 hello\n\n?2 unknown command\n\n?3 internal error: ZeroDivisionError: oh no\n\n"
        b"=\n\n=4\none\ntwo\n\n"
    )


def test_a_reply_that_breaks_off_is_ended_and_explained_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _said(b"1 breaks\n2 echo on\n") == b"=1\none\n\n=2 on\n\n"
    assert "it broke" in capsys.readouterr().err


def test_nothing_after_quit_is_answered() -> None:
    assert _said(b"1 quit\n2 echo\n") == b"=1\n\n"


def test_the_last_line_needs_no_line_end() -> None:
    assert _said(b"1 echo a") == b"=1 a\n\n"


def test_bytes_that_are_no_utf8_do_no_harm() -> None:
    assert (
        _said(b"\xff\xfe\n1 echo \xc3\xa4\n")
        == "?  unknown command\n\n=1 ä\n\n".replace("?  ", "? ").encode()
    )


def test_a_line_that_is_too_long_is_refused_and_not_kept(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "log.txt"))
    heard = b"1 echo a\n2 echo " + (3 * LONGEST_LINE) * b"x" + b"\n3 echo b\n"
    assert _said(heard, log) == b"=1 a\n\n?2 a line has at most 1 MiB\n\n=3 b\n\n"
    log.close()
    assert (tmp_path / "log.txt").stat().st_size < 1_000
    longest = b"1 echo " + (LONGEST_LINE - 8) * b"x" + b"\n"
    assert _said(longest) == b"=1 " + longest[7:] + b"\n"


class _Endless(io.BytesIO):
    """Lines without end; how many were read."""

    def __init__(self, line: bytes) -> None:
        super().__init__()
        self.line, self.read_so_far = line, 0

    def readline(self, size: int | None = -1, /) -> bytes:
        self.read_so_far += 1
        return self.line


@pytest.mark.parametrize(
    ("line", "ahead"),
    [
        (b"echo\n", LINES_AHEAD),
        (b"x" * (LONGEST_LINE - 1) + b"\n", BYTES_AHEAD // LONGEST_LINE + 1),
    ],
)
def test_what_a_client_sends_ahead_waits_with_the_client(line: bytes, ahead: int) -> None:
    stream = _Endless(line)
    inbox = Inbox(stream)
    for taken in range(1, 4):
        assert inbox.next_line() == (line[:-1].decode(), True)
        time.sleep(0.2)  # in which all would be read that is allowed, and more if more were
        assert stream.read_so_far <= ahead + taken


def test_the_log_holds_both_sides_and_the_traceback(tmp_path: Path) -> None:
    path = f"{tmp_path}/log.txt"
    log = Log(path)
    _said(b"1 bug\n", log)
    log.close()
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    assert "> 1 bug" in text
    assert "< ?1 internal error" in text
    assert "Traceback" in text


def test_a_session_ends_when_nobody_listens_any_more() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as stream:
        outlet = Outlet(stream)
        serve(Inbox(io.BytesIO(b"echo a\n" * 1000)), outlet, _Echo().call)
        assert outlet.closed


class _Pipe:
    """An inbox, and the other end of it."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.inbox = Inbox(os.fdopen(reading, "rb"))

    def send(self, data: bytes) -> None:
        os.write(self._writing, data)

    def close(self) -> None:
        os.close(self._writing)
        self.inbox.wait()


def _hears(pipe: _Pipe, act: Callable[[], None], *, at_any_input: bool) -> bool:
    stopped = threading.Event()
    with pipe.inbox.calling(stopped.set, at_any_input=at_any_input):
        act()
        return stopped.wait(5)


@pytest.mark.parametrize("data", [b"name\n", b"\n", b"# interrupt\n", b"\r\n"])
def test_any_line_interrupts_what_any_input_interrupts(data: bytes) -> None:
    pipe = _Pipe()
    assert _hears(pipe, lambda: pipe.send(data), at_any_input=True)
    pipe.close()


def test_the_end_of_input_interrupts_too() -> None:
    pipe = _Pipe()
    assert _hears(pipe, pipe.close, at_any_input=True)


def test_what_came_before_interrupts_at_once() -> None:
    pipe = _Pipe()
    pipe.send(b"name\n")
    assert pipe.inbox.wait(5)
    assert _hears(pipe, lambda: None, at_any_input=True)
    pipe.close()


def test_only_guis_comment_interrupts_the_rest() -> None:
    pipe = _Pipe()
    stopped = threading.Event()
    with pipe.inbox.calling(stopped.set, at_any_input=False):
        pipe.send(b"name\n")
        assert pipe.inbox.wait(5)
        assert not stopped.is_set()
        pipe.send(b"# interrupt\n")
        assert stopped.wait(5)
    pipe.close()
