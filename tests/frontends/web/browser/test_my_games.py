"""Nothing is lost: games of closed tabs, games that others replaced, files of any encoding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, ViewportSize, expect

from tengen.game.color import Color
from tengen.game.diagram import stones_text
from tengen.game.sgf.records import load_sgf
from tests.frontends.web.browser.visit import (
    DESKTOP,
    PHONE,
    Visit,
    at_both_sizes,
    check_access,
    visiting,
)

SGF = Path(__file__).parents[3] / "data" / "sgf" / "nasty"
SEVERAL = (
    "(;SZ[9]PB[Ann]PW[Bob];B[ee])\n"
    "(;SZ[9]PB[Cho]PW[Dee]BR[9p]WR[3d]EV[Cup]DT[2020-02-02]RE[W+2.5];B[cc])"
)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_games_are_kept_listed_and_gone_on_with(
    size: ViewportSize, browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, size) as visit:
        page = visit.page
        visit.open()
        visit.new_game(9, "black", level="beginner")
        visit.point("C3").click()
        expect(page.locator("#move-number")).to_contain_text("Move 2")
        # A new game asks before it replaces one under way.
        page.click("#new-game")
        page.click("#new [data-size='5']")
        page.click("#new label:has(input[value=both])")
        page.click("#start-game")
        page.click("dialog[open] button[value=no]")
        expect(visit.point("C3")).to_have_attribute("aria-label", "C3, black stone")
        page.click("#new-game")
        page.click("#start-game")
        page.click("dialog[open] button[value=yes]")
        expect(page.locator("[data-point]")).to_have_count(25)
        visit.play("B2")
        # A closed tab's game is there again in the next one.
        context = page.context
        page.close()
        page = context.new_page()
        visit = Visit(page, port, screenshots)
        page.goto(f"http://127.0.0.1:{port}/")
        expect(visit.point("B2")).to_have_attribute("aria-label", re.compile("black stone"))
        # The list: go on with the first game, rename, delete.
        page.click("#my-games-button")
        rows = page.locator(".my-game")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("On the board now")
        expect(rows.nth(1)).to_contain_text("You – Beginner")
        expect(rows.nth(1)).to_contain_text("Under way")
        visit.shoot("my-games")
        check_access(page)
        assert visit.overflow() <= 0
        rows.nth(1).get_by_label("Rename").click()
        save = page.locator(".game-title button").bounding_box()
        assert save is not None
        assert save["height"] <= 44  # one line: the word is not broken
        page.keyboard.type("First of all")
        page.keyboard.press("Enter")
        expect(page.locator(".my-game", has_text="First of all")).to_have_count(1)
        with page.expect_download() as download:
            page.locator(".my-game", has_text="First of all").get_by_label("Download").click()
        assert "B[cg]" in Path(download.value.path()).read_text()
        page.locator(".my-game", has_text="First of all").get_by_role(
            "button", name="Go on"
        ).last.click()
        page.click("dialog[open] button[value=yes]")
        expect(visit.point("C3")).to_have_attribute("aria-label", re.compile("black stone"))
        expect(page.locator("#status")).to_have_text(re.compile("Your move"))
        # A resignation is taken back alone.
        page.click("#resign")
        page.click("dialog[open] button[value=yes]")
        expect(page.locator("#status")).to_have_text("You resigned: Tengen wins")
        page.click("#undo")
        expect(page.locator("#move-number")).to_contain_text("Move 2")
        expect(page.locator("#status")).to_have_text(re.compile("Your move"))
        page.click("#resign")
        page.click("dialog[open] button[value=yes]")
        page.click("#my-games-button")
        expect(rows.nth(0)).to_contain_text("You resigned: Tengen wins · On the board now")
        page.locator(".my-game").filter(has_not_text="First").get_by_label("Delete").click()
        page.click("dialog[open] button[value=yes]")
        expect(rows).to_have_count(1)
        assert visit.errors == []


OTHER_BOARD = FilePayload(name="x.sgf", mimeType="text/plain", buffer=b"(;SZ[5])")
STONES = """cells => cells.map(cell => cell.getAttribute('aria-label')).map(label =>
    label.includes('black stone') ? 'X' : label.includes('white stone') ? 'O' : '.').join('')"""


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_nasty_file_opens_as_the_library_reads_it(
    size: ViewportSize, browser: Browser, port: int, screenshots: Path
) -> None:
    files = sorted(SGF.glob("*.sgf"))
    assert len(files) >= 45
    with visiting(browser, port, screenshots, size) as visit:
        page = visit.page
        visit.open()
        points = page.locator("#grid [data-point]")
        for file in files[:: 1 if size is DESKTOP else 4]:
            games = load_sgf(file)
            final = games[0].final_position()
            line = list(games[0].root.main_line())
            steps = len(line) - 1
            # Another board in between, so that what is seen is not of the file before.
            page.set_input_files("#sgf-file", OTHER_BOARD)
            expect(points).to_have_count(25)
            page.set_input_files("#sgf-file", file)
            if len(games) > 1:
                page.locator("#file-games .row-button").first.click()
            expect(points).to_have_count(81)
            names = page.locator(".player-name")
            for color in Color:
                player = games[0].player(color) or str(color).capitalize()
                expect(names.nth(color - 1)).to_contain_text(player[:60])
            expect(page.locator("#move-number")).to_have_text(re.compile(f"of {steps}"))
            page.keyboard.press("End")
            expect(page.locator("#move-number")).to_have_text(
                re.compile(f"^Move {steps} of {steps}")
            )
            shown = points.evaluate_all(STONES)
            assert shown == stones_text(final.stones), file.name
            comment = line[-1].text("C").strip()
            expect(page.locator("#comment")).to_have_value(re.compile(f"^{re.escape(comment)}"))


@at_both_sizes
def test_of_a_file_with_several_games_one_is_chosen(visit: Visit, page: Page) -> None:
    visit.open()
    page.click("#open-button")
    page.fill("#sgf-text", SEVERAL)
    page.click("#open-text")
    games = page.locator("#file-games .row-button")
    expect(games).to_have_count(2)
    expect(games.nth(1)).to_contain_text("Cho – Dee")
    check_access(page)
    games.nth(1).click()
    expect(page.locator(".player-name").first).to_have_text("Cho (9p)")
    expect(page.locator("#about")).to_contain_text("2020-02-02")
    expect(page.locator("#about")).to_contain_text("White wins by 2.5 points")


def test_an_even_game_adapts_and_shows_how_strong_one_is(
    browser: Browser, port: int, screenshots: Path
) -> None:
    for size in (DESKTOP, PHONE):
        with visiting(browser, port, screenshots, size) as visit:
            page = visit.page
            visit.open()
            for games in range(3):
                page.click("#new-game")
                page.click("#new [data-size='9']")
                expect(page.locator("#new-level")).to_have_value("even")
                expect(page.locator("#even-terms")).to_contain_text("Next game: ")
                expect(page.locator("#strength")).to_contain_text(
                    "adapts" if games == 0 else f"After {games} game"
                )
                if games == 2:
                    expect(page.locator(".strength-curve")).to_be_visible()
                    visit.shoot("even")
                    check_access(page)
                    assert visit.overflow() <= 0
                page.click("#start-game")
                expect(page.locator("#status")).to_have_text(re.compile("Your move"))
                page.click("#resign")
                page.click("dialog[open] button[value=yes]")
                expect(page.locator("#status")).to_have_text("You resigned: Tengen wins")
