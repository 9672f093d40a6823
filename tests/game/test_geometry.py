"""Points, text coordinates, symmetries, handicap points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.game.geometry import (
    Point,
    Size,
    Symmetry,
    board_size,
    handicap_points,
    index_point,
    parse_point,
    point_index,
    point_text,
    symmetry_points,
)

sizes = st.builds(Size, st.integers(1, 19), st.integers(1, 19))


@pytest.mark.parametrize(
    ("text", "height", "point"),
    [
        ("A1", 19, (0, 18)),
        ("a1", 9, (0, 8)),
        ("T19", 19, (18, 0)),
        ("H8", 9, (7, 1)),
        ("J9", 9, (8, 0)),
        (" d4 ", 13, (3, 9)),
    ],
)
def test_text_coordinates_skip_i_and_count_from_the_bottom(
    text: str, height: int, point: tuple[int, int]
) -> None:
    assert parse_point(text, height) == point
    assert point_text(point, height) == text.strip().upper()


@pytest.mark.parametrize("text", ["", "I5", "D", "4", "D-4", "DD4", "D4.", "D٤", "resign"])
def test_other_text_is_no_point(text: str) -> None:
    with pytest.raises(ValueError, match="not a point"):
        parse_point(text, 19)


@given(sizes)
def test_every_point_has_a_place_of_its_own_away_from_the_border(size: Size) -> None:
    points = [Point(x, y) for y in range(size.height) for x in range(size.width)]
    indices = [point_index(point, size.width) for point in points]
    assert len(set(indices)) == size.area
    assert [index_point(index, size.width) for index in indices] == points
    border = set(range((size.height + 2) * (size.width + 1) + 1)) - set(indices)
    for index in indices:
        stride = size.width + 1
        for point, near in zip(
            [(0, -1), (-1, 0), (1, 0), (0, 1)], [-stride, -1, 1, stride], strict=True
        ):
            x, y = index_point(index, size.width)
            inside = 0 <= x + point[0] < size.width and 0 <= y + point[1] < size.height
            assert (index + near in border) != inside


@given(sizes, st.sampled_from(Symmetry))
def test_symmetries_and_their_inverses(size: Size, symmetry: Symmetry) -> None:
    turned = symmetry.size(size)
    source = symmetry_points(symmetry, size)
    for y in range(size.height):
        for x in range(size.width):
            image = symmetry.point((x, y), size)
            assert 0 <= image.x < turned.width
            assert 0 <= image.y < turned.height
            assert symmetry.inverse.point(image, turned) == (x, y)
            assert source[image.y * turned.width + image.x] == y * size.width + x


def test_the_eight_symmetries_are_eight_and_are_called_what_they_do() -> None:
    size = Size(3, 3)
    corner = np.arange(9).reshape(3, 3)
    pictures = {s: symmetry_points(s, size).reshape(3, 3) for s in Symmetry}
    assert len({picture.tobytes() for picture in pictures.values()}) == len(Symmetry) == 8
    assert np.array_equal(pictures[Symmetry.ROTATE_LEFT], np.rot90(corner))
    assert np.array_equal(pictures[Symmetry.ROTATE_RIGHT], np.rot90(corner, -1))
    assert np.array_equal(pictures[Symmetry.ROTATE_180], np.rot90(corner, 2))
    assert np.array_equal(pictures[Symmetry.TRANSPOSE], corner.T)
    assert np.array_equal(pictures[Symmetry.FLIP_X], corner[:, ::-1])


@pytest.mark.parametrize(
    ("size", "stones", "text"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (9, 4, "C3 G7 C7 G3"),
        (13, 2, "D4 K10"),
        (8, 4, "C3 F6 C6 F3"),
    ],
)
def test_fixed_handicap_points_are_gtp_s(size: int, stones: int, text: str) -> None:
    points = handicap_points(board_size(size), stones)
    assert " ".join(point_text(point, size) for point in points) == text


@pytest.mark.parametrize(("size", "stones"), [(19, 1), (19, 10), (6, 2), (7, 5), (8, 5), (19, -1)])
def test_other_handicaps_are_refused(size: int, stones: int) -> None:
    with pytest.raises(ValueError, match="handicap"):
        handicap_points(board_size(size), stones)


@pytest.mark.parametrize("size", [0, 20, -3, (9, 0), (9, 20), (9, 9, 9), "9", 2.5, None, (9.0, 9)])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="board si"):
        board_size(size)
