"""Reviewing a game as one query against its positions one after another.

A 100-move game on 9x9 that the network plays against itself, 100 visits a position. The query goes
through a session of the analysis engine, up to its last answer. The baseline is what a client of
GTP does, `kata-search` after each move: one search that keeps its tree from move to move, kept
visits counting. Both take turns with the same network; the best of the
rounds counts, and what else the machine did is told.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import numpy as np

from tengen.frontends.analysis.loading import Loaded, Loading, load
from tengen.frontends.analysis.options import AnalysisOptions
from tengen.frontends.analysis.session import Line, Session
from tengen.frontends.analysis.settings import ANALYSIS_PARAMS
from tengen.game.position import Position
from tengen.network.devices import open_evaluator
from tengen.network.evaluator import Evaluator
from tengen.network.files import load_network
from tengen.search.params import Limits
from tengen.search.search import Search

NETWORK = Path(__file__).parents[2] / "shared" / "katago" / "g170-b6c96.bin.gz"
MOVES, VISITS, SIZE, KOMI = 100, 100, 9, 7.0
RULES = "tromp-taylor"
ROUNDS = 5
GOAL = 1.5


def game(evaluator: Evaluator) -> list[Position]:
    """The positions of a game, drawn from small searches until it is long enough."""
    for seed in range(100):
        random = np.random.default_rng(seed)
        line = [Position(SIZE, RULES, KOMI)]
        search = Search(evaluator, seed=seed)
        while len(line) < MOVES and not line[-1].is_over:
            search.set_position(line[-1])
            moves = [each for each in search.run(Limits(visits=12)).moves if each.move is not None]
            if not moves:
                break
            weights = np.array([each.edge_visits for each in moves], float)
            line.append(
                line[-1].play(moves[random.choice(len(moves), p=weights / weights.sum())].move)
            )
        if len(line) == MOVES:
            return line
    raise RuntimeError("no game is long enough")


def one_after_another(evaluator: Evaluator, line: list[Position], keep: bool) -> float:
    search = Search(evaluator, ANALYSIS_PARAMS, ownership=False)
    began = time.perf_counter()
    for position in line:
        if not keep:
            search.forget()
        search.set_position(position)
        search.run(Limits(visits=VISITS))
    return time.perf_counter() - began


def one_query(loaded: Loaded, line: list[Position]) -> float:
    loading = Loading(AnalysisOptions(""), lambda: loaded)
    loading.wait()
    done = threading.Event()
    answers: list[str] = []

    def note(answer: Line) -> None:
        answers.append(answer.text)
        if len(answers) == len(line):
            done.set()

    query = {
        "id": "review",
        "moves": [[move.color.letter, line[-1].text(move)] for move in line[-1].moves],
        "rules": RULES,
        "komi": KOMI,
        "boardXSize": SIZE,
        "boardYSize": SIZE,
        "analyzeTurns": list(range(len(line))),
        "maxVisits": VISITS,
    }
    began = time.perf_counter()
    Session(loading.service, note).take(json.dumps(query))
    done.wait()
    spent = time.perf_counter() - began
    loading.close()
    if any(json.loads(text)["rootInfo"]["visits"] < VISITS for text in answers):
        raise RuntimeError("an answer has too few visits")
    return spent


def main() -> None:
    if not NETWORK.exists():
        print("the network is not at hand: nothing measured")
        return
    evaluator = open_evaluator(load_network(NETWORK))
    loaded = load(AnalysisOptions(str(NETWORK)))
    line = game(evaluator)
    seconds: dict[str, list[float]] = {"query": [], "kept": [], "fresh": []}
    for _ in range(ROUNDS):
        seconds["query"].append(one_query(loaded, line))
        seconds["kept"].append(one_after_another(evaluator, line, keep=True))
        seconds["fresh"].append(one_after_another(evaluator, line, keep=False))
    query, kept, fresh = (min(seconds[name]) for name in ("query", "kept", "fresh"))
    typical = float(np.median(np.array(seconds["kept"]) / np.array(seconds["query"])))
    print(
        f"{MOVES} positions of a game on {SIZE}x{SIZE}, {VISITS} visits each, {evaluator.device}:"
        f" {query:.2f} s as one query, {kept:.2f} s one after another;"
        f" ratio {kept / query:.2f}, median of the rounds {typical:.2f} (goal {GOAL})"
    )
    print(
        f"load of the machine, over 1, 5 and 15 minutes: {os.getloadavg()}, {os.cpu_count()} cores"
    )
    print(f"one after another without keeping the tree {fresh:.2f} s: ratio {fresh / query:.2f}")


if __name__ == "__main__":
    main()
