"""Training rows for KataGo's own trainer: its npz files, data format 3."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.atomic_files import replace_file
from tengen.features.feature_set import KATAGO
from tengen.features.kernels import katago
from tengen.replay.rows import HORIZONS, TrainingRows, copies_of_turns, encode_games
from tengen.selfplay.record import BY_MOVE_LIMIT, FAST, FULL, Games, offsets

FORMAT_VERSION = 3
GLOBAL_TARGETS = 80
EXTRA_SCORES = 60  # beyond the points of the board, on either side
SCORE_SUM = 100
SCORING_SCALE = 120
POLICY_SUM = 10_000  # policies become whole numbers that sum to this
_HASH_BITS = (22, 22, 20)  # a 64-bit hash in three columns of floats


class Column:
    """Columns of globalTargetsNC that are filled; the others stay zero."""

    RESULT = 0  # win, loss, no result, score
    HORIZONS = 4  # the same for each of them
    SEARCH = 16  # the same for this turn's search
    SCORE = 20
    LEAD = 21
    ARRIVAL = 22  # of the changes of the value: turns from now, weighted by squared changes
    ROW_WEIGHT = 25
    POLICY_WEIGHT = 26
    OWNERSHIP_WEIGHT = 27
    REPLY_WEIGHT = 28
    LEAD_WEIGHT = 29
    SCORING_WEIGHT = 34
    HISTORY = 36  # five masks: 1 shows the move
    GAME = 41  # six parts of a hash that all rows of a game share
    KOMI = 47
    AREA_SCORING = 48
    TURN = 51
    MOVE_LIMIT = 52  # whether it ended the game
    VISITS = 60
    FINISHED = 62
    VERSION = 63


def write_katago_rows(path: Path, games: Games, side: int, seed: int) -> int:
    """Write the rows of these games, for boards of up to `side`; returns how many there are.

    Targets that the records lack are zero with weight zero: points in seki, the boards 8 and 32
    turns later, the values of single moves, and which points score unless it is area scoring
    without a tax. History is never masked. Turns with more weight appear more often.
    """
    arrays = katago_arrays(games, side, seed)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    replace_file(path, content.getvalue())
    return len(arrays["globalInputNC"])


def katago_arrays(games: Games, side: int, seed: int) -> dict[str, NDArray[Any]]:
    """The arrays of such a file, by KataGo's names."""
    rows = encode_games(games, KATAGO, side, seed)
    count = len(rows.score)
    turn = np.repeat(np.arange(len(games.turns)), copies_of_turns(games, seed))  # of each row
    game = np.repeat(np.arange(len(games.games)), games.games["n_turns"])[turn]
    has_reply = rows.reply.any(axis=1)
    counted = games.games["no_result"][game] == 0
    ownership = np.where(counted[:, None, None], rows.ownership, 0).astype(np.int8)
    terms = games.games["terms"][game]
    scores_area = counted & (terms["territory"] == 0) & (terms["tax"] == 0)

    targets = _global_targets(rows, games, turn, game)
    targets[:, Column.REPLY_WEIGHT] = has_reply
    targets[:, Column.OWNERSHIP_WEIGHT] = counted
    targets[:, Column.SCORING_WEIGHT] = scores_area
    spatial = np.zeros((count, 5, side, side), np.int8)
    spatial[:, 0] = ownership
    spatial[:, 4] = ownership * np.where(scores_area, SCORING_SCALE, 0)[:, None, None]
    policy = np.stack([rows.policy, rows.reply], axis=1).astype(np.float32)
    policy[~has_reply, 1] = 1 / POLICY_SUM  # has no weight, but must not sum to 0
    return {
        "binaryInputNCHWPacked": _packed(rows.planes, len(KATAGO.planes)),
        "globalInputNC": rows.globals,
        "policyTargetsNCMove": np.rint(policy * POLICY_SUM).astype(np.int16),
        "globalTargetsNC": targets,
        "scoreDistrN": _score_distribution(np.where(counted, rows.score, 0), side * side),
        "valueTargetsNCHW": spatial,
        "qValueTargetsNCMove": np.zeros((count, 3, side * side + 1), np.int16),
    }


def _packed(planes: NDArray[np.uint32], count: int) -> NDArray[np.uint8]:
    """[rows, count, bytes]: each plane's points as bits, the highest bit first."""
    flat = planes.reshape(len(planes), planes.shape[1] * planes.shape[2])
    packed = np.empty((len(flat), count, (flat.shape[1] + 7) // 8), np.uint8)
    for plane in range(count):
        packed[:, plane] = np.packbits(flat >> np.uint32(plane) & np.uint32(1) != 0, axis=1)
    return packed


def _global_targets(
    rows: TrainingRows, games: Games, turn: NDArray[np.int64], game: NDArray[np.int64]
) -> NDArray[np.float32]:
    """[rows, GLOBAL_TARGETS], except the weights of targets that may be missing."""
    played, turns = games.games, games.turns
    mine = np.where(turns["color"][turn] == 1, 1, -1)
    first_turn = offsets(played["n_turns"])
    counted = played["no_result"][game] == 0
    targets = np.zeros((len(turn), GLOBAL_TARGETS), np.float32)

    def fill(column: int, *values: NDArray[Any] | float) -> None:
        for k, value in enumerate(values):
            targets[:, column + k] = value

    fill(Column.RESULT, *rows.value.T, rows.score)
    for k in range(HORIZONS):
        h = HORIZONS - 1 - k  # KataGo's longest comes first
        fill(Column.HORIZONS + 4 * k, *rows.short_values[:, h].T, rows.short_scores[:, h])
    fill(Column.SEARCH, *rows.search_value.T, mine * turns["score"][turn])
    fill(Column.SCORE, rows.score)
    fill(Column.LEAD, np.where(counted, rows.lead, 0))
    fill(Column.ARRIVAL, _arrival_of_change(games)[turn])
    fill(Column.ROW_WEIGHT, 1.0)
    fill(Column.POLICY_WEIGHT, 1.0)
    fill(Column.LEAD_WEIGHT, counted)
    fill(Column.HISTORY, *[1.0] * katago.TURNS_OF_HISTORY)
    fill(Column.GAME, *_hash_parts(played["number"][game]))
    own_komi = rows.globals[:, katago.GLOBALS.index("own komi")]
    fill(Column.KOMI, own_komi * katago.KOMI_SCALE)
    fill(Column.AREA_SCORING, played["terms"]["territory"][game] == 0)
    fill(Column.TURN, turn - first_turn[game])
    fill(Column.MOVE_LIMIT, played["end"][game] == BY_MOVE_LIMIT)
    fill(Column.VISITS, turns["visits"][turn])
    fill(Column.FINISHED, played["end"][game] != BY_MOVE_LIMIT)
    fill(Column.VERSION, FORMAT_VERSION)
    return targets


def _arrival_of_change(games: Games) -> NDArray[np.float64]:
    """[turns]: the sum over later changes of the value of (turns until then) * change ** 2."""
    arrival = np.zeros(len(games.turns))
    searched = np.isin(games.turns["kind"], (FAST, FULL))
    begin = 0
    for game in games.games:
        turns = games.turns[begin : begin + game["n_turns"]]
        outcome = 0.0 if game["no_result"] else float(np.sign(game["score"]))
        value, total, changes = outcome, 0.0, 0.0
        for t in range(len(turns) - 1, -1, -1):
            if searched[begin + t]:
                change = (value - turns["value"][t]) ** 2
                changes += change
                total += changes  # all later changes are one turn further away
                value = turns["value"][t]
                arrival[begin + t] = total
        begin += game["n_turns"]
    return arrival


def _hash_parts(numbers: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """Game numbers in parts that floats hold exactly; the second half of KataGo's hash is 0."""
    parts, rest = [], numbers
    for bits in _HASH_BITS:
        parts.append(rest & np.uint64(2**bits - 1))
        rest = rest >> np.uint64(bits)
    return parts + [np.zeros_like(numbers)] * len(_HASH_BITS)


def _score_distribution(score: NDArray[np.float32], area: int) -> NDArray[np.int8]:
    """[rows, scores]: SCORE_SUM at the score, in half points; whole points are split in two."""
    length = 2 * (area + EXTRA_SCORES)
    at = np.clip(score + length / 2 - 0.5, 0, length - 1)
    below = np.floor(at).astype(np.int64)
    upper = np.rint((at - below) * SCORE_SUM).astype(np.int8)
    distribution = np.zeros((len(score), length), np.int8)
    each = np.arange(len(score))
    distribution[each, np.minimum(below + 1, length - 1)] = upper
    distribution[each, below] += SCORE_SUM - upper
    return distribution
