"""How a run is going: its counters, turned into the display's status and the metrics' lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tengen.closeable import Closeable
from tengen.evaluation.elo import Rating
from tengen.runs.folder import RunFolder
from tengen.runs.metrics import Metrics
from tengen.runs.terminal_display import RunDisplay, RunStatus

_NOT_LOSSES = {"accuracy", "gradient", "steps", "spoiled"}  # among the trainer's metrics


class Counters(NamedTuple):
    """A run's counters at one moment, earlier sessions included."""

    iteration: int
    seconds: float
    share: float  # of the run that is over; 0 if it has no end
    games: int
    rows: int
    window: int  # rows that batches are drawn from
    steps: int
    samples: int  # rows that steps have used
    ticks: int
    evals: int
    moves: int


class Progress(Closeable):
    """Shows and records how a run is going."""

    def __init__(self, folder: RunFolder, iteration: int) -> None:
        self._metrics = Metrics(folder, iteration)
        self._display = RunDisplay(str(folder.path))
        self._status = RunStatus(0, 0, 0, 0, {}, 0, 0, 0, 0, 0)

    def show(self, now: Counters, before: Counters | None = None, stage: str = "") -> None:
        """Show the counters, and the rates since an earlier moment if one is given."""
        left = now.seconds * (1 / now.share - 1) if 0 < now.share < 1 else None
        self._status = self._status._replace(
            iteration=now.iteration,
            games=now.games,
            rows=now.rows,
            window=now.window,
            seconds=now.seconds,
            seconds_left=left,
        )
        if before is not None:
            seconds = now.seconds - before.seconds
            self._status = self._status._replace(
                games_rate=(now.games - before.games) / seconds,
                evals_rate=(now.evals - before.evals) / seconds,
                rows_rate=(now.rows - before.rows) / seconds,
                samples_rate=(now.samples - before.samples) / seconds,
            )
        self._display.update(self._status._replace(stage=stage))

    def record_iteration(
        self,
        now: Counters,
        before: Counters,
        learned: Mapping[str, float],  # the trainer's metrics
        others: Mapping[str, float],
    ) -> None:
        """Show an iteration that has ended, and write its metrics; raises RunError."""
        losses = {name: value for name, value in learned.items() if name not in _NOT_LOSSES}
        self._status = self._status._replace(losses=losses)
        self.show(now, before)
        values = {
            "minutes": now.seconds / 60,
            "games": now.games,
            "rows": now.rows,
            "window": now.window,
            "steps": now.steps,
            "speed/games": self._status.games_rate,
            "speed/evals": self._status.evals_rate,
            "speed/rows": self._status.rows_rate,
            "speed/samples": self._status.samples_rate,
            "speed/moves": (now.moves - before.moves) / (now.seconds - before.seconds),
            **{f"loss/{name}": value for name, value in losses.items()},
            **{name: learned[name] for name in ("accuracy", "gradient") if name in learned},
            **others,
        }
        self._metrics.write(now.iteration, values)

    def record_rating(self, now: Counters, rating: Rating) -> None:
        """Show the network's rating from now on, and write it; raises RunError."""
        self._metrics.write(now.iteration, {"minutes": now.seconds / 60, "elo": rating.elo})
        self._status = self._status._replace(rating=rating)

    def close_display(self) -> None:
        """Release the terminal, for a last message."""
        self._display.close()

    def close(self) -> None:
        """Close the display and the files."""
        self._display.close()
        self._metrics.close()
