"""Games in the browser, by mouse, by keyboard and by finger."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.frontends.web.browser.visit import (
    DESKTOP,
    PHONE,
    Visit,
    assert_uncovered,
    at_both_sizes,
    check_access,
    visiting,
)
from tests.frontends.web.made_up import CENTRE_IS_WORTH_TWENTY
from tests.frontends.web.server import serving

# Black has three columns of five points, White two: 15 to 10 before komi.
DIVIDED = ["C1", "D1", "C2", "D2", "C3", "D3", "C4", "D4", "C5", "D5"]


def test_the_board_is_painted_within_a_second(visit: Visit, page: Page) -> None:
    visit.open()
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < 1000
    expect(page.locator("#network")).to_have_text("fake")
    visit.shoot("play")


@at_both_sizes
def test_two_people_play_to_the_end_and_count(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(5, "both", komi="0.5")
    visit.play(*DIVIDED)
    expect(page.locator("#status")).to_have_text("Black to play")
    page.click("#pass")
    page.click("#pass")
    accept = page.locator("#accept")
    expect(accept).to_be_visible()
    _let_all_live(visit, page)
    expect(page.locator("#result")).to_have_text("Black wins by 4.5 points")
    # What is accepted is told where it is accepted, without scrolling.
    expect(page.locator("#status")).to_have_text("If you accept: Black wins by 4.5 points")
    for shown in ("#status", "#accept"):
        expect(page.locator(shown)).to_be_in_viewport(ratio=1)
    expect(visit.point("A1")).to_have_attribute("aria-label", "A1, empty, Black's area")
    visit.shoot("count")
    visit.point("D3").click()  # White's chain is dead: all 25 points are Black's
    expect(page.locator("#result")).to_have_text("Black wins by 24.5 points")
    expect(visit.point("D1")).to_have_attribute("aria-label", re.compile("dead, Black's area"))
    visit.point("D1").click()
    expect(page.locator("#result")).to_have_text("Black wins by 4.5 points")
    total = page.locator("#count-table .total td")
    expect(total).to_have_text(["15", "10.5"])
    accept.click()
    expect(page.locator("#status")).to_have_text("Black wins by 4.5 points")
    expect(accept).to_be_hidden()
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#new-game")).to_be_in_viewport(ratio=1)


@at_both_sizes
def test_a_hint_to_pass_is_told_and_offered_within_reach(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(5, "both")
    visit.play(*DIVIDED)
    page.click("#pass")
    expect(page.locator("#move-number")).to_contain_text("Move 11")
    page.click("#hint")
    # The made-up network likes all moves equally, so that a pass costs nothing.
    expect(page.locator("#hints li .point").first).to_have_text("pass")
    expect(page.locator("#status")).to_have_text("Hint: pass")
    offered = page.locator("#pass")
    expect(offered).to_have_class(re.compile(r"\bprimary\b"))
    page.evaluate("scrollTo(0, 0)")
    for shown in ("#status", "#pass"):
        expect(page.locator(shown)).to_be_in_viewport(ratio=1)
    offered.click()
    expect(page.locator("#accept")).to_be_visible()
    expect(offered).to_be_hidden()


def _let_all_live(visit: Visit, page: Page) -> None:
    """Whatever is proposed as dead, say that it lives."""
    expect(page.locator("#status")).not_to_have_class(re.compile("busy"))
    for stone in ("C1", "D1"):
        label = visit.point(stone).get_attribute("aria-label") or ""
        if "dead" in label:
            visit.point(stone).click()
            expect(visit.point(stone)).not_to_have_attribute("aria-label", re.compile("dead"))


@at_both_sizes
def test_a_game_against_tengen_with_a_hint_and_undo(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(9, "black")
    status = page.locator("#status")
    visit.point("C3").click()
    expect(page.locator("#move-number")).to_contain_text("Move 2")
    expect(status).to_have_text(re.compile("Your move"))
    page.click("#hint")
    expect(page.locator("#hints li").first).to_be_visible()
    visit.shoot("hint")
    page.click("#undo")
    expect(visit.point("C3")).to_have_attribute("aria-label", "C3, empty")
    visit.point("G7").click()
    expect(page.locator("#move-number")).to_contain_text("Move 2")
    page.click("#resign")
    page.click("dialog[open] button[value=no]")
    expect(status).to_have_text(re.compile("Your move|passed"))
    page.click("#resign")
    page.click("dialog[open] button[value=yes]")
    expect(status).to_have_text("You resigned: Tengen wins")


def test_a_game_with_the_keyboard_only(visit: Visit, page: Page) -> None:
    visit.open()
    keys = page.keyboard
    keys.press("n")
    page.locator("#new-size").focus()
    for _ in range(4):
        keys.press("ArrowLeft")  # from 9 to 5
    page.locator("#new input[value=black]").focus()
    keys.press("ArrowLeft")  # the choices are a ring: the one before Black is Two people
    keys.press("Enter")
    expect(page.locator("[data-point]")).to_have_count(25)
    keys.press("b")
    expect(visit.point("C3")).to_be_focused()
    keys.press("Enter")
    expect(visit.point("C3")).to_have_attribute("aria-label", "C3, black stone, last move")
    keys.press("ArrowLeft")
    keys.press("ArrowUp")
    expect(visit.point("B4")).to_be_focused()
    keys.press("Enter")
    expect(visit.point("B4")).to_have_attribute("aria-label", "B4, white stone, last move")
    expect(page.locator("#announcements")).to_contain_text("2: White plays B4")
    keys.press("u")
    expect(visit.point("B4")).to_have_attribute("aria-label", "B4, empty")
    keys.press("p")
    expect(page.locator("#announcements")).to_contain_text("2: White passes")
    keys.press("p")
    expect(page.locator("#accept")).to_be_visible()
    page.locator("#accept").focus()
    keys.press("Enter")
    expect(page.locator("#status")).to_have_text(re.compile("wins by"))
    keys.press("?")
    expect(page.locator("#keys")).to_be_visible()
    keys.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_a_finger_aims_before_it_plays_on_a_large_board(
    browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, PHONE) as visit:
        page = visit.page
        visit.open()
        visit.new_game(19, "both")
        visit.point("Q16").tap()
        expect(page.locator("#confirm-aim")).to_have_text("Play Q16")
        visit.shoot("aim")
        visit.point("D4").tap()
        expect(page.locator("#confirm-aim")).to_have_text("Play D4")
        assert visit.stones() == (0, 0)
        page.locator("#confirm-aim").tap()
        expect(visit.point("D4")).to_have_attribute("aria-label", re.compile("black stone"))
        visit.point("Q4").tap()
        visit.point("Q4").tap()
        expect(visit.point("Q4")).to_have_attribute("aria-label", re.compile("white stone"))


def test_two_tabs_are_two_games(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(5, "both")
    visit.play("B2")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("[data-point]")).to_have_count(81)
    expect(visit.point("B2")).to_have_attribute("aria-label", re.compile("black stone"))
    page.reload()  # a tab that is reloaded finds its own game again
    expect(visit.point("B2")).to_have_attribute("aria-label", re.compile("black stone"))
    expect(page.locator("[data-point]")).to_have_count(25)


def test_a_teaching_game_offers_to_take_a_bad_move_back(
    browser: Browser, tmp_path: Path, screenshots: Path
) -> None:
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port:
        for size in (DESKTOP, PHONE):
            with visiting(browser, port, screenshots, size) as visit:
                page = visit.page
                visit.open()
                page.click("#new-game")
                page.select_option("#new-teach", "5")
                page.click("#new [data-size='5']")
                page.click("#new label:has(input[value=black])")
                page.select_option("#new-level", "beginner")
                page.click("#start-game")
                expect(page.locator("[data-point]")).to_have_count(25)
                visit.point("A1").click()
                expect(page.locator("#taught")).to_contain_text("C3 was better.")
                visit.shoot("teaching")
                check_access(page)
                assert visit.overflow() <= 0
                assert page.evaluate("scrollY") == 0
                back = page.locator("#undo" if size is PHONE else "#take-back")
                for shown in (page.locator("#taught"), back):
                    expect(shown).to_be_in_viewport(ratio=1)
                if size is PHONE:
                    assert_uncovered(page.locator("#board"), page.locator("#play-bar"))
                back.click()
                expect(visit.point("A1")).to_have_attribute("aria-label", "A1, empty")
                expect(page.locator("#taught")).to_be_hidden()
