"""The page for those who cannot see it well, or cannot use a mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.frontends.web.browser.test_analysing import GAME
from tests.frontends.web.browser.visit import Visit, check_access, visiting

TABS = ("play", "analyse", "review")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_and_controls_have_names(
    dark: bool, browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, dark=dark) as visit:
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
        check_access(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        check_access(page)


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
