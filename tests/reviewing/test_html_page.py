"""A review as one page: complete, without a way out of its text, and at work in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tengen.reviewing.html_page import html_page
from tests.browsers import running_browser
from tests.reviewing.games import BOTH_LEFT, only_game, review_by, two_points_network

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


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
    assert "verdict" not in data["steps"][0]
    assert data["remarks"] == ["Stopped early: 3 moves were not reviewed."]


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as launched:
        yield launched


def opened(browser: Browser, folder: Path, text: str, width: int = 1280) -> tuple[Page, list[str]]:
    """The page in a browser, and the complaints it will have made."""
    file = folder / "review.html"
    file.write_text(page_of(text), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    page.goto(file.as_uri())
    complaints.remove(file.as_uri())
    return page, complaints


def test_a_player_walks_through_the_game(browser: Browser, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path, BOTH_LEFT)
    heading, verdict = page.locator("#move"), page.locator("#verdict")
    assert heading.inner_text() == "Move 1: Black A7"  # the biggest mistake
    assert "D4 was better" in verdict.inner_text()
    page.keyboard.press("ArrowRight")
    assert heading.inner_text() == "Move 2: White D4"
    assert verdict.inner_text() == "The best move."
    page.keyboard.press("ArrowDown")
    assert heading.inner_text() == "Move 3: Black G7"
    page.get_by_role("button", name="To the end").click()
    assert heading.inner_text() == "Move 5: Black A1"
    page.keyboard.press("Home")
    assert heading.inner_text() == "The start"
    page.get_by_role("slider", name="Move").fill("4")
    assert heading.inner_text() == "Move 4: White G1"
    graph = page.locator("#graph svg")
    box = graph.bounding_box()
    assert box is not None
    graph.click(position={"x": box["width"] - 12, "y": 60})
    assert heading.inner_text() == "Move 5: Black A1"
    assert complaints == []


def test_the_better_line_is_shown_on_the_board(browser: Browser, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path, BOTH_LEFT)
    page.get_by_role("button", name="Move 3: G7").click()
    board = page.get_by_role("img", name="Board")
    label = board.get_attribute("aria-label") or ""
    assert label.startswith("Board before move 3, with the better line G1")
    assert page.get_by_role("button", name="Better line").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert board.get_attribute("aria-label") == "Board before move 3, with the better line G1"
    page.keyboard.press("Escape")
    assert (board.get_attribute("aria-label") or "").startswith("Board after move 3, Black G7")
    assert complaints == []


def test_nothing_a_record_says_runs(browser: Browser, tmp_path: Path) -> None:
    page, complaints = opened(browser, tmp_path, HOSTILE)
    page.keyboard.press("Home")
    assert "window.hacked" in page.locator("#comment").inner_text()
    assert page.evaluate("window.hacked") is None
    assert complaints == []


@pytest.mark.parametrize("width", [320, 390, 768, 1600])
def test_the_page_fits_any_screen(browser: Browser, tmp_path: Path, width: int) -> None:
    page, complaints = opened(browser, tmp_path, HOSTILE, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
