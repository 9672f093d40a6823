"""Training rows for KataGo's own trainer: its npz files, data format 3."""

from __future__ import annotations

import io
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.atomic_files import replace_file
from tengen.features.feature_set import KATAGO
from tengen.features.kernels import katago
from tengen.game.color import BLACK
from tengen.game.geometry import Size
from tengen.game.kernels.board import NO_TERRITORY, new_boards
from tengen.game.kernels.life import new_life_scratch
from tengen.game.kernels.moves import new_history
from tengen.replay.kernels.boards import GameBoards, replay_boards
from tengen.replay.kernels.encode import SURE
from tengen.replay.network_estimates import Estimates
from tengen.replay.rows import HORIZONS, TrainingRows, copies_of_turns, encode_padded, game_index
from tengen.selfplay.record import BY_MOVE_LIMIT, FAST, FULL, SETUP, Games, offsets

FORMAT_VERSION = 3
GLOBAL_TARGETS = 80
EXTRA_SCORES = 60  # beyond the points of the board, on either side
SCORE_SUM = 100
SCORING_SCALE = 120
POLICY_SUM = 10_000  # policies become whole numbers that sum to this
TURNS_LATER = (8, 32)  # boards that are targets; the last board where the game ends before
VALUE_SCALE, POINTS_SCALE = 32_000, 60  # of the values of moves
MOST_MOVE_VALUE = 32_000
MOST_POINTS = 19 * 19 + EXTRA_SCORES
HANDICAP_GAME = 3
_HASH_BITS = (22, 22, 20)  # each half of a 128-bit hash in three columns of floats


class Column:
    """Columns of globalTargetsNC that are filled.

    The others are 0 as in KataGo: 23 is unused, 49 and 50 tell of networks that changed during a
    game, 56 is the turn of an initial position from elsewhere, 64 and later tell of positions that
    were searched again. Those that begin with LESS take weight from games that others played, and
    are 0 in ours.
    """

    RESULT = 0  # win, loss, no result, score
    HORIZONS = 4  # the same for each of them
    SEARCH = 16  # the same for this turn's search
    SCORE = 20
    LEAD = 21
    ARRIVAL = 22  # of the changes of the value: turns from now, weighted by squared changes
    LESS_SHORT_TERM = 24
    ROW_WEIGHT = 25
    POLICY_WEIGHT = 26
    OWNERSHIP_WEIGHT = 27
    REPLY_WEIGHT = 28
    LEAD_WEIGHT = 29
    SURPRISE = 30  # divergence of the search's moves from the policy
    POLICY_ENTROPY = 31
    SEARCH_ENTROPY = 32
    LATER_BOARDS_WEIGHT = 33
    SCORING_WEIGHT = 34
    LESS_VALUE = 35
    HISTORY = 36  # five masks: 1 shows the move
    GAME = 41  # six parts of a hash that all rows of a game share
    KOMI = 47  # own, with what was won or lost besides
    AREA_SCORING = 48  # or the second clean-up of territory scoring, in which stones cost nothing
    TURN = 51  # handicap stones are no turns
    MOVE_LIMIT = 52  # whether it ended the game
    FIRST_TURN = 53  # that was searched
    EXTRA_STONES = 54  # Black's in handicap games
    KIND_OF_GAME = 55
    NETWORK = 57  # without search: win minus loss, score, entropy of the policy
    VISITS = 60
    BONUS = 61  # points beyond komi that are still to be won
    FINISHED = 62
    VERSION = 63


class _Sources(NamedTuple):
    """Where each row comes from."""

    turn: NDArray[np.int64]  # [rows]
    game: NDArray[np.int64]  # [rows]
    number: NDArray[np.int64]  # [rows] of the turn in its game
    mine: NDArray[np.int8]  # [rows] 1 if Black is to play, else -1
    counted: NDArray[np.bool_]  # [rows] whether the game has a score


def write_katago_rows(
    path: Path, games: Games, side: int, seed: int, run: str, estimates: Estimates | None = None
) -> int:
    """Write the rows of these games, for boards of up to `side`; returns how many there are.

    The run's name and a game's number make its hash, so give each run a name of its own. What
    only estimates know (leads, the network without search) is 0 with weight 0 without them; so
    are the values of single moves in games that were recorded without them. History is never
    masked. Turns with more weight appear more often.
    """
    arrays = katago_arrays(games, side, seed, run, estimates)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    replace_file(path, content.getvalue())
    return len(arrays["globalInputNC"])


def katago_arrays(
    games: Games, side: int, seed: int, run: str, estimates: Estimates | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays of such a file, by KataGo's names."""
    rows = encode_padded(games, KATAGO, Size(side, side), seed)
    sources, boards = _sources(games, seed), _boards(games, side)
    has_reply = rows.reply.any(axis=1)
    targets = _global_targets(rows, games, sources, boards)
    targets[:, Column.REPLY_WEIGHT] = has_reply
    _fill_identity(targets, games, sources, run)
    if estimates is not None:
        _fill_estimates(targets, estimates, sources)
    policy = np.stack([rows.policy, rows.reply], axis=1).astype(np.float32)
    policy[~has_reply, 1] = 1 / POLICY_SUM  # has no weight, but must not sum to 0
    return {
        "binaryInputNCHWPacked": _packed(rows.planes, len(KATAGO.planes)),
        "globalInputNC": rows.globals,
        "policyTargetsNCMove": np.rint(policy * POLICY_SUM).astype(np.int16),
        "globalTargetsNC": targets,
        "scoreDistrN": _score_distribution(np.where(sources.counted, rows.score, 0), side * side),
        "valueTargetsNCHW": _spatial_targets(rows, games, sources, boards),
        "qValueTargetsNCMove": _move_values(games, sources, side),
    }


def _sources(games: Games, seed: int) -> _Sources:
    played = games.games
    turn = np.repeat(np.arange(len(games.turns)), copies_of_turns(games, seed))
    game = np.repeat(np.arange(len(played)), played["n_turns"])[turn]
    return _Sources(
        turn,
        game,
        number=turn - offsets(played["n_turns"])[game],
        mine=np.where(games.turns["color"][turn] == BLACK, 1, -1).astype(np.int8),
        counted=played["no_result"][game] == 0,
    )


def _boards(games: Games, side: int) -> GameBoards:
    """All boards of the games."""
    count, turns = len(games.games), len(games.turns)
    boards = GameBoards(
        np.zeros((turns + count, side, side), np.int8),
        np.zeros(turns + count, np.float32),
        np.zeros((count, side, side), np.int8),
        np.zeros((count, side, side), np.float32),
    )
    index = game_index(games, np.zeros(turns, np.int32))
    history = new_history(int(games.games["n_turns"].max(initial=0)))
    replay_boards(games, index, new_boards(1)[0], history, new_life_scratch(1)[0], boards)
    return boards


def _packed(planes: NDArray[np.uint32], count: int) -> NDArray[np.uint8]:
    """[rows, count, bytes]: each plane's points as bits, the highest bit first."""
    flat = planes.reshape(len(planes), planes.shape[1] * planes.shape[2])
    packed = np.empty((len(flat), count, (flat.shape[1] + 7) // 8), np.uint8)
    for plane in range(count):
        packed[:, plane] = np.packbits(flat >> np.uint32(plane) & np.uint32(1) != 0, axis=1)
    return packed


def _spatial_targets(
    rows: TrainingRows, games: Games, sources: _Sources, boards: GameBoards
) -> NDArray[np.int8]:
    """[rows, 5, side, side]: owners, points lost to seki, two later boards, worth of points."""
    turn, game, number, _, counted = sources
    sign = sources.mine[:, None, None]
    ownership = rows.ownership // SURE * counted[:, None, None].astype(np.int8)
    seki = np.where(ownership == 0, boards.area[game] * sign, 0)
    left = games.games["n_turns"][game] - number
    later = [
        boards.stones[turn + game + np.minimum(turns, left)] * sign for turns in TURNS_LATER
    ]  # a game has one board more than turns
    scoring = np.rint(boards.scoring * SCORING_SCALE).astype(np.int8)[game] * sign
    return np.stack([ownership, seki, *later, scoring], axis=1)


def _move_values(games: Games, sources: _Sources, side: int) -> NDArray[np.int16]:
    """[rows, 3, moves]: win minus loss, score and visits of the moves tried; visits weigh."""
    targets = np.zeros((len(sources.turn), 3, side * side + 1), np.int16)
    if not len(games.move_values):
        return targets
    begin, width = offsets(games.turns["n_targets"]), games.games["width"]
    for row, (turn, game, mine) in enumerate(
        zip(sources.turn, sources.game, sources.mine, strict=True)
    ):
        found = games.move_values[begin[turn] : begin[turn + 1]]
        y, x = divmod(games.targets["move"][begin[turn] : begin[turn + 1]].astype(int), width[game])
        at = np.where(y < games.games["height"][game], y * side + x, side * side)
        points = np.clip(mine * found["score"], -MOST_POINTS, MOST_POINTS)
        targets[row, 0, at] = np.rint(mine * found["value"] * VALUE_SCALE)
        targets[row, 1, at] = np.rint(points * POINTS_SCALE)
        targets[row, 2, at] = np.minimum(found["visits"], MOST_MOVE_VALUE)
    return targets


def _global_targets(
    rows: TrainingRows, games: Games, sources: _Sources, boards: GameBoards
) -> NDArray[np.float32]:
    """[rows, GLOBAL_TARGETS] without what tells games apart, estimates, and the reply's weight."""
    played, turns = games.games, games.turns
    turn, game, _, mine, counted = sources
    targets = np.zeros((len(turn), GLOBAL_TARGETS), np.float32)
    _fill(targets, Column.RESULT, *rows.value.T, rows.score)
    for k in range(HORIZONS):
        h = HORIZONS - 1 - k  # KataGo's longest comes first
        _fill(targets, Column.HORIZONS + 4 * k, *rows.short_values[:, h].T, rows.short_scores[:, h])
    _fill(targets, Column.SEARCH, *rows.search_value.T, mine * turns["score"][turn])
    _fill(targets, Column.SCORE, rows.score)
    _fill(targets, Column.ARRIVAL, _arrival_of_change(games)[turn])
    _fill(targets, Column.ROW_WEIGHT, 1.0)
    _fill(targets, Column.POLICY_WEIGHT, 1.0)
    _fill(targets, Column.OWNERSHIP_WEIGHT, counted)
    _fill(targets, Column.SEARCH_ENTROPY, _search_entropy(games)[turn])
    _fill(targets, Column.LATER_BOARDS_WEIGHT, 1.0)
    _fill(targets, Column.SCORING_WEIGHT, counted)
    _fill(targets, Column.HISTORY, *[1.0] * katago.TURNS_OF_HISTORY)
    bonus = boards.bonus[turn + game]
    final = boards.bonus[offsets(played["n_turns"])[game + 1] + game]
    _fill(targets, Column.KOMI, -mine * (played["terms"]["komi"][game] + bonus))
    _fill(targets, Column.BONUS, mine * (bonus - final) + 0.0)  # no negative zero
    last_phase = rows.globals[:, katago.GLOBALS.index("second clean-up")] > 0
    by_area = played["terms"]["territory"][game] == NO_TERRITORY
    _fill(targets, Column.AREA_SCORING, by_area | last_phase)
    _fill(targets, Column.MOVE_LIMIT, played["end"][game] == BY_MOVE_LIMIT)
    _fill(targets, Column.VISITS, turns["visits"][turn])
    _fill(targets, Column.FINISHED, played["end"][game] != BY_MOVE_LIMIT)
    _fill(targets, Column.VERSION, FORMAT_VERSION)
    return targets


def _fill(targets: NDArray[np.float32], column: int, *values: NDArray[Any] | float) -> None:
    """Fill columns from this one on."""
    for k, value in enumerate(values):
        targets[:, column + k] = value


def _fill_identity(targets: NDArray[np.float32], games: Games, sources: _Sources, run: str) -> None:
    """Fill the columns that say which game and turn a row is of, and how the game began."""
    played, kinds = games.games, games.turns["kind"]
    of_turn = np.repeat(np.arange(len(played)), played["n_turns"])
    stones = np.bincount(of_turn, kinds == SETUP, len(played))[sources.game]
    unsearched = np.bincount(of_turn, kinds < FAST, len(played))[sources.game]
    _fill(targets, Column.GAME, *_hash_parts(run, played["number"])[:, sources.game])
    _fill(targets, Column.TURN, sources.number - stones)
    _fill(targets, Column.FIRST_TURN, unsearched - stones)
    _fill(targets, Column.EXTRA_STONES, np.maximum(stones - 1, 0))  # one would be Black's anyway
    _fill(targets, Column.KIND_OF_GAME, np.where(stones > 1, HANDICAP_GAME, 0))


def _fill_estimates(targets: NDArray[np.float32], estimates: Estimates, sources: _Sources) -> None:
    """Fill the columns that come from a network's estimates."""
    turn, mine = sources.turn, sources.mine
    known = sources.counted & np.isfinite(estimates.lead[turn])
    _fill(targets, Column.LEAD, np.where(known, mine * estimates.lead[turn], 0))
    _fill(targets, Column.LEAD_WEIGHT, known)
    value, score = mine * estimates.value[turn], mine * estimates.score[turn]
    entropy = estimates.policy_entropy[turn]
    _fill(targets, Column.SURPRISE, estimates.surprise[turn])
    _fill(targets, Column.POLICY_ENTROPY, entropy)
    _fill(targets, Column.NETWORK, value, score, entropy)


def _search_entropy(games: Games) -> NDArray[np.float64]:
    """[turns]: the entropy of the moves that the search would play; 0 without targets."""
    weights = games.targets["weight"].astype(np.float64)
    of_target = np.repeat(np.arange(len(games.turns)), games.turns["n_targets"])
    totals = np.bincount(of_target, weights, len(games.turns))
    shares = weights / np.maximum(totals, 1)[of_target]
    information = -shares * np.log(np.maximum(shares, 1e-30))
    return np.bincount(of_target, information, len(games.turns)).astype(np.float64)


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


def _hash_parts(run: str, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[6, games]: 128-bit hashes of games in parts that floats hold exactly."""
    digests = b"".join(
        blake2b(f"{run} {number}".encode(), digest_size=16).digest() for number in numbers.tolist()
    )
    parts = []
    for half in np.frombuffer(digests, "<u8").reshape(-1, 2).T:
        rest = half
        for bits in _HASH_BITS:
            parts.append(rest & np.uint64(2**bits - 1))
            rest = rest >> np.uint64(bits)
    return np.stack(parts)


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
