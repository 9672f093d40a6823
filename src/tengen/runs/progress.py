"""How a run is going: its counters, the curves of its metrics, and the live table on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tengen.closeable import Closeable
from tengen.evaluation.elo import Rating
from tengen.runs.folder import RunFolder, append_line, forget_after, forget_lines
from tengen.runs.observer import Observers, RunObserver
from tengen.runs.tensorboard_events import EventWriter
from tengen.selfplay.record import BY_MOVE_LIMIT, Games
from tengen.terminal_console import TerminalConsole
from tengen.user_messages import say

REDRAW_SECONDS = 0.25
LINE_SECONDS = 30.0
_RATES = ("games", "rows", "samples", "evals", "moves")


class Counters(NamedTuple):
    """A run's counters at one moment, earlier sessions included."""

    iteration: int
    seconds: float
    share: float  # of the run that is over; 0 if it has no end
    games: int
    rows: int
    window: int  # rows that batches are drawn from
    steps: int = 0
    samples: int = 0  # rows that steps have used
    ticks: int = 0
    evals: int = 0
    moves: int = 0

    def rates_since(self, before: Counters) -> dict[str, float]:
        """Games, rows, samples, evaluations and moves per second since an earlier moment."""
        seconds = self.seconds - before.seconds
        return {name: (getattr(self, name) - getattr(before, name)) / seconds for name in _RATES}


class RunStatus(NamedTuple):
    """The values that the table shows."""

    now: Counters
    rates: Mapping[str, float] = dict.fromkeys(_RATES, 0.0)  # per second
    losses: Mapping[str, float] = {}  # by head
    rating: Rating | None = None  # of the latest checkpoint that was rated
    stage: str = ""  # such as "rating"; empty: playing and learning


class Progress(Closeable):
    """Shows how a run is going, and records its metrics at growing iterations."""

    def __init__(
        self, folder: RunFolder, iteration: int = -1, observers: Sequence[RunObserver] = ()
    ) -> None:
        """Continue after the checkpoint's iteration; later lines are dropped."""
        self._lines = folder.metrics
        self._observers = Observers(observers)
        forget_after(self._lines, "step", iteration)
        self._events = EventWriter(folder.tensorboard, iteration + 1)
        self._display = RunDisplay(str(folder.path))
        self._status = RunStatus(Counters(iteration, 0, 0, 0, 0, 0))

    def show(
        self, now: Counters, rates: Mapping[str, float] | None = None, stage: str = ""
    ) -> None:
        """Show the counters, and rates if they are given."""
        rates = self._status.rates if rates is None else rates
        self._status = self._status._replace(now=now, rates=rates, stage=stage)
        self._display.update(self._status)

    def record_iteration(
        self,
        now: Counters,
        rates: Mapping[str, float],
        losses: Mapping[str, float],
        others: Mapping[str, float],
    ) -> None:
        """Show an iteration that has ended, and write its metrics; raises RunError."""
        self._status = self._status._replace(losses=losses)
        self.show(now, rates)
        values = {
            "minutes": now.seconds / 60,
            "games": now.games,
            "rows": now.rows,
            **{f"speed/{name}": value for name, value in rates.items()},
            **{f"loss/{name}": value for name, value in losses.items()},
            **others,
        }
        self.write(now.iteration, values)

    def record_rating(self, now: Counters, rating: Rating) -> None:
        """Show the network's rating from now on, and write it; raises RunError.

        A run that was killed right after it had rated this network rates it again; the later
        rating replaces the first one.
        """
        step = now.iteration
        forget_lines(self._lines, lambda line: line.get("step") == step and "elo" in line)
        self.write(now.iteration, {"minutes": now.seconds / 60, "elo": rating.elo})
        self._status = self._status._replace(rating=rating)

    def write(self, iteration: int, values: Mapping[str, float]) -> None:
        """Write values such as {"loss/policy": 1.2}; raises RunError."""
        append_line(self._lines, {"step": iteration, **values})
        self._events.write(iteration, values)
        self._observers.notify(iteration, values)

    def close_display(self) -> None:
        """Release the terminal, for a last message."""
        self._display.close()

    def close(self) -> None:
        """Close the display and the files."""
        self._display.close()
        self._events.close()


def game_metrics(games: Games) -> dict[str, float]:
    """Statistics of games."""
    played = games.games
    return {
        "games/length": float(played["n_turns"].mean()),
        "games/black wins": float((played["score"] > 0).mean()),
        "games/draws": float((played["score"] == 0).mean()),
        "games/at the limit": float((played["end"] == BY_MOVE_LIMIT).mean()),
    }


class RunDisplay(Closeable):
    """Shows a run until closed; other messages on stderr appear above it."""

    def __init__(
        self,
        title: str,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._console = console or TerminalConsole(stderr=True)
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
    now, rates = status.now, {name: _rate(rate) for name, rate in status.rates.items()}
    parts = [
        *([status.stage] if status.stage else []),
        f"iteration {now.iteration}",
        f"{now.games:,} games ({rates['games']}/s)",
        f"{now.rows:,} rows ({rates['rows']}/s)",
        f"window {now.window:,}",
        f"{rates['evals']} evals/s",
        f"{rates['samples']} samples/s",
    ]
    if status.losses:
        parts.append("loss " + " ".join(f"{k} {v:.3f}" for k, v in status.losses.items()))
    if status.rating:
        parts.append(f"Elo {status.rating}")
    return ", ".join([*parts, _time(now)])


def status_panel(title: str, status: RunStatus) -> Panel:
    """The status as a framed table."""
    now, rates = status.now, {name: _rate(rate) for name, rate in status.rates.items()}
    table, learned = (Table.grid(padding=(0, 2), pad_edge=False) for _ in range(2))
    for grid in (table, learned):
        grid.add_column(style="dim")
        grid.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    table.add_row("games", f"{now.games:,}", f"{rates['games']}/s")
    table.add_row("rows", f"{now.rows:,}", f"{rates['rows']}/s")
    table.add_row("window", f"{now.window:,}", f"{rates['samples']} samples/s")
    table.add_row("evals", "", f"{rates['evals']}/s")
    if status.rating:
        learned.add_row("Elo", str(status.rating))
    for head, loss in status.losses.items():
        learned.add_row(Text(f"{head} loss"), f"{loss:.3f}")
    both = Table.grid(padding=(0, 6), pad_edge=False)
    both.add_row(table, learned)
    stage = f" · {status.stage}" if status.stage else ""
    return Panel(
        both,
        title=Text(f"{title} · iteration {now.iteration}{stage}", style="bold"),
        title_align="left",
        subtitle=Text(_time(now)),
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


def _time(now: Counters) -> str:
    """How long the run has taken, and how long it will if it has an end."""
    left = now.seconds * (1 / now.share - 1) if 0 < now.share < 1 else None
    return _span(now.seconds) + ("" if left is None else f", {_span(left)} left")


def _span(seconds: float) -> str:
    """0:07, 12:30, 3:05:00."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
