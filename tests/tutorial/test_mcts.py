"""The plain search: by the same recipe it makes the same visits as Tengen's compiled search."""

from __future__ import annotations

import pytest

from tengen.game.position import Position
from tengen.network.backends.torch_evaluator import TorchEvaluator
from tengen.search.request import Limits
from tengen.tutorial.mcts import search
from tengen.tutorial.network import initial_network, network_data
from tengen.tutorial.recipe import Recipe
from tests.search.plain_search import Search

SIDE, VISITS = 5, 150


@pytest.mark.parametrize("moves", ["", "C3 C2 D2", "C3 C2 D2 B3 pass"])
def test_visits_are_those_of_the_compiled_search(moves: str) -> None:
    data = network_data(initial_network(SIDE, 1, 8, seed=2), "random", {})
    evaluator = TorchEvaluator(data, "cpu")
    recipe = Recipe(side=SIDE, visits=VISITS)
    # Rules by which a second pass ends the game without an agreement about dead stones.
    position = Position(SIDE, "tromp-taylor", 0.5).play_all(moves)
    root = search(position, evaluator, VISITS, recipe.exploration)
    assert root.visits == VISITS
    compiled = Search(evaluator, recipe.search(), leaves=1)
    compiled.set_position(position)
    result = compiled.run(Limits(visits=VISITS))
    expected = {move: child.visits for move, child in root.children.items() if child.visits}
    assert sum(expected.values()) == VISITS - 1  # the first visit is the root's own
    assert {move.move: move.visits for move in result.moves} == expected
    assert result.winrate == pytest.approx((1 + root.value) / 2, abs=1e-4)
