"""Searches at a position, and what their trees look like."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tengen.game.geometry import Point, index_point, point_index
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.fake import FakeEvaluator, uniform
from tengen.search.kernels.forest import NODE, Forest, packed_point
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, RootOptions
from tengen.search.tree_batch import TreeBatch
from tests.search.plain_search import Search
from tests.search.scripts import Script

(MEANS,) = (name for name in NODE.names or () if name.startswith("mean"))  # of a node


def searching(
    position: Position,
    script: Script = uniform,
    options: RootOptions = ROOT_DEFAULTS,
    *,
    leaves: int = 8,
    seed: int = 0,
    ownership: bool = False,
    **params: Any,
) -> Search:
    """A search that stands at a position."""
    settings = SearchParams(**{"megabytes": 8, **params})
    search = Search(FakeEvaluator(script), settings, seed=seed, ownership=ownership, leaves=leaves)
    search.set_position(position, options)
    return search


def forest_of(search: Search) -> Forest:
    assert search._trees is not None
    return search._trees.forest


def settings_of_tree(search: Search) -> Any:
    """The parameters of a search as its kernels know them."""
    assert search._trees is not None
    return search._trees.settings


def search_once(trees: TreeBatch) -> None:
    """One flight of leaves of all trees; roots keep the network's own priors."""
    flight = trees.start(np.arange(len(trees.forest.trees)))
    trees.expand(flight, None if flight.pending is None else flight.pending.result())


class Link(NamedTuple):
    point: int
    visits: int
    child: int


def edges_of(forest: Forest, index: int) -> list[Link]:
    """The moves tried at a node, the first one first."""
    node = forest.nodes[index]
    return [
        Link(int(packed_point(edge["packed"])), int(edge["visits"]), int(edge["child"]))
        for edge in forest.edges[forest.candidates[node["block"] : node["block"] + node["n_tried"]]]
    ]


def move_of(point: int, position: Position) -> Point | None:
    return None if point == PASS else index_point(point, position.width)


class Place(NamedTuple):
    """A node with its position."""

    position: Position
    node: int
    depth: int
    edges: list[Link]


def places(search: Search) -> Iterator[Place]:
    """All visited nodes of a tree, parents first."""
    forest, position = forest_of(search), search.position
    assert position is not None
    todo = [(position, int(forest.trees[0]["root"]), 0)]
    while todo:
        position, index, depth = todo.pop()
        edges = [edge for edge in edges_of(forest, index) if edge.visits]
        yield Place(position, index, depth, edges)
        todo += [
            (position.play(move_of(edge.point, position)), edge.child, depth + 1) for edge in edges
        ]


def node_after(search: Search, moves: str) -> int:
    """The node that moves lead to."""
    forest, position = forest_of(search), search.position
    assert position is not None
    index = int(forest.trees[0]["root"])
    for text in moves.split():
        point = PASS if text == "pass" else point_index(position.point(text), position.width)
        (index,) = (edge.child for edge in edges_of(forest, index) if edge.point == point)
    return index


def dump(search: Search) -> list[bytes]:
    """What a tree takes up of its pools."""
    forest = forest_of(search)
    tree = forest.trees[0]
    return [
        forest.nodes[: tree["n_nodes"]].tobytes(),
        forest.edges[: tree["n_edges"]].tobytes(),
        forest.candidates[: tree["n_candidates"]].tobytes(),
    ]


def random_position(seed: int, size: int = 5, moves: int = 8, komi: float = 0.5) -> Position:
    choice = random.Random(seed)
    position = Position(size, "tromp-taylor", komi)
    for _ in range(moves):
        position = position.play(choice.choice(position.legal_moves()))
    return position


def nodes_of(forest: Forest, g: int = 0) -> range:
    base = g * forest.node_room
    return range(base, base + int(forest.trees[g]["n_nodes"]))


def working_memory(forest: Forest) -> tuple[Any, Any]:
    return np.zeros(forest.node_room, np.int32), np.zeros(forest.node_room, np.int32)
