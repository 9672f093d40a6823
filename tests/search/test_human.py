"""Searches that follow a network which imitates people do what KataGo's do.

The expected values are KataGo 1.17.2's, for a network of random weights and one beside it:

    katago analysis -config analysis.cfg -model conv-mish-v16-q.bin.gz
      -human-model human-nbt-mish-v15.bin.gz -override-config nnRandomize=false

with queries of 7x7, Chinese rules, komi 7, after C3 and E4, and wideRootNoise 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.features.feature_set import KATAGO_WITHOUT_LADDERS
from tengen.game.color import Color
from tengen.game.geometry import Point, parse_point
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.choice import draw_choice
from tengen.search.human_choice import legal_chances
from tengen.search.human_style import HumanStyle
from tengen.search.params import SearchParams
from tengen.search.request import Avoid, Limits, RootOptions, SearchRequest
from tengen.search.result import SearchResult
from tests.katago_data import SMALL_FOLDER

pytestmark = pytest.mark.kernel
POSITION = Position(7, "chinese", 7).play("C3").play("E4")
NO_PASSES = tuple(Avoid(color, None, 100) for color in Color)
ONLY_TWO = (
    *NO_PASSES,
    *(
        Avoid(Color.BLACK, Point(x, y))
        for y in range(7)
        for x in range(7)
        if Point(x, y) not in (parse_point("D4", 7), parse_point("E3", 7))
    ),
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    files = (SMALL_FOLDER / f"{name}.bin.gz" for name in ("conv-mish-v16-q", "human-nbt-mish-v15"))
    model, human = files
    with Engine(model, human_model=human, precision="float32", leaves=1) as engine:
        yield engine


def search(
    engine: Engine, visits: int, profile: str, avoid: tuple[Avoid, ...] = (), **style: Any
) -> SearchResult:
    root = RootOptions(ignore_history=True, avoid=avoid, human=HumanStyle(profile, **style))
    return engine.search(SearchRequest(POSITION, Limits(visits=visits), root))


def visits_of(result: SearchResult) -> dict[str, tuple[int, int]]:
    return {POSITION.text(each.move): (each.visits, each.edge_visits) for each in result.moves}


def test_people_s_opinion_of_the_position_is_katago_s(engine: Engine) -> None:
    human = search(engine, 3, "rank_5k").human
    assert human is not None
    win, loss, _ = human.value.tolist()
    assert 0.5 + 0.5 * (win - loss) == pytest.approx(0.602515437, abs=1e-6)
    assert human.score == pytest.approx(-1.94455945, abs=1e-5)
    assert human.spread == pytest.approx(8.75964388, abs=1e-4)
    chances = legal_chances(human, POSITION)
    expected = [0.0163714644, 0.0145289833, 0.0137810968, 0.0137879234, 0.013578211]
    assert chances[:5] == pytest.approx(expected, abs=1e-8)
    assert chances[-1] == pytest.approx(0.28677395, abs=1e-7)


def test_nobody_is_asked_without_a_profile(engine: Engine) -> None:
    assert search(engine, 3, "").human is None


def test_weightful_visits_follow_people_as_katago_s_do(engine: Engine) -> None:
    found = search(engine, 30, "rank_5k", root_weightful=1.0)
    once = dict.fromkeys(("B3", "E2", "B4", "F1", "D4", "C2", "B2", "A4"), (1, 1))
    assert found.visits == 30
    assert visits_of(found) == {"pass": (21, 21), **once}


def test_weightless_visits_judge_moves_and_leave_the_root_alone(engine: Engine) -> None:
    found = search(engine, 30, "rank_5k", root_weightless=1.0)
    moves = ("B3", "E2", "B4", "F1", "A3", "D4", "C2", "E1", "B2", "A7", "A4", "B1")
    assert visits_of(found) == {"pass": (17, 0), **dict.fromkeys(moves, (1, 0))}
    assert found.visits == 1
    assert found.utility == pytest.approx(0.279003623, abs=1e-4)
    weights = {POSITION.text(each.move): each.play_weight for each in found.moves}
    assert [weights[move] for move in ("B3", "E2", "B4", "D4", "pass")] == pytest.approx(
        [1.0, 0.5655, 0.5573, 0.464, 0.347], abs=1e-3
    )


def test_a_visit_without_weight_below_the_root_counts_for_nothing_above(engine: Engine) -> None:
    # KataGo has 3 visits of 60, one of each of the moves.
    found = search(engine, 60, "rank_5k_3d", ONLY_TWO, other_weightless=1.0)
    assert visits_of(found) == {"D4": (1, 1), "E3": (1, 1)}
    assert found.visits == 3


@pytest.mark.parametrize(
    ("style", "utility"),
    [
        ({"own_weightful": 1.0}, -0.051306171),
        ({"other_weightful": 1.0}, 0.123339553),
        (
            {
                "own_weightful": 1.0,
                "other_weightful": 1.0,
                "permanent_exploration": 0.5,
                "exploration": 0.5,
            },
            0.0550551088,
        ),
    ],
)
def test_people_are_followed_below_the_root(
    engine: Engine, style: dict[str, float], utility: float
) -> None:
    found = search(engine, 120, "rank_5k_3d", ONLY_TWO, **style)
    assert visits_of(found) == {"E3": (118, 118), "D4": (1, 1)}
    assert found.moves[0].utility == pytest.approx(utility, abs=2e-4)


def test_permanent_exploration_spreads_the_visits(engine: Engine) -> None:
    found = search(
        engine, 150, "rank_5k_3d", NO_PASSES, root_weightful=1.0, permanent_exploration=2.0
    )
    visits = visits_of(found)
    expected = {"B2": 8, "D4": 8, "B4": 7, "C2": 7, "B3": 6, "F5": 5, "E2": 5, "F2": 5, "F1": 4}
    assert {move: visits[move][0] for move in expected} == expected


def test_counted_visits_make_use_of_those_without_weight(engine: Engine) -> None:
    found = search(
        engine,
        600,
        "rank_5k_3d",
        NO_PASSES,
        root_weightless=0.5,
        root_weightful=0.2,
        permanent_exploration=2.0,
    )
    # KataGo's draws differ: 288 visits of the root, 385 of its children, 287 of them counted.
    assert 260 < found.visits < 330
    assert 360 < sum(each.visits for each in found.moves) < 430
    assert sum(each.edge_visits for each in found.moves) == found.visits - 1
    visits = visits_of(found)
    expected = {"B2": 12, "D4": 12, "C2": 10, "A3": 8, "A7": 8, "C5": 7, "E7": 6, "G1": 5}
    assert {move: visits[move][0] for move in expected} == pytest.approx(expected, abs=2)


def test_moves_weigh_what_people_and_the_search_think_of_them(engine: Engine) -> None:
    found = search(engine, 30, "rank_5k", move_share=1.0, move_lambda=0.3)
    weights = {POSITION.text(each.move): each.play_weight for each in found.moves[:9]}
    expected = {
        "B4": 1.0,
        "B3": 0.8746,
        "F1": 0.8207,
        "E2": 0.8112,
        "A3": 0.8046,
        "F2": 0.7994,
        "F5": 0.7949,
        "B5": 0.7849,
        "C5": 0.7725,
    }
    assert weights == pytest.approx(expected, abs=1e-3)
    assert list(weights) == list(expected)


def test_all_legal_moves_may_be_chosen_and_the_pass_is_left_to_the_search(engine: Engine) -> None:
    found = search(engine, 30, "rank_5k", move_share=1.0, ignore_pass=True)
    assert found.human is not None
    chances = legal_chances(found.human, POSITION)
    choices = dict(found.choices)
    total = sum(choices.values())
    searched = {each.move for each in found.moves}
    assert None not in searched
    on_board = chances[:-1].sum()
    for place, chance in enumerate(chances[:-1].tolist()):
        if chance:
            weight = choices[Point(place % 7, place // 7)]
            assert weight / total == pytest.approx(chance / on_board, rel=1e-6)
    assert choices.get(None, 0.0) == 0.0


def test_only_unlikely_moves_are_sharpened_by_the_temperature() -> None:
    # By KataGo's rule: a chance p below the bound b becomes b · (p / b)^(1 / temperature).
    points = [Point(0, 0), Point(1, 0), Point(2, 0)]
    choices = tuple(zip(points, (0.7, 0.2, 0.1), strict=True))
    params = SearchParams(temperature=0.5, temperature_early=0.5, temperature_below=0.2)
    random = np.random.default_rng(5)
    drawn = Counter(draw_choice(choices, POSITION, params, random) for _ in range(20_000))
    weights = np.array([0.7, 0.2, 0.2 * (0.1 / 0.2) ** 2])
    expected = weights / weights.sum()
    assert [drawn[point] / 20_000 for point in points] == pytest.approx(expected, abs=0.012)
    assert draw_choice(choices, POSITION, SearchParams(), random) == points[0]


def test_a_root_kept_from_the_move_before_is_shown_to_people_again(engine: Engine) -> None:
    root = RootOptions(human=HumanStyle("rank_3d", root_weightful=0.5))
    before = engine.search(SearchRequest(POSITION, Limits(visits=50), root))
    # No pass: what was found after it, as if it did not end the game, is not kept.
    after = POSITION.play(next(each.move for each in before.moves if each.move is not None))
    kept = engine.search(SearchRequest(after, Limits(playouts=20), root))
    anew = engine.search(SearchRequest(after, Limits(visits=20), replace(root, fresh=True)))
    assert kept.reused
    assert kept.human is not None
    assert anew.human is not None
    np.testing.assert_allclose(kept.human.policy, anew.human.policy, atol=1e-4)


def test_a_network_with_other_inputs_may_stand_beside_the_one_that_searches() -> None:
    seen: list[Batch] = []

    def script(batch: Batch) -> Evaluation:
        seen.append(Batch(batch.planes.copy(), batch.globals.copy()))
        return uniform(batch)

    human = FakeEvaluator(script)
    model = FakeEvaluator(features=KATAGO_WITHOUT_LADDERS)
    # Black's stone is caught in a ladder, which the main network is not told.
    position = Position(7, "chinese", 7)
    for move in ("C3", "C2", "A7", "B3", "A6", "D4"):
        position = position.play(move)
    expected = encode(human.features, [position])
    plane = human.features.planes.index("caught in a ladder")
    assert expected.planes[0, plane].any()
    with Engine(model, human_model=human) as engine:
        style = HumanStyle(own_weightful=0.5, other_weightful=0.5)
        engine.search(SearchRequest(position, Limits(visits=30), RootOptions(human=style)))
    np.testing.assert_array_equal(seen[0].planes, expected.planes)
    np.testing.assert_array_equal(seen[0].globals, expected.globals)
    assert sum(len(batch.planes) for batch in seen) > 10  # below the root as well


@pytest.mark.parametrize(
    ("style", "named"),
    [
        ({"profile": "rank_5k"}, "rank_5k"),
        ({"root_weightful": 0.5}, "exploring"),
        ({"move_share": 0.5}, "choosing"),
    ],
)
def test_a_style_without_a_network_that_imitates_people_is_refused(
    style: dict[str, Any], named: str
) -> None:
    with Engine(FakeEvaluator()) as engine:
        request = SearchRequest(POSITION, Limits(visits=2), RootOptions(human=HumanStyle(**style)))
        with pytest.raises(ValueError, match=rf"{named}.*--human-model"):
            engine.search(request)


@pytest.mark.parametrize(
    "style", [{"profile": "rank_30k"}, {"move_share": 1.1}, {"exploration": -0.1}]
)
def test_impossible_styles_are_refused(style: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"rank_30k|move_share|exploration"):
        HumanStyle(**style)
