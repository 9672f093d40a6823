"""Review of a whole game: one analysis query against one `kata-search` after another.

100 positions of a recorded game on 9x9, 100 visits each, in two programs as a client uses them:
`tengen analysis` gets all turns in one query; `tengen gtp` gets `play` and `kata-search` for each
move and keeps its tree, kept visits included. They take turns, and each round has another komi, so
that no evaluation is known from the one before; caches are not cleared, since that frees compiled
graphs, too, which would then be measured. The best round counts. Prints the machine's load. The
default network is the bundled one:

    python benchmarks/analysis.py [NETWORK]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from tengen.closeable import Closeable
from tengen.evaluation.gtp_process import GtpOpponent
from tengen.game.position import Position
from tengen.game.sgf.records import load_sgf
from tengen.network.files.bundled import BUNDLED

MOVES, VISITS, SIZE, KOMI = 100, 100, 9, 7.0
RECORD = Path(__file__).parents[1] / "docs" / "strength" / "bundled-100-gnugo.sgf"
RULES = "tromp-taylor"
ROUNDS = 7
GOAL = 1.5
TENGEN = [sys.executable, "-m", "tengen"]


def recorded_game() -> list[Position]:
    """The first positions of the longest game of the record.

    A game of the search's own would let it keep most of its tree from move to move, and would
    change with it, so that two versions could not be compared.
    """
    lines = [list(game.positions()) for game in load_sgf(RECORD)]
    line = max(lines, key=len)[:MOVES]
    if len(line) < MOVES:
        raise RuntimeError(f"no game of {RECORD} has {MOVES} positions")
    return line


class AnalysisEngine(Closeable):
    """A `tengen analysis` process."""

    def __init__(self, model: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [*TENGEN, "analysis", "--model", model], stdin=pipe, stdout=pipe, text=True
        )
        self.ask({"id": "ready", "moves": [], "maxVisits": 2, **TERMS})

    def ask(self, query: dict[str, Any], answers: int = 1) -> list[str]:
        """Send a query and read its answers."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(query) + "\n")
        stdin.flush()
        return [stdout.readline() for _ in range(answers)]

    def review(self, line: list[Position], komi: float) -> tuple[float, list[str]]:
        """Review the game; returns the seconds and the best moves."""
        moves = [[move.color.letter, line[-1].text(move)] for move in line[-1].moves]
        turns = list(range(len(line)))
        query = {"id": "review", "moves": moves, "analyzeTurns": turns, "maxVisits": VISITS}
        began = time.perf_counter()
        lines = self.ask({**query, **TERMS, "komi": komi}, len(line))
        seconds = time.perf_counter() - began
        answers = [json.loads(each) for each in lines]
        if any(each["rootInfo"]["visits"] < VISITS for each in answers):
            raise RuntimeError("an answer has too few visits")
        answers.sort(key=lambda each: each["turnNumber"])
        return seconds, [each["moveInfos"][0]["move"].lower() for each in answers]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


TERMS = {
    "rules": RULES,
    "komi": KOMI,
    "boardXSize": SIZE,
    "boardYSize": SIZE,
    "overrideSettings": {"wideRootNoise": 0.0},  # as in GTP
}


def review_by_gtp(
    engine: GtpOpponent, line: list[Position], komi: float
) -> tuple[float, list[str]]:
    """Review the game; returns the seconds and the best moves."""
    engine.start(Position(SIZE, RULES, komi))
    best = []
    began = time.perf_counter()
    for position in line:
        if position.last_move is not None:
            engine.play(*position.last_move, position)
        best.append(engine.ask(f"kata-search {position.to_play}").lower())
    return time.perf_counter() - began, best


def main() -> None:
    model = sys.argv[1] if len(sys.argv) > 1 else BUNDLED
    line = recorded_game()
    command = " ".join([*TENGEN, "gtp", "--model", model, "--visits", str(VISITS), "--no-resign"])
    query, searches = [], []
    with AnalysisEngine(model) as analysis, closing(GtpOpponent(command)) as gtp:
        review_by_gtp(gtp, line[:3], KOMI)  # waits until the network is loaded
        for k in range(ROUNDS):
            komi = KOMI + 0.5 * (k - ROUNDS // 2)
            query.append(analysis.review(line, komi))
            searches.append(review_by_gtp(gtp, line, komi))
    print(f"{MOVES} positions of a game on {SIZE}x{SIZE}, {VISITS} visits each, {model},")
    one, other = (np.array([seconds for seconds, _ in rounds]) for rounds in (query, searches))
    print(f"best of {ROUNDS}: one query {one.min():.2f} s, kata-search {other.min():.2f} s")
    print(
        f"one query is {other.min() / one.min():.2f} x as fast as kata-search (goal {GOAL}),"
        f" median of the rounds {np.median(other / one):.2f}"
    )
    same = sum(a == b for a, b in zip(query[-1][1], searches[-1][1], strict=True))
    print(f"the same best move in {same} of {len(line)}")
    print(f"load average over 1, 5 and 15 minutes: {os.getloadavg()}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
