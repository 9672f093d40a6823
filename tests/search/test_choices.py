"""Moves that are avoided, allowed, or mirror images of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tengen.game.color import Color
from tengen.game.geometry import Point, Size, Symmetry
from tengen.game.kernels.moves import PASS
from tengen.game.position import Position
from tengen.network.evaluator import Batch, Evaluation
from tengen.network.fake import uniform
from tengen.search.request import Avoid, Limits, RootOptions, allow_only
from tests.search.scripts import opinions, preferring
from tests.search.trees import edges_of, forest_of, move_of, places, searching

# Avoided and allowed moves


def test_moves_are_avoided_as_deep_as_they_are_told_to_be() -> None:
    centre, corner = Point(2, 2), Point(0, 0)
    avoid = (
        Avoid(Color.BLACK, centre, 3),
        Avoid(Color.WHITE, centre, 4),
        Avoid(Color.BLACK, corner, 3),
        Avoid(Color.WHITE, corner, 2),
        Avoid(Color.WHITE, None, 1),
    )
    search = searching(Position(5), preferring(centre, corner), RootOptions(avoid=avoid))
    search.run(Limits(visits=2000))
    visited: dict[tuple[Color, Point | None], set[int]] = {}
    for place in places(search):
        for edge in place.edges:
            move = move_of(edge.point, place.position)
            visited.setdefault((place.position.to_play, move), set()).add(place.depth)
    assert min(visited[Color.BLACK, centre]) == 4
    assert not {1, 3} & visited.get((Color.WHITE, centre), set())
    assert not {0, 2} & visited.get((Color.BLACK, corner), set())
    assert min(visited[Color.WHITE, corner]) == 3
    assert min(visited[Color.WHITE, None]) == 1  # the first move of a line is Black's
    assert min(visited[Color.BLACK, None]) == 0


def test_only_allowed_moves_are_searched() -> None:
    position = Position(5).play("C3")
    allowed = {Point(1, 1), Point(3, 1), None}
    search = searching(position, opinions(), allow_only(position, allowed))
    result = search.run(Limits(visits=300))
    assert {each.move for each in result.moves} == allowed
    free = searching(position, opinions()).run(Limits(visits=1)).policy
    for each in result.moves:  # priors are the network's own, whatever else is avoided
        place = -1 if each.move is None else each.move.y * position.width + each.move.x
        assert each.prior == pytest.approx(free[place], rel=1e-3)
    assert {
        move_of(edge.point, place.position)
        for place in places(search)
        if place.depth == 2
        for edge in place.edges
    } - allowed


def test_where_all_moves_are_avoided_the_network_s_word_counts_alone() -> None:
    position = Position(5)
    result = searching(position, opinions(), allow_only(position, [])).run(Limits(visits=100))
    assert result.visits == 100
    assert result.moves == ()
    assert result.winrate == result.raw.winrate
    assert result.move is None


def test_history_before_the_root_can_be_hidden_from_the_network() -> None:
    position = Position(5).play_all("C3 B2 D4 pass")
    seen: list[list[int]] = []  # by leaf: the turns of which a move is shown

    def noting(batch: Batch) -> Evaluation:
        for planes, turns in zip(batch.planes, batch.globals, strict=True):
            moves = [turn for turn in range(5) if planes[9 + turn].any() or turns[turn]]
            seen.append(moves)
        return opinions()(batch)

    for hidden, shown in ((False, 4), (True, 0)):
        seen.clear()
        search = searching(position, noting, RootOptions(ignore_history=hidden))
        search.run(Limits(visits=10))
        assert seen[0] == list(range(shown))
        assert seen[1] == list(range(shown + 1))


def test_options_can_be_changed_by_hand() -> None:
    position = Position(5)
    options = replace(allow_only(position, [Point(2, 2), Point(1, 1)]), noisy=True)
    result = searching(position, opinions(), options).run(Limits(visits=50))
    assert {each.move for each in result.moves} == {Point(2, 2), Point(1, 1)}


# Mirror images


def orbit(point: Point, size: Size, symmetries: list[Symmetry]) -> frozenset[Point]:
    return frozenset(symmetry.point(point, size) for symmetry in symmetries)


SQUARE = list(Symmetry)
RECTANGLE = [Symmetry.IDENTITY, Symmetry.FLIP_X, Symmetry.FLIP_Y, Symmetry.ROTATE_180]
DIAGONAL = [Symmetry.IDENTITY, Symmetry.TRANSPOSE]


@pytest.mark.parametrize(
    ("position", "symmetries", "kinds"),
    [
        (Position(5), SQUARE, 6),  # a triangle with sides of three points
        (Position((5, 4)), RECTANGLE, 6),  # a quarter: three by two
        # A stone on the diagonal: its other four points, and half of all others.
        (Position(5).set_up(["B4"], to_play="white"), DIAGONAL, 14),
        (Position(5).set_up(["B5"], to_play="white"), [Symmetry.IDENTITY], 24),
    ],
)
def test_one_of_several_mirror_images_is_searched_and_all_are_told(
    position: Position, symmetries: list[Symmetry], kinds: int
) -> None:
    search = searching(position, uniform, RootOptions(symmetry_pruning=True))
    result = search.run(Limits(visits=1000))
    root = int(forest_of(search).trees[0]["root"])
    searched = {
        move_of(edge.point, position)
        for edge in edges_of(forest_of(search), root)
        if edge.visits and edge.point != PASS
    }
    orbits = {orbit(point, position.size, symmetries) for point in position.legal_moves()}
    assert len(orbits) == kinds
    assert all(len(searched & each) == 1 for each in orbits)
    assert len(searched) == kinds
    told = {each.move: each for each in result.moves}
    assert set(told) == {*position.legal_moves(), None}
    assert len(told) == len(result.moves)
    assert [each.order for each in result.moves] == list(range(len(told)))
    for move, each in told.items():
        if move is None or move in searched:
            assert each.symmetry_of is None
        else:
            assert each.symmetry_of is not None
            original = told[each.symmetry_of]
            assert move in orbit(each.symmetry_of, position.size, symmetries)
            assert (each.visits, each.winrate, each.prior, each.pv[0]) == (
                original.visits,
                original.winrate,
                original.prior,
                move,
            )
