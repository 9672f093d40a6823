"""Charts: well-formed SVG in which every value lies where the axes say."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from tengen.svg_chart import Anchor, Series, line_chart, nice_ticks

SPACE = "{http://www.w3.org/2000/svg}"
GROWING = Series(
    "Elo", [0, 10, 20, 30], [0, 400, 700, 850], [-90, 340, 650, 810], [90, 460, 750, 890]
)


def drawn(*series: Series, anchors: tuple[Anchor, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(line_chart(series, anchors, "Learning", "minutes", "rating"))


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in picture.iter() if each.get("class") == name]


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()) for each in picture.iter(f"{SPACE}text")]


def numbers(path: ElementTree.Element) -> list[float]:
    return [float(text) for text in re.findall(r"-?[\d.]+", path.get("d", ""))]


def height_of(picture: ElementTree.Element, value: float) -> float:
    """Where the y axis says that a value lies, from two of its labels."""
    labels = {
        float(str(each.text).replace("\N{MINUS SIGN}", "-").replace(",", "")): float(
            each.attrib["y"]
        )
        for each in of_class(picture, "tick")
        if each.get("text-anchor") == "end"
    }
    (a, ya), (b, yb) = min(labels.items()), max(labels.items())
    return ya - 4 + (value - a) / (b - a) * (yb - ya)


def curves(picture: ElementTree.Element) -> list[ElementTree.Element]:
    return [
        path
        for group in picture.iter(f"{SPACE}g")
        for path in group
        if path.get("class") == "curve"
    ]


def test_the_texts_are_all_there() -> None:
    picture = drawn(GROWING, Series("other", [1], [2]), anchors=(Anchor("GNU Go", 100),))
    assert {"Learning", "minutes", "rating", "Elo", "other", "GNU Go"} <= set(texts(picture))


def test_curves_bands_and_anchors_lie_where_the_axis_says() -> None:
    picture = drawn(GROWING, anchors=(Anchor("GNU Go", 300),))
    (curve,) = curves(picture)
    for value, y in zip(GROWING.y, numbers(curve)[1::2], strict=True):
        assert y == pytest.approx(height_of(picture, value), abs=0.2)
    (band,) = of_class(picture, "band")
    edges = [*GROWING.high, *reversed(GROWING.low)]
    for value, y in zip(edges, numbers(band)[1::2], strict=True):
        assert y == pytest.approx(height_of(picture, value), abs=0.2)
    (anchor,) = of_class(picture, "anchor")
    assert numbers(anchor)[1] == pytest.approx(height_of(picture, 300), abs=0.2)
    # Along x the values are even, from the left end of the anchor's line to its right end.
    left, right = numbers(anchor)[0], numbers(anchor)[2]
    wanted = [left + (right - left) * n / 3 for n in range(4)]
    assert numbers(curve)[::2] == pytest.approx(wanted, abs=0.2)


def test_all_is_within_the_picture() -> None:
    picture = drawn(GROWING, anchors=(Anchor("low", -2000), Anchor("high", 3000)))
    for path in [*curves(picture), *of_class(picture, "band"), *of_class(picture, "anchor")]:
        found = numbers(path)
        assert all(0 <= x <= 900 for x in found[::2])
    for circle in picture.iter(f"{SPACE}circle"):
        assert 0 <= float(circle.attrib["cy"]) <= 500


def test_values_that_are_not_finite_leave_gaps() -> None:
    picture = drawn(Series("a", range(5), [1, 2, math.nan, 3, math.inf]))
    assert [len(numbers(path)) // 2 for path in curves(picture)] == [2, 1]
    assert "nan" not in ElementTree.tostring(picture, "unicode")


def test_an_endless_error_does_not_flatten_the_curve() -> None:
    wide = GROWING._replace(low=[-1e6, 340, 650, 810], high=[math.inf, 460, 750, 890])
    for low in (wide.low, [-1e6, -1e6, 650, 810]):
        picture = drawn(wide._replace(low=low, high=[1e6, 460, 750, 890]))
        assert height_of(picture, 0) - height_of(picture, 850) > 150
    (band,) = of_class(drawn(wide), "band")
    assert len(numbers(band)) == 12  # two edges of the three points that have a finite band


@pytest.mark.parametrize(
    "series",
    [
        (),
        (Series("none", [], []),),
        (Series("one", [5], [7]),),
        (Series("flat", [0, 1], [3, 3]),),
        (Series("zero", [0, 0], [0, 0]),),
        (Series("tiny", [0, 1e-9], [1e-12, 2e-12]),),
        (Series("huge", [0, 1e15], [-1e15, 2e15]),),
        (Series("far", [0, 1], [1e9, 1e9]),),
        (Series("below", [-3, 1], [0, 1]),),
    ],
)
def test_few_and_odd_values_can_be_drawn(series: tuple[Series, ...]) -> None:
    picture = drawn(*series)
    shown = sum(len(each.y) for each in series)
    assert sum(len(numbers(path)) // 2 for path in curves(picture)) == shown
    assert ("nothing to show yet" in texts(picture)) == (shown == 0)


def test_names_from_anywhere_do_no_harm() -> None:
    name = "<script>&\"'\x00\n碁"
    picture = ElementTree.fromstring(
        line_chart([Series(name, [1], [1])], [Anchor(name, 2)], name, name, name)
    )
    assert not list(picture.iter(f"{SPACE}script"))
    assert texts(picture).count("<script>&\"'  碁") == 5


def test_many_curves_are_all_told_apart() -> None:
    picture = drawn(*(Series(f"curve {n}", [0, 1], [n, n]) for n in range(14)))
    looks = {(path.get("stroke"), path.get("stroke-dasharray")) for path in curves(picture)}
    assert len(looks) == 14
    rows = {each.get("y") for each in picture.iter(f"{SPACE}text") if "curve" in str(each.text)}
    assert len(rows) > 1  # the legend takes as many rows as it needs


def test_long_curves_have_no_dots() -> None:
    assert len(list(drawn(GROWING).iter(f"{SPACE}circle"))) == 4
    picture = drawn(Series("long", range(1000), range(1000)))
    assert not list(picture.iter(f"{SPACE}circle"))


def test_curves_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' must have as many of each, not 2 x, 1 y"):
        drawn(Series("a", [1, 2], [1]))


@pytest.mark.parametrize(
    ("low", "high", "most", "wanted"),
    [
        (0, 100, 6, [0, 20, 40, 60, 80, 100]),
        (0, 1, 6, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-83, 942, 7, [-200, 0, 200, 400, 600, 800, 1000]),
        (0.1, 0.9, 3, [0, 0.5, 1]),
        (0, 22, 9, [0, 5, 10, 15, 20, 25]),
    ],
)
def test_ticks_are_round(low: float, high: float, most: int, wanted: list[float]) -> None:
    assert nice_ticks(low, high, most) == pytest.approx(wanted)


def test_ticks_always_cover_the_values_and_are_neither_few_nor_many() -> None:
    for n in range(1, 2000):
        low, high = -(n**1.5), n * 1.37
        ticks = nice_ticks(low, high, 7)
        assert ticks[0] <= low < high <= ticks[-1]
        assert 3 <= len(ticks) <= 7
