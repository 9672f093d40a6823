"""Training rows: what a network sees of a position, and all it is to say about it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.features.feature_set import FeatureSet
from tengen.features.scratch import new_feature_scratch
from tengen.game.kernels.board import TERMS, new_boards
from tengen.game.kernels.moves import new_history
from tengen.replay.check import check_games
from tengen.replay.kernels.encode import HORIZON_SCALES, Starts, Walk, encode_span
from tengen.selfplay.record import Games

HORIZONS = len(HORIZON_SCALES)  # how far ahead the short-term values look


class TrainingRows(NamedTuple):
    """Rows to learn from, all for the side to play; boards lie in the upper left corner."""

    planes: NDArray[np.uint32]  # [rows, H, W] bit k of a point is plane k of the inputs
    globals: NDArray[np.float32]  # [rows, packed globals of the feature set]
    policy: NDArray[np.float16]  # [rows, H * W + 1] sums to 1; place y * W + x, the pass last
    reply: NDArray[np.float16]  # [rows, H * W + 1] of the next turn; all 0 if there is none
    value: NDArray[np.float32]  # [rows, 3] win, loss, no result; a draw is half and half
    score: NDArray[np.float32]  # [rows] points at the end; 0 where nothing was counted
    # [rows, HORIZONS, 3] and [rows, HORIZONS]: this and the next turns' searches, the later the
    # less, the outcome last
    short_values: NDArray[np.float32]
    short_scores: NDArray[np.float32]
    search_value: NDArray[np.float32]  # [rows, 3] of this turn's search
    lead: NDArray[np.float32]  # [rows] points at the end that the search expects
    ownership: NDArray[np.int8]  # [rows, H, W] 1 own, -1 the opponent's, 0 nobody's or off board
    side: NDArray[np.uint8]  # [rows, 2] width and height of the board


def new_rows(count: int, features: FeatureSet, side: int) -> TrainingRows:
    """Rows of zeros for boards of up to this side."""
    places = side * side + 1
    return TrainingRows(
        planes=np.zeros((count, side, side), np.uint32),
        globals=np.zeros((count, features.packed_globals), np.float32),
        policy=np.zeros((count, places), np.float16),
        reply=np.zeros((count, places), np.float16),
        value=np.zeros((count, 3), np.float32),
        score=np.zeros(count, np.float32),
        short_values=np.zeros((count, HORIZONS, 3), np.float32),
        short_scores=np.zeros((count, HORIZONS), np.float32),
        search_value=np.zeros((count, 3), np.float32),
        lead=np.zeros(count, np.float32),
        ownership=np.zeros((count, side, side), np.int8),
        side=np.zeros((count, 2), np.uint8),
    )


def copies_of_turns(games: Games, seed: int) -> NDArray[np.int32]:
    """[turns] how many rows each turn becomes: 1.7 is one row, or two with probability 0.7.

    That depends on the seed, the game's number and the turn alone, not on what else is encoded.
    """
    played, weights = games.games, games.turns["weight"]
    numbers = np.repeat(played["number"], played["n_turns"])
    starts = _running_sum(played["n_turns"])[:-1]
    turns = np.arange(len(weights)) - np.repeat(starts, played["n_turns"])
    whole = np.floor(weights)
    more = _uniform(seed, numbers, turns.astype(np.uint64)) < weights - whole
    return np.asarray(whole + more, np.int32)


def _uniform(
    seed: int, numbers: NDArray[np.uint64], turns: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """From 0 to 1, as if at random (the finaliser of splitmix64)."""
    first = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    x = first + numbers * np.uint64(0x9E3779B97F4A7C15) + turns * np.uint64(0xD1342543DE82EF95)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((x ^ (x >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53


def encode_games(
    games: Games, features: FeatureSet, side: int, seed: int, *, threads: int = 1
) -> TrainingRows:
    """The rows of these games in their order, for boards of up to `side`; the seed draws weights.

    Raises ValueError for games that cannot be, or that are larger.
    """
    check_games(games)
    largest = max(games.games["width"].max(initial=0), games.games["height"].max(initial=0))
    if largest > side:
        raise ValueError(f"a game on a board of side {largest} does not fit rows of side {side}")
    copies = copies_of_turns(games, seed)
    starts = _starts(games, copies)
    rows = new_rows(int(starts.rows[-1]), features, side)
    kernel_rows = rows._replace(
        policy=rows.policy.view(np.uint16),
        reply=rows.reply.view(np.uint16),
    )
    most_turns = int(games.games["n_turns"].max(initial=0))

    def encode(begin: int, end: int) -> int:
        walk = Walk(
            new_boards(1),
            new_history(most_turns),
            new_feature_scratch(),
            np.zeros((HORIZONS, 4)),
        )
        return int(encode_span(games, starts, copies, begin, end, features.kind, walk, kernel_rows))

    bounds = [len(games.games) * k // threads for k in range(threads + 1)]
    if threads == 1:
        reached = [encode(*bounds)]
    else:
        with ThreadPoolExecutor(threads) as pool:  # kernels hold no lock of the interpreter's
            reached = list(pool.map(encode, bounds[:-1], bounds[1:]))
    for game, end in zip(reached, bounds[1:], strict=True):
        if game < end:
            number = games.games["number"][game]
            raise ValueError(f"game {number} plays onto a stone: its record is broken")
    return rows


def _starts(games: Games, copies: NDArray[np.int32]) -> Starts:
    played = games.games
    area = played["width"] * played["height"]
    turns = _running_sum(played["n_turns"])
    rows = _running_sum(copies)[turns]
    return Starts(
        played["terms"].astype(TERMS),
        turns,
        _running_sum(played["n_targets"]),
        _running_sum(area),
        rows,
    )


def _running_sum(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """[counts + 1] of what lies before each, and in the end of all."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
