"""Have all kernels of a search compiled: before it begins, or while it runs as plain Python."""

from __future__ import annotations

from functools import partial

from tengen.features.feature_set import KATAGO
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator
from tengen.parallel_compiling import compile_behind, compile_for
from tengen.search.deep_tree import deep_tree
from tengen.search.params import SearchParams
from tengen.search.request import Limits, RootOptions, Wanted
from tengen.search.tree_search import TreeSearch


def compile_kernels() -> None:
    """Have all kernels of a search compiled and loaded; what was compiled before is on the disk."""
    compile_for(_task, _NAME)
    search_a_little(visits=50)


def compile_kernels_behind() -> None:
    """The same, without waiting: until then searches run as plain Python, some 25 visits/s.

    If all was compiled before, it is loaded, so that nobody's clock runs meanwhile.
    """
    if not compile_behind(_task, _NAME):
        search_a_little(visits=50)


def search_a_little(visits: int) -> None:
    """Search a few moves on a tiny board with a network that knows nothing.

    Its inputs, and another network beside it that imitates people, take all kernels that any
    search calls, for the same types.
    """
    position = Position(3, "tromp-taylor", 0)
    evaluator, people = FakeEvaluator(features=KATAGO), FakeEvaluator(features=KATAGO)
    params = SearchParams(megabytes=1, ending_bonus=0.5)
    trees = deep_tree(evaluator, params, position, human=people)
    everything = Wanted(ownership=True, moves_ownership=True)
    for options in (RootOptions(), RootOptions(noisy=True), RootOptions(gumbel=2)):
        trees.stand_at(0, position, options)
        result = TreeSearch(trees, 0, Limits(visits=visits), everything).run()
        trees.stand_at(0, position.play(result.move), options)


_NAME = "search"
_task = partial(search_a_little, visits=8)
