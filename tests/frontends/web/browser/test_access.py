"""The page for those who cannot see it well, or cannot use a mouse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.frontends.web.browser.test_analysing import GAME
from tests.frontends.web.browser.visit import DESKTOP, PHONE, Visit, check_access, visiting

TABS = ("play", "analyse", "review")


@pytest.mark.parametrize(
    ("size", "dark"),
    [(DESKTOP, False), (DESKTOP, True), (PHONE, False)],
    ids=["light", "dark", "phone"],
)
def test_text_can_be_read_and_controls_have_names(
    size: ViewportSize, dark: bool, browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, size, dark=dark) as visit:
        page = visit.page
        visit.open()
        visit.paste(GAME)
        expect(page.locator("#candidates tbody tr").first).to_be_visible()
        for tab in TABS:
            page.click(f"#tab-{tab}")
            if tab == "review":
                page.click("#review-start")
                expect(page.locator("#review-results .accuracy")).to_have_count(2)
            check_access(page)
        page.keyboard.press("n")
        expect(page.locator("#rules-words")).to_have_text(re.compile("^Stones on the board"))
        check_access(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        check_access(page)
        page.keyboard.press("Escape")
        page.click("#glossary-button")
        expect(page.locator(".glossary dt").first).to_be_visible()
        check_access(page)


def test_go_words_are_explained_to_mouse_keyboard_and_finger(
    browser: Browser, port: int, screenshots: Path
) -> None:
    for size in (DESKTOP, PHONE):
        with visiting(browser, port, screenshots, size) as visit:
            page = visit.page
            visit.open()
            page.click("#new-game")
            page.select_option("#new-level", "beginner")
            word = page.get_by_role("button", name="What does “Komi” mean?")
            bubble = page.locator("#bubble")
            word.tap() if size is PHONE else word.click()
            expect(bubble).to_have_text("Points that White gets for moving second.")
            expect(word).to_have_attribute("aria-expanded", "true")
            assert visit.overflow() <= 0
            check_access(page)
            page.keyboard.press("Escape")  # closes the bubble alone
            expect(bubble).to_be_hidden()
            expect(page.locator("#new")).to_be_visible()
            expect(word).to_have_attribute("aria-expanded", "false")
            page.get_by_role("button", name="What does “Handicap” mean?").focus()
            page.keyboard.press("Enter")
            expect(bubble).to_contain_text("Stones that the weaker side")
            page.select_option("#new-rules", "japanese")
            expect(page.locator("#rules-words")).to_contain_text("prisoners count")
            visit.shoot("words", settle=0)


def test_the_board_is_a_grid_that_is_one_stop_of_the_tab_key(visit: Visit, page: Page) -> None:
    visit.open()
    expect(page.get_by_role("grid")).to_have_accessible_name(
        "Go board, 9 by 9. Arrow keys move, Enter plays."
    )
    expect(page.get_by_role("row")).to_have_count(9)
    expect(page.get_by_role("gridcell")).to_have_count(81)
    stops = page.locator("[data-point][tabindex='0']")
    expect(stops).to_have_count(1)
    page.locator("#grid").get_by_label("E5, empty").focus()
    for key in ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"]:
        page.keyboard.press(key)  # stays on the board
    expect(visit.point("E9")).to_be_focused()
    expect(stops).to_have_count(1)


def test_motion_stops_for_those_who_ask_for_it(browser: Browser, port: int) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector(".button")
    moving = page.evaluate(
        "() => getComputedStyle(document.querySelector('.button')).transitionDuration"
    )
    assert moving == "0s"
    context.close()
