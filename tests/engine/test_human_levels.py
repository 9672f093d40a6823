"""Levels by rank: moves are drawn as a network that imitates people expects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tengen.engine.engine import Engine
from tengen.engine.levels import deciding, level_named
from tengen.game.geometry import Point, policy_point
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tengen.search.human_choice import legal_chances
from tengen.search.params import SearchParams
from tengen.search.request import SearchRequest
from tests.frontends.gtp.opponents import surveyor
from tests.katago_data import network_path

POSITION = Position(5, "chinese", 7)
HUMAN = network_path("human-nbt-mish-v15")
SMALL = SearchParams(megabytes=8)


@pytest.fixture(scope="module")
def people() -> Iterator[Engine]:
    evaluator = FakeEvaluator(surveyor)
    with Engine(evaluator, human_model=HUMAN, precision="float32", params=SMALL) as made:
        yield made


def request_of(name: str) -> SearchRequest:
    return next(deciding(POSITION, level_named(name), 0))


def test_ranks_and_profiles_name_them() -> None:
    profiles = {
        "human:5k": "rank_5k",
        "human:3d": "rank_3d",
        "Human:5k_3d": "rank_5k_3d",
        "human:preaz_5k": "preaz_5k",
        "human:rank_1d": "rank_1d",
        "human:proyear_1950": "proyear_1950",
    }
    for name, profile in profiles.items():
        level = level_named(name)
        assert level.human.profile == profile
        assert level.id == name.lower()
    for wrong in ("human:", "human:40k", "human:proyear_1700"):
        with pytest.raises(ValueError, match="no profile"):
            level_named(wrong)


def test_moves_are_drawn_from_their_policy(people: Engine) -> None:
    result = people.search(request_of("human:5k"))
    assert result.human is not None
    chances = legal_chances(result.human, POSITION)[:-1]
    counts: Counter[Point | None] = Counter()
    draws = 2000
    for seed in range(draws):
        steps = deciding(POSITION, level_named("human:5k"), seed)
        next(steps)
        with pytest.raises(StopIteration) as end:
            steps.send(result)
        counts[end.value.value.move] += 1
    # All chances are over 1%, so that no temperature sharpens them; nobody passes at first.
    expected = chances / chances.sum()
    assert expected.min() > 0.01
    found = [counts[Point(k % 5, k // 5)] / draws for k in range(25)]
    assert found == pytest.approx(expected, abs=0.02)
    assert not counts[None]


def test_the_rank_makes_a_difference(people: Engine) -> None:
    weak, strong = (people.search(request_of(name)).human for name in ("human:20k", "human:9d"))
    assert weak is not None
    assert strong is not None
    assert np.abs(weak.policy - strong.policy).max() > 0.01


def test_a_game_of_people_ends(people: Engine) -> None:
    position = POSITION
    while not position.is_over and position.move_number < 100:
        decision = people.genmove(position, "human:9d", seed=3)
        assert not decision.resign
        position = position.play(decision.move)
    assert position.is_over


def test_the_main_network_may_be_the_one_that_imitates() -> None:
    with Engine(HUMAN, precision="float32", params=SMALL) as engine:
        request = request_of("human:5k")
        style = replace(request.root.human, ignore_pass=False)
        result = engine.search(replace(request, root=replace(request.root, human=style)))
    assert result.human is None
    total = sum(weight for _, weight in result.choices)
    found = {move: weight / total for move, weight in result.choices}
    expected = {policy_point(k, POSITION.size): float(p) for k, p in enumerate(result.policy)}
    assert found == pytest.approx(expected, rel=1e-4)


def test_without_such_a_network_it_is_said_what_to_do() -> None:
    with (
        Engine(FakeEvaluator(surveyor), params=SMALL) as engine,
        pytest.raises(ValueError, match=r"rank_5k needs a network .* --human-model"),
    ):
        engine.genmove(POSITION, "human:5k")
