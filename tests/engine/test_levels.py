"""Levels: what every one of them does and none ever does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.engine.level_ranks import MEASURED, rank_of
from tengen.engine.levels import (
    CARE_VISITS,
    FULL,
    LEVELS,
    MOST_TRIES,
    RESIGN_MOVES,
    Decision,
    Level,
    level_named,
)
from tengen.features.feature_set import KATAGO
from tengen.game.color import Color
from tengen.game.geometry import Point, Size
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.params import SearchParams
from tests.frontends.gtp.opponents import OTHER, OWN, black_wins, surveyor
from tests.search.tactics import TACTICS

SMALL = SearchParams(megabytes=8)
LAST_MOVE = KATAGO.planes.index("move 1 turns ago")
BEGINNER = level_named("beginner")
each_level = pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.id)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(FakeEvaluator(surveyor), params=SMALL) as made:
        yield made


def test_they_go_from_newcomer_to_full_strength() -> None:
    assert 8 <= len(LEVELS) <= 13
    assert (LEVELS[0].id, LEVELS[-1].id) == ("newcomer", "full")
    assert (
        len({level.id for level in LEVELS}) == len({level.name for level in LEVELS}) == len(LEVELS)
    )
    for weaker, stronger in pairwise(LEVELS):
        assert weaker.visits <= stronger.visits
        assert weaker.temperature >= stronger.temperature
        assert weaker.floor >= stronger.floor
        assert weaker.resign_winrate <= stronger.resign_winrate
        assert (weaker.visits, -weaker.temperature) < (stronger.visits, -stronger.temperature)


def test_moves_are_drawn_less_freely_on_larger_boards() -> None:
    newcomer = LEVELS[0]
    temperatures = [newcomer.temperature_on(Size(side, side)) for side in (9, 13, 19)]
    assert temperatures == pytest.approx([11.0, 7.8, 6.0], abs=0.05)
    # Where 13 was on 9x9, 9 was on 13x13 and 6.8 on 19x19 as hard for a player of the first day.
    harder = replace(newcomer, temperature=13.0)
    temperatures = [harder.temperature_on(Size(side, side)) for side in (13, 19)]
    assert temperatures == pytest.approx([9.0, 6.8], abs=0.05)
    assert level_named("expert").temperature_on(Size(19, 19)) == 0.25


def choice(engine: Engine, position: Position, level: Level, seed: int) -> Decision:
    return engine.genmove(position, level, seed)


def test_a_level_is_found_by_its_id_and_others_are_listed() -> None:
    assert level_named(" Beginner") is BEGINNER
    with pytest.raises(ValueError, match=r"'god'; there are newcomer, .*full"):
        level_named("god")


@each_level
@pytest.mark.parametrize("size", [5, 7, 9, 13, 19])
def test_moves_are_legal_on_boards_of_all_sizes(engine: Engine, level: Level, size: int) -> None:
    position = Position(size, "tromp-taylor", 7)
    for _ in range(3):
        position = position.play(choice(engine, position, level, seed=3).move)
    assert position.stones.any()


@pytest.mark.parametrize("level", [BEGINNER, level_named("club")], ids=lambda level: level.id)
def test_whole_games_end_by_passes_with_something_alive(engine: Engine, level: Level) -> None:
    for seed in range(3):
        position = Position(5, "tromp-taylor", 0.5, move_limit=100)
        while not position.is_over:
            position = position.play(choice(engine, position, level, seed).move)
        assert position.passes == 2
        assert position.stones.any()


@each_level
def test_the_same_seed_makes_the_same_choice_whatever_was_searched_before(level: Level) -> None:
    position = Position(9).play_all("E5 C3 G4")
    found = []
    for hint in (0, 500):
        with Engine(FakeEvaluator(surveyor), params=SMALL) as engine:
            if hint and level is not FULL:
                engine.search(position, visits=hint)
            decision = engine.genmove(position, level.id, seed=5)
            found.append(decision.move)
            assert decision.result.visits == level.visits
    assert found[0] == found[1]


def test_other_seeds_make_other_choices(engine: Engine) -> None:
    moves = {choice(engine, Position(9), BEGINNER, seed).move for seed in range(8)}
    assert len(moves) >= 4


def test_a_seed_does_not_repeat_itself_within_a_game(engine: Engine) -> None:
    """One stone further on, the same seed must not draw the same places again."""
    moves = [choice(engine, Position(9).play((x, 8)), BEGINNER, seed=1).move for x in range(9)]
    assert len(set(moves)) >= 4


# Both live, and nothing is left but their eyes.
SETTLED = """
    . X X O O .
    X X X O O O
    X . X O . O
    X X X O O O
    X . . X O O
    X X X X O O
"""


def loves_every_point_but_a_pass(batch: Batch) -> Evaluation:
    policy = np.zeros((len(batch.planes), batch.planes[0, 0].size + 1), np.float32)
    policy[:, -1] = -20
    return uniform(batch)._replace(policy=policy)


@each_level
@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "japanese"])
@pytest.mark.parametrize("color", ["black", "white"])
def test_nobody_fills_an_own_eye_or_plays_among_the_living(
    level: Level, color: str, rules: str
) -> None:
    position = Position.from_diagram(SETTLED, color, rules, 0.5)
    with Engine(FakeEvaluator(loves_every_point_but_a_pass), params=SMALL) as engine:
        assert choice(engine, position, level, seed=1).move is None


@each_level
def test_nobody_fills_the_last_eye_of_a_group(level: Level) -> None:
    position = Position(7).play_all("A2 G7 B2 G6 B1 G5")

    def wants_a1(batch: Batch) -> Evaluation:
        policy = np.zeros((len(batch.planes), 50), np.float32)
        policy[:, 42] = 12  # A1
        policy[:, -1] = -5
        return uniform(batch)._replace(policy=policy)

    with Engine(FakeEvaluator(wants_a1), params=SMALL) as engine:
        assert choice(engine, position, level, seed=1).move not in (None, Point(0, 6))


@each_level
@pytest.mark.parametrize(("rules", "captures"), [("tromp-taylor", True), ("chinese", False)])
def test_dead_stones_are_captured_where_they_count(
    level: Level, rules: str, captures: bool
) -> None:
    position = Position.from_diagram(SETTLED.replace("X . . X", "X O . X"), "black", rules, 0.5)
    with Engine(FakeEvaluator(loves_every_point_but_a_pass), params=SMALL) as engine:
        move = choice(engine, position, level, seed=1).move
    assert (move == Point(2, 4)) if captures else move is None


COST = 20.0  # points of a stone on the edge


def fears_the_edge(batch: Batch) -> Evaluation:
    """Stones on the edge cost their owner points; all moves come to mind alike."""
    edge = np.ones(batch.planes.shape[2:], np.float32)
    edge[1:-1, 1:-1] = 0
    own, other = ((batch.planes[:, plane] * edge).sum((1, 2)) for plane in (OWN, OTHER))
    policy = np.zeros((len(batch.planes), edge.size + 1), np.float32)
    policy[:, :-1] = -0.5 * edge.ravel()  # the best by policy lies elsewhere
    policy[:, -1] = -20
    score = (COST * (other - own)).astype(np.float32)
    return uniform(batch)._replace(policy=policy, score=score, lead=score)


def on_edge(point: Point | None) -> bool:
    return point is not None and (point.x in (0, 6) or point.y in (0, 6))


@pytest.mark.parametrize("visits", [1, 40])
def test_no_move_below_the_floor_is_played(visits: int) -> None:
    strict = replace(BEGINNER, visits=visits, temperature=3.0, floor=COST - 1)
    lax = replace(strict, floor=COST + 1)
    with Engine(FakeEvaluator(fears_the_edge), params=SMALL) as engine:
        played = [
            [choice(engine, Position(7), level, seed).move for seed in range(40)]
            for level in (strict, lax)
        ]
    assert not any(map(on_edge, played[0]))
    # Unless nothing but good moves was looked at, some draws would have been on the edge.
    assert visits > 1 or any(map(on_edge, played[1]))


@each_level
@pytest.mark.parametrize(
    "name", ["passing when ahead", "the last neutral point", "passing would lose"]
)
def test_everybody_passes_when_the_game_is_over_and_not_before(
    engine: Engine, level: Level, name: str
) -> None:
    tactic = next(tactic for tactic in TACTICS if tactic.name == name)
    position = tactic.position()
    assert position.text(choice(engine, position, level, seed=1).move) in tactic.best


def test_only_those_who_can_count_give_up_and_not_early() -> None:
    late = int(RESIGN_MOVES * 25) + 1
    with Engine(FakeEvaluator(black_wins), params=SMALL) as engine:
        for moves in (2, late + late % 2):
            position = Position(5, "tromp-taylor", 0.5)
            for _ in range(moves):  # Black to play again, who is told to have won
                position = position.play(choice(engine, position, BEGINNER, 1).move)
            lost = position.pass_()
            assert lost.to_play is Color.WHITE
            gives_up = {level.id for level in LEVELS if choice(engine, lost, level, 1).resign}
            assert gives_up == (
                set() if moves == 2 else {level.id for level in LEVELS if level.resign_winrate}
            )
            assert "beginner" not in gives_up


@contextmanager
def counted(script: Callable[[Batch], Evaluation]) -> Iterator[tuple[Engine, list[int]]]:
    """An engine, and how many positions its network sees at a time."""
    seen: list[int] = []

    def count(batch: Batch) -> Evaluation:
        seen.append(len(batch.planes))
        return script(batch)

    with Engine(FakeEvaluator(count), params=SMALL) as engine:
        seen.clear()
        yield engine, seen


def test_a_beginner_looks_at_few_positions_even_if_all_it_draws_is_bad() -> None:
    strict = replace(BEGINNER, floor=-1.0)  # nothing but the best move is good enough
    with counted(fears_the_edge) as (engine, seen):
        for seed in range(5):
            seen.clear()
            move = choice(engine, Position(9).play("E5"), strict, seed).move
            assert move == Point(1, 1)  # the first of those that come to mind most
            assert sum(seen) <= 2 + MOST_TRIES


def test_everybody_looks_carefully_once_the_opponent_has_passed() -> None:
    for moves in ("E5 pass", "E5 C3"):
        with counted(loves_every_point_but_a_pass) as (engine, seen):
            choice(engine, Position(9).play_all(moves), BEGINNER, 1)
            assert (sum(seen) > CARE_VISITS / 2) == moves.endswith("pass")


def likes_a_stone_by_its_lead_alone(batch: Batch) -> Evaluation:
    """All is even, but who has just put down a stone is told to lead."""
    policy = np.zeros((len(batch.planes), batch.planes[0, 0].size + 1), np.float32)
    policy[:, 3], policy[:, -1] = 5, 3.5
    lead = -5 * batch.planes[:, LAST_MOVE].sum((1, 2))
    return uniform(batch)._replace(policy=policy, lead=lead.astype(np.float32))


@each_level
def test_a_pass_that_costs_no_points_at_the_end_is_played(level: Level) -> None:
    with Engine(FakeEvaluator(likes_a_stone_by_its_lead_alone), params=SMALL) as engine:
        position = Position(7, "chinese", 0).play("D4")
        assert engine.search(position, visits=CARE_VISITS).move is not None
        assert choice(engine, position, level, seed=1).move is None


def wants_to_pass(batch: Batch) -> Evaluation:
    policy = np.zeros((len(batch.planes), batch.planes[0, 0].size + 1), np.float32)
    policy[:, -1] = 2
    return uniform(batch)._replace(policy=policy)


@each_level
def test_nobody_passes_a_won_game_away(level: Level) -> None:
    """White has passed, Black is behind as the board stands, and a pass comes to mind first."""
    tactic = next(tactic for tactic in TACTICS if tactic.name == "passing would lose")
    with Engine(FakeEvaluator(wants_to_pass), params=SMALL) as engine:
        assert choice(engine, tactic.position(), level, seed=1).move is not None


def test_a_finished_game_has_no_move(engine: Engine) -> None:
    with pytest.raises(ValueError, match="over"):
        choice(engine, Position(5).pass_().pass_(), BEGINNER, 1)


def test_the_documentation_lists_the_levels_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "levels.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split("|") for line in page.splitlines() if line.startswith("| `")]
    stated = [[cell.strip(" `").removesuffix(" points") for cell in row] for row in rows]
    assert stated == [
        [
            level.id,
            str(level.visits),
            f"{level.temperature:g}" if level.temperature else "–",
            f"{level.floor:g}" if level.temperature else "–",
            f"below {level.resign_winrate:.0%}" if level.resign_winrate else "never",
            *([] if rank is None else [f"{rank}", f"{MEASURED['tengen-9x9', 9].levels[level.id]}"]),
        ]
        for level in LEVELS
        for rank in [rank_of(level, "tengen-9x9", Size(9, 9))]
    ]
