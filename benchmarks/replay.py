"""Replay: bytes of a stored game, and training rows/s on one core against a Python loop.

Random games on 9x9 with synthetic search results like those of a run: about 80 turns, a quarter of
them full searches with about 25 policy targets each.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.game.playouts import random_move

from tengen.features.feature_set import BASIC, KATAGO, KATAGO_WITHOUT_LADDERS, FeatureSet
from tengen.features.kernels import katago
from tengen.features.scratch import new_feature_scratch
from tengen.game.kernel_rules import terms_of
from tengen.game.kernels.board import new_boards, point_of
from tengen.game.kernels.ladder import mark_ladders
from tengen.game.kernels.moves import GOING_ON, PASS, new_history, play, start_game
from tengen.game.position import Position
from tengen.game.rules import Rules
from tengen.jit import kernel
from tengen.replay.rows import encode_games
from tengen.replay.shard import read_shard, write_shard
from tengen.selfplay.record import FAST, FULL, GAME, TARGET, TURN, Games

SIDE = 9
TURNS = 80
TARGETS = 25
GAMES = 2000
GOAL_ROWS = 150_000
GOAL_MEGABYTES = 400  # for 100,000 games


def synthetic_games(count: int, seed: int = 1) -> Games:
    """Games of random moves, with search results that drift like real ones."""
    numbers = np.random.default_rng(seed)
    games, turns, targets = np.zeros(count, GAME), [], []
    terms = terms_of(Rules(), 7.0)
    boards, history = new_boards(1), new_history(TURNS)
    rng = np.array([seed], np.uint64)
    for game in games:
        start_game(boards[0], history, SIDE, SIDE, terms)
        of_game = np.zeros(TURNS, TURN)
        for turn in of_game:
            turn["color"] = boards[0]["to_play"]
            p = random_move(boards[0], history, rng)
            stride = SIDE + 1
            turn["move"] = SIDE * SIDE if p == PASS else (p // stride - 1) * SIDE + p % stride - 1
            play(boards[0], history, p)
            boards[0]["end"] = GOING_ON
        is_full = numbers.random(TURNS) < 0.25
        of_game["kind"] = np.where(is_full, FULL, FAST)
        of_game["visits"] = np.where(is_full, 96, 20)
        of_game["n_targets"] = np.where(is_full, numbers.poisson(TARGETS, TURNS).clip(1, 60), 0)
        of_game["weight"] = np.where(is_full, numbers.choice([1, 0.5, 1.5], TURNS), 0)
        of_game["value"] = np.tanh(numbers.normal(0, 0.2, TURNS).cumsum())
        of_game["score"] = numbers.normal(0, 2, TURNS).cumsum()
        of_game["lead"] = of_game["score"] + numbers.normal(0, 1, TURNS)
        for n in of_game["n_targets"][is_full]:
            wanted = np.zeros(n, TARGET)
            wanted["move"] = np.sort(numbers.choice(SIDE * SIDE + 1, n, replace=False))
            # 96 visits: many moves get one or two, a few get most.
            wanted["weight"] = numbers.multinomial(96, numbers.dirichlet(np.full(n, 0.3))) + 1
            targets.append(wanted)
        game["n_targets"] = of_game["n_targets"].sum()
        turns.append(of_game)
    games["number"] = np.arange(count)
    games["step"] = np.arange(count) // 100
    games["width"] = games["height"] = SIDE
    games["terms"] = terms
    games["terms"]["komi"] = numbers.choice([6.5, 7, 7.5], count)
    games["n_turns"] = TURNS
    games["score"] = numbers.integers(-20, 20, count)
    owners = np.where(numbers.random((count, SIDE)) < 0.5, 1, -1).astype(np.int8)
    ownership = np.repeat(owners, SIDE, axis=1)  # areas, not noise
    return Games(games, np.concatenate(turns), np.concatenate(targets), ownership.ravel())


def seconds(function: Callable[[], Any], rounds: int = 5) -> float:
    """The seconds of the best round, after one that compiles."""
    function()
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def show_rows(games: Games) -> None:
    # Weight 1 for each full search, so that each is encoded.
    turns = games.turns.copy()
    turns["weight"] = turns["kind"] == FULL
    games = games._replace(turns=turns)
    rows = int(turns["weight"].sum())
    sets: list[tuple[str, FeatureSet]] = [
        ("katago, all planes", KATAGO),
        ("katago without ladders", KATAGO_WITHOUT_LADDERS),
        ("basic", BASIC),
    ]
    for name, features in sets:
        taken = seconds(lambda: encode_games(games, features, 1))  # noqa: B023
        print(f"{name:30} {rows / taken:10,.0f} rows/s   {taken / rows * 1e6:5.2f} us a row")
        if features is KATAGO_WITHOUT_LADDERS:
            rows_per_second_in_python(games, 10)
            plain = rows_per_second_in_python(games, 500)
            print(f"  goal {GOAL_ROWS:,}; {rows / taken / plain:.0f} x a Python loop over turns")


@kernel
def run_part(
    part: int,
    board: Any,
    history: Any,
    terms: Any,
    turns: Any,
    length: int,
    scratch: Any,
    bits: Any,
) -> None:
    """Replay games of equal length and run one part of the encoder at each recorded turn."""
    for t in range(turns.shape[0]):
        turn = turns[t]
        if t % length == 0:
            start_game(board, history, SIDE, SIDE, terms)
        if turn.kind == FULL:
            if part == 1:
                katago._encode_stones(board, history, bits)
            elif part == 2:
                katago._encode_area(board, scratch.life[0], bits)
            elif part == 3:
                mark_ladders(board, scratch.ladder, scratch.caught[0], scratch.catching)
        p = PASS
        if turn.place < SIDE * SIDE:
            p = point_of(board, turn.place % SIDE, turn.place // SIDE)
        board.end = GOING_ON
        play(board, history, p)


def show_parts(games: Games) -> None:
    boards, history = new_boards(1), new_history(TURNS)
    scratch, bits = new_feature_scratch(), np.zeros((SIDE, SIDE), np.uint32)
    terms = terms_of(Rules(), 7.0)
    rows = int((games.turns["kind"] == FULL).sum())
    replaying = 0.0
    for part, name in enumerate(("playing moves", "stones and ko", "area", "ladders of one turn")):
        taken = seconds(
            lambda: run_part(
                part,  # noqa: B023
                boards[0],
                history,
                terms,
                games.turns,
                TURNS,
                scratch,
                bits,
            )
        )
        replaying = replaying or taken
        own = taken if part == 0 else taken - replaying
        print(f"  of which {name:21} {own / rows * 1e6:28.2f} us a row")


def rows_per_second_in_python(games: Games, count: int) -> float:
    """The baseline: a Position for each turn, encoded by the same kernel."""
    planes = np.zeros((len(KATAGO.planes), SIDE, SIDE), np.float32)
    globals_ = np.zeros(len(KATAGO.globals), np.float32)
    start, rows, t = time.perf_counter(), 0, 0
    while rows < count:
        if t % TURNS == 0:
            position = Position(SIDE, "tromp-taylor", 7.0)
        turn = games.turns[t]
        if turn["kind"] == FULL:
            KATAGO_WITHOUT_LADDERS.encode_position(position, planes, globals_)
            rows += 1
        place = int(turn["move"])
        point = None if place == SIDE * SIDE else (place % SIDE, place // SIDE)
        position = position.play(point, strict=False)
        t += 1
    return rows / (time.perf_counter() - start)


def show_shards(games: Games) -> None:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        path = write_shard(Path(folder), games)
        written = time.perf_counter() - start
        taken = seconds(lambda: read_shard(path))
        size = path.stat().st_size
    n = len(games.games)
    print(f"100,000 games: {size / n / 10:.0f} MB (goal: under {GOAL_MEGABYTES} MB)")
    print(f"written at {n / written:,.0f} games/s, read at {n / taken:,.0f} games/s")


def main() -> None:
    games = synthetic_games(GAMES)
    show_shards(games)
    show_rows(games)
    show_parts(games)


if __name__ == "__main__":
    main()
