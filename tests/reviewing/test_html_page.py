"""A review as one page: complete, in any language, and without a way out of its text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest

from tengen.reviewing.html_page import html_page, languages
from tests.reviewing.games import BOTH_LEFT, only_game, review_by, two_points_network

ATTACK = (
    "</script><script>window.hacked=1</script>"
    '<img src=x onerror="window.hacked=1"><!--<script>{{data}}{{script}}&lt;\u2028\u2029\\]'
)
HOSTILE = (
    f"(;SZ[7]KM[0]RU[chinese]PB[{ATTACK}]PW[圍棋]RE[{ATTACK}]C[{ATTACK}];B[aa]C[{ATTACK}];W[dd])"
)


def page_of(text: str, visits: int = 60) -> str:
    game = only_game(text)
    return html_page(game, review_by(two_points_network(), game, visits))


class _Elements(HTMLParser):
    """The elements of a page, and what its scripts say."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_Elements(page).scripts[0])
    return found


def test_the_page_holds_the_game_and_its_review() -> None:
    data = data_of(page_of(BOTH_LEFT))
    assert [step["move"] for step in data["steps"]] == ["A7", "D4", "G7", "G1", "A1"]
    assert data["sides"]["black"]["mistakes"] == [1, 3]
    first = data["steps"][0]
    assert first["lost"] == pytest.approx(14, rel=0.1)
    losses = {each["move"]: each["lost"] for each in first["tries"]}
    assert losses["D4"] == 0
    assert losses["A7"] == first["lost"]
    assert all(each["lost"] >= 0 for each in first["tries"])
    assert data["steps"][1]["tries"] == []  # a good move is no question
    assert first["changes"] == [[0, 1]]
    assert [move["move"] for move in first["line"][:2]] == ["D4", "G1"]
    assert first["comment"] == "a remark"


def test_captured_stones_leave_the_board() -> None:
    data = data_of(page_of("(;SZ[7]KM[0]RU[chinese];B[aa];W[ba];B[dd];W[ab])"))
    assert sorted(data["steps"][3]["changes"]) == [[0, 0], [7, 2]]
    assert data["steps"][3]["taken"] == [0, 1]


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = page_of(BOTH_LEFT)
    for tag, attributes in _Elements(page).elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert not {"src", "href", "action"} & set(attributes)
    outside = page.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in outside
    assert "https:" not in outside
    assert "default-src 'none'" in page


def test_text_of_the_record_is_no_markup() -> None:
    page = page_of(HOSTILE)
    scripts = _Elements(page).scripts
    plain = _Elements(page_of(BOTH_LEFT))
    assert len(scripts) == 2
    assert [tag for tag, _ in _Elements(page).elements] == [tag for tag, _ in plain.elements]
    assert scripts[1] == plain.scripts[1]
    assert ATTACK.replace("\\]", "]") in data_of(page)["comment"]
    assert data_of(page)["players"]["white"] == "圍棋"


def test_moves_that_were_not_reviewed_are_on_the_page() -> None:
    game = only_game("(;SZ[7]KM[0]RU[chinese];B[aa];W[dd];B[bb])")
    review = review_by(two_points_network(), game, 50, stopped=lambda: True)
    data = data_of(html_page(game, review))
    assert len(data["steps"]) == 3
    assert "lost" not in data["steps"][0]
    assert data["left"] == {"broken": None, "missing": 3, "unchecked": 0, "unfamiliar": None}


def test_a_move_that_is_not_legal_ends_the_review() -> None:
    game = only_game("(;SZ[7]KM[0]RU[chinese];B[aa];W[aa])")
    data = data_of(html_page(game, review_by(two_points_network(), game, 20)))
    assert data["left"]["broken"] == {"number": 2, "illegal": "occupied"}


def test_a_language_may_be_chosen() -> None:
    game = only_game(BOTH_LEFT)
    review = review_by(two_points_network(), game, 20)
    page = html_page(game, review, "ja")
    assert '<html lang="ja">' in page
    assert data_of(page)["language"] == "ja"
    strings = data_of(page)["strings"]
    assert set(strings) == set(languages())
    assert len({frozenset(each) for each in strings.values()}) == 1
    with pytest.raises(ValueError, match="no language 'fr'; there are ar, en"):
        html_page(game, review, "fr")
