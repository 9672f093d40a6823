"""Does everything in a forest fit together?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tengen.search.kernels.forest import (
    EXPANDED,
    Forest,
    find_transposition,
    nth_candidate,
    nth_edge,
    packed_point,
    packed_prior,
)
from tests.search.trees import nodes_of


def check_books(forest: Forest, g: int = 0, *, compacted: bool = False) -> None:
    """Nodes, edges, candidates and the table of a tree without shared nodes fit together."""
    tree, nodes = forest.trees[g], nodes_of(forest, g)
    base = g * forest.node_room
    edges = range(base, base + int(tree["n_edges"]))
    assert int(tree["root"]) in nodes
    listed: list[int] = []
    reached = {int(tree["root"])}
    for index in nodes:
        node = forest.nodes[index]
        assert node["pending"] == 0
        visits, prior = int(node["own_visits"]), 0.0
        first = len(listed)
        for k in range(int(node["n_tried"])):
            at = int(nth_edge(forest, node, k))
            edge = forest.edges[at]
            assert at in edges
            assert edge["parent"] == index
            assert int(edge["child"]) in nodes
            assert edge["visits"] == forest.nodes[edge["child"]]["visits"]
            visits += int(edge["visits"])
            prior += float(packed_prior(edge["packed"]))
            reached.add(int(edge["child"]))
            listed.append(at)
        assert node["visits"] == visits
        assert node["tried_prior"] == pytest.approx(prior, abs=1e-5)
        check_candidates(forest, g, index, [forest.edges[at]["packed"] for at in listed[first:]])
    assert sorted(listed) == list(edges)
    assert not compacted or reached == set(nodes)
    check_blocks(forest, g)
    check_table(forest, g)


def check_candidates(forest: Forest, g: int, index: int, tried: list[Any]) -> None:
    """The first candidates of a node are the moves tried; the best of the others comes next."""
    node = forest.nodes[index]
    if node["status"] != EXPANDED:
        assert not tried
        return
    edges = np.array([nth_candidate(forest, node, k) for k in range(int(node["n_candidates"]))])
    points = [int(packed_point(packed)) for packed in edges]
    assert len(set(points)) == len(points) > 0
    assert points[: len(tried)] == [int(packed_point(packed)) for packed in tried]
    assert len(tried) == len(points) or edges[len(tried)] == edges[len(tried) :].max()


def check_blocks(forest: Forest, g: int) -> None:
    """The candidates lie one block behind the other, each with its node before it."""
    first = at = g * forest.candidate_room
    owners = []
    while at < first + forest.trees[g]["n_candidates"]:
        owner = int(forest.candidates[at])
        owners.append(owner)
        assert forest.nodes[owner]["block"] == at + 1
        at += 1 + int(forest.nodes[owner]["n_candidates"]) + int(forest.nodes[owner]["n_dropped"])
    assert at == first + forest.trees[g]["n_candidates"]
    expanded = [i for i in nodes_of(forest, g) if forest.nodes[i]["status"] == EXPANDED]
    assert sorted(owners) == expanded


def check_table(forest: Forest, g: int) -> None:
    """Every expanded node, or one equal to it, is found by its key."""
    keys = set()
    for index in nodes_of(forest, g):
        if forest.nodes[index]["status"] == EXPANDED:
            key = forest.nodes[index]["key"]
            found = int(find_transposition(forest, g, key))
            assert found in nodes_of(forest, g)
            assert forest.nodes[found]["key"] == key
            keys.add(int(key))
    table = forest.table[g * forest.table_room : (g + 1) * forest.table_room]
    assert np.count_nonzero(table) == len(keys)
