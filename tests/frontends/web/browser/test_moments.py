"""Your moments: costly turns come back as puzzles that are tried on a board of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tengen.frontends.web.play.moments import DAY
from tests.frontends.web.browser.test_looks import LANGUAGES, strings
from tests.frontends.web.browser.visit import PHONE, SIZES, Visit, check_access, visiting
from tests.frontends.web.made_up import CENTRE_IS_WORTH_TWENTY
from tests.frontends.web.server import serving


def lose_a_game(visit: Visit) -> None:
    """Give the centre of a small board away, and resign."""
    visit.open()
    visit.new_game(5, "black")
    visit.point("A1").click()
    expect(visit.page.locator("#status")).to_have_text(re.compile("^Your move"))
    visit.page.click("#resign")
    visit.page.get_by_role("button", name="Resign").last.click()
    expect(visit.page.locator("#better-find")).to_be_visible()


def in_every_language(visit: Visit) -> None:
    """Nothing sticks out, no text is missing, in any language; back to English."""
    page = visit.page
    for language, direction in [*LANGUAGES.items(), ("en", "ltr")]:
        page.evaluate(
            "chosen => { const select = document.querySelector('#language'); select.value = chosen;"
            " select.dispatchEvent(new Event('change')); }",
            language,
        )
        expect(page.locator("html")).to_have_attribute("dir", direction)
        expect(page.locator("html")).to_have_attribute("lang", language)
        assert visit.overflow() <= 0
        shown = page.locator("#moments-dialog").inner_text()
        assert not re.search(r"\b(moments|walk|turn)\.[a-z]", shown), shown
        assert not set(strings(f"moments.{language}")) & set(shown.split())


def try_point(page: Page, name: str) -> None:
    page.locator(f"#moments-dialog [data-point={name}]").click()


@pytest.mark.parametrize("size", list(SIZES))
def test_costly_turns_are_tried_again_today_and_tomorrow(
    size: str, browser: Browser, screenshots: Path, tmp_path: Path
) -> None:
    with (
        serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port,
        visiting(browser, port, screenshots, SIZES[size]) as visit,
    ):
        page, told = visit.page, visit.page.locator("#moments-dialog .moment-told")
        lose_a_game(visit)
        expect(page.locator("#moments")).to_be_hidden()
        page.click("#better-find")
        dialog = page.get_by_role("dialog", name="Your moments")
        expect(dialog).to_be_visible()
        expect(page.locator("#moment-task")).to_have_text(
            re.compile(r"^Black to play\. A1 was played and lost \d+ points\.")
        )
        # What was found is not shown before it is tried.
        expect(page.locator("#better-list li")).to_have_count(0)
        expect(dialog.locator("[data-point]")).to_have_count(25)
        check_access(page)
        try_point(page, "E5")
        expect(told).to_have_text(re.compile(r"^Not yet\.E5 loses [\d.]+ points.*tomorrow\.$"))
        expect(dialog.get_by_label("E5, black stone")).to_be_visible()
        expect(dialog.get_by_label("C3, white stone")).to_be_visible()  # Tengen answered
        expect(page.locator("#moment-again")).to_be_focused()
        visit.shoot("moment", settle=0)
        check_access(page)
        in_every_language(visit)
        page.keyboard.press("Enter")  # try again: the board has the focus now
        expect(dialog.get_by_label("C3, empty")).to_be_focused()
        page.keyboard.press("Enter")
        expect(told).to_have_text(re.compile(r"^Good!C3 is [\d.]+ points better than A1.*\.$"))
        reach = page.locator("#moment-next").bounding_box()
        assert reach is not None
        assert reach["y"] + reach["height"] <= SIZES[size]["height"]
        page.click("#moment-next")
        expect(told).to_have_text("Nothing to solve now.The next one comes back in 24 hours.")
        page.click("#moment-close")
        expect(page.locator("#moments")).to_contain_text("1 turn comes back later")
        page.click("#better-ask")
        expect(page.locator("#better-list li")).to_have_count(1)
        player = page.evaluate("localStorage.getItem('tengen.player')")
    file = tmp_path / "moments" / f"{player}.json"
    kept = json.loads(file.read_bytes())
    kept["waiting"][0]["tried"] -= DAY
    file.write_text(json.dumps(kept))
    with serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port:
        context = browser.new_context(viewport=SIZES[size], locale="ar")
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/static/away.html")
        page.evaluate("player => localStorage.setItem('tengen.player', player)", player)
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.locator("#moments-words")).to_contain_text("نقلة واحدة")
        page.click("#moments-start")
        try_point(page, "C3")
        expect(page.locator("#moment-verdict")).to_have_text("أحسنت!")
        expect(page.locator("#moment-returns")).to_have_text("ستعود غدًا.")
        context.close()


def test_an_answer_is_shown_and_a_puzzle_is_put_away(
    browser: Browser, screenshots: Path, tmp_path: Path
) -> None:
    with (
        serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port,
        visiting(browser, port, screenshots, PHONE) as visit,
    ):
        page = visit.page
        lose_a_game(visit)
        page.click("#better-find")
        page.click("#moment-answer")
        expect(page.locator("#moment-why")).to_have_text(re.compile("^C3 is .* better than A1"))
        expect(page.locator("#moments-dialog").get_by_label("C3, black stone")).to_be_visible()
        page.click("#moment-forget")
        expect(page.locator("#moments-dialog")).to_contain_text("1 is learnt for good.")
        page.click("#moment-close")
        expect(page.locator("#moments")).to_be_hidden()


def test_a_review_does_not_open_puzzles_that_were_closed(
    browser: Browser, screenshots: Path, tmp_path: Path
) -> None:
    with (
        serving(tmp_path, CENTRE_IS_WORTH_TWENTY) as port,
        visiting(browser, port, screenshots) as visit,
    ):
        page = visit.page
        told: list[str] = []

        def hear(socket: WebSocket) -> None:
            socket.on("framereceived", lambda frame: told.append(str(frame)))

        page.on("websocket", hear)
        lose_a_game(visit)
        page.click("#better-find")
        expect(page.locator("#moments-dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#moments-dialog")).to_be_hidden()
        page.click("#tab-review")
        page.click("#review-start")
        expect(page.locator("#review-results .accuracy")).to_have_count(2)
        while sum('"found":' in each for each in told) < 2:
            page.wait_for_timeout(20)  # for what the review found, a little later
        expect(page.locator("#moments-dialog")).to_be_hidden()
