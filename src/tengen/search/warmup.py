"""Have all kernels of a search compiled before somebody's clock runs."""

from __future__ import annotations

from tengen.features.feature_set import FeatureSet
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions, Wanted
from tengen.search.tree_batch import deep_tree
from tengen.search.tree_search import TreeSearch


def compile_kernels(features: FeatureSet, human: FeatureSet | None = None) -> None:
    """Search a few moves on a tiny board with a network that knows nothing.

    `human` are the inputs of one beside it that imitates people. What was compiled before is loaded
    from the disk.
    """
    position = Position(3, "tromp-taylor", 0)
    people = None if human is None else FakeEvaluator(features=human)
    evaluator, params = (
        FakeEvaluator(features=features),
        SearchParams(megabytes=1, ending_bonus=0.5),
    )
    trees = deep_tree(evaluator, params, position, human=people)
    everything = Wanted(ownership=True, moves_ownership=True)
    for options in (RootOptions(), RootOptions(noisy=True), RootOptions(gumbel=2)):
        trees.stand_at(0, position, options)
        result = TreeSearch(trees, 0, Limits(visits=50), everything).run()
        trees.stand_at(0, position.play(result.move), options)
