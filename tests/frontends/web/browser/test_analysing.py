"""Records in the browser: opened, walked through, changed, analysed, reviewed and saved."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tengen.game.sgf.records import read_sgf
from tests.frontends.web.browser.visit import Visit, at_both_sizes

INJECTION = "<img src=x onerror=\"document.title='stolen'\"><script>alert(1)</script>"
# A game with a variation, a comment, marks and names that try to be markup.
GAME = (
    f"(;GM[1]FF[4]SZ[9]KM[7]RU[Chinese]PB[{INJECTION}]PW[Shusaku]C[{INJECTION}]"
    "TR[cc]LB[dd:<b>];B[ee];W[cc](;B[gc];W[cg];B[gg])(;B[cg];W[gc]))"
)


@at_both_sizes
def test_a_record_is_walked_with_its_variations(visit: Visit, page: Page) -> None:
    visit.open()
    visit.paste(GAME)
    where = page.locator("#move-number")
    expect(where).to_have_text("Move 0 of 5")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(where).to_have_text("Move 2 of 5")
    expect(page.locator("#branches button")).to_have_text(["1 · G7", "2 · C3"])
    page.click("#branches button >> nth=1")
    expect(visit.point("C3")).to_have_attribute("aria-label", "C3, black stone, last move")
    expect(where).to_have_text("Move 3 of 4")
    page.keyboard.press("ArrowUp")  # the other variation
    expect(visit.point("G7")).to_have_attribute("aria-label", "G7, black stone, last move")
    page.keyboard.press("End")
    expect(where).to_have_text("Move 5 of 5")
    page.click("#walk-first")
    expect(where).to_have_text("Move 0 of 5")


def test_what_a_record_says_is_text_and_never_markup(visit: Visit, page: Page) -> None:
    visit.open()
    visit.paste(GAME)
    expect(page.locator("#comment")).to_have_value(INJECTION)
    expect(page.locator(".player-name >> nth=0")).to_have_text(INJECTION)
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title() == "Tengen"


def test_a_line_a_comment_and_marks_are_kept_in_the_file(
    visit: Visit, page: Page, tmp_path: Path
) -> None:
    visit.open()
    visit.paste(GAME)
    page.keyboard.press("End")
    visit.play("H2", "B8")
    page.fill("#comment", "Both sides [are] fine \\ here")
    page.click("#tool-triangle")
    visit.point("F6").click()
    expect(visit.point("F6")).to_have_attribute("aria-label", "F6, empty, marked triangle")
    page.click("#tool-label")
    visit.point("B2").click()
    expect(visit.point("B2")).to_have_attribute("aria-label", "B2, empty, marked A")
    page.click("#tool-stone")
    page.wait_for_timeout(600)  # comments are sent once typing has paused
    with page.expect_download() as download:
        page.click("#save")
    file = tmp_path / "saved.sgf"
    download.value.save_as(file)
    text = file.read_text()
    assert "TR[fd]" in text
    assert "LB[bh:A]" in text
    assert "C[Both sides [are\\] fine \\\\ here]" in text
    assert read_sgf(file.read_bytes())[0].final_position().move_number == 7


def test_a_link_may_carry_a_game(visit: Visit, page: Page) -> None:
    page.goto(f"http://127.0.0.1:{visit.port}/#sgf={quote('(;SZ[13];B[jd];W[dj])')}")
    expect(page.locator("[data-point]")).to_have_count(169)
    expect(page.locator("#move-number")).to_have_text("Move 0 of 2")
    assert "#" not in page.url


def test_a_file_may_be_dropped_and_text_be_pasted(visit: Visit, page: Page) -> None:
    visit.open()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["(;SZ[13];B[jd];W[dj];B[dd])"], "game.sgf"));
          document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true}));
        }"""
    )
    expect(page.locator("#move-number")).to_have_text("Move 0 of 3")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text/plain", "(;SZ[7];B[dd])");
          document.body.dispatchEvent(
            new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
        }"""
    )
    expect(page.locator("#move-number")).to_have_text("Move 0 of 1")


def test_a_file_that_is_no_record_is_refused_in_words(visit: Visit, page: Page) -> None:
    visit.open()
    page.click("#open-button")
    page.set_input_files(
        "#sgf-file", {"name": "x.sgf", "mimeType": "text/plain", "buffer": b"hello"}
    )
    expect(page.locator("#notices")).to_have_text("That is not an SGF game record.")
    page.click("#open-button")
    page.set_input_files(
        "#sgf-file", {"name": "x.sgf", "mimeType": "text/plain", "buffer": b"(;SZ[99];B[ee])"}
    )
    expect(page.locator("#notices")).to_contain_text("cannot be read: there is a mistake at")


def test_notices_are_in_the_language_of_the_page(visit: Visit, page: Page) -> None:
    visit.open()
    for language in ("zh-Hans", "zh-Hant", "ja", "ko", "ar"):
        page.select_option("#language", language)
        for content in (b"hello", b"(;SZ[99];B[ee])", b"(;SZ[9:7])"):
            page.click("#open-button")
            page.set_input_files(
                "#sgf-file", {"name": "x.sgf", "mimeType": "text/plain", "buffer": content}
            )
            notice = page.locator("#notices .notice")
            expect(notice).to_be_visible()
            said = notice.inner_text().replace("SGF", "")
            assert not re.search("[A-Za-z]{2}", said), said
            page.evaluate("document.querySelector('#notices').replaceChildren()")


@at_both_sizes
def test_analysis_is_live_can_pause_and_shows_lines(visit: Visit, page: Page) -> None:
    visit.open()
    visit.paste(GAME)
    rows = page.locator("#candidates tbody tr")
    expect(rows.first).to_be_visible()
    expect(page.locator("#analysis-facts")).to_contain_text("visits/s")
    expect(page.locator("#graph .win-line")).to_be_attached()
    for layer in ("#layer-ownership", "#layer-policy"):
        page.click(layer)
        expect(page.locator(layer)).to_have_attribute("aria-pressed", "true")
    visit.shoot("analyse")
    page.locator("#layer-policy").blur()  # on a button the space bar presses the button
    page.keyboard.press("Space")
    expect(page.locator("#analyse")).to_have_text("Analyse")
    page.wait_for_timeout(400)  # what was under way arrives
    before = page.locator("#analysis-facts").inner_text()
    page.wait_for_timeout(600)
    assert page.locator("#analysis-facts").inner_text() == before
    plain = page.locator(".board-stones").evaluate("canvas => canvas.toDataURL()")
    rows.first.hover()
    page.wait_for_timeout(100)
    assert page.locator(".board-stones").evaluate("canvas => canvas.toDataURL()") != plain
    name = rows.first.locator("button").inner_text()
    rows.first.locator("button").click()
    expect(visit.point(name)).to_have_attribute("aria-label", re.compile("black stone, last move"))
