"""Self-play by territory scoring, through the clean-up phases to the count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.kernel_rules import rules_of
from tengen.game.kernels.board import NO_TERRITORY, PLAYED_OUT
from tengen.game.rules import KoRule, Scoring
from tengen.game.sgf.records import read_sgf
from tengen.replay.katago_rows_writer import katago_arrays
from tengen.replay.rows import copies_of_turns, encode_games
from tengen.replay.shard import read_shard, write_shard
from tengen.runs.packed_games import packed_games, unpacked_games
from tengen.selfplay.record import BY_MOVE_LIMIT, BY_PASSES, BY_REPETITION, Games, check_games
from tengen.selfplay.sgf_text import game_record, sgf_text
from tests.game.reference import PlainBoard, PlayedOutGame
from tests.replay.test_rows import reference_rows
from tests.search.scripts import opinions
from tests.selfplay.fleets import PLAIN, Played, each_game, new_fleet, play_games, positions

pytestmark = pytest.mark.kernel
WITHOUT_COMPILER = bool(numba.config.DISABLE_JIT)
RULES = (
    "japanese",
    "ancient-territory",
    "koPOSITIONALscoreTERRITORYtaxNONEsui1",
    "koSITUATIONALscoreTERRITORYtaxSEKIsui1",
)
PARAMS = replace(PLAIN, board_sizes=(5,), rules=RULES, handicap_share=0.2, stagger=False)


@pytest.fixture(scope="module")
def games() -> Games:
    if WITHOUT_COMPILER:
        few = replace(PARAMS, board_sizes=(3,), visits=3, fast_visits=2)
        return play_games(new_fleet(opinions(3), few, games=2), 1)
    return play_games(new_fleet(opinions(3), PARAMS), 60)


def slow_game(played: Played) -> tuple[PlayedOutGame, list[int]]:
    """The game again, by the wording of the rules, up to its end.

    Also White's points for the stones that Black has played more, before each turn and at the end.
    """
    rules = rules_of(played.game["terms"])
    width, height = int(played.game["width"]), int(played.game["height"])
    slow = PlayedOutGame(width, height, rules.ko.value.lower(), rules.suicide, rules.tax.value)
    costs = [0]
    for turn in played.turns:
        slow.to_play = int(turn["color"])
        y, x = divmod(int(turn["move"]), width)
        slow.play(None if y == height else (x, y))
        costs.append(slow.cost[1] - slow.cost[2])
    return slow, costs


def test_games_are_played_by_the_rules_up_to_the_end_of_the_second_clean_up(games: Games) -> None:
    check_games(games)
    ends = set()
    for played in each_game(games):
        assert played.game["terms"]["territory"] == PLAYED_OUT
        end = int(played.game["end"])
        last = positions(played)[-1]
        assert last.is_over == (end != BY_MOVE_LIMIT)
        if end == BY_PASSES:
            assert last.phase == 2
            ends.add(end)
        elif end == BY_REPETITION:
            assert played.game["no_result"]
    assert WITHOUT_COMPILER or BY_PASSES in ends


def test_scores_and_owners_are_those_of_an_independent_count(games: Games) -> None:
    seki = 0
    for played in each_game(games):
        slow, _ = slow_game(played)
        if played.game["no_result"]:
            continue
        owner, _ = slow.count()
        assert played.game["score"] == slow.score() - played.game["terms"]["komi"]
        expected = [(0, 1, -1)[owner[point]] for point in slow.points()]
        assert played.ownership.tolist() == expected
        seki += 0 in expected
    assert WITHOUT_COMPILER or seki > 0


def test_rows_show_what_the_players_saw(games: Games) -> None:
    ((size, (rows, _)),) = encode_games(games, KATAGO, seed=2).items()
    expected = list(reference_rows(games, KATAGO, copies_of_turns(games, 2)))
    assert len(rows.planes) == len(expected) > 0
    phases = set()
    for k, row in enumerate(expected):
        bits = rows.planes[k] >> np.arange(len(KATAGO.planes), dtype=np.uint32)[:, None, None] & 1
        np.testing.assert_array_equal(bits, row["planes"])
        for name in ("globals", "value", "score", "ownership"):
            np.testing.assert_allclose(getattr(rows, name)[k], row[name], atol=1e-6)
        phases.add(float(row["globals"][12:14].sum()))
    assert size.area in (9, 25)
    assert WITHOUT_COMPILER or phases == {0, 1, 2}


def test_katago_s_rows_know_points_lost_to_seki_and_what_moves_cost(games: Games) -> None:
    side = int(games.games["width"][0])
    arrays, copies = katago_arrays(games, side, 2, "run"), copies_of_turns(games, 2)
    targets, spatial = arrays["globalTargetsNC"], arrays["valueTargetsNCHW"]
    row = at = 0
    for played in each_game(games):
        slow, costs = slow_game(played)
        full = settled(slow)
        for turn, before in zip(played.turns, costs, strict=False):
            mine = 1 if turn["color"] == Color.BLACK else -1
            for _ in range(copies[at]):
                komi = float(played.game["terms"]["komi"])
                assert targets[row, 47] == -mine * (komi + before)
                assert targets[row, 61] == mine * (before - costs[-1])
                assert targets[row, 48] == arrays["globalInputNC"][row, 13]  # the last phase
                if not played.game["no_result"]:
                    lost = np.where(played.ownership == 0, full, 0).reshape(side, side)
                    np.testing.assert_array_equal(spatial[row, 1], mine * lost)
                row += 1
            at += 1
    assert row == len(targets) > 0


def settled(slow: PlayedOutGame) -> list[int]:
    """Whose each point would be if all groups lived: 1, -1 or 0, row by row."""
    stones = np.zeros((slow.height, slow.width), np.int8)
    for (x, y), stone in slow.stones.items():
        stones[y, x] = stone
    owner = PlainBoard(stones, slow.suicide).settled()
    return [(0, 1, -1)[owner[point]] for point in slow.points()]


def test_games_survive_shards_and_packs(games: Games, tmp_path: Path) -> None:
    found = read_shard(write_shard(tmp_path, games)).games
    packed = unpacked_games(packed_games(games))
    for name in ("games", "targets", "ownership"):
        np.testing.assert_array_equal(getattr(found, name), getattr(games, name))
        np.testing.assert_array_equal(getattr(packed, name), getattr(games, name))
    np.testing.assert_array_equal(found.turns, games.turns)
    np.testing.assert_array_equal(packed.turns["move"], games.turns["move"])


def test_sgf_has_the_stones_and_says_where_phases_begin(games: Games) -> None:
    for k, played in enumerate(each_game(games)):
        text = sgf_text(games, k)
        (sgf,) = read_sgf(text)
        last = game_record(games, k)
        assert sgf.final_position().stones.tolist() == last.stones.tolist()
        assert ("the second clean-up begins" in text) == (last.phase == 2)
        assert not played.game["no_result"] or str(sgf.outcome) == "Void"


def rules_played(games: Games) -> Iterator[tuple[KoRule, Scoring, bool]]:
    for game in games.games:
        rules = rules_of(game["terms"])
        yield rules.ko, rules.scoring, rules.button


@pytest.mark.skipif(WITHOUT_COMPILER, reason="takes many games")
def test_random_rules_are_drawn_for_each_game() -> None:
    params = replace(PARAMS, board_sizes=(3,), rules=("random",), handicap_share=0.0)
    games = play_games(new_fleet(opinions(5), params), 150)
    seen = set(rules_played(games))
    assert seen == {
        (ko, scoring, button)
        for ko in KoRule
        for scoring in Scoring
        for button in (False, True)
        if not (button and scoring is Scoring.TERRITORY)
    }
    assert set(games.games["terms"]["territory"].tolist()) == {NO_TERRITORY, PLAYED_OUT}
    by_scoring = {
        territory: games.games["terms"]["komi"][games.games["terms"]["territory"] == territory]
        for territory in (NO_TERRITORY, PLAYED_OUT)
    }
    assert set(by_scoring[NO_TERRITORY].tolist()) == {9.0}
    assert set(by_scoring[PLAYED_OUT].tolist()) == {8.0}  # by the first stone less
