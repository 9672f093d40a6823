"""Records read and edited in the browser: marks, wheel, editor, pictures, the board in words."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from urllib.parse import unquote

import pytest
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

GAME = (
    "(;SZ[9]KM[7]PB[Ann]PW[Bob]C[Look at the corner]AR[aa:cc]LN[dd:ee]TR[cc]"
    ";B[ee];W[cc](;B[gc];W[cg];B[gg])(;B[cg];W[gc]))"
)
# Black takes a ko: White may not take back at D5.
KO = "(;SZ[9]AB[dd][ce][df]AW[ed][fe][ef][de]PL[B];B[ee])"


def painted(page: Page, canvas: str = ".board-stones") -> str:
    page.wait_for_timeout(200)
    data = page.locator(canvas).evaluate("canvas => canvas.toDataURL()")
    assert isinstance(data, str)
    return data


@at_both_sizes
def test_a_record_is_read_with_the_wheel_numbers_and_marks(visit: Visit, page: Page) -> None:
    visit.open()
    visit.paste(GAME)
    page.click("#analyse")  # pause: what is painted is the record alone
    where = page.locator("#move-number")
    comment, side = page.locator("#comment").bounding_box(), page.locator("#side").bounding_box()
    assert comment is not None
    assert side is not None
    assert comment["y"] < side["y"] + 300  # beside the board, not below everything else
    with_marks = painted(page)
    page.locator("#board").hover()
    page.mouse.wheel(0, 100)
    expect(where).to_have_text("Move 1 of 5")
    page.mouse.wheel(0, 400)
    expect(where).to_have_text("Move 5 of 5")
    page.mouse.wheel(0, -400)
    expect(where).to_have_text("Move 0 of 5")
    page.mouse.move(1, 1)
    assert painted(page) == with_marks
    page.keyboard.press("End")
    expect(where).to_have_text("Move 5 of 5")
    plain, wood = painted(page), painted(page, ".board-wood")
    page.click("#layer-numbers")
    assert painted(page) != plain
    page.click("#layer-coordinates")
    assert painted(page, ".board-wood") != wood
    page.click("#layer-numbers")
    page.click("#layer-coordinates")
    # The other line becomes the main one, and is deleted after that.
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.click("#branches button >> nth=1")
    expect(where).to_have_text("Move 3 of 4")
    page.click("#promote")
    expect(page.locator("#promote")).to_be_disabled()
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#branches button")).to_have_text(["1 · C3", "2 · G7"])
    page.click("#branches button >> nth=1")
    page.click("#remove")
    page.click("dialog[open] button[value=yes]")
    expect(page.locator("#branches")).to_be_hidden()
    # Ko is marked, and said.
    visit.paste(KO)
    expect(visit.point("D5")).to_have_attribute("aria-label", "D5, white stone")
    page.keyboard.press("End")
    expect(visit.point("D5")).to_have_attribute("aria-label", "D5, empty, ko")
    visit.shoot("ko")


@at_both_sizes
def test_positions_are_set_up_and_played_on(visit: Visit, page: Page) -> None:
    visit.open()
    visit.paste("(;SZ[9])")
    page.click("#tool-setblack")
    for point in ("C3", "C4", "G7"):
        visit.point(point).click()
        expect(visit.point(point)).to_have_attribute("aria-label", f"{point}, black stone")
    visit.point("G7").click()  # the same again takes it off
    expect(visit.point("G7")).to_have_attribute("aria-label", "G7, empty")
    page.click("#tool-setwhite")
    visit.point("E5").click()
    expect(visit.point("E5")).to_have_attribute("aria-label", "E5, white stone")
    page.click("#tool-erase")
    visit.point("C4").click()
    expect(visit.point("C4")).to_have_attribute("aria-label", "C4, empty")
    expect(page.locator("#edit-turn")).to_have_text("Next to move: Black")
    page.click("#edit-turn")
    expect(page.locator("#edit-turn")).to_have_text("Next to move: White")
    page.fill("#captured-black", "3")
    page.fill("#captured-white", "12")
    page.locator("#captured-white").blur()
    taken = page.locator(".player-captured")
    expect(taken.nth(0)).to_have_attribute("aria-label", "3 captured")
    expect(taken.nth(1)).to_have_attribute("aria-label", "12 captured")
    check_access(page)
    # All tools stand in one row.
    boxes = page.locator(".tools .button").evaluate_all(
        "tools => tools.map(tool => tool.getBoundingClientRect()).map(({y, width}) => [y, width])"
    )
    assert len(boxes) == 9
    assert len({y for y, _ in boxes}) == 1
    assert min(width for _, width in boxes) >= 24  # what a finger can hit, by WCAG 2.2
    page.click("#tool-stone")
    expect(page.locator("#captured-black")).to_be_hidden()
    page.click("#play-on")
    expect(page.locator("#status")).to_have_text("Your move (White)")
    assert visit.stones() == (1, 1)
    visit.point("F3").click()
    expect(page.locator("#move-number")).to_contain_text("Move 2")


def chunks(file: Path) -> list[tuple[str, bytes]]:
    """The chunks of a PNG file; fails where a checksum is wrong."""
    data = file.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = [], 8
    while at < len(data):
        [length] = struct.unpack_from(">I", data, at)
        name, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        [checksum] = struct.unpack_from(">I", data, at + 8 + length)
        assert zlib.crc32(name + content) == checksum
        found.append((name.decode(), content))
        at += 12 + length
    return found


def test_a_game_is_shared_as_a_link_a_picture_and_a_moving_picture(
    visit: Visit, page: Page
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open()
    visit.paste(GAME)
    page.keyboard.press("End")
    page.click("#share-link")
    expect(page.locator("#notices")).to_have_text("The link with this game is copied.")
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith(f"http://127.0.0.1:{visit.port}/#sgf=")
    assert "C[Look at the corner]" in unquote(link)
    with page.expect_download() as picture:
        page.click("#share-picture")
    still = chunks(Path(picture.value.path()))
    assert struct.unpack(">II", still[0][1][:8]) == (900, 900)
    with page.expect_download() as picture:
        page.click("#share-animation")
    moving = chunks(Path(picture.value.path()))
    frames = [content for name, content in moving if name == "fcTL"]
    assert struct.unpack(">II", next(c for name, c in moving if name == "acTL")) == (6, 0)
    assert len(frames) == 6  # the empty board and five moves
    numbers = [c[:4] for name, c in moving if name in ("fcTL", "fdAT")]
    assert [struct.unpack(">I", each)[0] for each in numbers] == list(range(len(numbers)))
    images: list[bytes] = []
    for name, content in moving:
        if name == "fcTL":
            images.append(b"")
        elif name in ("IDAT", "fdAT"):
            images[-1] += content if name == "IDAT" else content[4:]
    for frame, image in zip(frames, images, strict=True):
        _, width, height, x, y = struct.unpack(">IIIII", frame[:20])
        assert x + width <= 420
        assert y + height <= 420
        assert len(zlib.decompress(image)) == height * (1 + 4 * width)
    assert sum(len(content) for _, content in moving) < 400_000


def test_all_actions_are_in_reach_on_a_small_phone(
    browser: Browser, port: int, screenshots: Path
) -> None:
    with visiting(browser, port, screenshots, PHONE) as visit:
        page = visit.page
        visit.open()
        visit.new_game(9, "black")
        for action in ("#pass", "#undo", "#hint", "#resign", "#status"):
            box = page.locator(action).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= PHONE["height"], action
            assert page.evaluate("window.scrollY") == 0
        board, bar = page.locator("#board"), page.locator("#play-bar")
        assert_uncovered(board, bar)
        page.set_viewport_size({"width": 320, "height": 568})
        assert_uncovered(board, bar)
        assert visit.overflow() <= 0
        page.set_viewport_size({"width": 664, "height": 390})  # on its side
        head = page.locator("header.bar").bounding_box()
        assert head is not None
        assert head["height"] < 60  # one line, for the board has little height
        expect(board).to_be_in_viewport(ratio=1)
        page.set_viewport_size(PHONE)
        visit.point("C3").click()
        expect(page.locator("#move-number")).to_contain_text("Move 2")
        visit.shoot("reach")
        check_access(page)
        # Neither at the end of a game, nor under a banner, nor at the foot of the page.
        page.click("#resign")
        page.click("dialog[open] button[value=yes]")
        expect(page.locator("#status")).to_have_text("You resigned: Tengen wins")
        visit.new_game(5, "both")
        for number in (1, 2):
            page.click("#pass")
            expect(page.locator("#move-number")).to_contain_text(f"Move {number}")
        for action in ("#accept", "#resume", "#undo"):
            expect(page.locator(action)).to_be_in_viewport(ratio=1)
        page.evaluate(
            "document.querySelector('#banner').textContent = 'Two lines of words. '.repeat(4)"
        )
        assert_uncovered(board, bar)
        page.click("#glossary-button")
        expect(page.get_by_role("dialog", name="Go words")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_leave_stones_and_choices_apart(
    scheme: str, browser: Browser, port: int
) -> None:
    context = browser.new_context(
        viewport=DESKTOP,
        forced_colors="active",
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    expect(page.locator("[data-point]").first).to_be_attached()
    style = "(node, name) => getComputedStyle(node)[name]"
    pebbles = [
        page.locator(f".players .pebble.{colour}").first.evaluate(style, "backgroundImage")
        for colour in ("black", "white")
    ]
    assert all("gradient" in each for each in pebbles)
    assert pebbles[0] != pebbles[1]
    chosen = page.locator(".tab[aria-current]").evaluate(style, "outlineStyle")
    other = page.locator(".tab:not([aria-current])").first.evaluate(style, "outlineStyle")
    assert (chosen, other) == ("solid", "none")
    context.close()


@at_both_sizes
def test_the_board_is_told_in_words_and_notices_are_above_dialogs(visit: Visit, page: Page) -> None:
    visit.open()
    visit.new_game(5, "both")
    said = page.locator("#announcements")
    visit.play("A1", "A2")
    expect(said).to_contain_text("2: White plays A2. Atari: A1")
    visit.play("E5", "B1")
    expect(said).to_contain_text("4: White plays B1. 1 stone captured")
    page.keyboard.press("b")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown", "ArrowRight", "l"):
        page.keyboard.press(key)
    expect(said).to_contain_text("B1, white stone: 3 liberties")
    page.keyboard.press("Escape")
    # One notice at a time, and above the dialog that is open.
    page.click("#open-button")
    page.fill("#sgf-text", "nonsense")
    for _ in range(2):
        page.click("#open-text")
    notice = page.locator("#notices .notice")
    expect(notice).to_have_count(1)
    expect(notice).to_have_text("That is not an SGF game record.")
    above = notice.evaluate(
        "node => { const box = node.getBoundingClientRect();"
        " node.parentElement.style.pointerEvents = node.style.pointerEvents = 'auto';"
        " return node.contains(document.elementFromPoint(box.x + 9, box.y + 9)); }"
    )
    assert above
