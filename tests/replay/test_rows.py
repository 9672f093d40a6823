"""Rows against a slow reference: positions played one by one, formulas written out in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tengen.features.feature_set import BASIC, KATAGO, KATAGO_WITHOUT_LADDERS, RICH, FeatureSet
from tengen.game.color import BLACK, Color
from tengen.game.geometry import Size, board_size
from tengen.game.kernels.board import PLAYED_OUT, POSITIONAL_SUPERKO, SIMPLE_KO
from tengen.game.position import Position
from tengen.game.rules import KoRule, Rules, Scoring, Tax
from tengen.replay.kernels.encode import half_bits
from tengen.replay.rows import (
    FIELDS,
    Layout,
    Rows,
    TrainingRows,
    copies_of_turns,
    encode_games,
    encode_padded,
)
from tengen.selfplay.record import (
    BY_AGREEMENT,
    BY_DECISION,
    FAST,
    FULL,
    UNFINISHED,
    Games,
    joined,
    no_games,
    split_games,
)
from tests.features.samples import WITHOUT_COMPILER
from tests.replay.games import random_games

pytestmark = pytest.mark.kernel

GAMES = 4 if WITHOUT_COMPILER else 300
SIDES = (5, (4, 6)) if WITHOUT_COMPILER else (5, 6, 7, 8, 9, (4, 6), (6, 4))
NINE = Size(9, 9)


def with_weights(games: Games, weight: float) -> Games:
    turns = games.turns.copy()
    turns["weight"] = np.where(turns["kind"] == FULL, weight, 0)
    return games._replace(turns=turns)


class Played(NamedTuple):
    """One game, taken apart."""

    game: Any
    turns: NDArray[Any]
    targets: list[NDArray[Any]]  # by turn
    ownership: NDArray[np.int8]  # [height, width]


def taken_apart(games: Games) -> Iterator[Played]:
    turn = target = point = 0
    for game in games.games:
        turns = games.turns[turn : turn + game["n_turns"]]
        targets = []
        for n in turns["n_targets"]:
            targets.append(games.targets[target : target + n])
            target += n
        area = game["width"] * game["height"]
        owners = games.ownership[point : point + area].reshape(game["height"], game["width"])
        yield Played(game, turns, targets, owners)
        turn += game["n_turns"]
        point += area


def start_of(game: Any) -> Position:
    terms = game["terms"]
    ko = {SIMPLE_KO: KoRule.SIMPLE, POSITIONAL_SUPERKO: KoRule.POSITIONAL}
    rules = Rules(
        ko.get(int(terms["ko_rule"]), KoRule.SITUATIONAL),
        Scoring.TERRITORY if terms["territory"] else Scoring.AREA,
        (Tax.NONE, Tax.SEKI, Tax.ALL)[terms["tax"]],
        suicide=bool(terms["suicide_allowed"]),
        button=bool(terms["button"]),
        friendly_pass=bool(terms["friendly_pass"]),
        played_out=terms["territory"] == PLAYED_OUT,
    )
    return Position((int(game["width"]), int(game["height"])), rules, float(terms["komi"]))


def policy_of(played: Played, t: int) -> NDArray[np.float64]:
    policy = np.zeros(played.ownership.size + 1)
    wanted = [(int(place), int(weight)) for place, weight in played.targets[t]]
    if not wanted:
        wanted = [(int(played.turns[t]["move"]), 1)]
    total = sum(weight for _, weight in wanted)
    for place, weight in wanted:
        policy[place] = weight / total
    return policy


def outcome_of(game: Any) -> NDArray[np.float64]:
    """Black's win, loss, no result and score."""
    if game["no_result"]:
        return np.array([0, 0, 1, 0.0])
    win = 1.0 if game["score"] > 0 else 0.5 if game["score"] == 0 else 0.0
    return np.array([win, 1 - win, 0, game["score"]])


def search_of(turn: Any) -> NDArray[np.float64]:
    left = 1 - float(turn["no_result"])
    win = (left + turn["value"]) / 2
    return np.array([win, left - win, turn["no_result"], turn["score"]])


def turned(values: NDArray[np.float64], color: int) -> NDArray[np.float64]:
    win, loss, no_result, score = values
    return values if color == BLACK else np.array([loss, win, no_result, -score])


def short_term(played: Played, t: int, scale: float) -> NDArray[np.float64]:
    """Weights written out: each search takes its share of what those before it left."""
    now = 1 / (1 + played.game["width"] * played.game["height"] * scale)
    left, mean = 1.0, np.zeros(4)
    for turn in played.turns[t:]:
        if turn["kind"] in (FAST, FULL):
            mean += left * now * search_of(turn)
            left *= 1 - now
    return mean + left * outcome_of(played.game)


def known(game: Any) -> list[int]:
    """Whether value, score, lead and ownership are known."""
    has_score = game["end"] not in (BY_DECISION, UNFINISHED) and not game["no_result"]
    has_owners = has_score and game["end"] != BY_AGREEMENT
    return [game["end"] != UNFINISHED, has_score, has_score, has_owners]


def reference_rows(
    games: Games, features: FeatureSet, copies: NDArray[np.int32]
) -> Iterator[dict[str, Any]]:
    at = 0
    for played in taken_apart(games):
        position = start_of(played.game)
        width, height = played.game["width"], played.game["height"]
        for t, turn in enumerate(played.turns):
            color = int(turn["color"])
            if copies[at]:
                assert position.to_play == color
                planes = np.zeros((len(features.planes), height, width), np.float32)
                globals_ = np.zeros(len(features.globals), np.float32)
                features.encode_position(position, planes, globals_)
                outcome, search = (
                    turned(values, color) for values in (outcome_of(played.game), search_of(turn))
                )
                short = np.array(
                    [turned(short_term(played, t, c), color) for c in (0.016, 0.056, 0.176)]
                )
                is_last = t == len(played.turns) - 1
                row = {
                    "planes": planes,
                    "globals": globals_,
                    "policy": policy_of(played, t),
                    "reply": np.zeros(width * height + 1) if is_last else policy_of(played, t + 1),
                    "value": outcome[:3],
                    "score": outcome[3],
                    "short_values": short[:, :3],
                    "short_scores": short[:, 3],
                    "search_value": search[:3],
                    "lead": turn["score"] if color == BLACK else -turn["score"],
                    "ownership": played.ownership * (100 if color == BLACK else -100),
                    "known": known(played.game),
                    "uncertainty": np.zeros(3),
                }
                for _ in range(copies[at]):
                    yield row
            place = int(turn["move"])
            point = None if place == width * height else (place % width, place // width)
            position = position.play(point, Color(color), strict=False)
            at += 1


@pytest.mark.parametrize(
    "features", [KATAGO, KATAGO_WITHOUT_LADDERS, BASIC, RICH], ids=lambda features: features.name
)
def test_every_field_is_what_the_slow_reference_says(features: FeatureSet) -> None:
    games = random_games(GAMES, seed=len(features.planes), sides=SIDES)
    found = encode_games(games, features, seed=5)
    expected = list(reference_rows(games, features, copies_of_turns(games, 5)))
    assert sum(len(order) for _, order in found.values()) == len(expected) > 4 * GAMES
    assert set(found) == {board_size(side) for side in SIDES}
    for size, (rows, order) in found.items():
        of_size = [row for row in expected if row["ownership"].shape == (size.height, size.width)]
        assert [expected[k] for k in order] == of_size
        check_rows(rows, of_size, features)


def check_rows(rows: TrainingRows, expected: list[dict[str, Any]], features: FeatureSet) -> None:
    for k, want in enumerate(expected):
        for name in FIELDS:
            got = getattr(rows, name)[k]
            if name == "planes":
                planes, globals_ = features.unpacked(got[None], rows.globals[k][None])
                np.testing.assert_array_equal(planes[0], want[name])
                np.testing.assert_allclose(globals_[0], want["globals"], rtol=2e-5, atol=2e-6)
            elif name == "globals":
                continue  # compared with the planes
            elif name in ("policy", "reply"):
                shares = want[name].astype(np.float32)  # rounded twice, as there
                np.testing.assert_array_equal(got, shares.astype(np.float16))
            else:
                np.testing.assert_allclose(got, want[name], rtol=2e-5, atol=2e-6, err_msg=name)


@pytest.mark.skipif(WITHOUT_COMPILER, reason="a few games are enough of that")
def test_the_samples_hold_what_could_go_wrong() -> None:
    games = random_games(GAMES, seed=len(KATAGO.planes), sides=SIDES)
    turns, played = games.turns, games.games
    assert played["no_result"].any()
    assert {BY_DECISION, BY_AGREEMENT, UNFINISHED} < set(played["end"].tolist())
    assert ((played["score"] == 0) & (played["no_result"] == 0)).any()
    assert (turns["kind"] == 0).any()
    assert len(set(zip(played["width"], played["height"], strict=True))) == len(SIDES)
    areas = np.repeat(played["width"] * played["height"], played["n_turns"])
    assert (turns["move"] == areas).any()


def check_alike(one: TrainingRows, other: TrainingRows) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_threads_change_nothing() -> None:
    games = random_games(4, sides=(5, 6))
    alone, together = (encode_games(games, KATAGO, 3, threads=n) for n in (1, 3))
    assert alone.keys() == together.keys()
    for size, (rows, order) in alone.items():
        check_alike(rows, together[size].rows)
        np.testing.assert_array_equal(order, together[size].order)


def test_rows_of_a_size_are_those_of_its_games_alone() -> None:
    sides = (5, 6, (4, 6))
    games = random_games(9, seed=4, sides=sides)
    together = encode_games(games, KATAGO, 3)
    by_size = {
        board_size(side): [
            game
            for game in split_games(games, 1)
            if (game.games["width"][0], game.games["height"][0]) == board_size(side)
        ]
        for side in sides
    }
    for size, some in by_size.items():
        (alone,) = encode_games(joined(some), KATAGO, 3).values()
        check_alike(together[size].rows, alone.rows)
        np.testing.assert_array_equal(alone.order, np.arange(len(alone.order)))
    numbers = np.concatenate([order for _, order in together.values()])
    np.testing.assert_array_equal(np.sort(numbers), np.arange(len(numbers)))


def test_padded_rows_have_the_board_in_their_upper_left_corner() -> None:
    games = random_games(9, seed=4, sides=(5, 6, (4, 6)))
    padded = encode_padded(games, KATAGO, NINE, 3)
    for size, (rows, order) in encode_games(games, KATAGO, 3).items():
        for name, field in FIELDS.items():
            own, wide = getattr(rows, name), getattr(padded, name)[order]
            if field.shape is Layout.MOVES:
                np.testing.assert_array_equal(wide[:, -1], own[:, -1], err_msg=name)
                own = own[:, :-1].reshape(-1, size.height, size.width)
                wide = wide[:, :-1].reshape(-1, 9, 9)
            if field.shape in (Layout.MOVES, Layout.POINTS):
                corner = np.zeros_like(wide)
                corner[:, : size.height, : size.width] = own
                own = corner
            np.testing.assert_array_equal(wide, own, err_msg=name)


def test_a_weight_is_the_mean_number_of_rows() -> None:
    games = with_weights(random_games(10 if WITHOUT_COMPILER else 100), 1.7)
    full = games.turns["kind"] == FULL
    copies = copies_of_turns(games, 1)
    assert set(copies[full]) == {1, 2}
    assert not copies[~full].any()
    deviation = np.sqrt(0.3 * 0.7 / full.sum())
    assert abs(copies[full].mean() - 1.7) < 5 * deviation


def test_a_whole_weight_leaves_nothing_to_chance() -> None:
    games = with_weights(random_games(5), 2.0)
    copies = copies_of_turns(games, 1)
    np.testing.assert_array_equal(copies, 2 * (games.turns["kind"] == FULL))


def test_seeds_draw_differently_and_the_same_seed_alike() -> None:
    games = random_games(10)
    assert (copies_of_turns(games, 1) != copies_of_turns(games, 2)).any()
    np.testing.assert_array_equal(copies_of_turns(games, 1), copies_of_turns(games, 1))


def test_no_games_are_no_rows() -> None:
    assert encode_games(no_games(), KATAGO, 1) == {}
    assert len(encode_padded(no_games(), KATAGO, NINE, 1).planes) == 0


def test_games_do_not_depend_on_those_before_them() -> None:
    first, second = (with_weights(random_games(2, seed=seed, sides=(5, 6)), 1.0) for seed in (1, 2))
    alone = encode_games(second, KATAGO, 1)
    after = encode_games(joined([first, second]), KATAGO, 1)
    for size, (rows, _) in alone.items():
        both = after[size].rows
        check_alike(rows, Rows(*(array[len(array) - len(rows.score) :] for array in both)))


def test_a_game_too_large_for_the_rows_is_refused() -> None:
    for size in (Size(7, 7), Size(9, 8), Size(8, 9)):
        with pytest.raises(ValueError, match=f"a 9x9 board does not fit rows of {size}"):
            encode_padded(random_games(2, sides=(9,)), KATAGO, size, 1)


def test_a_move_onto_a_stone_is_refused_by_the_number_of_its_game() -> None:
    games = with_weights(random_games(4, seed=8, sides=(5,), first=70), 1.0)
    begin = int(games.games["n_turns"][:2].sum())
    games.turns["move"][begin + 1] = games.turns["move"][begin]
    with pytest.raises(ValueError, match="game 72 plays onto a stone"):
        encode_games(games, KATAGO, 1)


def test_half_floats_are_rounded_as_numpy_rounds_them() -> None:
    exact = np.arange(0x3C01, dtype=np.uint16).view(np.float16).astype(np.float32)  # all of 0..1
    between = (exact[1:].astype(np.float64) + exact[:-1]) / 2
    numbers = [*exact, *between, *np.nextafter(between, 0), *np.nextafter(between, 1)]
    for number in numbers[:: 50 if WITHOUT_COMPILER else 1]:
        x = np.float32(number)
        assert half_bits(x) == np.float16(x).view(np.uint16)
