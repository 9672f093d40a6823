"""The display of a run: a live table on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from tengen.evaluation.elo import Rating
from tengen.runs.progress import Counters, RunDisplay, RunStatus, status_line
from tengen.user_messages import say

STATUS = RunStatus(
    Counters(
        iteration=12,
        seconds=1330,
        share=1330 / 5330,
        games=506_000,
        rows=9_512_345,
        window=1_950_000,
    ),
    rates={"games": 359.6, "evals": 1_280_000, "rows": 7_150, "samples": 57_200},
    losses={"policy": 1.2345, "value": 0.4321, "[bold]odd": 7.0},
    rating=Rating(942.2, 875, 1004, 300),
)
WANTED = [
    "iteration 12",
    "506,000",
    "360/s",
    "9,512,345",
    "7,150/s",
    "1,950,000",
    "1.28 M",
    "57 k samples/s",
    "1.234",  # half to even in binary: 1.2345 lies just below
    "0.432",
    "[bold]odd",
    "+942 [+875, +1004]",
    "22:10, 1:06:40 left",
]


def at_iteration(number: int) -> RunStatus:
    return STATUS._replace(now=STATUS.now._replace(iteration=number))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("wanted", WANTED)
def test_the_line_says_all(wanted: str) -> None:
    line = status_line(STATUS)
    assert wanted in line
    assert "\n" not in line


@pytest.mark.parametrize("wanted", WANTED)
def test_the_table_says_all(wanted: str) -> None:
    console = terminal()
    with RunDisplay("run", console) as display:
        display.update(STATUS)
    assert wanted in written(console)


def test_what_is_not_known_yet_is_left_out() -> None:
    line = status_line(STATUS._replace(now=STATUS.now._replace(share=0.0), rating=None, losses={}))
    assert not any(word in line for word in ("Elo", "left", "loss", "None"))


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0, "0"),
        (0.254, "0.25"),
        (9.94, "9.9"),
        (9.96, "10"),
        (999.6, "1,000"),
        (9_999, "9,999"),
        (9_999.9, "10 k"),
        (999_400, "999 k"),
        (999_600, "1.00 M"),
        (2.5e6, "2.50 M"),
    ],
)
def test_rates_have_about_three_figures(rate: float, text: str) -> None:
    assert f" {text} evals/s" in status_line(STATUS._replace(rates={**STATUS.rates, "evals": rate}))


def test_without_a_terminal_a_line_comes_every_half_minute(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunDisplay("run", Console(file=sys.stderr), clock) as display:
        for second in range(61):
            clock.now = 1000.0 + second
            display.update(at_iteration(second))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert [line.split(",")[0] for line in lines] == [
        f"tengen: iteration {second}" for second in (0, 30, 60)
    ]


def test_the_last_status_is_always_shown(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay("run", Console(file=sys.stderr), clock) as display:
        display.update(STATUS)
        display.update(at_iteration(13))
    assert capsys.readouterr().err.count("iteration 13") == 1


def test_a_terminal_is_not_drawn_on_more_often_than_eyes_can_follow(clock: Clock) -> None:
    console = terminal()
    with RunDisplay("run", console, clock) as display:
        for tick in range(1000):
            clock.now += 0.001
            display.update(at_iteration(tick))
        before = written(console)
    drawn = [tick for tick in range(1000) if f"iteration {tick} " in before]
    assert len(drawn) == 4
    assert "iteration 999 " in written(console)


def test_a_terminal_shows_a_new_stage_at_once(clock: Clock) -> None:
    console = terminal()
    with RunDisplay("run", console, clock) as display:
        display.update(STATUS)
        display.update(STATUS._replace(stage="rating"))
        assert "rating" in written(console)


def test_what_is_said_meanwhile_is_not_lost(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console(stderr=True, force_terminal=True, width=100, color_system=None)
    with RunDisplay("run", console, clock) as display:
        display.update(STATUS)
        say("a shard is damaged")
        clock.now += 1
        display.update(STATUS)
    assert "tengen: a shard is damaged\n" in stream.getvalue()
    assert sys.stderr is stream


def test_stdout_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay("run", terminal()) as display:
        display.update(STATUS)
        print("a result for a pipe")
    assert capsys.readouterr().out == "a result for a pipe\n"


def test_the_default_console_is_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with RunDisplay("run") as display:
        display.update(STATUS)
    out, err = capsys.readouterr()
    assert out == ""
    assert "iteration 12" in err
