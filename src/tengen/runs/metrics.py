"""What is measured as a run goes on: JSON lines for programs, TensorBoard's events for people."""

from __future__ import annotations

from collections.abc import Mapping

from tengen.closeable import Closeable
from tengen.runs.folder import RunFolder
from tengen.runs.json_lines import append_line, forget_after
from tengen.runs.tensorboard_events import EventWriter
from tengen.selfplay.record import BY_MOVE_LIMIT, Games


class Metrics(Closeable):
    """Numbers by name at steps that grow."""

    def __init__(self, folder: RunFolder, step: int = -1) -> None:
        """Go on after a step, the checkpoint's: what was written beyond it is forgotten."""
        self._lines = folder.metrics
        forget_after(self._lines, "step", step)
        self._events = EventWriter(folder.tensorboard, step + 1)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Values such as {"loss/policy": 1.2}; raises RunError where they cannot be written."""
        append_line(self._lines, {"step": step, **values})
        self._events.write(step, values)

    def close(self) -> None:
        """End the file of events; the lines need no end."""
        self._events.close()


def game_metrics(games: Games) -> dict[str, float]:
    """What games were like."""
    played = games.games
    return {
        "games/length": float(played["n_turns"].mean()),
        "games/black wins": float((played["score"] > 0).mean()),
        "games/draws": float((played["score"] == 0).mean()),
        "games/at the limit": float((played["end"] == BY_MOVE_LIMIT).mean()),
    }
