"""What a tree keeps when moves are played or memory runs out, and what it shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.features.feature_set import KATAGO
from tengen.game.geometry import Point, point_index
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.game.rules import parse_rules
from tengen.network.evaluator import Batch, Evaluation, encode
from tengen.network.fake import FakeEvaluator
from tengen.search.kernels.forest import (
    EXPANDED,
    TERMINAL,
    Forest,
    nth_candidate,
    packed_point,
)
from tengen.search.kernels.reuse import advance, children_by_visits, compact, recenter_utility
from tengen.search.params import SearchParams
from tengen.search.request import ROOT_DEFAULTS, Limits, RootOptions
from tengen.search.result_reading import judgement
from tengen.search.tree_batch import TreeBatch
from tests.search.books import check_books
from tests.search.scripts import BANNED, KOMI, OPPONENT, OWN, doubting, opinions, preferring
from tests.search.trees import (
    MEANS,
    dump,
    edges_of,
    forest_of,
    move_of,
    node_after,
    nodes_of,
    places,
    search_once,
    searching,
    settings_of_tree,
    working_memory,
)


def place_of(move: Point | None, side: int) -> int:
    return side * side if move is None else move.y * side + move.x


# What is kept


def test_what_was_found_of_the_moves_played_is_kept() -> None:
    position = Position(5, komi=0.5)
    # Without points in the utility no statistic depends on what the root expects.
    search = searching(position, opinions(), static_score=0, dynamic_score=0)
    found = search.run(Limits(visits=400)).moves[0]
    first = node_after(search, position.text(found.move))
    moves = {edge.point: edge.visits for edge in edges_of(forest_of(search), first)}
    reply = position.play(found.move)

    search.set_position(reply)
    kept = search.result()
    assert kept.position == reply
    assert kept.visits == found.visits
    # The same numbers, from the opponent's side.
    assert kept.winrate == pytest.approx(1 - found.winrate, abs=1e-5)
    assert kept.lead == pytest.approx(-found.lead, abs=1e-4)
    assert kept.score == pytest.approx(-found.score, abs=1e-4)
    assert kept.spread == pytest.approx(found.spread, abs=1e-3)
    after = {PASS if m.move is None else point_index(m.move, 5): m.edge_visits for m in kept.moves}
    assert after == {point: visits for point, visits in moves.items() if visits}

    result = search.run(Limits(playouts=20))
    assert (result.reused, result.visits) == (found.visits, found.visits + 20)


@pytest.mark.parametrize("options", [ROOT_DEFAULTS, RootOptions(noisy=True)])
def test_the_root_after_a_move_has_its_own_policy(options: RootOptions) -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions(), options)
    reply = position.play(search.run(Limits(visits=100)).move)
    search.set_position(reply, options)
    result = search.run(Limits(playouts=5))
    assert result.reused
    odds = np.exp(opinions()(encode(KATAGO, [reply])).policy[0].astype(float)) * reply.legal_mask()
    np.testing.assert_allclose(result.policy, odds / odds.sum(), rtol=1e-4)
    noise = max(abs(each.prior - result.policy[place_of(each.move, 5)]) for each in result.moves)
    assert (noise > 1e-3) == options.noisy


def test_points_count_most_around_what_is_expected_after_the_move() -> None:
    position = Position(5, komi=2.5)
    # With the new centre moves would weigh otherwise, and the score would change with them.
    search = searching(position, opinions(), value_bias=0, value_weight=0, noise_pruning=False)
    found = search.run(Limits(visits=400)).moves[0]
    search.set_position(position.play(found.move))
    # White's view of the score, turned to Black's, and a fifth of the way to an even game.
    expected = -search.result().score * 0.8
    assert abs(expected) > 0.05
    assert forest_of(search).trees[0]["centre"] == pytest.approx(expected, abs=1e-3)


def test_own_move_and_reply_keep_the_visits_of_the_line() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions())
    line = search.run(Limits(visits=600)).moves[0]
    search.set_position(position.play_all(line.pv[:2]))
    assert search.result().visits == line.pv_visits[1] > 10
    result = search.run(Limits(visits=600))
    assert (result.reused, result.visits) == (line.pv_visits[1], 600)


def test_a_move_that_was_not_tried_starts_a_tree_of_its_own() -> None:
    position = Position(5, komi=0.5)
    search = searching(position, opinions())
    tried = {each.move for each in search.run(Limits(visits=20)).moves}
    missed = next(point for point in position.legal_moves() if point not in tried)
    search.set_position(position.play(missed))
    result = search.run(Limits(playouts=20))
    assert (result.reused, result.visits) == (0, 20)


def test_a_position_set_twice_keeps_the_tree() -> None:
    for options in (ROOT_DEFAULTS, RootOptions(noisy=True), RootOptions(symmetry_pruning=True)):
        search = searching(Position(5).play("C3"), opinions(), options)
        search.run(Limits(visits=50))
        before = dump(search)
        search.set_position(Position(5).play("C3"), options)
        assert dump(search) == before
        assert search.run(Limits(visits=60)).reused == 50


OTHERS: dict[str, Callable[[Position], Position]] = {
    "komi": lambda _: Position(5, komi=3).play_all("C3 D3 A1"),
    "rules": lambda _: Position(5, "chinese", 7.5).play_all("C3 D3 A1"),
    "move limit": lambda _: Position(5, komi=7.5, move_limit=9).play_all("C3 D3 A1"),
    "undo": lambda position: position.undo(),
    "other game": lambda _: Position(5, komi=7.5).play_all("B3 D3 A1"),
    "same stones by other moves": lambda _: Position(5, komi=7.5).play_all("A1 D3 C3"),
    "colour out of turn": lambda position: position.play("B2", "black"),
    "set up": lambda position: position.set_up(black=["B2"]),
    "other size": lambda _: Position(6, komi=7.5).play_all("C3 D3 A1"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_position_that_does_not_continue_the_game_starts_anew(name: str) -> None:
    position = Position(5, "tromp-taylor", 7.5).play_all("C3 D3 A1")
    search = searching(position, opinions())
    search.run(Limits(visits=60))
    other = OTHERS[name](position)
    search.set_position(other)
    result = search.run(Limits(playouts=30))
    assert (result.reused, result.visits) == (0, 30)
    legal = other.legal_mask()
    assert ((result.policy > 0) == legal).all()


def test_other_options_start_anew() -> None:
    search = searching(Position(5), opinions())
    for options in (RootOptions(noisy=True), RootOptions(gumbel=4), ROOT_DEFAULTS):
        search.run(Limits(visits=60))
        search.set_position(Position(5), options)
        assert search.run(Limits(playouts=30)).reused == 0


# Equal positions


def test_the_network_sees_each_position_once() -> None:
    seen: list[bytes] = []

    def noting(batch: Batch) -> Evaluation:
        for planes, values in zip(batch.planes, batch.globals, strict=True):
            # Komi tells whose the stones are; behind it lies whether a pass would end the game.
            seen.append(planes[[OWN, OPPONENT, BANNED]].tobytes() + values[KOMI:].tobytes())
        return opinions()(batch)

    for graph in (False, True):
        seen.clear()
        search = searching(Position(3, komi=0.5), noting, leaves=1, graph=graph)
        result = search.run(Limits(visits=3000))
        assert len(seen) == result.evaluated
        assert len(set(seen)) == len(seen)
        assert result.shared > 100


def test_two_orders_of_moves_lead_to_one_node_in_a_graph_and_to_one_evaluation_in_a_tree() -> None:
    script = preferring(Point(0, 0), Point(2, 2), Point(0, 2))

    def own_opinions(batch: Batch) -> Evaluation:
        return opinions()(batch)._replace(policy=script(batch).policy)

    orders = ["A4 C2 A2", "A2 C2 A4"]
    graph = searching(Position(4, komi=0.5), own_opinions, leaves=1, graph=True)
    graph.run(Limits(visits=500))
    one, other = (node_after(graph, order) for order in orders)
    assert one == other
    tree = searching(Position(4, komi=0.5), own_opinions, leaves=1)
    tree.run(Limits(visits=500))
    one, other = (node_after(tree, order) for order in orders)
    assert one != other
    nodes = forest_of(tree).nodes
    assert nodes[one]["key"] == nodes[other]["key"]
    assert nodes[one]["own"].tolist() == nodes[other]["own"].tolist()


KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor"])
def test_equal_stones_with_and_without_a_ko_ban_are_two_positions(rules: str) -> None:
    position = Position.from_diagram(KO, "black", rules, 0.5)
    banned, free = "A1 D1 C3", "C3 D1 A1"  # Black takes the ko at C3 last, or first
    assert position.play_all(banned).stones_hash == position.play_all(free).stones_hash
    assert not position.play_all(banned).is_legal("B3")
    assert position.play_all(free).is_legal("B3")
    script = preferring(Point(0, 3), Point(3, 3), Point(2, 1))
    search = searching(position, script, leaves=1, graph=True)
    search.run(Limits(visits=800))
    one, other = node_after(search, banned), node_after(search, free)
    assert one != other
    nodes = forest_of(search).nodes
    assert nodes[one]["n_candidates"] + 1 == nodes[other]["n_candidates"]


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "aga"])
def test_a_position_offers_its_own_legal_moves_whatever_equal_stones_offered(rules: str) -> None:
    # On so small a board the way to a position often forbids moves.
    search = searching(Position((3, 2), rules, 0.5), least_prior=0)
    search.run(Limits(visits=3000))
    forest = forest_of(search)
    bans = 0
    for place in places(search):
        node = forest.nodes[place.node]
        if node["status"] != EXPANDED:
            continue
        edges = [nth_candidate(forest, node, k) for k in range(int(node["n_candidates"]))]
        offered = {move_of(int(packed_point(packed)), place.position) for packed in edges}
        assert offered == {*place.position.legal_moves(), None}
        bans += int(np.count_nonzero(encode(KATAGO, [place.position]).planes[0, BANNED]))
    assert bans > 20


# Giving up


@pytest.mark.parametrize("played_out", [False, True])
def test_a_tree_is_kept_beyond_two_passes_only_where_territory_is_played_out(
    played_out: bool,
) -> None:
    """In the tree two passes begin a clean-up; where players agree, they end the game."""
    rules = replace(parse_rules("japanese"), played_out=played_out)
    position = Position(3, rules, 0).pass_()
    search = searching(position, preferring(None))
    passed = next(m for m in search.run(Limits(visits=200)).moves if m.move is None)
    assert passed.visits > 20
    search.set_position(position.pass_())
    assert int(forest_of(search).boards[0]["phase"]) == played_out
    root = forest_of(search).nodes[int(forest_of(search).trees[0]["root"])]
    assert int(root["visits"]) == (passed.visits if played_out else 0)


@pytest.mark.parametrize("least", [0, 2, 6, 30, 10**6])
def test_giving_up_thin_branches_keeps_every_visit(least: int) -> None:
    # Without points in the utility nothing depends on where they are centred.
    # And a bias depends on all that were met.
    plain: dict[str, Any] = {"static_score": 0, "dynamic_score": 0, "value_bias": 0}
    search = searching(Position(4, komi=0.5), doubting, **plain)
    search.run(Limits(visits=500))
    forest = forest_of(search)
    check_books(forest)
    before = search.result()
    visits = Counter(int(forest.nodes[i]["visits"]) for i in nodes_of(forest))
    compact(forest, 0, least, *working_memory(forest))
    check_books(forest, compacted=True)
    kept = Counter(int(forest.nodes[i]["visits"]) for i in nodes_of(forest))
    # Nodes with enough visits stay, and so do their children; nothing is counted twice.
    assert all(kept[n] == count for n, count in visits.items() if n >= least)
    assert kept <= visits
    assert (kept == visits) == (least <= 2)
    root = int(forest.trees[0]["root"])
    for index in nodes_of(forest):
        node = forest.nodes[index]
        if index != root and node["status"] != TERMINAL and node["visits"] < least:
            assert node["status"] != EXPANDED
            assert node["n_tried"] == 0
            assert node["own_visits"] == node["visits"]
    after = search.result()
    assert [(m.move, m.visits, m.winrate) for m in after.moves] == [
        (m.move, m.visits, m.winrate) for m in before.moves
    ]
    # Made anew from what is left, the statistics are the same.
    recenter_utility(forest, 0, settings_of_tree(search))
    again = search.result()
    assert again.winrate == pytest.approx(before.winrate, abs=1e-5)
    assert again.lead == pytest.approx(before.lead, abs=1e-4)
    assert again.weight == pytest.approx(before.weight, rel=1e-5)
    assert again.visits == 500


def test_a_small_memory_holds_a_long_search(capsys: pytest.CaptureFixture[str]) -> None:
    good = Point(6, 2)

    def script(batch: Batch) -> Evaluation:
        forest = forest_of(search)
        tree = forest.trees[0]
        assert tree["n_nodes"] <= forest.node_room
        assert tree["n_edges"] <= forest.node_room
        assert tree["n_candidates"] <= forest.candidate_room
        assert search._trees is not None
        used.append(search._trees.used_bytes(0))
        mine, theirs = (batch.planes[:, plane, good.y, good.x] for plane in (OWN, OPPONENT))
        win = 0.5 + 0.4 * (mine - theirs)
        return opinions()(batch)._replace(value=np.stack([win, 1 - win, 0 * win], 1))

    used: list[int] = []
    search = searching(Position(9), script, megabytes=1, leaves=16, ownership=True)
    result = search.run(Limits(visits=20_000))
    forest = forest_of(search)
    assert result.visits == 20_000 > 10 * forest.node_room
    check_books(forest)
    assert 0.5e6 < max(used) < 1.1e6
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "megabytes" in line)
    assert line.startswith("tengen: the search tree fills its 1 MB at")
    assert result.move == good
    assert result.moves[0].winrate == pytest.approx(0.9, abs=0.02)
    used_nodes = forest.nodes[: forest.trees[0]["n_nodes"]]
    for name in (MEANS, "own", "weight"):
        assert np.isfinite(used_nodes[name]).all()
    for index in nodes_of(forest):
        assert 0 <= judgement(forest.nodes[index], 1)["winrate"] <= 1
    # What the tree still knows goes on with the game.
    search.set_position(Position(9).play(result.move))
    check_books(forest, compacted=True)
    assert search.run(Limits(playouts=100)).visits == result.moves[0].visits + 100


def test_a_large_enough_memory_gives_up_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    search = searching(Position(9), opinions(), megabytes=20)
    search.run(Limits(visits=5000))
    forest = forest_of(search)
    assert all(forest.nodes[i]["own_visits"] == 1 for i in nodes_of(forest))
    assert "megabytes" not in capsys.readouterr().err


def test_children_are_counted_by_their_parents_visits() -> None:
    search = searching(Position(5), opinions())
    search.run(Limits(visits=700))
    forest = forest_of(search)
    counts = np.full(32, -1)
    children_by_visits(forest, 0, counts)
    expected: Counter[int] = Counter()
    for index in nodes_of(forest):
        visits = int(forest.nodes[index]["visits"])
        expected[visits.bit_length() - 1] += len(edges_of(forest, index))
    assert counts.tolist() == [expected[k] for k in range(32)]


# Several trees in one forest


def three_trees(visits: int) -> tuple[TreeBatch, list[Position]]:
    positions = [Position(3, komi=0.5), Position(3, komi=0.5).play("B2"), Position(3, komi=2)]
    evaluator = FakeEvaluator(opinions())
    driver = TreeBatch(
        evaluator,
        SearchParams(),
        trees=3,
        area=9,
        node_room=visits + 20,
        moves=50,
        ownership=True,
        leaves=3,
    )
    forest = driver.forest
    for g, position in enumerate(positions):
        driver.set_root(g, position, seed=(1, g))
        forest.trees[g]["leaves"] = 2
        forest.trees[g]["target"] = visits
    while (forest.nodes[forest.trees["root"]]["visits"] < visits).any():
        search_once(driver)
    return driver, positions


def slabs(forest: Forest, g: int) -> list[bytes]:
    """All that belongs to one tree."""
    first, room = g * forest.candidate_room, forest.candidate_room
    nodes = slice(g * forest.node_room, (g + 1) * forest.node_room)
    table = slice(g * forest.table_room, (g + 1) * forest.table_room)
    return [
        forest.trees[g].tobytes(),
        forest.boards[g].tobytes(),
        forest.nodes[nodes].tobytes(),
        forest.edges[nodes].tobytes(),
        forest.ownership[nodes].tobytes(),
        forest.caught[nodes].tobytes(),
        forest.candidates[first : first + room].tobytes(),
        forest.table[table].tobytes(),
    ]


@pytest.mark.kernel
def test_a_move_in_one_tree_leaves_the_others_alone() -> None:
    driver, positions = three_trees(25)
    forest = driver.forest
    for g in range(3):
        check_books(forest, g)
        assert forest.nodes[forest.trees[g]["root"]]["visits"] == 25
    others = [slabs(forest, g) for g in (0, 2)]
    root = int(forest.trees[1]["root"])
    best = max(edges_of(forest, root), key=lambda edge: edge.visits)
    known = {
        int(forest.nodes[i]["key"]): forest.ownership[i].tobytes() + forest.caught[i].tobytes()
        for i in nodes_of(forest, 1)
        if forest.nodes[i]["status"] == EXPANDED
    }
    advance(forest, 1, best.point, *working_memory(forest))
    check_books(forest, 1, compacted=True)
    assert forest.nodes[forest.trees[1]["root"]]["visits"] == best.visits > 3
    assert forest.boards[1]["ply"] == positions[1].move_number + 1
    for i in nodes_of(forest, 1):
        if forest.nodes[i]["status"] == EXPANDED:
            key = int(forest.nodes[i]["key"])
            assert known[key] == forest.ownership[i].tobytes() + forest.caught[i].tobytes()
    compact(forest, 1, 3, *working_memory(forest))
    check_books(forest, 1, compacted=True)
    # A move that was not tried: the tree starts anew.
    root = int(forest.trees[1]["root"])
    advance(forest, 1, PASS, *working_memory(forest))
    assert [slabs(forest, g) for g in (0, 2)] == others
    for g in range(3):
        forest.trees[g]["target"] = 30
    while (forest.nodes[forest.trees["root"]]["visits"] < 30).any():
        search_once(driver)
    for g in range(3):
        check_books(forest, g)


@pytest.mark.kernel
def test_a_small_tree_gives_up_its_thin_branches() -> None:
    search = searching(Position(3, komi=0.5), opinions(), leaves=2)
    search.run(Limits(visits=40))
    forest = forest_of(search)
    compact(forest, 0, 4, *working_memory(forest))
    check_books(forest, compacted=True)
    assert len(nodes_of(forest)) < 40
    result = search.run(Limits(visits=50))
    assert result.visits == 50
