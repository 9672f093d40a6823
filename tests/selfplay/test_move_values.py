"""What full searches found after each move they tried, which fleets record on request."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.color import BLACK
from tengen.network.evaluator import encode
from tengen.replay.katago_rows_writer import katago_arrays
from tengen.replay.rows import copies_of_turns
from tengen.selfplay.record import FULL, check_games, joined, split_games
from tests.search.scripts import opinions
from tests.selfplay.fleets import PLAIN, by_number, each_game, new_fleet, play_games, positions

PARAMS = replace(PLAIN, keep_tree=False, full_share=0.5)
SCRIPT = opinions()


def test_games_are_the_same_with_and_without_them() -> None:
    without = play_games(new_fleet(SCRIPT), 20)
    found = play_games(new_fleet(SCRIPT, move_values=True), 20)
    assert not len(without.move_values)
    assert len(found.move_values) == len(found.targets) > len(without.targets)
    check_games(found)
    np.testing.assert_array_equal(without.turns["move"], found.turns["move"])
    np.testing.assert_array_equal(without.turns["weight"], found.turns["weight"])
    np.testing.assert_array_equal(
        without.targets, found.targets[found.targets["weight"] > 0].view(without.targets.dtype)
    )
    parts = split_games(found, 7)
    assert by_number(joined(parts)) == by_number(found)
    np.testing.assert_array_equal(joined(parts).move_values, found.move_values)


def test_all_visits_but_the_root_s_own_are_those_of_moves() -> None:
    """As in the rows that KataGo writes: 99 of 100 visits."""
    games = play_games(new_fleet(SCRIPT, PARAMS, move_values=True), 10)
    of_turn = np.repeat(np.arange(len(games.turns)), games.turns["n_targets"])
    visits = np.bincount(of_turn, games.move_values["visits"], len(games.turns))
    full = games.turns["kind"] == FULL
    assert full.sum() > 20
    np.testing.assert_array_equal(visits[full] + 1, games.turns["visits"][full])


def test_a_move_visited_once_has_the_network_s_values() -> None:
    games = play_games(new_fleet(SCRIPT, replace(PARAMS, visits=2), move_values=True), 6)
    target = checked = 0
    for played in each_game(games):
        for turn, position in zip(played.turns, positions(played)[:-1], strict=True):
            for k in range(target, target + int(turn["n_targets"])):
                y, x = divmod(int(games.targets[k]["move"]), position.width)
                after = position.play(None if y == position.height else (x, y))
                if not after.is_over and after.move_number < played.game["move_limit"]:
                    evaluation = SCRIPT(encode(KATAGO, [after]))
                    sign = 1 if after.to_play == BLACK else -1
                    win, loss, _ = evaluation.value[0]
                    found = games.move_values[k]
                    assert found["visits"] == 1
                    assert found["value"] == pytest.approx(sign * (win - loss), abs=1e-5)
                    assert found["score"] == pytest.approx(sign * evaluation.score[0], abs=1e-4)
                    checked += 1
            target += int(turn["n_targets"])
    assert checked > 20


def test_rows_hold_them_for_the_side_to_play() -> None:
    side, seed = 5, 2
    games = play_games(new_fleet(SCRIPT, PARAMS, move_values=True), 10)
    rows = katago_arrays(games, side, seed, "run")["qValueTargetsNCMove"]
    row = target = 0
    copies = iter(copies_of_turns(games, seed).tolist())
    for played in each_game(games):
        for turn in played.turns:
            values = games.move_values[target : target + int(turn["n_targets"])]
            moves = games.targets[target : target + int(turn["n_targets"])]["move"]
            target += len(values)
            sign = 1 if turn["color"] == BLACK else -1
            expected = np.zeros((3, side * side + 1))
            for move, value in zip(moves.tolist(), values, strict=True):
                at = side * side if move == 16 else move // 4 * side + move % 4
                expected[:, at] = (
                    32_000 * sign * value["value"],
                    60 * sign * value["score"],
                    value["visits"],
                )
            for _ in range(next(copies)):
                np.testing.assert_allclose(rows[row], expected, atol=0.51)
                assert (rows[row, :2] == 0)[:, rows[row, 2] == 0].all()
                row += 1
    assert row == len(rows) > 20


def test_a_fleet_that_was_saved_still_knows_them() -> None:
    fleet, other = (new_fleet(SCRIPT, seed=3, move_values=True) for _ in range(2))
    for _ in range(40):
        fleet.tick()
    fleet.take_games()
    other.load(fleet.save())
    found, resumed = play_games(fleet, 10), play_games(other, 10)
    assert by_number(found) == by_number(resumed)
    np.testing.assert_array_equal(found.move_values, resumed.move_values)
