"""The state of a run on stderr: a live table on a terminal, else a line every 30 seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tengen.closeable import Closeable
from tengen.evaluation.elo import Rating
from tengen.user_messages import say

REDRAW_SECONDS = 0.25
LINE_SECONDS = 30.0


class RunStatus(NamedTuple):
    """What is shown. Rates are per second."""

    iteration: int
    games: int
    rows: int  # so far
    window: int  # rows that batches are drawn from
    losses: Mapping[str, float]  # by head
    games_rate: float
    evals_rate: float
    rows_rate: float
    samples_rate: float
    seconds: float  # since the run began, earlier sessions included
    seconds_left: float | None = None  # to the limit, if there is one
    rating: Rating | None = None  # of the latest checkpoint that was rated
    stage: str = ""  # such as "rating"; empty: playing and learning


class RunDisplay(Closeable):
    """Shows a run until closed; other messages on stderr appear above it."""

    def __init__(
        self,
        title: str,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._console = console or Console(stderr=True)
        self._clock = clock
        self._shown_at: float | None = None
        self._stage = ""  # shown last
        self._unseen: RunStatus | None = None  # came too soon to be shown
        self._live: Live | None = None
        if self._console.is_terminal:
            # No refreshing thread: it would compete with the run's loop.
            self._live = Live(console=self._console, auto_refresh=False, redirect_stdout=False)
            self._live.start()

    def update(self, status: RunStatus) -> None:
        """Show this status, unless another was shown a moment ago; cheap enough for every tick.

        On a terminal a new stage is shown at once, since the numbers may then stand still.
        """
        now = self._clock()
        pause = REDRAW_SECONDS if self._live else LINE_SECONDS
        fresh = self._shown_at is not None and now - self._shown_at < pause
        if fresh and not (self._live and status.stage != self._stage):
            self._unseen = status
            return
        self._shown_at, self._stage = now, status.stage
        self._show(status)

    def close(self) -> None:
        """Show the last status and release the terminal."""
        if self._unseen is not None:
            self._show(self._unseen)
        if self._live:
            self._live.stop()
            self._live = None

    def _show(self, status: RunStatus) -> None:
        self._unseen = None
        if self._live:
            self._live.update(status_panel(self._title, status), refresh=True)
        else:
            say(status_line(status))


def status_line(status: RunStatus) -> str:
    """The status in one line, for logs."""
    parts = [
        f"iteration {status.iteration}",
        f"{status.games:,} games ({_rate(status.games_rate)}/s)",
        f"{status.rows:,} rows ({_rate(status.rows_rate)}/s)",
        f"window {status.window:,}",
        f"{_rate(status.evals_rate)} evals/s",
        f"{_rate(status.samples_rate)} samples/s",
    ]
    if status.losses:
        parts.append("loss " + " ".join(f"{k} {v:.3f}" for k, v in status.losses.items()))
    if status.rating:
        parts.append(f"Elo {status.rating}")
    parts.append(_span(status.seconds) + _left(status))
    return ", ".join([*([status.stage] if status.stage else []), *parts])


def status_panel(title: str, status: RunStatus) -> Panel:
    """The status as a framed table."""
    table = Table.grid(padding=(0, 2), pad_edge=False)
    table.add_column(style="dim")
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    counts = [
        ("games", f"{status.games:,}", f"{_rate(status.games_rate)}/s"),
        ("rows", f"{status.rows:,}", f"{_rate(status.rows_rate)}/s"),
        ("window", f"{status.window:,}", f"{_rate(status.samples_rate)} samples/s"),
        ("evals", "", f"{_rate(status.evals_rate)}/s"),
    ]
    for row in counts:
        table.add_row(*row)
    learned = Table.grid(padding=(0, 2), pad_edge=False)
    learned.add_column(style="dim")
    learned.add_column(justify="right", style="bold")
    if status.rating:
        learned.add_row("Elo", str(status.rating))
    for head, loss in status.losses.items():
        learned.add_row(Text(f"{head} loss"), f"{loss:.3f}")
    both = Table.grid(padding=(0, 6), pad_edge=False)
    both.add_row(table, learned)
    stage = f" · {status.stage}" if status.stage else ""
    heading = Text(f"{title} · iteration {status.iteration}{stage}", style="bold")
    return Panel(
        both,
        title=heading,
        title_align="left",
        subtitle=Text(_span(status.seconds) + _left(status)),
        subtitle_align="left",
        box=box.ROUNDED,
        expand=False,
    )


def _rate(value: float) -> str:
    """Three figures or so: 0.25, 37, 1,280, 57 k, 1.28 M."""
    if value >= 999_500:
        return f"{value / 1e6:.2f} M"
    if value >= 9_999.5:
        return f"{value / 1e3:.0f} k"
    if value >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.2g}"


def _left(status: RunStatus) -> str:
    return "" if status.seconds_left is None else f", {_span(status.seconds_left)} left"


def _span(seconds: float) -> str:
    """0:07, 12:30, 3:05:00."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
