"""The metrics of a run: JSON lines for programs, TensorBoard's events for people."""

from __future__ import annotations

from collections.abc import Mapping

from tengen.closeable import Closeable
from tengen.runs.folder import RunFolder
from tengen.runs.json_lines import append_line, forget_after
from tengen.runs.tensorboard_events import EventWriter
from tengen.selfplay.record import BY_MOVE_LIMIT, Games


class Metrics(Closeable):
    """Writes numbers by name, at growing steps."""

    def __init__(self, folder: RunFolder, step: int = -1) -> None:
        """Continue after the checkpoint's step; later lines are dropped."""
        self._lines = folder.metrics
        forget_after(self._lines, "step", step)
        self._events = EventWriter(folder.tensorboard, step + 1)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write values such as {"loss/policy": 1.2}; raises RunError."""
        append_line(self._lines, {"step": step, **values})
        self._events.write(step, values)

    def close(self) -> None:
        """Close the file of events."""
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
