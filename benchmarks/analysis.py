"""Reviewing a game as one query against its positions one after another.

A 100-move game on 9x9 that the network plays against itself, 100 visits a position. The query goes
through a session of the analysis engine, up to its last answer. The baseline is what a client of
GTP does, `kata-search` after each move: one search that keeps its tree from move to move, kept
visits counting. Both take turns with the same network; the best of the
rounds counts, and what else the machine did is told. Processor time says more where other programs
keep the machine busy. Whether all ways find the same is told, too: how often the best move is the
same, and how far the winrates are apart on average.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tengen.frontends.analysis.loading import Loaded, Loading, load
from tengen.frontends.analysis.options import AnalysisOptions
from tengen.frontends.analysis.session import Line, Session
from tengen.frontends.analysis.settings import ANALYSIS_PARAMS
from tengen.game.color import Color
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
QUERY, KEPT, FRESH = "one query", "one after another", "without keeping the tree"


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


class Found(NamedTuple):
    """What was found in a position."""

    move: str
    winrate: float  # Black's


class Review(NamedTuple):
    """How long a way took, and what it found in each position."""

    seconds: float
    processor: float  # seconds
    found: list[Found]


def one_after_another(evaluator: Evaluator, line: list[Position], keep: bool) -> Review:
    search = Search(evaluator, ANALYSIS_PARAMS, ownership=False)
    found = []
    began, worked = time.perf_counter(), time.process_time()
    for position in line:
        if not keep:
            search.forget()
        search.set_position(position)
        result = search.run(Limits(visits=VISITS))
        black = position.to_play is Color.BLACK
        winrate = result.winrate if black else 1 - result.winrate
        move = "pass" if result.move is None else position.text(result.move)
        found.append(Found(move, winrate))
    return Review(time.perf_counter() - began, time.process_time() - worked, found)


def one_query(loaded: Loaded, line: list[Position]) -> Review:
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
    began, worked = time.perf_counter(), time.process_time()
    Session(loading.service, note).take(json.dumps(query))
    done.wait()
    spent = time.perf_counter() - began, time.process_time() - worked
    loading.close()
    read = sorted((json.loads(text) for text in answers), key=lambda each: each["turnNumber"])
    if any(each["rootInfo"]["visits"] < VISITS for each in read):
        raise RuntimeError("an answer has too few visits")
    found = [Found(each["moveInfos"][0]["move"], each["rootInfo"]["winrate"]) for each in read]
    return Review(*spent, found)


def agreement(one: Review, other: Review) -> str:
    pairs = list(zip(one.found, other.found, strict=True))
    same = sum(a.move == b.move for a, b in pairs)
    apart = float(np.mean([abs(a.winrate - b.winrate) for a, b in pairs]))
    return f"the same best move in {same} of {len(pairs)}, winrates {100 * apart:.2f}% apart"


def main() -> None:
    if not NETWORK.exists():
        print("the network is not at hand: nothing measured")
        return
    evaluator = open_evaluator(load_network(NETWORK))
    loaded = load(AnalysisOptions(str(NETWORK)))
    line = game(evaluator)
    ways: dict[str, list[Review]] = {QUERY: [], KEPT: [], FRESH: []}
    for _ in range(ROUNDS):
        ways[QUERY].append(one_query(loaded, line))
        ways[KEPT].append(one_after_another(evaluator, line, keep=True))
        ways[FRESH].append(one_after_another(evaluator, line, keep=False))
    print(
        f"{MOVES} positions of a game on {SIZE}x{SIZE}, {VISITS} visits each, {evaluator.device},"
        f" best of {ROUNDS} rounds"
    )
    query = ways[QUERY]
    for name, reviews in ways.items():
        seconds, processor = (min(each) for each in _times(reviews))
        print(f"{name}: {seconds:.2f} s, {processor:.2f} s of processor time")
    for name in (KEPT, FRESH):
        pairs = zip(_times(ways[name]), _times(query), strict=True)
        (wall, wall_median), (processor, _) = (
            (min(slow) / min(fast), float(np.median(np.array(slow) / np.array(fast))))
            for slow, fast in pairs
        )
        goal = f" (goal {GOAL})" if name == KEPT else ""
        print(
            f"{name} against {QUERY}: {wall:.2f} times the time{goal}, median of the rounds"
            f" {wall_median:.2f}, processor time {processor:.2f};"
            f" {agreement(query[-1], ways[name][-1])}"
        )
    print(f"{KEPT} against {FRESH}: {agreement(ways[KEPT][-1], ways[FRESH][-1])}")
    print(
        f"load of the machine, over 1, 5 and 15 minutes: {os.getloadavg()}, {os.cpu_count()} cores"
    )


def _times(reviews: list[Review]) -> tuple[list[float], list[float]]:
    """Seconds and processor seconds."""
    return [each.seconds for each in reviews], [each.processor for each in reviews]


if __name__ == "__main__":
    main()
