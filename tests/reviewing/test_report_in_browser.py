"""A review as one page, at work in a browser: walked through, tried oneself, in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tengen.network.loaded_network import LoadedNetwork
from tengen.network.trained_on import trained_on
from tengen.reviewing.html_page import html_page, languages
from tests.browsers import running_browser
from tests.frontends.web.browser.visit import check_access
from tests.reviewing.games import BOTH_LEFT, only_game, review_by, two_points_network
from tests.reviewing.test_html_page import HOSTILE, page_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as launched:
        yield launched


@pytest.fixture(scope="module")
def both_left() -> str:
    """The page of a game in which both players left the centre alone."""
    return page_of(BOTH_LEFT)


@pytest.fixture(scope="module")
def hostile() -> str:
    return page_of(HOSTILE)


def opened(
    browser: Browser, folder: Path, content: str, width: int = 1280, language: str = "en"
) -> tuple[Page, list[str]]:
    """The page in a browser, and the complaints it will have made."""
    file = folder / "review.html"
    file.write_text(content, "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 664}, locale=language)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url))
    page.goto(file.as_uri())
    complaints.remove(file.as_uri())
    return page, complaints


def test_a_player_walks_through_the_game(browser: Browser, tmp_path: Path, both_left: str) -> None:
    page, complaints = opened(browser, tmp_path, both_left)
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


def test_a_network_that_was_not_trained_for_the_board_rates_nobody(
    browser: Browser, tmp_path: Path
) -> None:
    known = trained_on({"board_sizes": "19", "rules": "chinese"})
    network = LoadedNetwork(two_points_network(), "fake.safetensors", trained_on=known)
    game = only_game(BOTH_LEFT)
    page, _ = opened(browser, tmp_path, html_page(game, review_by(network, game, 20)))
    assert "was not trained on 7×7" in page.locator("#remarks").inner_text()
    assert "no accuracy is shown" in page.locator("#remarks").inner_text()
    for side in ("black", "white"):
        assert "Not rated" in page.locator(f"#side-{side}").inner_text()
        assert page.locator(f"#side-{side} .accuracy").count() == 0


def test_the_better_line_is_shown_on_the_board(
    browser: Browser, tmp_path: Path, both_left: str
) -> None:
    page, complaints = opened(browser, tmp_path, both_left)
    page.get_by_role("button", name="Move 3: G7").click()
    board = page.get_by_role("grid")
    label = board.get_attribute("aria-label") or ""
    assert label.startswith("Board before move 3, with the better line G1")
    assert page.get_by_role("button", name="Better line").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert board.get_attribute("aria-label") == "Board before move 3, with the better line G1"
    page.keyboard.press("Escape")
    assert (board.get_attribute("aria-label") or "").startswith("Board after move 3, Black G7")
    assert complaints == []


def test_nothing_a_record_says_runs(browser: Browser, tmp_path: Path, hostile: str) -> None:
    page, complaints = opened(browser, tmp_path, hostile)
    page.keyboard.press("Home")
    assert "window.hacked" in page.locator("#comment").inner_text()
    assert page.evaluate("window.hacked") is None
    assert complaints == []


PLACE = """(node, part) => {
  const range = document.createRange(), text = node.firstChild, from = text.data.indexOf(part);
  range.setStart(text, from);
  range.setEnd(text, from + part.length);
  return range.getBoundingClientRect().x;
}"""
LANGUAGES = {"zh-TW": "zh-Hant", "ja-JP": "ja", "fr": "en"}


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_the_page_fits_any_screen_in_any_language(
    browser: Browser, tmp_path: Path, hostile: str, width: int
) -> None:
    page, complaints = opened(browser, tmp_path, hostile, width)
    for code in languages():
        page.select_option("#language", code)
        expect(page.locator("html")).to_have_attribute("lang", code)
        expect(page.locator("html")).to_have_attribute("dir", "rtl" if code == "ar" else "ltr")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not re.search(r"\b(report|walk|mine|result)\.[a-z]", page.inner_text("body"))
        if width == 390:
            check_access(page)
    assert complaints == []


def test_the_page_is_in_the_language_of_its_reader(
    browser: Browser, tmp_path: Path, both_left: str
) -> None:
    for locale, language in LANGUAGES.items():
        page, _ = opened(browser, tmp_path, both_left, language=locale)
        expect(page.locator("html")).to_have_attribute("lang", language)
        page.close()
    page, complaints = opened(browser, tmp_path, both_left, language="ar")
    expect(page.locator("#move")).to_have_text(re.compile("^النقلة .*1.*: .*الأسود.*A7"))
    page.select_option("#language", "ja")
    expect(page.locator("#move")).to_have_text("1 手目：黒 A7")
    assert complaints == []


def test_a_date_is_read_from_its_year_on_in_arabic_too(browser: Browser, tmp_path: Path) -> None:
    content = page_of("(;SZ[7]KM[0]RU[chinese]DT[1846-09-11]RE[B+2];B[aa])", visits=2)
    page, complaints = opened(browser, tmp_path, content, language="ar")
    facts = page.locator("#facts")
    expect(facts).to_contain_text("نقطتين")  # what stands before the date runs from right to left
    year, day = (facts.evaluate(PLACE, part) for part in ("1846", "-11"))
    assert year < day
    assert complaints == []


@pytest.mark.parametrize("width", [390, 1440])
def test_mistakes_are_tried_oneself(
    browser: Browser, tmp_path: Path, both_left: str, width: int
) -> None:
    page, complaints = opened(browser, tmp_path, both_left, width)
    page.get_by_role("button", name="Try yourself").click()
    heading, verdict = page.locator("#move"), page.locator("#verdict")
    expect(heading).to_have_text("Move 1: Black to play")
    expect(verdict).to_have_text(re.compile(r"^A7 was played and lost 1\d"))
    board = page.get_by_role("grid", name="Board before move 1")
    expect(board.get_by_role("gridcell", name="A7, empty")).to_be_visible()
    # Nothing gives the answer away.
    assert "was better" not in page.inner_text("main")
    board.locator("[data-point=A7]").click()
    expect(verdict).to_have_text(re.compile(r"^A7 loses 1\d"))
    expect(verdict).to_be_in_viewport()
    board.locator("[data-point=D4]").click()
    expect(verdict).to_have_text("D4: nothing better was found. Well done!")
    expect(verdict).to_have_class("good")
    # By keyboard, at the next one.
    page.keyboard.press("ArrowDown")
    expect(heading).to_have_text("Move 3: Black to play")
    board = page.get_by_role("grid", name="Board before move 3")
    board.get_by_role("gridcell", name="D4, white stone").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(verdict).to_have_text(re.compile("^G1: nothing better"))
    page.get_by_role("button", name="Better line").click()
    expect(page.locator("#line-title")).to_have_text("Better for Black than G7:")
    page.get_by_role("button", name="Try yourself").click()
    expect(heading).to_have_text("Move 3: Black G7")
    assert complaints == []
