"""Games of a fleet: whole, legal, counted right, the same again, and none lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numba
import numpy as np
import pytest

from tengen.game.outcome import Reason
from tengen.network.fake import uniform
from tengen.selfplay import fleet as fleet_module
from tengen.selfplay.fleet import Counts
from tengen.selfplay.params import SelfPlayParams
from tengen.selfplay.record import (
    BY_MOVE_LIMIT,
    BY_PASSES,
    BY_REPETITION,
    FAST,
    FULL,
    OPENING,
    SETUP,
    Games,
    split_games,
)
from tengen.selfplay.sgf_text import game_record
from tests.game.reference import ReferenceGame
from tests.search.scripts import opinions
from tests.selfplay.fleets import PLAIN, by_number, each_game, new_fleet, play_games, positions

# Everything that games may begin with, on boards so small that they end in many ways.
MIXED = SelfPlayParams(
    board_sizes=(2, "2x4", "4x3", 3, 4),
    size_weights=(4, 2, 1, 1, 1),
    rules=("tromp-taylor", "stone-scoring", "aga-button", "chinese"),
    visits=16,
    fast_visits=6,
    full_share=0.4,
    handicap_share=0.3,
    opening_moves=0.2,
    move_limit=6.0,  # time enough for stones to be taken to and fro
)


pytestmark = pytest.mark.usefixtures("one_kernel_thread")


@pytest.fixture(scope="module")
def mixed() -> Games:
    numba.set_num_threads(1)
    return play_games(new_fleet(opinions(1), MIXED, games=64), 400)


# What finished games hold


def test_games_are_legal_and_end_as_they_say(mixed: Games) -> None:
    for played in each_game(mixed):
        game, end = played.game, positions(played)[-1]
        if game["end"] == BY_PASSES:
            assert end.is_over
            assert played.turns["move"][-1] == end.size.area
        elif game["end"] == BY_MOVE_LIMIT:
            assert not end.is_over
            assert game["n_turns"] == game["move_limit"]
        else:
            outcome = end.outcome()
            assert outcome is not None
            assert outcome.reason is Reason.NO_RESULT
    assert set(mixed.games["end"].tolist()) == {BY_PASSES, BY_MOVE_LIMIT, BY_REPETITION}
    sizes = zip(mixed.games["width"].tolist(), mixed.games["height"].tolist(), strict=True)
    assert set(sizes) == set(MIXED.sizes)


def test_scores_and_ownership_are_those_of_the_last_board(mixed: Games) -> None:
    for k, played in enumerate(each_game(mixed)):
        end = game_record(mixed, k)
        assert end == positions(played)[-1]
        if played.game["end"] == BY_REPETITION:
            assert played.game["no_result"] == 1
            assert played.game["score"] == 0
            assert not played.ownership.any()
            continue
        assert played.game["no_result"] == 0
        count = end.score()
        assert played.game["score"] == count.margin
        signs = np.array([0, 1, -1])[count.owner]
        np.testing.assert_array_equal(played.ownership.reshape(signs.shape), signs)


def test_scores_are_what_a_slow_board_counts() -> None:
    games = play_games(new_fleet(opinions(5), replace(MIXED, rules=("tromp-taylor",))), 60)
    for played in each_game(games):
        width, height = int(played.game["width"]), int(played.game["height"])
        slow = ReferenceGame(width, height, "positional", suicide=True)
        for turn in played.turns:
            place, color = int(turn["move"]), int(turn["color"])
            if slow.to_play != color:  # stones that are set up: the game begins after them
                slow.to_play, slow.past = color, slow.past[-1:]
            move = None if place == width * height else (place % width, place // width)
            assert move is None or slow.is_legal(move)
            slow.play(move)
        area = slow.settled_area()
        assert played.game["score"] == area - played.game["terms"]["komi"]
        assert played.ownership.sum() == area


def test_no_two_games_share_a_number(mixed: Games) -> None:
    numbers = mixed.games["number"].tolist()
    assert len(set(numbers)) == len(numbers)


def test_turns_alternate_after_the_set_up(mixed: Games) -> None:
    for played in each_game(mixed):
        kinds, colors = played.turns["kind"].tolist(), played.turns["color"].tolist()
        stones = kinds.count(SETUP)
        assert kinds[:stones] == [SETUP] * stones
        assert colors[:stones] == [1] * stones
        openings = kinds.count(OPENING)
        assert set(kinds[stones : stones + openings]) <= {OPENING}
        turns = len(kinds) - stones
        first = 2 if stones else 1
        assert colors[stones:] == [first if k % 2 == 0 else 3 - first for k in range(turns)]
    assert Counter(mixed.turns["kind"].tolist()).keys() == {SETUP, OPENING, FAST, FULL}


def test_full_turns_have_targets_among_the_legal_moves_and_others_none(mixed: Games) -> None:
    for played in each_game(mixed):
        places = positions(played)
        for position, turn, wanted in zip(places, played.turns, played.targets, strict=False):
            assert bool(wanted) == (turn["kind"] == FULL)
            if turn["kind"] == FULL:
                assert set(wanted) <= set(np.flatnonzero(position.legal_mask()).tolist())
                assert min(wanted.values()) > 0
            else:
                assert turn["weight"] == 0


def test_every_search_has_the_visits_asked_for(mixed: Games) -> None:
    turns = mixed.turns
    assert turns["visits"][turns["kind"] == FULL].min() >= MIXED.visits
    assert turns["visits"][turns["kind"] == FAST].min() >= MIXED.fast_visits
    assert not turns["visits"][turns["kind"] < FAST].any()


def test_games_say_how_long_their_network_had_been_trained() -> None:
    fleet = new_fleet(uniform)
    fleet.set_step(7)
    first = play_games(fleet, 16)
    fleet.set_step(9)
    later = play_games(fleet, 64)
    assert set(first.games["step"].tolist()) == {7}
    assert set(later.games["step"].tolist()) == {7, 9}  # some were under way


# The same again


def test_games_do_not_depend_on_threads_nor_on_when_they_are_taken() -> None:
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("there is one thread alone")
    found = []
    for threads, ticks in ((1, 2048), (2, 2048), (1, 1), (2, 37)):
        numba.set_num_threads(threads)
        fleet = new_fleet(opinions(1), MIXED)
        parts: dict[int, tuple[bytes, ...]] = {}
        for tick in range(2048):
            fleet.tick()
            if (tick + 1) % ticks == 0:
                parts |= by_number(fleet.take_games())
        found.append(parts | by_number(fleet.take_games()))
    assert len(found[0]) > 30
    assert all(other == found[0] for other in found[1:])


def test_games_do_not_depend_on_those_of_other_sizes() -> None:
    mixed = new_fleet(opinions(1), MIXED, games=32)
    halves = MIXED.halves(32)
    firsts = np.cumsum([0, *(rows for _, rows in halves)])
    found = without_numbers(play_games(mixed, 150), firsts[-1])
    for k, (size, rows) in enumerate(halves[: len(MIXED.sizes)]):
        other = k + len(MIXED.sizes)  # the second half of this size
        assert halves[other] == halves[k]
        slots = [*range(firsts[k], firsts[k] + rows), *range(firsts[other], firsts[other] + rows)]
        params = replace(MIXED, board_sizes=(str(size),), size_weights=())
        alone = new_fleet(opinions(1), params, games=2 * rows)
        wanted: dict[tuple[int, int], tuple[bytes, ...]] = {}
        games = {
            (slots.index(slot), turn): game for (slot, turn), game in found.items() if slot in slots
        }
        assert len(games) > 8
        while not games.keys() <= wanted.keys():
            wanted |= without_numbers(play_games(alone, 1), 2 * rows)
        assert {key: wanted[key] for key in games} == games


def without_numbers(games: Games, slots: int) -> dict[tuple[int, int], tuple[bytes, ...]]:
    """All that is known of each game, by its slot and how many games were played there before."""
    numbers = games.games["number"].tolist()
    games.games["number"] = 0
    each = (next(iter(by_number(game).values())) for game in split_games(games, 1))
    return {(n % slots, n // slots): game for n, game in zip(numbers, each, strict=True)}


def test_another_seed_makes_other_games() -> None:
    one, other = (
        by_number(play_games(new_fleet(opinions(1), MIXED, seed=seed), 30)) for seed in (1, 2)
    )
    assert not set(one.values()) & set(other.values())


def test_a_fleet_that_was_saved_goes_on_as_its_copy() -> None:
    saved = new_fleet(opinions(1), MIXED)
    for _ in range(1001):
        saved.tick()
    saved.take_games()
    arrays = saved.save()
    loaded = new_fleet(opinions(1), MIXED, seed=99)
    for _ in range(30):
        loaded.tick()
    loaded.take_games()
    loaded.load(arrays)
    assert loaded.counts == saved.counts
    games = [by_number(play_games(fleet, 60)) for fleet in (saved, loaded)]
    assert games[0] == games[1]
    assert loaded.counts == saved.counts


def test_a_fleet_of_another_size_is_refused() -> None:
    arrays = new_fleet(uniform).save()
    with pytest.raises(ValueError, match="another kind or size"):
        new_fleet(uniform, games=8).load(arrays)
    begun = new_fleet(uniform)
    for _ in range(2):
        begun.tick()
    for sizes, complaint in ((("4x5",), "4x4 board in place of 4x5"), ((4, 5), "another kind or")):
        with pytest.raises(ValueError, match=complaint):
            new_fleet(uniform, replace(PLAIN, board_sizes=sizes)).load(begun.save())
    two_sizes = new_fleet(uniform, replace(PLAIN, board_sizes=(4, 5)), games=32).save()
    with pytest.raises(ValueError, match="more board sizes"):
        new_fleet(uniform, games=2 * len(two_sizes["slots0"])).load(two_sizes)


def test_counts_are_what_was_done() -> None:
    fleet = new_fleet(opinions(1))
    games = play_games(fleet, 50)
    counts = fleet.counts
    assert counts.games == len(games.games)
    assert counts.moves >= len(games.turns)
    assert counts.rows <= counts.ticks * 8
    assert new_fleet(uniform).counts == Counts()


def test_a_full_tray_stalls_games_and_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = new_fleet(opinions(1), MIXED, games=32)
    monkeypatch.setattr(fleet_module, "FINISHED_GAMES_ROOM", 1)
    tight = new_fleet(opinions(1), MIXED, games=32)
    halves = MIXED.halves(32)
    most = fleet_module.CHUNKS_PER_THREAD * numba.get_num_threads()
    shards = sum(min(rows, most) for _, rows in halves)  # each with room for a game
    found: dict[int, tuple[bytes, ...]] = {}
    for _ in range(6):
        for _ in range(500):
            tight.tick()
        taken = by_number(tight.take_games())
        assert 0 < len(taken) <= shards
        assert not taken.keys() & found.keys()
        found |= taken
    assert len(found) > 3 * shards
    wanted: dict[int, tuple[bytes, ...]] = {}
    while not found.keys() <= wanted.keys():
        wanted |= by_number(play_games(plenty, 1))
    assert {number: wanted[number] for number in found} == found
    for slot in range(32):  # one after another, none left out
        numbers = sorted(number // 32 for number in found if number % 32 == slot)
        assert numbers == list(range(len(numbers)))


@pytest.mark.kernel
def test_a_tiny_fleet_plays_whole_games() -> None:
    params = replace(PLAIN, board_sizes=(2,), visits=4, fast_visits=2, opening_share=0.5)
    games = play_games(new_fleet(opinions(1), params, games=2), 3, ticks=8)
    for played in each_game(games):
        end = positions(played)[-1]
        assert end.is_over or played.game["end"] == BY_MOVE_LIMIT
        assert played.game["score"] == end.score().margin
