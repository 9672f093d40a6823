"""Have all kernels of a search compiled: before it begins, or while it runs as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tengen.features.feature_set import FeatureSet
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tengen.parallel_compiling import compile_behind, compile_for
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions, Wanted
from tengen.search.tree_batch import deep_tree
from tengen.search.tree_search import TreeSearch


def compile_kernels(features: FeatureSet, human: FeatureSet | None = None) -> None:
    """Have all kernels of a search compiled and loaded.

    `human` are the inputs of a network beside it that imitates people. What was compiled before is
    loaded from the disk.
    """
    compile_for(*_task(features, human))
    search_a_little(features, human, visits=50)


def compile_kernels_behind(features: FeatureSet, human: FeatureSet | None = None) -> None:
    """The same, without waiting: until then searches run as plain Python, some 20 visits/s.

    If all was compiled before, it is loaded, so that nobody's clock runs meanwhile.
    """
    if not compile_behind(*_task(features, human)):
        search_a_little(features, human, visits=50)


def _task(features: FeatureSet, human: FeatureSet | None) -> tuple[Callable[[], object], str]:
    """What calls all kernels of a search, and its name."""
    people = "nobody" if human is None else str(human.kind)
    task = partial(search_a_little, features, human, visits=8)
    return task, f"search-{features.kind}-{people}"


def search_a_little(features: FeatureSet, human: FeatureSet | None, visits: int) -> None:
    """Search a few moves on a tiny board with a network that knows nothing."""
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
        result = TreeSearch(trees, 0, Limits(visits=visits), everything).run()
        trees.stand_at(0, position.play(result.move), options)
