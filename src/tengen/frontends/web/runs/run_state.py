"""A run and its games as JSON, read from its folder, which may be empty, incomplete or cut back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.cluster.manifest import TRAINING, read_manifest
from tengen.config import load_sections, read_toml
from tengen.evaluation.elo import Rating
from tengen.frontends.web.runs.metrics import GrowingLines, Row, rows_by_step, series_of, short
from tengen.game.diagram import stones_text
from tengen.game.position import Position
from tengen.game.sgf.records import SgfGame, SgfNode, load_sgf
from tengen.runs.exchange import GAME_BITS, MANIFEST
from tengen.runs.folder import RunFolder
from tengen.runs.params import SECTIONS, RunConfig
from tengen.runs.rating import ratings_of
from tengen.runs.records import with_records
from tengen.runs.store import FolderStore
from tengen.tutorial import recipe as textbook

LATEST_GAMES = 12  # that are listed
_NUMBER = r"([-+]?\d+(?:\.\d+)?)"

Stamp = tuple[int, int, int]  # inode, mtime, size: differs when a file has changed


class RunFacts(NamedTuple):
    """The settings of a run that the page shows."""

    model: str
    width: int  # of the largest board
    height: int
    rules: str
    komi: float
    minutes: float  # at which the run ends; 0: no limit
    games: int
    iterations: int

    def share(self, last: Row) -> float | None:
        """The share of the run that is done; None if it has no end."""
        ends = {"minutes": self.minutes, "games": self.games, "step": self.iterations}
        shares = [last.get(name, 0) / end for name, end in ends.items() if end]
        return min(1.0, max(shares)) if shares else None


class RunState:
    """What is known of a run. Not thread-safe."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._metrics = GrowingLines(folder.metrics)
        self._config_stamp: Stamp | None = None
        self._ratings_stamp: Stamp | None = None
        self._ratings: dict[str, Rating] = {}
        self._rows: list[Row] = []
        self._series = series_of([])
        self.facts: RunFacts | None = None

    def refresh(self) -> None:
        """Read what is new in the folder."""
        if (stamp := stamp_of(self._folder.config)) != self._config_stamp:
            self._config_stamp, self.facts = stamp, facts_of(self._folder)
        if (stamp := stamp_of(self._folder.ratings)) != self._ratings_stamp:
            self._ratings_stamp, self._ratings = stamp, _ratings(self._folder)
        if self._metrics.refresh():
            self._rows = rows_by_step(self._metrics.lines)
            self._series = series_of(self._rows)

    def state(self) -> dict[str, Any]:
        """Everything but the games and networks themselves, as JSON."""
        series, facts = self._series, self.facts
        stamp = stamp_of(self._folder.metrics)
        return {
            "name": self._folder.path.resolve().name,
            "facts": facts._asdict() if facts else None,
            "share": facts.share(series.last) if facts else None,
            "written": stamp[1] / 1e9 if stamp else None,  # seconds since 1970
            "last": series.last,
            "series": series.columns,
            "ratings": self._rated(),
            "games": list(game_files(self._folder))[:LATEST_GAMES],
            "networks": len(network_files(self._folder)),
            "cluster": cluster_state(self._folder),
        }

    def _rated(self) -> dict[str, list[dict[str, Any]]]:
        """Ratings of the run's networks by iteration, and of outside players as anchors."""
        networks, anchors = [], []
        by_step = {int(row["step"]): row for row in self._rows}
        for name, rating in sorted(self._ratings.items()):
            values = {
                "name": name,
                "elo": short(rating.elo),
                "low": short(rating.low),
                "high": short(rating.high),
                "played": rating.games,
            }
            if re.fullmatch(r"\d{6,12}", name, re.ASCII):
                step = int(name)
                row = by_step.get(step, {}) if step else {"minutes": 0, "games": 0}
                when_rated = {"minutes": row.get("minutes"), "games": row.get("games")}
                networks.append({**values, "step": step, **when_rated})
            else:
                anchors.append(values)
        return {"networks": networks, "anchors": anchors}


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def facts_of(folder: RunFolder) -> RunFacts | None:
    """The settings of a run of either kind; None if there are none that can be read."""
    try:
        content = read_toml(folder.config)
        if "tutorial" in content:
            recipe = load_sections(folder.config, textbook.SECTIONS)["tutorial"]
            terms = recipe.side, recipe.side, recipe.rules, recipe.komi
            return RunFacts("tutorial", *terms, 0, 0, recipe.iterations)
        config = with_records(folder, RunConfig(**load_sections(folder.config, SECTIONS)))
    except (OSError, ValueError):
        return None
    run, games = config.run, config.selfplay
    size = games.largest_size
    terms = *size, str(games.first_rules), games.mean_komi(size, games.first_rules)
    return RunFacts(run.model, *terms, run.minutes, run.games, run.iterations)


def cluster_state(folder: RunFolder) -> dict[str, Any] | None:
    """The workers of a run on several machines; None if it never was, or nothing can be read."""
    stamp = stamp_of(folder.path / MANIFEST)
    if stamp is None:
        return None
    try:
        manifest = read_manifest(FolderStore(folder.path))
        return {
            "training": manifest.state == TRAINING,
            "written": stamp[1] / 1e9,  # seconds since 1970
            "version": int(manifest.version),
            "steps": int(manifest.steps),
            "losses": int(manifest.losses),
            "aside": [str(session) for session in manifest.aside],
            "workers": [_worker(each) for each in manifest.workers],
        }
    except (OSError, TypeError, ValueError, AttributeError):
        return None


def _worker(values: Mapping[str, Any]) -> dict[str, Any]:
    words = ("label", "node", "state")
    rates = ("games_rate", "evals_rate", "silent")
    return {
        **{name: str(values.get(name) or "")[:100] for name in words},
        **{name: int(values.get(name) or 0) for name in ("session", "games", "version")},
        **{name: short(float(values.get(name) or 0)) or 0.0 for name in rates},
    }


def game_files(folder: RunFolder) -> dict[int, Path]:
    """The sample games by number, the latest first.

    Workers on several machines number their games apart, so that numbers do not tell.
    """
    found = _numbered(folder.games, "sgf")
    written = {number: stamp[1] for number, path in found.items() if (stamp := stamp_of(path))}
    if len({number >> GAME_BITS for number in written}) < 2:
        written = dict.fromkeys(written, 0)
    order = sorted(written, key=lambda number: (written[number], number), reverse=True)
    return {number: found[number] for number in order}


def network_files(folder: RunFolder) -> dict[int, Path]:
    """The kept networks by iteration."""
    return dict(sorted(_numbered(folder.networks, "safetensors").items()))


def _numbered(folder: Path, ending: str) -> dict[int, Path]:
    """The files of a folder whose names are numbers."""
    name = re.compile(rf"(\d{{1,18}})\.{ending}", re.ASCII)
    try:
        found = [(name.fullmatch(path.name), path) for path in folder.iterdir()]
    except OSError:
        return {}
    return {int(match[1]): path for match, path in found if match}


def _ratings(folder: RunFolder) -> dict[str, Rating]:
    """The ratings so far; none if their file is damaged."""
    try:
        return ratings_of(folder)
    except (OSError, KeyError, TypeError, ValueError, np.linalg.LinAlgError):
        return {}


class SampleGame(NamedTuple):
    """A game with the position after each node."""

    game: SgfGame
    positions: list[Position]  # the start first


def load_game(path: Path) -> SampleGame:
    """Load a sample game; raises SgfError, also for a missing file."""
    game = load_sgf(path)[0]
    return SampleGame(game, list(game.positions(rules="tromp-taylor")))


def game_data(sample: SampleGame, number: int) -> dict[str, Any]:
    """A game as JSON."""
    game, positions = sample
    last = positions[-1]
    return {
        "number": number,
        "width": last.width,
        "height": last.height,
        "komi": last.komi,
        "rules": str(last.rules),
        "result": game.root.text("RE"),
        "name": game.root.text("GN"),
        "owner": stones_text(last.score().owner),  # of each point at the end
        "turns": [
            _turn(node, position)
            for node, position in zip(game.root.main_line(), positions, strict=True)
        ],
    }


def _turn(node: SgfNode, position: Position) -> dict[str, Any]:
    """The position after a turn, and the evaluation in its comment, for Black."""
    comment, last = node.text("C"), position.last_move
    win = _number_in(rf"Black wins {_NUMBER}%", comment)
    return {
        "stones": stones_text(position.stones),
        "move": position.text(last) if last else None,
        "colour": str(last.color) if last else None,
        "winrate": None if win is None else win / 100,
        "score": _number_in(rf"score {_NUMBER}", comment),
        "visits": _number_in(rf"visits {_NUMBER}", comment),
        "weight": _number_in(rf"learned from {_NUMBER}", comment),
    }


def _number_in(pattern: str, comment: str) -> float | None:
    match = re.search(pattern, comment)
    return float(match[1]) if match else None
