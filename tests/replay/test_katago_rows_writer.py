from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import KATAGO
from tengen.game.color import BLACK
from tengen.game.geometry import Size
from tengen.game.kernels.board import TAX_ON_GROUPS
from tengen.replay.katago_rows_writer import katago_arrays, write_katago_rows
from tengen.replay.network_estimates import Estimates
from tengen.replay.rows import TrainingRows, copies_of_turns, encode_padded
from tengen.selfplay.record import FAST, FULL, OPENING, SETUP, Games
from tests.features.samples import WITHOUT_COMPILER
from tests.game.reference import PlainBoard, ReferenceGame
from tests.replay.games import random_games

pytestmark = pytest.mark.kernel

SIDE = 9
SEED = 4
RUN = "a run"
GAMES = random_games(3, seed=5, sides=(5, 6)) if WITHOUT_COMPILER else random_games(40, seed=11)


@pytest.fixture(scope="module")
def rows() -> TrainingRows:
    return encode_padded(GAMES, KATAGO, Size(SIDE, SIDE), SEED)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[Any]]:
    path = tmp_path_factory.mktemp("rows") / "rows.npz"
    count = write_katago_rows(path, GAMES, SIDE, SEED, RUN)
    assert [file.name for file in path.parent.iterdir()] == ["rows.npz"]
    with np.load(path) as file:
        found = dict(file)
    assert len(found["globalInputNC"]) == count
    return found


def turns_of_rows(games: Games) -> NDArray[Any]:
    return np.repeat(games.turns, copies_of_turns(games, SEED))


def turns_of_games(games: Games) -> list[NDArray[Any]]:
    return np.split(games.turns, np.cumsum(games.games["n_turns"])[:-1])


def rows_of_games(games: Games) -> NDArray[Any]:
    ends = np.cumsum(games.games["n_turns"])
    counts: NDArray[Any] = np.diff(np.cumsum(copies_of_turns(games, SEED))[ends - 1], prepend=0)
    return counts


def games_of_rows(games: Games) -> NDArray[Any]:
    return np.repeat(np.repeat(games.games, games.games["n_turns"]), copies_of_turns(games, SEED))


def test_shapes_and_types_are_those_of_the_format(arrays: dict[str, NDArray[Any]]) -> None:
    n = int(copies_of_turns(GAMES, SEED).sum())
    assert n > 5
    assert {name: (array.shape, array.dtype.name) for name, array in arrays.items()} == {
        "binaryInputNCHWPacked": ((n, 22, 11), "uint8"),  # 81 points are 11 bytes
        "globalInputNC": ((n, 19), "float32"),
        "policyTargetsNCMove": ((n, 2, 82), "int16"),
        "globalTargetsNC": ((n, 80), "float32"),
        "scoreDistrN": ((n, 282), "int8"),
        "valueTargetsNCHW": ((n, 5, 9, 9), "int8"),
        "qValueTargetsNCMove": ((n, 3, 82), "int16"),
    }


def test_unpacked_planes_are_those_of_the_inputs(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    bits = np.unpackbits(arrays["binaryInputNCHWPacked"], axis=2)
    assert not bits[:, :, 81:].any()
    planes = bits[:, :, :81].reshape(-1, 22, 9, 9)
    for plane in range(22):
        np.testing.assert_array_equal(planes[:, plane], rows.planes >> np.uint32(plane) & 1)
    games = np.repeat(GAMES.games, rows_of_games(GAMES))
    np.testing.assert_array_equal(planes[:, 0].sum((1, 2)), games["width"] * games["height"])
    np.testing.assert_array_equal(arrays["globalInputNC"], rows.globals)


def test_policies_are_shares_in_ten_thousands(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    policy = arrays["policyTargetsNCMove"] / 10_000
    np.testing.assert_allclose(policy[:, 0], rows.policy, atol=1e-4)
    replied = rows.reply.any(axis=1)
    assert replied.sum() > 0
    np.testing.assert_allclose(policy[replied, 1], rows.reply[replied], atol=1e-4)
    np.testing.assert_array_equal(arrays["globalTargetsNC"][:, 28], replied)
    assert (arrays["policyTargetsNCMove"].sum(axis=2) > 0).all()  # the trainer divides by it
    assert (arrays["globalTargetsNC"][:, 26] == 1).all()


def test_values_and_scores_are_in_their_columns(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    turns = turns_of_rows(GAMES)
    targets = arrays["globalTargetsNC"]
    np.testing.assert_array_equal(targets[:, 0:3], rows.value)
    for column in (3, 20):
        np.testing.assert_array_equal(targets[:, column], rows.score)
    for h in range(3):
        np.testing.assert_array_equal(
            targets[:, 4 + 4 * h : 7 + 4 * h], rows.short_values[:, 2 - h]
        )
        np.testing.assert_array_equal(targets[:, 7 + 4 * h], rows.short_scores[:, 2 - h])
    np.testing.assert_array_equal(targets[:, 16:19], rows.search_value)
    sign = np.where(turns["color"] == BLACK, 1, -1)
    np.testing.assert_array_equal(targets[:, 19], sign * turns["score"])


def test_only_leads_that_were_estimated_have_weight(arrays: dict[str, NDArray[Any]]) -> None:
    assert not arrays["globalTargetsNC"][:, [21, 29, 30, 31, 57, 58, 59]].any()
    count = len(GAMES.turns)
    draws = np.random.default_rng(3).normal(0, 5, (5, count)).astype(np.float32)
    estimates = Estimates(*draws)
    estimates.lead[::3] = np.nan
    targets = katago_arrays(GAMES, SIDE, SEED, RUN, estimates)["globalTargetsNC"]
    turn = np.repeat(np.arange(count), copies_of_turns(GAMES, SEED))
    sign = np.where(GAMES.turns["color"][turn] == BLACK, 1, -1)
    known = (turn % 3 != 0) & (games_of_rows(GAMES)["no_result"] == 0)
    assert 0 < known.sum() < len(known)
    np.testing.assert_array_equal(targets[:, 29], known)
    np.testing.assert_array_equal(targets[~known, 21], 0)
    np.testing.assert_array_equal(targets[known, 21], (sign * draws[4, turn])[known])
    np.testing.assert_array_equal(targets[:, 57], sign * draws[0, turn])
    np.testing.assert_array_equal(targets[:, 58], sign * draws[1, turn])
    for column in (31, 59):
        np.testing.assert_array_equal(targets[:, column], draws[2, turn])
    np.testing.assert_array_equal(targets[:, 30], draws[3, turn])


def test_what_is_told_about_the_row_is_in_its_columns(arrays: dict[str, NDArray[Any]]) -> None:
    targets, games = arrays["globalTargetsNC"], games_of_rows(GAMES)
    white = turns_of_rows(GAMES)["color"] != BLACK
    area = games["terms"]["territory"] == 0
    no_button = games["terms"]["button"] == 0
    plain = area & no_button  # else captures, and whoever took the button, change it
    komi = np.where(white, games["terms"]["komi"], -games["terms"]["komi"])
    np.testing.assert_allclose(targets[plain, 47], komi[plain], atol=1e-5)
    np.testing.assert_array_equal(targets[:, 48], area)
    assert (targets[:, 25] == 1).all()
    assert (targets[:, 36:41] == 1).all()
    assert (targets[:, 33] == 1).all()
    counts = np.concatenate([np.arange(n) for n in GAMES.games["n_turns"]])
    numbers = counts.repeat(copies_of_turns(GAMES, SEED))
    handicap = np.repeat(
        [np.sum(turns["kind"] == SETUP) for turns in turns_of_games(GAMES)],
        rows_of_games(GAMES),
    )
    opening = np.repeat(
        [np.sum(turns["kind"] == OPENING) for turns in turns_of_games(GAMES)],
        rows_of_games(GAMES),
    )
    np.testing.assert_array_equal(targets[:, 51], numbers - handicap)
    np.testing.assert_array_equal(targets[:, 53], opening)
    np.testing.assert_array_equal(targets[:, 54], np.maximum(handicap - 1, 0))
    np.testing.assert_array_equal(targets[:, 55], np.where(handicap > 1, 3, 0))
    np.testing.assert_array_equal(targets[:, 60], turns_of_rows(GAMES)["visits"])
    assert (targets[:, 63] == 3).all()
    filled = [
        *range(23),
        *range(25, 30),
        32,
        33,
        34,
        *range(36, 49),
        *range(51, 56),
        60,
        61,
        62,
        63,
    ]
    assert not np.delete(targets, filled, axis=1).any()


def test_the_rows_of_a_game_share_a_hash_of_their_own(arrays: dict[str, NDArray[Any]]) -> None:
    parts = arrays["globalTargetsNC"][:, 41:47]
    assert (parts % 1 == 0).all()
    assert (parts < 2.0 ** np.array([22, 22, 20, 22, 22, 20])).all()
    games = np.repeat(np.arange(len(GAMES.games)), rows_of_games(GAMES))
    hashes = [{tuple(row) for row in parts[games == game]} for game in np.unique(games)]
    assert all(len(of_game) == 1 for of_game in hashes)
    assert len(set.union(*hashes)) == len(hashes)


@pytest.mark.parametrize(("number", "run"), [(0, "another run"), (1, RUN), (2**59, RUN)])
def test_the_hash_is_that_of_the_run_and_the_number(number: int, run: str) -> None:
    def hash_of(number: int, run: str) -> tuple[float, ...]:
        games = random_games(1, seed=2, sides=(3,), first=number)
        return tuple(katago_arrays(games, 3, SEED, run)["globalTargetsNC"][0, 41:47])

    assert hash_of(0, RUN) == hash_of(0, RUN) != hash_of(number, run)


def test_points_beyond_komi_are_those_of_the_button_and_of_moves_under_territory_rules(
    arrays: dict[str, NDArray[Any]],
) -> None:
    """KataGo turns territory into area by a point for each move of the opponent."""
    targets, row = arrays["globalTargetsNC"], 0
    copies = np.split(copies_of_turns(GAMES, SEED), np.cumsum(GAMES.games["n_turns"])[:-1])
    seen = set()
    for game, turns, rows_of_turns in zip(GAMES.games, turns_of_games(GAMES), copies, strict=True):
        passed, bonus = False, [0.0]
        for turn in turns:
            sign = 1 if turn["color"] == BLACK else -1
            is_pass = turn["move"] == game["width"] * game["height"]
            points = 0.0
            if game["terms"]["territory"] and not is_pass:
                points += sign
            if game["terms"]["button"] and is_pass and not passed:
                points -= 0.5 * sign
                passed = True
            bonus.append(bonus[-1] + points)
        for turn, before, count in zip(turns, bonus, rows_of_turns, strict=False):
            own = -1 if turn["color"] == BLACK else 1
            for _ in range(count):
                assert targets[row, 47] == own * (game["terms"]["komi"] + before)
                assert targets[row, 61] == own * (bonus[-1] - before)
                seen.add(float(targets[row, 61]) % 1)
                row += 1
    assert row == len(targets)
    assert WITHOUT_COMPILER or seen == {0.0, 0.5}


def test_the_entropy_of_the_search_is_that_of_its_targets(
    arrays: dict[str, NDArray[Any]], rows: TrainingRows
) -> None:
    policy = rows.policy.astype(np.float64)
    expected = -np.sum(policy * np.log(np.maximum(policy, 1e-30)), axis=1)
    np.testing.assert_allclose(arrays["globalTargetsNC"][:, 32], expected, atol=2e-3)


def test_ownership_and_weights(arrays: dict[str, NDArray[Any]], rows: TrainingRows) -> None:
    games = games_of_rows(GAMES)
    spatial, targets = arrays["valueTargetsNCHW"], arrays["globalTargetsNC"]
    counted = games["no_result"] == 0
    np.testing.assert_array_equal(targets[:, 27], counted)
    np.testing.assert_array_equal(spatial[counted, 0], rows.ownership[counted] // 100)
    assert not spatial[~counted][:, [0, 1, 4]].any()
    np.testing.assert_array_equal(targets[:, 34], counted)
    plain = counted & (games["terms"]["tax"] != TAX_ON_GROUPS)
    np.testing.assert_array_equal(
        spatial[plain, 4], 120 * (rows.ownership[plain] // 100).astype(int)
    )
    assert not arrays["qValueTargetsNCMove"].any()  # these records have none


def test_later_boards_seki_and_taxes_are_those_of_a_slow_board(
    arrays: dict[str, NDArray[Any]],
) -> None:
    spatial, row, point = arrays["valueTargetsNCHW"], 0, 0
    copies = np.split(copies_of_turns(GAMES, SEED), np.cumsum(GAMES.games["n_turns"])[:-1])
    for game, turns, rows_of_turns in zip(GAMES.games, turns_of_games(GAMES), copies, strict=True):
        side = int(game["width"])
        owner = GAMES.ownership[point : point + side * side].reshape(side, side)
        point += side * side
        boards = slow_boards(game, turns)
        seki, scoring = slow_points(game, boards[-1], owner)
        for t, count in enumerate(rows_of_turns):
            sign = 1 if turns[t]["color"] == BLACK else -1
            for _ in range(count):
                planes = sign * spatial[row, :, :side, :side].astype(int)
                for plane, later in ((2, 8), (3, 32)):
                    np.testing.assert_array_equal(planes[plane], boards[min(t + later, len(turns))])
                if not game["no_result"]:
                    np.testing.assert_array_equal(planes[1], seki)
                    np.testing.assert_allclose(planes[4], 120 * scoring, atol=0.51)
                assert not spatial[row, :, side:].any()
                assert not spatial[row, :, :, side:].any()
                row += 1
    assert row == len(spatial)
    assert set(spatial[:, 1].ravel()) == {-1, 0, 1}
    assert WITHOUT_COMPILER or len(set(spatial[:, 4].ravel())) > 3  # taxes divide points


def slow_boards(game: np.void, turns: NDArray[Any]) -> list[NDArray[np.int8]]:
    """The board before each turn and at the end: 1 Black's, -1 White's."""
    side = int(game["width"])
    played = ReferenceGame(side, side, "simple", True)
    boards = [np.zeros((side, side), np.int8)]
    for turn in turns:
        played.to_play = int(turn["color"])
        y, x = divmod(int(turn["move"]), side)
        played.play(None if y == side else (x, y))
        boards.append(np.zeros((side, side), np.int8))
        for (x, y), stone in played.stones.items():
            boards[-1][y, x] = 3 - 2 * stone
    return boards


def slow_points(
    game: np.void, last: NDArray[np.int8], owner: NDArray[np.int8]
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Points that count for nobody though one side surrounds them, and what points are worth."""
    terms = game["terms"]
    stones = np.where(last > 0, 1, np.where(last < 0, 2, 0)).astype(np.int8)
    if terms["territory"]:  # dead stones are off the board
        board = PlainBoard(stones.copy(), bool(terms["suicide_allowed"]))
        for color in (1, 2):
            for chain in board.connected({p for p, c in board.color.items() if c == color}):
                if any(owner[y, x] == 2 * color - 3 for x, y in chain):
                    for x, y in chain:
                        stones[y, x] = 0
    board = PlainBoard(stones, bool(terms["suicide_allowed"]))
    seki, scoring = np.zeros_like(owner), owner.astype(np.float64)
    for (x, y), color in board.settled().items():
        if color and owner[y, x] == 0:
            seki[y, x] = 3 - 2 * color
    if terms["tax"] == TAX_ON_GROUPS:
        for color in (1, 2):
            own = {(x, y) for x, y in board.color if owner[y, x] == 3 - 2 * color}
            for group in board.connected(own):
                territory = [p for p in group if board.color[p] != color]
                for x, y in territory:
                    scoring[y, x] *= max(0, len(territory) - 2) / len(territory)
    return seki, scoring


def test_the_mean_of_the_score_distribution_is_the_score(arrays: dict[str, NDArray[Any]]) -> None:
    distribution = arrays["scoreDistrN"].astype(int)
    assert (distribution.sum(axis=1) == 100).all()
    assert (distribution >= 0).all()
    scores = np.arange(282) - 141 + 0.5  # of the entries, all half points
    mean = distribution @ scores / 100
    np.testing.assert_allclose(mean, arrays["globalTargetsNC"][:, 3], atol=1e-6)
    halves = mean % 1 == 0.5
    assert (distribution[halves].max(axis=1) == 100).all()


def test_the_arrival_of_changes_is_their_turns_times_their_squares(
    arrays: dict[str, NDArray[Any]],
) -> None:
    turns, row = GAMES.turns, 0
    copies = copies_of_turns(GAMES, SEED)
    begin = 0
    for game in GAMES.games:
        end = begin + game["n_turns"]
        result = 0.0 if game["no_result"] else np.sign(game["score"])
        for t in range(begin, end):
            later = [turns[k]["value"] for k in range(t, end) if turns[k]["kind"] in (FAST, FULL)]
            values = [*map(float, later), float(result)]
            expected = sum(k * (values[k] - values[k - 1]) ** 2 for k in range(1, len(values)))
            for _ in range(copies[t]):
                assert arrays["globalTargetsNC"][row, 22] == pytest.approx(expected, rel=1e-4)
                row += 1
        begin = end
    assert row == len(arrays["globalTargetsNC"])
